"""The conversion by ranks whose shares fit in memory: read, number, deal to the owners of the rows, sort, write.

The kernels and the order of steps are those of one process (``conversion/in_memory``, ``sorting/lines``). Ranks of one
machine take them on one state where they can (:mod:`bigbfs.conversion.spread.common`). Others make two exchanges of
keys: before own rows are sorted, and before their transpose is placed. Nothing is kept on disk: who is killed begins
anew.
"""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from bigbfs.conversion.in_memory.build import expand
from bigbfs.conversion.in_memory.relabel import Others, Vertices, find_vertices, number_lines
from bigbfs.conversion.on_disk.work import Job
from bigbfs.conversion.sorting.lines import BuildCounts, Lines, rows_from_lines
from bigbfs.conversion.sorting.rule import Meaning, meaning
from bigbfs.conversion.spread.assemble import OwnRows, Whole, assemble
from bigbfs.conversion.spread.common import Common, placed_for_each, sorted_in_common
from bigbfs.conversion.spread.common_file import write_in_common
from bigbfs.conversion.spread.dealing import Dealer
from bigbfs.conversion.spread.fitting import require_share
from bigbfs.conversion.spread.pieces import ArrayPieces, FilePieces, Pieces
from bigbfs.conversion.spread.shares import agreed_lists, own_bytes, read_shares
from bigbfs.engines.ranks.agreeing import together
from bigbfs.engines.ranks.group import Group
from bigbfs.formats.container.compress import RowEncoder
from bigbfs.formats.container.sections import SectionFile
from bigbfs.formats.readers.blocks import BLOCK_BYTES
from bigbfs.formats.readers.edge_buffer import EdgeBuffer
from bigbfs.formats.readers.read import default_ahead
from bigbfs.graph.adjacency import PlainAdjacency, id_dtype
from bigbfs.graph.edges import EdgeList
from bigbfs.graph.transposing import Csr, Loose, bits_of, bucket_count, bucket_shift, transpose

BUCKETS = 16
"""Buckets for each rank, at least: so many pieces can be dealt evenly."""
SAMPLED = 64
"""One line of so many is looked at to see where the edges go."""


def convert_in_memory(job: Job, readers: list[int | None], group: Group) -> Whole:
    """Convert, all ranks together; return what was written.

    ``readers``: which rank reads an input; None: all do, a share each.

    Raises
    ------
    Agreed
        Of a DoesNotFitError: there are more edges than their beginning let expect, and nothing has been written; what
        :func:`bigbfs.conversion.spread.convert.convert_over_ranks` raises.
    """
    with job.watch.phase("read"):
        lists = _read(job, readers, group)
    job.notes += [note for edges in lists for note in edges.notes]
    counted = _counted(lists, group)
    what = meaning(lists, job.options)
    with job.watch.phase("build"), job.told(0, "", "build"):
        vertices, lines = _numbered(job, what, lists, group)
        common = sorted_in_common(job, what, lines, group)
    if common is not None and job.targets.compressed is None:
        return _written(job, common, vertices, counted, group)
    with ExitStack() as stack:
        with job.watch.phase("build"), job.told(0, "", "build"):
            if common is None:
                built = _Builder(job, what, group).build(vertices, lines)
            else:
                built = _share_of(common, job, vertices, group)
            counts = built.counts
            found = group.sum([counts.self_loops, counts.duplicates, counts.reversed]).tolist()
            counted |= dict(zip(("self_loops", "duplicates", "reversed"), found, strict=True))
        own = _own_rows(job, built, stack, group)
        flags = job.options.flags(symmetric=what.both or own.symmetric, self_loops=counted["self_loops"])
        return assemble(job, own, flags, counted, own.symmetric, 0, group)


def _numbered(job: Job, what: Meaning, lists: list[EdgeList], group: Group) -> tuple[Vertices, Lines]:
    """Return the vertices of all, and own lines in their numbers; ``lists`` is emptied."""
    if what.expand:
        expand(lists)
    others = _OtherRanks(group)
    vertices, numbering = find_vertices(lists, keep_ids=job.options.keep_ids, threads=job.threads, others=others)
    return vertices, number_lines(lists, vertices, numbering, job.threads, reuse=True)


