"""BFS on a device: one launch for a whole traversal, and its state.

In: placed rows (out-neighbours; in-neighbours too, where bottom-up may run). Out: levels int32 (n), parents id (n),
and what the run measured. The kernel goes from level to level by itself (algorithms/bfs/gpu/bfs_traverse.cu) and
leaves a record of each; it comes back early only when its ``SLOTS`` records are full, and is launched again from where
it stopped.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bigbfs.algorithms.bfs.gpu.costs import Costs, costs
from bigbfs.algorithms.bfs.gpu.tree import TreeArrays
from bigbfs.algorithms.bfs.strategies import Strategy
from bigbfs.config import DeviceProfile
from bigbfs.engines.gpu.placement.ledger import SLOTS
from bigbfs.engines.gpu.placement.placed import PlacedAdjacency
from bigbfs.engines.gpu.runtime.arguments import (
    BFS,
    BLOCK,
    DIRECTIONS,
    PROGRESS,
    SLOT,
    defines,
    no_vertex,
    struct,
    team_threads,
)
from bigbfs.engines.gpu.runtime.runtime import Array, Runtime
from bigbfs.record import LevelRecord

FILE = "algorithms/bfs/gpu/bfs_traverse.cu"
KERNELS = ("bfs_traverse", "bfs_count")

SORT_FROM = 1 << 16
"""Vertices of a top-down frontier that are put into order when their rows lie in host memory: the rows of fewer lie
so far apart that each of them costs a translation of its address in any order."""

DEFER_FROM = {"mapped": 1 << 15, "vram": 1 << 17}
"""Vertices whose heads are not expected to decide from which on a bottom-up level puts their rows off."""

WINDOW_BYTES = 128 << 20
"""Host memory that is read from at a time: over a window of 256 MiB and less the link keeps its full rate."""

THIN_TO = 1024
"""Vertices of a frontier that one block expands alone: a barrier of a block costs a fiftieth of the grid's."""

LOCAL = True
"""Whether frontiers of few edges stay in the shared memory of the blocks that found them."""

NEVER = 2**63


@dataclass(frozen=True, slots=True)
class Run:
    """What one run measured (as in ``RunRecord``); ``slots``: the device's own records of its last levels; ``traffic``:
    what each level read from the file, where rows are streamed."""

    reached: int
    depth: int
    edges: int
    seconds: float
    level_records: tuple[LevelRecord, ...]
    invalid_ids: int
    slots: np.ndarray
    traffic: tuple[Any, ...] = ()


