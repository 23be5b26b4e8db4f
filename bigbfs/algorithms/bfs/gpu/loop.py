"""BFS on a device: one launch for a whole traversal, and its state.

In: placed rows (out-neighbours; in-neighbours too, where bottom-up may run). Out: levels int32 (n), parents id (n),
and what the run measured. The kernel goes from level to level by itself (algorithms/bfs/gpu/bfs_traverse.cu) and leaves
a record of each; it comes back early only when its slots are full, and is launched again from where it stopped.
"""

from __future__ import annotations

import numpy as np

from bigbfs.algorithms.bfs.gpu.arguments import BFS, DIRECTIONS, EDGES, KERNELS, PROGRESS, SLOT, arrays
from bigbfs.algorithms.bfs.gpu.costs import Costs, costs
from bigbfs.algorithms.bfs.gpu.tree import SPECS, Run, TreeArrays, row_length, wanted_names
from bigbfs.algorithms.bfs.gpu.tuning import DEFAULT, Tuning
from bigbfs.algorithms.bfs.strategies import Strategy
from bigbfs.engines.gpu.placed_graph import PlacedGraph
from bigbfs.engines.gpu.placement.placed import PlacedAdjacency
from bigbfs.engines.gpu.runtime.arguments import BLOCK, no_vertex, struct, team_threads
from bigbfs.record import LevelRecord

NEVER = 2**63


class BfsLoop(TreeArrays):
    """The state of BFS on one placed graph, reused from source to source.

    Parameters
    ----------
    placed
        The graph, its rows in device memory or mapped.
    strategy
        From the catalogue.
    tuning
        How it decides.
    """

    def __init__(self, placed: PlacedGraph, strategy: Strategy, tuning: Tuning = DEFAULT) -> None:
        super().__init__(placed)
        runtime = self._runtime
        self.bottom_up = strategy.bottom_up and placed.incoming is not None
        self._tuning = tuning
        self._last_source = 0
        own = [spec for spec in arrays(tuning.slots) if spec.name not in SPECS]
        self._arrays = {spec.name: self.borrow(spec) for spec in own}
        self._edges = self.borrow(EDGES)
        self._traverse, self._count = (spec.build(runtime, placed.ids, placed.codec) for spec in KERNELS)
        self._team = team_threads(runtime.team, placed.ids)
        self._team_blocks = runtime.max_blocks(self._traverse, self._team)
        self._state = self._make_state(placed.out, placed.incoming or placed.out)

    def _make_state(self, out: PlacedAdjacency, searched: PlacedAdjacency) -> np.ndarray:
        """Return the kernel's argument: arrays, thresholds and costs."""
        tuning, residency, profile = self._tuning, self._placed.residency, self._placed.profile
        unit = tuning.costs or costs(self.n, residency, profile)
        mapped = residency == "mapped"
        state = struct(
            BFS,
            out=out.struct,
            reachable=searched.struct["rows"] if self.bottom_up else 0,
            slot_count=tuning.slots,
            bottom_up=self.bottom_up,
            in_vertices=searched.with_edges,
            thin_to=min(self._team, tuning.thin_to),
            local=tuning.local,
            sort_from=tuning.sort_from if mapped else NEVER,
            defer_from=tuning.defer_from_mapped if mapped else tuning.defer_from_vram,
            window=_window(tuning.window_bytes, out, searched) if mapped else NEVER,
            sweep_cost=unit.sweep,
            vertex_cost=unit.vertex,
            edge_cost=unit.edge,
            line_cost=_line_cost(unit, tuning.costs or costs(self.n, "vram", profile), out, searched),
            **{name: self._runtime.pointer(array) for name, array in self._arrays.items()},
        )
        state["in"] = searched.struct
        return state

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
        wanted = wanted_names(want_levels, want_parents)
        self._prepare(wanted)
        state = self._state.copy()
        state["levels"] = runtime.pointer(self.array("levels")) if want_levels else 0
        state["parents"] = runtime.pointer(self.array("parents")) if want_parents else 0
        state["max_depth"] = NEVER if max_depth is None else max_depth
        seconds, resume, edges = 0.0, False, row_length(self._placed.graph, source)
        start = np.zeros((), PROGRESS)
        start["count"] = start["reached"] = start["edges"] = 1
        runtime.write(self._arrays["progress"], start.reshape(1).view(np.uint64))
        ends = (np.uint64(source), np.uint64(self._last_source))
        records: list[LevelRecord] = []
        launches = 0
        while True:
            launches += 1
            runtime.fill(self._arrays["slots"], 0)
            with runtime.timer() as timer:
                self._traverse(self._team_blocks, self._team, (state, *ends, np.uint32(resume)))
            seconds += timer.seconds
            progress = runtime.download(self._arrays["progress"]).view(PROGRESS)[0]
            slots = runtime.download(self._arrays["slots"]).view(SLOT)
            records += _records(slots, int(progress["clock"]), timer.seconds, len(records), edges)
            edges = int(progress["edges"])
            if progress["done"]:
                break
            resume = True
        if want_levels:
            self._last_source = source
        self.keep(*wanted)
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
            launches=launches,
            reads=launches,
        )

    def _prepare(self, wanted: tuple[str, ...]) -> None:
        """Bring the results into the state that a search relies on, where the one before has not left them so.

        Until the search is over they count as spoilt: an interrupt may end it half-way, and others may work in them.
        """
        for name in wanted:
            if not self.take(name):
                self._runtime.fill(self.array(name), -1 if name == "levels" else no_vertex(self.ids))
        self.spoil(*wanted)


def _line_cost(unit: Costs, in_memory: Costs, *placed: PlacedAdjacency) -> int:
    """Return the mean cost of a line where part of the edges is in device memory too."""
    near = min(rows.near_share for rows in placed)
    return int(unit.line * (1 - near) + in_memory.line * near)


def _window(window_bytes: int, *placed: PlacedAdjacency) -> int:
    """Return how many neighbouring vertices have rows of ``window_bytes``."""
    row_bytes = max(int(rows.struct["data_bytes"]) for rows in placed)
    return max(1, placed[0].n * window_bytes // max(1, row_bytes))


def _records(slots: np.ndarray, end: int, seconds: float, first: int, edges: int) -> list[LevelRecord]:
    """Return the levels of one launch: its time is shared out by the cycles that the device counted; ``edges`` are in
    the rows of its first frontier."""
    used = slots[: np.count_nonzero(slots["direction"])]
    clocks = np.append(used["clock"], np.uint64(end)).astype(np.int64)
    cycles = np.diff(clocks)
    scale = seconds / max(1, int(cycles.sum()))
    before = [edges, *(int(count) for count in used["edges"][:-1])]
    return [
        LevelRecord(
            first + i,
            DIRECTIONS[int(slot["direction"])],
            int(slot["frontier"]),
            max(0.0, int(cycles[i]) * scale),
            before[i],
        )
        for i, slot in enumerate(used)
    ]
