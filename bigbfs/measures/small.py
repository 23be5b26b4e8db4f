"""The diameter of a small undirected graph on the CPU: kernels close in on it (:mod:`bigbfs.measures.closing`).

Nothing is placed: of a graph of ten thousand edges that takes longer than the searches. What they leave over for
too long goes on in batches, as what sweeps leave over does.
"""

from __future__ import annotations

import time
from collections.abc import Hashable
from itertools import accumulate
from math import prod
from typing import Any, NamedTuple

import numpy as np

from bigbfs import api
from bigbfs.algorithms.engine import Engine
from bigbfs.algorithms.sweeps.options import LISTED, RIM, SHALLOW
from bigbfs.engines.backends import check_options
from bigbfs.engines.cpu.engine import threads_of
from bigbfs.engines.cpu.rows import Rows, rows_of, sample_rows
from bigbfs.errors import FormatError
from bigbfs.graph.graph import Graph
from bigbfs.jit.kinds import kind_of
from bigbfs.jit.njit import Alike
from bigbfs.measures import closing
from bigbfs.measures.between import Side
from bigbfs.measures.fours import AHEAD
from bigbfs.measures.near import INT32, UINT64, Scratch, shapes
from bigbfs.measures.outcome import Tell
from bigbfs.measures.placing import Until
from bigbfs.measures.serial_search import AT_ONCE, search_at_once
from bigbfs.measures.swept import Searches
from bigbfs.record import Alone, SetupRecord
from bigbfs.sizes import free_memory, integer

VERTICES, EDGES = 2**20, 2**26
"""Of a graph that counts as small, at most: one thread does a search of it in a tenth of a second."""
ROUND = 16
"""Searches of a round."""
SETTLED = 64
"""Where a round settles fewer vertices, searches at once do so sooner; so few that are left go on in any case."""
TOGETHER, STILL_TOGETHER = 512, 4096
"""So few left in a small world are searched from 64 at once; and so few where rounds settle no more."""
IN_A_STEP = 512
"""So many in one step at most."""
IN_A_CALL = 2**25
"""Ids that are read before it is looked whether somebody wants to interrupt: a tenth of a second, about."""
UNASKED = 2**16
"""Vertices up to which nobody is asked whether memory is free, some ten megabytes: that takes as long as a search."""
WORK = 2**31
"""Ids in the rows of all vertices, for each vertex once, up to which one thread searches from all: 64 at once, a tenth
of a second in a small world."""
LINE = 64
"""Bytes of a cache line."""
NO_VERTICES = "neighbour ids are no vertices: the file is damaged; `bigbfs check` says where"
NO_LEVELS = np.empty((0, AT_ONCE), INT32)
"""Where nobody wants them."""


class Kernels(NamedTuple):
    """The kernels for one kind of rows: all else that they are given is always of the same kinds."""

    choose_first: Alike
    close_first_rim: Alike
    close_in: Alike
    search_at_once: Alike


class Found(NamedTuple):
    """Of searches at once: the largest depth, two vertices so far apart, ids read, and ids of no vertex."""

    depth: int
    one: int
    other: int
    read: int
    faults: int


_KERNELS: dict[Hashable, Kernels] = {}
"""By the kind of rows."""


def bytes_of(n: int, m: int) -> int:
    """Return the bytes that the diameter of a small graph of ``n`` vertices and ``m`` edges takes beside the graph."""
    tables = 4 * 8 * max(2 * RIM + 1, min(n, LISTED))
    return sum(map(_padded, _shapes(n))) + INT32.itemsize * _rows_of_four(n, m) + tables + 2**14


def _rows_of_four(n: int, m: int) -> int:
    """Return how many ids there are in the rows of four of a graph of ``n`` vertices and ``m`` edges."""
    return 4 * n if m <= 4 * n else 0


def _shapes(n: int) -> list[tuple[tuple[int, ...], np.dtype]]:
    """Return shapes and dtypes of what else the kernel works on in a graph of ``n`` vertices."""
    queue, sources = (n + AHEAD,), (n + 4,)  # a middle may have been searched from before
    return [((closing.ROWS, n), INT32), (queue, INT32), (sources, INT32), ((3, n), UINT64), *shapes(n)]


