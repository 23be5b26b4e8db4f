"""The CPU beside a search on a device: one thread that walks levels of a few vertices.

Such a level is a chain of memory latencies: some microseconds on a device, a tenth of one on a CPU. The walker keeps
the state of one search on the host; it is told where the device stands, and says what it has found. Its arrays are
touched where it walks and nowhere else. Numba is imported when a walker is made, not with this module. Source: report
002 ("CPU fallback when deep").
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bigbfs.algorithms.bfs.level_records import table_of
from bigbfs.graph.graph import Graph

if TYPE_CHECKING:
    from bigbfs.engines.cpu.rows import Rows

LAST_LEVEL = 2**31 - 2

PARTS = 3
"""Ids that are handed over for each vertex: itself, its parent, its level; all vertices come first."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How far to walk: to level ``last``, or until the edges that levels have above ``thin``, less what others have
    below it, are more than ``most``."""

    last: int
    thin: int
    most: int


@dataclass(slots=True)
class Walked:
    """What the CPU has done.

    Attributes
    ----------
    levels
        How many were done.
    depth
        Level of the next frontier.
    count, edges
        Its vertices, which were found last, and the edges in their rows.
    found
        Vertices found.
    read
        Edges of the levels done.
    faults
        Ids met that are no vertices.
    """

    depth: int
    count: int
    levels: int = 0
    edges: int = 0
    found: int = 0
    read: int = 0
    faults: int = 0


class Walker:
    """Thin levels of a search over ``rows``, by one thread.

    Parameters
    ----------
    rows
        Rows of n vertices.

    Attributes
    ----------
    visited
        Bitmap, uint32 words, two more than vertices take: who is reached. The caller fills it before each walk.
    """

    def __init__(self, rows: Rows) -> None:
        from bigbfs.engines.cpu.rows import row_count

        self._rows, self._n = rows, row_count(rows)
        self._visited = np.zeros(-(-self._n // 64) + 1, np.uint64)
        self.visited = self._visited.view(np.uint32)
        self._levels = np.empty((self._n + 1, 2), np.uint32)
        self._faults = np.zeros(1, np.uint64)

    def walk(
        self, queue: np.ndarray, walked: Walked, limits: Limits, rooms: Callable[[], np.ndarray]
    ) -> Iterator[slice]:
        """Go on from ``queue`` (id), the frontier that ``walked`` begins with, and keep that up to date.

        ``rooms`` gives memory, id (``PARTS``, room), for what is found. Whenever one is full, and at the end, it is
        yielded which columns of it are new. It must be left alone until the next is asked for.
        """
        from bigbfs.algorithms.bfs.cpu.thin import follow

        frontier, self._faults[0] = queue, 0
        rows, n, last = self._rows, np.uint64(self._n), np.int64(min(limits.last, LAST_LEVEL))
        thin, most, owed, full = np.uint64(limits.thin), np.uint64(limits.most), np.uint64(0), True
        while full:
            found, before, count = rooms(), walked.levels, len(frontier)
            assert count <= found.shape[1]
            found[0, :count] = frontier
            begin, end, done, depth, owed, edges, read, full = follow(
                rows, self._visited, self._faults, found, np.uint64(count), self._levels, n, np.uint64(before),
                np.int64(walked.depth), last, thin, most, np.uint64(owed),
            )  # fmt: skip
            walked.levels, walked.depth, walked.count = int(done), int(depth), int(end) - int(begin)
            walked.edges, walked.read, walked.faults = int(edges), walked.read + int(read), int(self._faults[0])
            walked.found += int(end) - count
            frontier = found[0, int(begin) : int(end)].copy()
            if int(end) > count:
                yield slice(count, int(end))
            full = full and walked.levels > before

    def records(self, walked: Walked) -> np.ndarray:
        """Return the levels of the last walk (a table of level_records.py); none has a time of its own."""
        sizes = self._levels[: walked.levels]
        return table_of(walked.levels, on_cpu=True, frontier=sizes[:, 0], edges=sizes[:, 1])


class Standby:
    """A walker over ``graph`` that is made, in a thread, when it is first asked for.

    Importing and loading what compiles it takes a second or two; the device goes on meanwhile.
    """

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._made: Future[Walker] | None = None

    def ask(self) -> Walker | None:
        """Return the walker, or None while it is being made, or where there is no memory for it."""
        if self._made is None:
            maker = ThreadPoolExecutor(1, "bigbfs-standby")
            self._made = maker.submit(self._make)
            maker.shutdown(wait=False)
        if not self._made.done() or isinstance(self._made.exception(), MemoryError):
            return None
        return self._made.result()

    def wait(self) -> None:
        """Return when the walker is made; it has been asked for."""
        if self._made is not None:
            self._made.exception()

    def _make(self) -> Walker:
        from bigbfs.engines.cpu.rows import rows_of, sample_rows

        graph = self._graph
        rows, ids = rows_of(graph.adjacency), graph.ids
        small, room = Walker(sample_rows(rows, ids)), np.empty((PARTS, 3), ids)
        list(small.walk(np.zeros(1, ids), Walked(0, 1), Limits(1, 1, 0), lambda: room))  # that compiles
        return Walker(rows)