def _share_of(common: Common, job: Job, vertices: Vertices, group: Group) -> _Built:
    """Return own rows of those that all have sorted; rank 0 has the counts of all."""
    rows, (out, *into) = placed_for_each(common, job, group)
    counts = BuildCounts(**common.counted) if group.rank == 0 else BuildCounts()
    return _Built(vertices, rows, out, into[0] if into else None, counts, common.symmetric)


def _written(job: Job, common: Common, vertices: Vertices, counted: dict[str, int], group: Group) -> Whole:
    """Write rows that all have sorted."""
    counted |= common.counted
    flags = job.options.flags(symmetric=common.symmetric, self_loops=counted["self_loops"])
    first_id = 0 if vertices.labels is not None else vertices.first_id
    with job.watch.phase("write"), job.told(0, "", f"write {job.targets.plain}"):
        return write_in_common(job, common, counted, vertices.labels, first_id, flags, group)


def _read(job: Job, readers: list[int | None], group: Group) -> list[EdgeList]:
    """Return what this rank reads of each input."""
    ahead = default_ahead(job.threads)

    def buffer(number: int, name: str) -> EdgeBuffer:
        return EdgeBuffer(name, job.options.memory)

    with job.told(own_bytes(job, group), "B", "read") as told:
        how = {"block_bytes": BLOCK_BYTES, "ahead_bytes": ahead}
        shares = together(group, lambda: read_shares(job, readers, buffer, group, progress=told.advance, **how))
    return agreed_lists(job, shares, readers, group)


def _counted(lists: list[EdgeList], group: Group) -> dict[str, int]:
    mine = {
        "lines": sum(len(edges.src) for edges in lists),
        "comment_lines": sum(edges.comment_lines for edges in lists),
        "skipped_lines": 0,
        "input_bytes": sum(edges.input_bytes for edges in lists),
    }
    return dict(zip(mine, group.sum(list(mine.values())).tolist(), strict=True))


class _OtherRanks(Others):
    """What the other ranks have read."""

    def __init__(self, group: Group) -> None:
        self._group = group

    def extent(self, found: tuple[int, int] | None) -> tuple[int, int] | None:
        everyone = [each for each in self._group.objects(found) if each is not None]
        return (min(low for low, _ in everyone), max(high for _, high in everyone)) if everyone else None

    def occurrences(self, count: int) -> int:
        return int(self._group.sum([count])[0])

    def mark(self, bits: np.ndarray) -> None:
        step = 1 << 18
        for first in range(0, len(bits), step):
            here = bits[first : first + step]
            here[:] = np.bitwise_or.reduce(self._group.gather(here, [len(here)] * self._group.size))

    def labels(self, labels: np.ndarray) -> np.ndarray:
        return np.unique(np.concatenate(self._group.gather(labels)))


class _Built:
    """Own rows in memory: vertices of all, the first own row and the first behind, rows on both sides.

    ``symmetric``: whether in-rows of all are the out-rows; None: nobody has looked.
    """

    def __init__(
        self,
        vertices: Vertices,
        rows: tuple[int, int],
        out: Csr,
        into: Csr | None,
        counts: BuildCounts,
        symmetric: bool | None = None,
    ):
        self.vertices, self.rows, self.counts = vertices, rows, counts
        self.out, self.into, self.symmetric = out, into, symmetric


class _Builder:
    """Builds own rows of the edges that all have read."""

    def __init__(self, job: Job, what: Meaning, group: Group) -> None:
        self._options, self._threads, self._what, self._group = job.options, job.threads, what, group

    def build(self, vertices: Vertices, lines: Lines) -> _Built:
        """Return own rows; ``lines`` loses its arrays."""
        options, what, group = self._options, self._what, self._group
        total = int(group.sum([len(lines)])[0])
        shift = _shift(vertices.n, total, group.size)
        stored = _stored(lines, shift, both=what.both or options.in_edges)

        def require(sorted_here: int, stored_here: int) -> None:
            together(group, lambda: require_share(vertices.n, sorted_here, stored_here, options))

        deal = Dealer(stored, vertices.n, shift, require, group)
        rows, counts, spare = rows_from_lines(
            lines,
            self._threads,
            undirected=what.both,
            copies=what.copies,
            keep_loops=options.keep_self_loops,
            deal=deal,
        )
        if isinstance(rows, Loose):
            out = transpose(rows, self._threads, head=True, spare=spare, deal=deal)
            return _Built(vertices, deal.rows, out, None, counts)
        into = transpose(rows, self._threads, spare=spare, deal=deal) if options.in_edges else None
        return _Built(vertices, deal.rows, rows, into, counts)


