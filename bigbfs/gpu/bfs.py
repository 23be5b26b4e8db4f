"""The level loop of a BFS on a device, and its state.

In: placed rows (out-neighbours; in-neighbours too, where bottom-up may run). Out: levels int32 (n), parents id (n) in
host memory, and what the run measured. The host launches each level and reads the counters once at its end: 32 bytes,
from which it chooses the next direction. Counters only grow, so nothing is cleared between levels.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from bigbfs.gpu.arguments import (
    BFS,
    BLOCK,
    COUNTERS,
    EDGES,
    INVALID,
    QUEUED,
    REACHED,
    WARP,
    defines,
    no_vertex,
    struct,
)
from bigbfs.gpu.placement import PlacedAdjacency
from bigbfs.gpu.runtime import Array, Kernel, Runtime
from bigbfs.gpu.strategies import Strategy
from bigbfs.record import LevelRecord

KERNELS = {
    "bfs_frontier.cu": ("start", "advance", "gather"),
    "bfs_topdown.cu": ("expand_rows", "expand_hubs"),
    "bfs_bottomup.cu": ("search_rows", "search_hubs"),
}
"""Kernels of each file, without the prefix ``bfs_``."""


@dataclass(frozen=True, slots=True)
class Traversal:
    """What one run found: arrays in host memory, and its figures (as in ``RunRecord``)."""

    levels: np.ndarray
    parents: np.ndarray | None
    reached: int
    depth: int
    edges: int
    seconds: float
    level_records: tuple[LevelRecord, ...]
    invalid_ids: int


class BfsLoop:
    """The state of BFS on one placed graph, reused from source to source.

    Parameters
    ----------
    runtime
        The device.
    out
        Rows to expand.
    incoming
        Rows to search bottom-up (``out`` itself for a symmetric graph); None: levels stay top-down.
    strategy
        From the catalogue.
    ids, codec
        Dtype of an id, and encoding of the rows.
    m
        Edges of ``out``.
    queue
        n ids of scratch memory.
    """

    def __init__(
        self,
        runtime: Runtime,
        out: PlacedAdjacency,
        incoming: PlacedAdjacency | None,
        strategy: Strategy,
        *,
        ids: np.dtype,
        codec: str,
        m: int,
        queue: Array,
    ) -> None:
        self.n = out.n
        self.m = m
        self.ids = ids
        self.strategy = strategy
        self.bottom_up = strategy.bottom_up and incoming is not None
        self._runtime = runtime
        self._out = out
        self._in = incoming or out
        words = -(-self.n // 32)
        self._visited, self._seen, self._frontier = (runtime.empty(words, np.uint32) for _ in range(3))
        self._levels = runtime.empty(self.n, np.int32)
        self._parents: Array | None = None
        self._queue = queue
        self._counters = runtime.zeros(COUNTERS, np.uint64)
        self._kernels = {
            name: runtime.kernel(file, f"bfs_{name}", defines(ids, codec))
            for file in strategy.kernels
            for name in KERNELS[file]
        }
        self._limits = {name: runtime.max_blocks(kernel, BLOCK) for name, kernel in self._kernels.items()}
        self._state = struct(
            BFS,
            out=out.struct,
            visited=runtime.pointer(self._visited),
            seen=runtime.pointer(self._seen),
            frontier=runtime.pointer(self._frontier),
            queue=runtime.pointer(queue),
            levels=runtime.pointer(self._levels),
            counters=runtime.pointer(self._counters),
        )
        self._state["in"] = self._in.struct

    @property
    def device_bytes(self) -> int:
        """Bytes of device memory that the state takes, the queue aside."""
        arrays = [self._visited, self._seen, self._frontier, self._levels, self._counters, self._parents]
        return sum(int(array.nbytes) for array in arrays if array is not None)

    def warm(self) -> None:
        """Run every kernel on a graph of no vertices: the driver loads a kernel when it is first launched."""
        nothing = self._state.copy()
        for side in ("out", "in"):
            nothing[side]["n"] = 0
            nothing[side]["chunks"] = 0
        arguments: dict[str, tuple[np.generic, ...]] = {
            "start": (np.uint64(0),),
            "advance": (),
            "gather": (np.uint64(0),),
            "expand_rows": (np.uint64(0), np.int32(0)),
        }
        for name, kernel in self._kernels.items():
            kernel(1, BLOCK, (nothing, *arguments.get(name, (np.int32(0),))))
        self._runtime.synchronize()

    def run(self, source: int, max_depth: int | None, want_parents: bool) -> Traversal:
        """Traverse from ``source``; the clock runs from the reset of the state to the last level's counters.

        Raises
        ------
        DeviceError
            A kernel failed.
        """
        if want_parents and self._parents is None:
            self._parents = self._runtime.empty(self.n, self.ids)
        state = self._state.copy()
        if want_parents:
            state["parents"] = self._runtime.pointer(self._parents)
        with self._runtime.timer() as timer:
            self._reset(state, source, want_parents)
            records, counters = self._levels_from(state, max_depth)
        download = self._runtime.download
        return Traversal(
            levels=download(self._levels),
            parents=download(self._parents) if want_parents else None,
            reached=int(counters[REACHED]),
            depth=records.depth,
            edges=int(counters[EDGES]),
            seconds=timer.seconds,
            level_records=tuple(records.levels),
            invalid_ids=int(counters[INVALID]),
        )

    def _reset(self, state: np.ndarray, source: int, want_parents: bool) -> None:
        fill = self._runtime.fill
        for bitmap in (self._visited, self._seen):
            fill(bitmap, 0)
        fill(self._counters, 0)
        fill(self._levels, -1)
        if want_parents:
            fill(self._parents, no_vertex(self.ids))
        self._launch("start", 1, state, np.uint64(source))
        self._advance(state)

    def _levels_from(self, state: np.ndarray, max_depth: int | None) -> tuple[_Records, np.ndarray]:
        """Expand level after level; return the records and the final counters."""
        records = _Records()
        before = np.zeros(COUNTERS, np.uint64)
        counters = self._runtime.download(self._counters)
        level, frontier_before, bottom_up = 0, 0, False
        while True:
            frontier = int(counters[REACHED]) - int(before[REACHED])
            if frontier == 0:
                break
            records.depth = level
            if max_depth is not None and level >= max_depth:
                break
            bottom_up = self.bottom_up and self.strategy.goes_bottom_up(
                was=bottom_up,
                frontier=frontier,
                frontier_before=frontier_before,
                edges=int(counters[EDGES]) - int(before[EDGES]),
                edges_left=self.m - int(counters[EDGES]),
                n=self.n,
            )
            level += 1
            if bottom_up:
                self._search(state, np.int32(level))
            else:
                self._expand(state, np.int32(level), frontier, np.uint64(counters[QUEUED]))
            self._advance(state)
            before, counters = counters, self._runtime.download(self._counters)
            records.add(level - 1, "bottom-up" if bottom_up else "top-down", frontier)
            frontier_before = frontier
        return records, counters

    def _expand(self, state: np.ndarray, level: np.int32, frontier: int, queued: np.uint64) -> None:
        self._launch("gather", self.n // 32 + 1, state, queued)
        self._launch("expand_rows", frontier * WARP, state, queued, level)
        if self._out.chunks:
            self._launch("expand_hubs", self._out.chunks * WARP, state, level)

    def _search(self, state: np.ndarray, level: np.int32) -> None:
        self._launch("search_rows", self.n // 32 + 1, state, level)
        if self._in.chunks:
            self._launch("search_hubs", self._in.chunks * WARP, state, level)

    def _advance(self, state: np.ndarray) -> None:
        self._launch("advance", self.n // 32 + 1, state)

    def _launch(self, name: str, threads: int, *arguments: np.ndarray | np.generic) -> None:
        kernel: Kernel = self._kernels[name]
        grid = max(1, min(self._limits[name], -(-threads // BLOCK)))
        kernel(grid, BLOCK, arguments)


class _Records:
    """The level records of one run; a level's time ends when its counters have arrived."""

    def __init__(self) -> None:
        self.levels: list[LevelRecord] = []
        self.depth = 0
        self._last = time.perf_counter()

    def add(self, level: int, direction: str, frontier: int) -> None:
        now = time.perf_counter()
        self.levels.append(LevelRecord(level, direction, frontier, now - self._last))
        self._last = now
