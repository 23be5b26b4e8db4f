"""Rows made by ranks of one machine on one state: nothing is sent, and no rank owns rows.

The kernels and the order of steps are those of one process (``conversion/in_memory``, ``sorting/lines``), and ranks
are to them what threads are. Each keeps the lines that it has read to itself; keys, rows and offsets all see.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bigbfs.conversion.memory import PROGRAM, require
from bigbfs.conversion.on_disk.work import Job
from bigbfs.conversion.sorting import in_rows
from bigbfs.conversion.sorting.buckets import layout_of
from bigbfs.conversion.sorting.lines import Lines, keys_of
from bigbfs.conversion.sorting.rule import Meaning, Rule
from bigbfs.conversion.spread.common_sides import Part, Side, are_equal
from bigbfs.conversion.spread.crew import Crew, NotShared, room_for
from bigbfs.engines.ranks.agreeing import Agreed, together
from bigbfs.engines.ranks.commons import seen_by_all
from bigbfs.engines.ranks.group import Group
from bigbfs.errors import DoesNotFitError
from bigbfs.graph.adjacency import id_dtype
from bigbfs.graph.transposing import (
    TASKS_PER_THREAD,
    Csr,
    Loose,
    Turn,
    bits_of,
    bucket_count,
    bucket_shift,
    count_columns,
    deal_columns,
    key_dtype,
)
from bigbfs.graph.views import frozen
from bigbfs.jit.workers import balanced_ranges, cursors

LABEL = 8
"""Bytes of a vertex that each rank holds for itself: its id."""


@dataclass(frozen=True)
class Common:
    """Rows that are sorted, and have yet to be placed.

    Attributes
    ----------
    crew
        Who places them.
    members
        Threads of all ranks.
    sides
        Out-rows, and in-rows where a file has them beside.
    symmetric
        In-rows are known to be the out-rows.
    counted
        Of all ranks, as in the provenance.
    """

    crew: Crew
    members: int
    sides: list[Side]
    symmetric: bool
    counted: dict[str, int]


def sorted_in_common(job: Job, what: Meaning, lines: Lines, group: Group) -> Common | None:
    """Sort the lines of all ranks into rows, all together; None: these have no state in common, and keep their lines.

    Raises
    ------
    Agreed
        Of a DoesNotFitError: it takes more memory than ranks may use.
    """
    if not seen_by_all(group):
        return None
    try:
        return _Sorting(job, what, lines, group).sort()
    except NotShared:
        return None


def placed_for_each(rows: Common, job: Job, group: Group) -> tuple[tuple[int, int], list[Csr]]:
    """Place about as many ids on each rank; return its first row and the first behind its rows, and these of each side.

    Their offsets are those of all rows: 0 up to the first.

    Raises
    ------
    Agreed
        Of a MemoryError.
    """
    bases = np.sum([side.bases for side in rows.sides], axis=0)
    goals = [int(bases[-1]) * rank // group.size for rank in range(1, group.size)]
    first, end = [0, *np.searchsorted(bases, goals).tolist(), len(bases) - 1][group.rank :][:2]
    mine = [Part(side, first, end) for side in rows.sides]
    made = together(group, lambda: [_placed(part, job) for part in mine])
    if group.rank == 0:
        rows.crew.forget()
    return mine[0].rows, made


def _placed(mine: Part, job: Job) -> Csr:
    """Return the rows of a part, placed."""
    side = mine.side
    cuts = balanced_ranges(side.bases[mine.first : mine.end + 1], TASKS_PER_THREAD * job.threads)
    parts = [Part(side, mine.first + first, mine.first + end) for first, end in cuts]
    indptr, out = np.zeros(len(side.indptr), np.int64), np.empty(mine.length, side.ids)

    def place(number: int) -> None:
        part = parts[number]
        at, (low, high) = part.begin - mine.begin, part.rows
        side.place(part.first, part.end, indptr, out[at : at + part.length])
        indptr[low + 1 : high + 1] += at

    job.workers.each(len(parts), place)
    return indptr, out


class _Sorting:
    """Sorts lines into rows, all ranks together."""

    def __init__(self, job: Job, what: Meaning, lines: Lines, group: Group) -> None:
        self._job, self._what, self._lines, self._group = job, what, lines, group
        self._threads = group.lengths(job.threads)
        self._members = sum(self._threads)
        total = int(group.sum([len(lines)])[0])
        self._shift = bucket_shift(lines.n, total)
        self._twin = not what.both and job.options.in_edges
        self._crew: Crew | None = None
        self._spare = np.empty(0, np.uint8)

    def sort(self) -> Common:
        """Return the rows."""
        job, what, lines, n = self._job, self._what, self._lines, self._lines.n
        layout = layout_of(0, 0, bits_of(n), bits_of(n) + self._shift)
        counts = np.zeros((2 * job.threads, bucket_count(n, self._shift)), np.int64)
        loops_stay = job.options.keep_self_loops
        starts, keys, loops = keys_of(lines, what.both, loops_stay, layout, counts, job.workers, self._place)
        crew, total = self._crew, int(starts[-1])
        assert crew is not None
        self._group.barrier()  # all keys are there, and nobody holds lines any more
        self._make_rows(crew, total, counts.shape[1])
        rows = in_rows.Rows(crew.take(n + 1, np.int64), crew.take(n, np.int64), crew.take(total, id_dtype(n)))
        rows.begins[n] = total
        rule = Rule(what.copies, apart=True)
        given = (in_rows.Keys(starts, starts[np.newaxis], frozen(keys)), layout, rule, rows, crew, self._members)
        turn = what.both or (self._twin and not loops_stay)  # self-loops that stay are not counted there
        loose, found = in_rows.sorted_rows(*given, turn=turn, counters=crew.counters)
        sides, symmetric = self._sides(crew, loose)
        duplicates, turned = found.tolist()
        counted = {"self_loops": int(self._group.sum([loops])[0]), "duplicates": duplicates, "reversed": turned}
        return Common(crew, self._members, sides, symmetric, counted)

    def _sides(self, crew: Crew, loose: Loose) -> tuple[list[Side], bool]:
        """Return the sides of sorted rows, and whether in-rows are known to be the out-rows."""
        n, threads = self._lines.n, self._job.threads
        indptr = crew.take(n + 1, np.int64)
        if self._what.both:
            dealt = deal_columns(loose, threads, head=True, spare=self._spare, crew=crew)
            return [Side("", dealt, indptr)], True
        out = Side("", loose, indptr)
        if not self._twin:
            return [out], False
        if self._job.options.keep_self_loops:
            loose = self._with_columns(crew, loose)
        dealt = deal_columns(loose, threads, spare=self._spare, crew=crew)
        into = Side("in_", dealt, crew.take(n + 1, np.int64))
        same = are_equal(loose, into, crew, self._members)
        return ([out], True) if same else ([out, into], False)

    def _with_columns(self, crew: Crew, loose: Loose) -> Loose:
        """Return the rows with all ids counted by buckets of columns."""
        n, none = len(loose.ends), frozen(loose.indices[:0])
        arrays = frozen(loose.begins), frozen(loose.ends), frozen(loose.indices), none, none
        turn = Turn(*arrays, False, np.uint64(loose.shift), np.uint64(bits_of(n)))
        counts = crew.counters((len(loose.chunks), bucket_count(n, loose.shift)))
        crew.each(len(loose.chunks), lambda i: count_columns(*loose.chunks[i], turn, counts[i]))
        return loose._replace(columns=counts)

    def _place(self, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return where own keys go, given how many there are; see :func:`keys_of`."""
        buckets, rank = counts.shape[1], self._group.rank
        sizes = [2 * threads * buckets for threads in self._threads]
        everyone = np.concatenate(self._group.gather(counts.ravel(), sizes)).reshape(-1, buckets)
        places, starts = cursors(everyone)
        first = 2 * sum(self._threads[:rank])
        total, n = int(starts[-1]), self._lines.n
        kinds = key_dtype(bits_of(n) + self._shift + 1), key_dtype(bits_of(n) + self._shift)
        size = max(kind.itemsize for kind in kinds) * total
        self._crew = self._made(size, total, buckets)
        self._spare = self._crew.take(size, np.uint8)
        keys = self._spare.view(kinds[0])[:total]
        return np.ascontiguousarray(places[first : first + len(counts)]), starts, keys

    def _made(self, keys: int, total: int, buckets: int) -> Crew:
        """Return a crew with memory for so many bytes of keys; there are ``total``."""
        job, group = self._job, self._group
        rows = room_for(keys) + self._rows_bytes(total, buckets)
        held = self._lines.src.nbytes + self._lines.dst.nbytes
        after = rows // group.size + self._placed_bytes(total)
        need = max(held + room_for(keys) // group.size, after) + LABEL * self._lines.n + PROGRAM
        together(group, lambda: require(need, job.options.memory, what="sorting its rows in memory"))
        return Crew(group, job.workers, job.threads, room_for(keys))

    def _make_rows(self, crew: Crew, total: int, buckets: int) -> None:
        """Have memory for rows: pages that lines have let go are dear no more."""
        try:
            crew.more(self._rows_bytes(total, buckets))
        except NotShared:
            what = f"{self._group.host} does not give the memory that ranks share"
            raise Agreed(DoesNotFitError(what, remedies=("free some memory",))) from None

    def _placed_bytes(self, total: int) -> int:
        """Return the bytes of what :func:`placed_for_each` makes: a file that is not compressed takes no such rows."""
        if self._job.targets.compressed is None:
            return 0
        n, ids = self._lines.n, id_dtype(self._lines.n).itemsize
        copies = 2 if self._what.both or self._twin else 1
        return (1 + self._twin) * 8 * (n + 1) + copies * ids * total // self._group.size

    def _rows_bytes(self, total: int, buckets: int) -> int:
        n, tasks = self._lines.n, TASKS_PER_THREAD * self._members
        offsets = (2 + self._twin) * room_for(8 * (n + 1)) + room_for(8 * n)
        turned = self._what.both or self._twin
        counters = turned * room_for(8 * tasks * buckets) + room_for(16 * tasks) + room_for(8 * buckets)
        counters += self._twin * room_for(8)  # whether sides are equal
        return room_for(id_dtype(n).itemsize * total) + offsets + counters