def _padded(array: tuple[tuple[int, ...], np.dtype]) -> int:
    """Return the bytes of an array of that shape and dtype up to the next cache line."""
    return -(-prod(array[0]) * array[1].itemsize // LINE) * LINE


def small_of(graph: Graph | Engine, threads: int | None, backend: str) -> Small | None:
    """Return what finds the diameter of ``graph`` where it is small, undirected, and on the CPU, and there is room.

    Raises
    ------
    UsageError
        The backend is unknown, or cannot have so many threads.
    FormatError
        The graph is damaged.
    """
    here = graph if isinstance(graph, Graph) else graph.graph
    if type(here) is not Graph or not here.flags.symmetric or not 0 < here.n <= VERTICES or here.m > EDGES:
        return None
    setup = SetupRecord()
    if isinstance(graph, Engine):
        chosen, setup = graph.backend, graph.setup
    else:
        chosen = api.choose_backend(backend)
        threads = None if threads is None else integer("threads", threads, 1)
        check_options(backend, chosen, {}, threads)
        threads_of(threads)
    if chosen != "cpu" or (here.n > UNASKED and bytes_of(here.n, here.m) > free_memory()):
        return None
    here.require_valid()
    return Small(here, setup)


def _kernels_for(rows: Rows, ids: np.dtype, setup: SetupRecord) -> Kernels:
    """Return the kernels for rows of one kind, compiled."""
    found = _KERNELS.get(kind := kind_of(rows))
    if found is None:
        start = time.perf_counter()
        kernels = closing.choose_first, closing.close_first_rim, closing.close_in, search_at_once
        found = Kernels(*map(Alike, kernels))
        sample, given = sample_rows(rows, ids), _arrays(2, 2)
        _first(found, sample, 2, given, 0)
        at_once(found, sample, 2, given, given[2][:1], NO_LEVELS)
        setup.compile += time.perf_counter() - start
        _KERNELS[kind] = found
    return found


def _first(kernels: Kernels, rows: Rows, m: int, given: Given, few: int) -> None:
    """Search from the hub of the largest component, and look at the vertices farthest from it."""
    work, queue, searched, told, scratch = given[:-1]
    while True:
        kernels.choose_first(rows, m, work, queue, told, scratch)
        if told[closing.FAULTS]:
            return
        if told[closing.NEXT] < 0:
            break
        kernels.close_in(rows, m, *given[:-1], 0, 0, few)
        if told[closing.FAULTS]:
            return
        if told[closing.REACHED] > max(1, told[closing.LINKED] - told[closing.REACHED]):
            break  # no other component can be as large
    kernels.close_first_rim(rows, m, work, searched, told, scratch)
    if told[closing.LEFT]:
        kernels.close_in(rows, m, *given[:-1], 0, 0, few)


def at_once(kernels: Kernels, rows: Rows, m: int, given: Given, sources: np.ndarray, levels: np.ndarray) -> Found:
    """Search from up to 64 ``sources``; their depths are in ``given`` then."""
    work, queue, _, _, scratch, words = given
    found, others = scratch.numbers[0], work[closing.OTHERS]
    inside = work[closing.UPPER]
    return Found(*map(int, kernels.search_at_once(rows, m, inside, sources, found, levels, words, queue, others)))


Given = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, Scratch, np.ndarray]
"""What the kernels work on, in the order of their arguments."""


def _arrays(n: int, m: int) -> Given:
    """Return what the kernels work on in a graph of ``n`` vertices and ``m`` edges.

    All but the rows is in one piece: of several that are given back the system takes some, and brings them again page
    by page. It does so with pieces of more than 32 MiB, too.
    """
    asked = _shapes(n)
    ends = [0, *accumulate(map(_padded, asked))]
    block = np.empty(ends[-1], np.uint8)
    made: list[Any] = [np.ndarray(*each, block, at) for each, at in zip(asked, ends, strict=False)]
    work, queue, searched, words, numbers, flags, levels, pairs, sums, bits = made
    bits[:] = 0
    told = np.zeros(len(closing.FIELDS), np.int64)
    ids = words.reshape(3 * n).view(INT32).reshape(6, n)  # for pairs, when there are no searches at once
    sides = Side(bits[0], ids[0], ids[1]), Side(bits[1], ids[2], ids[3])
    fours, seen = np.empty(_rows_of_four(n, m), INT32), ids[4].view(np.uint8)[:n]
    return work, queue, searched, told, Scratch(numbers, flags, levels, pairs, sums, *sides, fours, seen), words


