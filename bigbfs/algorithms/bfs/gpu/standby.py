"""The CPU beside a search on a device: one thread that walks levels of a few vertices.

Such a level is a chain of memory latencies: some microseconds on a device, a tenth of one on a CPU. The walker keeps
the state of one search on the host; it is told where the device stands, and says what it has found. Its arrays are
touched where it walks and nowhere else. Numba is imported when a walker is made, not with this module. Source: report
002 ("CPU fallback when deep").
"""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bigbfs.graph.graph import Graph
from bigbfs.record import LevelRecord

if TYPE_CHECKING:
    from bigbfs.engines.cpu.rows import Rows

LAST_LEVEL = 2**31 - 2


@dataclass(frozen=True, slots=True)
class Walked:
    """What the CPU has found.

    Attributes
    ----------
    found
        id, shape (k,): the vertices reached, level by level.
    parents, levels
        Of these: id and int32, shape (k,).
    begin
        Where the next frontier begins in ``found``; it goes to the end.
    level, depth
        Level of the first frontier, and of the next.
    edges
        Edges in the rows of the next frontier.
    faults
        Ids met that are no vertices.
    """

    found: np.ndarray
    parents: np.ndarray
    levels: np.ndarray
    begin: int
    level: int
    depth: int
    edges: int
    faults: int


class Walker:
    """Thin levels of a search over ``rows``, by one thread.

    Parameters
    ----------
    rows
        Rows of n vertices.
    ids
        Dtype of an id.
    edges
        Edges of the rows.

    Attributes
    ----------
    visited
        Bitmap, uint32 words, two more than vertices take: who is reached. The caller fills it before each walk.
    queue
        id, shape (n + 1,): the caller puts the frontier at its beginning.
    """

    def __init__(self, rows: Rows, ids: np.dtype, edges: int) -> None:
        from bigbfs.algorithms.bfs.cpu.state import State
        from bigbfs.algorithms.bfs.cpu.topdown import HUB_EDGES, HUB_TAIL
        from bigbfs.engines.cpu.rows import row_count

        self._rows, n = rows, row_count(rows)
        words = -(-n // 64)
        self._no_vertex = np.uint64(words * 64)  # its bit, in a word of its own, is never set
        visited = np.zeros(words + 1, np.uint64)
        self.visited, self.queue = visited.view(np.uint32), np.empty(n + 1, ids)
        nothing, no_ids = np.empty(0, np.uint64), np.empty(0, ids)
        self._state = State(
            queue=self.queue,
            hubs=np.empty(min(n, edges // HUB_EDGES) + 1, ids),
            next_hubs=no_ids,
            pieces=nothing,
            tails=np.zeros(2 * HUB_TAIL, np.uint64),
            visited=visited,
            before=nothing,
            parents=np.empty(n, ids),
            levels=np.empty(n, np.int32),
            heads=np.empty((0, n), ids),
            short=nothing,
            buffers=np.empty((0, 2, 0), ids),
            claim=nothing,
            tallies=nothing,
            faults=np.zeros(1, np.uint64),
        )

    def walk(self, count: int, level: int, *, last: int, most: int) -> Walked:
        """Go on from ``queue[:count]``, the frontier of ``level``, which holds no hub, until a level has more than
        ``most`` edges, or is the ``last``, or nothing is left."""
        from bigbfs.algorithms.bfs.cpu.topdown import walk

        state = self._state
        state.faults[0] = 0
        window, depths = (np.uint64(0), np.uint64(count)), (np.int32(level), np.int32(min(last, LAST_LEVEL)))
        begin, end, hubs, depth, left, _ = walk(self._rows, state, *window, *depths, np.uint64(most), self._no_vertex)
        found = np.concatenate([self.queue[count : int(end)], state.hubs[: int(hubs)]])
        return Walked(
            found=found,
            parents=state.parents[found],
            levels=state.levels[found],
            begin=int(begin) - count,
            level=level,
            depth=int(depth),
            edges=int(left),
            faults=int(state.faults[0]),
        )

    def records(self, walked: Walked, count: int, edges: int) -> list[LevelRecord]:
        """Return a record, without a time, of each level expanded; the first had ``count`` vertices and ``edges``."""
        from bigbfs.engines.cpu.rows import row_lengths

        level, number = walked.level, walked.depth - walked.level
        after = walked.levels - (level + 1)
        sizes = [count, *np.bincount(after, minlength=number).tolist()]
        lengths = np.bincount(after, row_lengths(self._rows, walked.found), number).astype(np.int64)
        edges_of = [edges, *lengths.tolist()]
        return [
            LevelRecord(level + i, "top-down", sizes[i], float("nan"), edges_of[i], backend="cpu")
            for i in range(number)
            if sizes[i]
        ]


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
        small = Walker(sample_rows(rows, ids), ids, 2)
        small.queue[0] = 0
        small.walk(1, 0, last=1, most=1)  # that compiles
        return Walker(rows, ids, graph.m)
