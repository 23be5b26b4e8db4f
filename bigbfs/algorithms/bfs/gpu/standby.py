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
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bigbfs.algorithms.bfs.level_records import table_of
from bigbfs.graph.graph import Graph
from bigbfs.jit.njit import Alike

if TYPE_CHECKING:
    from bigbfs.engines.cpu.rows import Rows

LAST_LEVEL = 2**31 - 2

WIDEST = 1 << 16
"""No level that is walked has so many vertices, or edges."""

PARTS = 3
"""Rows of what is handed over: vertices, their parents, and the columns where levels end."""


class Part(NamedTuple):
    """What a walk has written to one memory: columns ``begin`` to ``end - 1``, ``levels`` ends of levels.

    ``depth`` is the level of the vertices before the first end; ``over``: the walk ends here.
    """

    begin: int
    end: int
    levels: int
    depth: int
    over: bool


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
    words
        uint32 words of the bitmap of who is reached, two more than vertices take (:meth:`begin`).
    """

    def __init__(self, rows: Rows) -> None:
        from bigbfs.algorithms.bfs.cpu.thin import follow
        from bigbfs.engines.cpu.rows import row_count

        self._follow = Alike(follow)
        self._rows, self._n = rows, row_count(rows)
        self.words = 2 * (-(-self._n // 64) + 1)
        self._levels = np.empty(self._n + 1, np.uint32)
        self._faults = np.zeros(1, np.uint64)

    def walk(
        self,
        visited: np.ndarray,
        queue: np.ndarray,
        walked: Walked,
        limits: Limits,
        rooms: Callable[[], tuple[np.ndarray, int]],
    ) -> Iterator[Part]:
        """Go on from ``queue`` (id), the frontier that ``walked`` begins with, and keep that up to date.

        ``visited`` is uint64 (``words`` / 2,): who is reached. ``rooms`` gives memory, id (``PARTS``, columns), for
        what is found, and how many columns may be used; memory of the part before with more of them, or other memory,
        of which a few thousand columns may be used at least. Whenever these are full, and at the end, it is yielded
        what stands in the memory.
        """
        self._faults[0] = 0
        rows, n, depth = self._rows, np.uint64(self._n), walked.depth
        last = np.uint64(max(0, min(limits.last, LAST_LEVEL) - depth))
        assert max(len(queue), limits.thin + limits.most) < WIDEST
        thin, most, owed = np.uint64(limits.thin), np.uint64(limits.most), np.uint64(0)
        found, over = np.empty((0, 0), queue.dtype), False
        while not over:
            before, memory = walked.levels, found
            found, room = rooms()
            fresh = found is not memory
            if fresh:
                kept = end = len(queue)
                found[0, :kept], begin, since = queue, 0, before
                assert kept <= room
            begin, tail, done, owed, edges, read, full = self._follow(
                rows, visited, self._faults, found, np.uint64(room), np.uint64(begin), np.uint64(end), self._levels, n,
                np.uint64(since), np.uint64(before), last, thin, most, np.uint64(owed),
            )  # fmt: skip
            walked.levels, walked.depth, walked.count = int(done), depth + int(done), int(tail) - int(begin)
            walked.edges, walked.read, walked.faults = int(edges), walked.read + int(read), int(self._faults[0])
            walked.found, end = walked.found + int(tail) - end, int(tail)
            over = not full or (fresh and walked.levels == before)
            queue = found[0, int(begin) : end]
            yield Part(kept, end, walked.levels - since, depth + since + 1, over)

    def records(self, walked: Walked) -> np.ndarray:
        """Return the levels of the last walk (a table of level_records.py); none has a time of its own."""
        from bigbfs.algorithms.bfs.cpu.thin import HALF

        levels = self._levels[: walked.levels]
        sizes, edges = levels >> np.uint32(HALF), levels & np.uint32(WIDEST - 1)
        return table_of(walked.levels, on_cpu=True, frontier=sizes, edges=edges)


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
        nobody = np.zeros(small.words // 2, np.uint64)
        list(small.walk(nobody, np.zeros(1, ids), Walked(0, 1), Limits(1, 1, 0), lambda: (room, 3)))  # that compiles
        return Walker(rows)