class Small(Searches):
    """The searches of one run, nearly all of them in one kernel."""

    def __init__(self, graph: Graph, setup: SetupRecord) -> None:
        super().__init__(graph)
        n, self._few = graph.n, TOGETHER
        self._rows = rows_of(graph.adjacency)
        self._kernels = _kernels_for(self._rows, graph.ids, setup)
        self._given = _arrays(n, graph.m)
        self._work, _, self._sources, self._told = self._given[:4]
        self._read: dict[str, int] = {}  # told, by name

    def run(self, until: Until, tell: Tell | None) -> bool:
        """See :class:`Searches`."""
        return self.go_on(until, tell)

    def go_on(self, until: Until, tell: Tell | None, *, patient: bool = False) -> bool:
        """See :class:`Searches`."""
        most, alone = IN_A_CALL if until.never and tell is None else -1, Alone.now()
        try:
            return self._go_on(until, tell, patient, most)
        finally:
            self.record.lost = max(self.record.lost, alone.lost())

    def _go_on(self, until: Until, tell: Tell | None, patient: bool, most: int) -> bool:
        told = self._told
        if not told[closing.SEARCHES]:
            self._step(0, 0)
        before = self.left
        while True:
            if tell is not None:
                tell(self.left, self.diameter)
            if not self.left or until():
                return True
            if told[closing.SEARCHES] % ROUND == 0 and not patient:
                if self.left > SETTLED and before - self.left < SETTLED:
                    if self.left > STILL_TOGETHER or self.longest[0] > SHALLOW:
                        return False
                    self._few = STILL_TOGETHER
                before = self.left
            self._step(most, ROUND - int(told[closing.SEARCHES]) % ROUND)

    def _step(self, most: int, rounds: int) -> None:
        """Search until ``most`` ids are read, ``rounds`` searches are made, or nobody is left."""
        start = time.perf_counter()
        self._search(most, rounds)
        spent = time.perf_counter() - start
        told = dict(zip(closing.FIELDS, self._told.tolist(), strict=True))
        if told["faults"]:
            raise self._damaged(NO_VERTICES)
        if told["torn"]:
            raise self._damaged("an edge u -> v has no twin v -> u: `bigbfs check` says where")
        self.longest = told["longest"], told["one"], told["other"]
        self.left, self.top, self._read = told["left"], told["top"], told
        mine = self.record
        mine.sources, mine.batches, mine.pairs = told["searches"], told["batches"], told["reaches"]
        mine.width = AT_ONCE if told["batches"] < told["searches"] else 1
        mine.edges_read, mine.seconds = told["read"], mine.seconds + spent

    def _damaged(self, what: str) -> FormatError:
        return FormatError(f"{self._graph.path or 'the graph'}: {what}")

    def _search(self, most: int, rounds: int) -> None:
        """Do so; what comes out is told."""
        told, given = self._told, (self._rows, self._graph.m)
        if not told[closing.SEARCHES]:
            _first(self._kernels, *given, self._given, self._few)
            return
        if told[closing.STAGE] > 3 and closing.COVERED < self.left <= self._few and self.longest[0] <= SHALLOW:
            self._search_together()
            rounds = 0
        if told[closing.LEFT]:
            self._kernels.close_in(*given, *self._given[:-1], most, rounds, self._few)

    def _search_together(self) -> None:
        """Search from those that are left, ``work[OPEN]``: what comes out, of all of them, is the diameter."""
        work, told = self._work, self._told
        last = min(self.left, IN_A_STEP)
        for first in range(0, last, AT_ONCE):
            sources = work[closing.OPEN, first : min(last, first + AT_ONCE)]
            depths, found = self.search_at_once(sources)
            told[closing.READ] += found.read
            if found.depth > told[closing.LONGEST]:
                told[closing.LONGEST : closing.OTHER + 1] = found[:3]
            count = len(sources)
            work[closing.LOWER, sources] = work[closing.UPPER, sources] = depths
            searches = int(told[closing.SEARCHES])
            self._sources[searches : searches + count] = sources
            told[closing.SEARCHES] += count
            told[closing.REACHES] += count * told[closing.REACHED]
            told[closing.BATCHES] += 1
        told[closing.LEFT] -= last
        told[closing.STAGE] *= -1

    @property
    def may_search_from_all(self) -> bool:
        """Whether to search from all vertices takes no longer than to place the graph for others, and wait for them."""
        n, m = self._graph.n, self._graph.m
        return n <= UNASKED and n * m <= WORK and self.longest[0] <= SHALLOW

    def search_at_once(self, sources: np.ndarray, levels: np.ndarray = NO_LEVELS) -> tuple[np.ndarray, Found]:
        """Search from up to 64 ``sources``, int32; return the depth of each and what was found.

        ``levels``, int32 (n, sources), receives those of the component.

        Raises
        ------
        FormatError
            Ids were met that are no vertices.
        """
        found = at_once(self._kernels, self._rows, self._graph.m, self._given, sources, levels)
        if found.faults:
            raise self._damaged(NO_VERTICES)
        return self._given[4].numbers[0][: len(sources)], found

    def known(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """See :class:`Searches`."""
        work, told = self._work, self._read
        below, above = work[closing.LOWER], work[closing.UPPER]
        if told["searches"] == 1:  # the kernel renews bounds when there are more
            levels = work[closing.FIRST_SLOT]
            depth = levels.max()
            below[:], above[:] = np.maximum(levels, depth - levels), np.where(levels < 0, -1, depth + levels)
            below[levels < 0] = 0
        ends = list(self.longest[1:])  # which may have been found as a pair, by no search of either
        below[ends] = np.maximum(below[ends], self.longest[0])
        return below, above, work[closing.FIRST_SLOT + told["ball"]].astype(np.int64)

    @property
    def searched(self) -> list[int]:
        """See :class:`Searches`."""
        found: list[int] = self._sources[: self._read["searches"]].tolist()
        return found

    @property
    def reached(self) -> int:
        """See :class:`Searches`."""
        return self._read["reached"]

    @property
    def lowest(self) -> tuple[int, int]:
        """See :class:`Searches`."""
        read = self._read
        if read["batches"] == read["searches"]:
            return read["floor"], read["ceiling"]
        below, above, _ = self.known()  # searches at once change bounds that nobody looks through
        inside = above >= 0
        return int(below[inside].min()), int(above[inside].min())