class BfsLoop(TreeArrays):
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
    residency
        ``"vram"`` or ``"mapped"``.
    queue
        n ids of scratch memory.
    profile
        Rates of the device; None: those of an H200.
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
        residency: str,
        queue: Array,
        profile: DeviceProfile | None = None,
    ) -> None:
        super().__init__(runtime, out.n, ids)
        self.strategy = strategy
        self.bottom_up = strategy.bottom_up and incoming is not None
        searched = incoming or out
        words = -(-self.n // 32)
        self._levels_ready = self._parents_ready = False
        self._arrays = {
            "visited": runtime.empty(words, np.uint32),
            "frontier": runtime.empty(words, np.uint32),
            "next": runtime.empty(words, np.uint32),
            "open": runtime.empty(words, np.uint32),
            "chunk_list": runtime.empty(max(out.chunks, searched.chunks), np.uint32),
            "slots": runtime.zeros(SLOTS * len(SLOT.names or ()), np.uint64),
            "progress": runtime.zeros(len(PROGRESS.names or ()), np.uint64),
            "meeting": runtime.zeros(1, np.uint32),
        }
        self._last_source = 0
        self._edges = runtime.zeros(1, np.uint64)
        wanted = defines(ids, codec, runtime.team)
        self._traverse = runtime.kernel(FILE, "bfs_traverse", wanted, cooperative=True)
        self._count = runtime.kernel(FILE, "bfs_count", wanted)
        self._team = team_threads(runtime.team, ids)
        self._team_blocks = runtime.max_blocks(self._traverse, self._team)
        self._state = self._make_state(out, searched, residency, profile)
        self._state["queue"] = runtime.pointer(queue)

    def _make_state(
        self, out: PlacedAdjacency, searched: PlacedAdjacency, residency: str, profile: DeviceProfile | None
    ) -> np.ndarray:
        """Return the kernel's argument: arrays, thresholds and costs."""
        unit = costs(self.n, residency, profile)
        state = struct(
            BFS,
            out=out.struct,
            reachable=searched.struct["rows"] if self.bottom_up else 0,
            slot_count=SLOTS,
            bottom_up=self.bottom_up,
            in_vertices=searched.with_edges,
            thin_to=min(self._team, THIN_TO),
            local=LOCAL,
            sort_from=SORT_FROM if residency == "mapped" else NEVER,
            defer_from=DEFER_FROM[residency],
            window=_window(out, searched) if residency == "mapped" else NEVER,
            sweep_cost=unit.sweep,
            vertex_cost=unit.vertex,
            edge_cost=unit.edge,
            line_cost=_line_cost(unit, self.n, profile, out, searched),
            **{name: self._runtime.pointer(array) for name, array in self._arrays.items()},
        )
        state["in"] = searched.struct
        return state

    @property
    def buffers(self) -> dict[str, int]:
        """Bytes of every array by its name in the ledger, the queue aside."""
        arrays = self._arrays | {"edges": self._edges, "levels": self._levels, "parents": self._parents}
        return {name: int(array.nbytes) for name, array in arrays.items() if array is not None}

    def warm(self) -> None:
        """Run every kernel on a graph of no vertices: the driver loads a kernel when it is first launched."""
        nothing = self._state.copy()
        for side in ("out", "in"):
            nothing[side]["n"] = 0
        nothing["max_depth"] = 0
        nothing["queue"] = nothing["visited"]
        self._traverse(self._team_blocks, self._team, (nothing, np.uint64(0), np.uint64(0), np.uint32(1)))
        self._count(1, BLOCK, (nothing, self._edges))
        self._runtime.synchronize()

    def run(self, source: int, max_depth: int | None, want_parents: bool, want_levels: bool = True) -> Run:
        """Traverse from ``source``; levels and parents stay on the device, where they are wanted.

        The clock runs from the reset of the state to the last level and what the unreached hold; what was measured is
        read afterwards. Vertices that no edge leads to hold what they are given before the first search, untimed (and
        before the first after components, which work in the parents).

        Raises
        ------
        DeviceError
            A kernel failed.
        """
        runtime = self._runtime
        self._prepare(want_levels, want_parents)
        state = self._state.copy()
        state["levels"] = runtime.pointer(self._levels) if want_levels else 0
        state["parents"] = runtime.pointer(self._parents) if want_parents else 0
        state["max_depth"] = NEVER if max_depth is None else max_depth
        seconds, resume = 0.0, False
        start = np.zeros((), PROGRESS)
        start["count"] = start["reached"] = start["edges"] = 1
        runtime.write(self._arrays["progress"], start.reshape(1).view(np.uint64))
        ends = (np.uint64(source), np.uint64(self._last_source))
        records: list[LevelRecord] = []
        while True:
            runtime.fill(self._arrays["slots"], 0)
            with runtime.timer() as timer:
                self._traverse(self._team_blocks, self._team, (state, *ends, np.uint32(resume)))
            seconds += timer.seconds
            progress = runtime.download(self._arrays["progress"]).view(PROGRESS)[0]
            slots = runtime.download(self._arrays["slots"]).view(SLOT)
            records += _records(slots, int(progress["clock"]), timer.seconds, len(records))
            if progress["done"]:
                break
            resume = True
        if want_levels:
            self._last_source, self._levels_ready = source, True
        self._parents_ready = self._parents_ready or want_parents
        runtime.fill(self._edges, 0)
        grid = max(1, min(runtime.max_blocks(self._count, BLOCK), -(-self.n // BLOCK)))
        self._count(grid, BLOCK, (state, self._edges))
        level, count = int(progress["level"]), int(progress["count"])
        return Run(
            reached=int(progress["reached"]),
            depth=level if count else level - 1,
            edges=int(runtime.download(self._edges)[0]),
            seconds=seconds,
            level_records=tuple(records),
            invalid_ids=int(progress["invalid"]),
            slots=slots,
        )

    def _prepare(self, want_levels: bool, want_parents: bool) -> None:
        """Bring the results into the state that a search relies on, where the one before has not left them so.

        Until the search is over they count as spoilt: an interrupt may end it half-way.
        """
        if want_levels:
            levels = self.lend_levels()
            if not self._levels_ready:
                self._runtime.fill(levels, -1)
            self._levels_ready = False
        if want_parents and not self._parents_ready:
            self._runtime.fill(self.lend_parents(), no_vertex(self.ids))
        self._parents_ready = self._parents_ready and not want_parents

    def lend_parents(self) -> Array:
        """Return the n ids of the parents; between two searches others may work in them."""
        self._parents_ready = False  # a search relies on what the one before has left there
        return super().lend_parents()


def _line_cost(unit: Costs, n: int, profile: DeviceProfile | None, *placed: PlacedAdjacency) -> int:
    """Return the mean cost of a line where part of the edges is in device memory too."""
    near = min(rows.near_share for rows in placed)
    return int(unit.line * (1 - near) + costs(n, "vram", profile).line * near)


def _window(*placed: PlacedAdjacency) -> int:
    """Return how many neighbouring vertices have rows of ``WINDOW_BYTES``."""
    row_bytes = max(int(rows.struct["data_bytes"]) for rows in placed)
    return max(1, placed[0].n * WINDOW_BYTES // max(1, row_bytes))


def _records(slots: np.ndarray, end: int, seconds: float, first: int) -> list[LevelRecord]:
    """Return the levels of one launch: its time is shared out by the cycles that the device counted."""
    used = slots[: np.count_nonzero(slots["direction"])]
    clocks = np.append(used["clock"], np.uint64(end)).astype(np.int64)
    cycles = np.diff(clocks)
    scale = seconds / max(1, int(cycles.sum()))
    return [
        LevelRecord(
            first + i, DIRECTIONS[int(slot["direction"])], int(slot["frontier"]), max(0.0, int(cycles[i]) * scale)
        )
        for i, slot in enumerate(used)
    ]