def _shift(n: int, lines: int, size: int) -> int:
    """Return log2 of the rows in a bucket: as one process has it, or less, so that there is a run for each rank."""
    return max(0, min(bucket_shift(n, lines), bits_of(n) - (BUCKETS * size - 1).bit_length()))


def _stored(lines: Lines, shift: int, *, both: bool) -> np.ndarray:
    """Return about how many edges these lines make in the rows of each bucket: both ends of each, or the first."""
    buckets, scale = bucket_count(lines.n, shift), np.int64(SAMPLED)
    ends = (lines.src, lines.dst) if both else (lines.src,)
    found = np.zeros(buckets, np.int64)
    for end in ends:
        found += scale * np.bincount(end[::SAMPLED] >> end.dtype.type(shift), minlength=buckets)
    return found


def _own_rows(job: Job, built: _Built, stack: ExitStack, group: Group) -> OwnRows:
    """Return own rows as they go to the files; ``stack`` lets go of them."""
    low, end = built.rows
    sides = {prefix: _adjacency(rows, low, end) for prefix, rows in (("", built.out), ("in_", built.into)) if rows}
    out, into = sides[""], sides.get("in_")
    symmetric = built.symmetric
    if symmetric is None:
        same = into is not None and all(np.array_equal(*pair) for pair in zip(*map(_arrays, (out, into)), strict=True))
        symmetric = all(group.lengths(int(same)))
    if symmetric:
        sides.pop("in_", None)
    labels = built.vertices.labels
    own_labels = {} if labels is None else {"labels": labels[low:end]}
    pieces: dict[str, Pieces] = {}
    if job.targets.plain is not None:
        arrays = {prefix + name: array for prefix, side in sides.items() for name, array in side.arrays().items()}
        pieces["plain"] = ArrayPieces(own_labels | arrays)
    if job.targets.compressed is not None:
        with job.watch.phase("compress"):
            pieces["varint"] = _encoded(job, sides, own_labels, low, built.vertices.n, stack)
    counts = built.counts
    return OwnRows(
        pieces,
        0 if labels is not None else built.vertices.first_id,
        id_dtype(built.vertices.n),
        end - low,
        out.m,
        np.array([counts.duplicates, 2 * counts.reversed]),
        symmetric,
        partitions=0,
    )


def _adjacency(rows: Csr, low: int, end: int) -> PlainAdjacency:
    """Return own rows alone, which begin at 0."""
    indptr, indices = rows
    return PlainAdjacency(indptr[low : end + 1].view(np.uint64), indices)


def _arrays(adjacency: PlainAdjacency) -> tuple[np.ndarray, np.ndarray]:
    return adjacency.indptr, adjacency.indices


def _encoded(
    job: Job, sides: dict[str, PlainAdjacency], labels: dict[str, np.ndarray], first: int, n: int, stack: ExitStack
) -> FilePieces:
    """Return own rows, compressed: in memory that looks like a file, and has no name."""
    stream = stack.enter_context(os.fdopen(os.memfd_create("bigbfs-rows"), "w+b"))
    file = SectionFile(stream)
    for name, array in labels.items():
        file.open(name, array.dtype, len(array))
        file.append(name, array)
    for prefix, side in sides.items():
        encoder = RowEncoder(file, prefix, n, side.m, side.ids)
        encoder.add(side, first, "own rows", threads=job.threads)
        encoder.close()
    return FilePieces(Path(f"/proc/self/fd/{stream.fileno()}"), file.settle()[0])
