"""BFS on a device: one launch for a whole traversal, and its state.

In: placed rows (out-neighbours; in-neighbours too, where bottom-up may run). Out: levels int32 (n), parents id (n),
and what the run measured. The kernel goes from level to level by itself (algorithms/bfs/gpu/bfs_traverse.cu) and leaves
a record of each; it comes back early only when its slots are full, and is launched again from where it stopped. Where
levels have been thin for so long, a thread of the CPU walks on until one is wide (standby.py).
"""

from __future__ import annotations

import time

import numpy as np

from bigbfs.algorithms.bfs.gpu.arguments import BFS, DIRECTIONS, EDGES, KERNELS, PROGRESS, SLOT, arrays
from bigbfs.algorithms.bfs.gpu.costs import Costs, costs
from bigbfs.algorithms.bfs.gpu.standby import Standby, Walked, Walker
from bigbfs.algorithms.bfs.gpu.tree import SPECS, Run, TreeArrays, row_length, wanted_names
from bigbfs.algorithms.bfs.gpu.tuning import DEFAULT, Tuning
from bigbfs.algorithms.bfs.strategies import Strategy
from bigbfs.engines.gpu.placed_graph import PlacedGraph
from bigbfs.engines.gpu.placement.placed import PlacedAdjacency
from bigbfs.engines.gpu.runtime.arguments import BLOCK, no_vertex, struct, team_threads
from bigbfs.engines.gpu.runtime.runtime import Array
from bigbfs.record import LevelRecord

NEVER = 2**63
QUEUE = 0
"""``PROGRESS.form`` of a frontier that stands in the queue."""


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

    Attributes
    ----------
    standby
        Who walks thin levels on the CPU.
    """

    def __init__(self, placed: PlacedGraph, strategy: Strategy, tuning: Tuning = DEFAULT) -> None:
        super().__init__(placed)
        runtime = self._runtime
        self.bottom_up = strategy.bottom_up and placed.incoming is not None
        self._may_be_wide = strategy.bottom_up and placed.codec == "plain"
        self._tuning = tuning
        self._last_source = 0
        own = [spec for spec in arrays(tuning.slots) if spec.name not in SPECS]
        self._arrays = {spec.name: self.borrow(spec) for spec in own}
        self._edges = self.borrow(EDGES)
        self.standby = Standby(placed.graph)
        self._thin_seconds = 0.0
        self._traverse, self._count, self._adopt = (spec.build(runtime, placed.ids, placed.codec) for spec in KERNELS)
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
            wide_from=self._wide_from(mapped),
            asks=tuning.asks,
            sort_from=tuning.sort_from if mapped else NEVER,
            defer_from=tuning.defer_from_mapped if mapped else tuning.defer_from_vram,
            window=_window(tuning.window_bytes, out, searched) if mapped else NEVER,
            sweep_cost=unit.sweep,
            vertex_cost=unit.vertex,
            edge_cost=unit.edge,
            claim_cost=unit.claim,
            mark_cost=unit.mark,
            parent_cost=unit.parent,
            line_cost=_line_cost(unit, tuning.costs or costs(self.n, "vram", profile), out, searched),
            **{name: self._runtime.pointer(array) for name, array in self._arrays.items()},
        )
        state["in"] = searched.struct
        return state

    def _wide_from(self, mapped: bool) -> int:
        """Return the edges of the smallest level that may be wide."""
        if mapped or not self._may_be_wide or not self._tuning.wide:
            return NEVER
        return self.n // self._tuning.wide

    def warm(self) -> None:
        """Run every kernel on a graph of no vertices: the driver loads a kernel when it is first launched."""
        nothing = self._state.copy()
        for side in ("out", "in"):
            nothing[side]["n"] = 0
        nothing["max_depth"] = 0
        nothing["queue"] = nothing["visited"]
        self._traverse(self._team_blocks, self._team, (nothing, np.uint64(0), np.uint64(0), np.uint32(1)))
        self._count(1, BLOCK, (nothing, self._edges))
        self._adopt(1, BLOCK, (nothing, *self._staging(), np.uint64(0), np.uint64(0)))
        self._runtime.synchronize()

    def run(self, source: int, max_depth: int | None, want_parents: bool, want_levels: bool = True) -> Run:
        """Traverse from ``source``; levels and parents stay on the device, where they are wanted.

        The clock runs from the reset of the state to what the unreached hold; isolated vertices are written untimed.

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
        runtime.write(self._arrays["progress"], _start().view(np.uint64))
        ends = (np.uint64(source), np.uint64(self._last_source))
        seconds, edges, launches, walked_faults = 0.0, row_length(self._placed.graph, source), 0, 0
        records: list[LevelRecord] = []
        while True:
            looks = launches == 0 and self._tuning.look > 0
            state["slot_count"] = min(self._tuning.look, self._tuning.slots) if looks else self._tuning.slots
            runtime.fill(self._arrays["slots"], 0)
            with runtime.timer() as timer:
                self._traverse(self._team_blocks, self._team, (state, *ends, np.uint32(launches > 0)))
            launches += 1
            seconds += timer.seconds
            progress = runtime.download(self._arrays["progress"]).view(PROGRESS)[0]
            slots = runtime.download(self._arrays["slots"]).view(SLOT)
            records += _records(slots, int(progress["clock"]), timer.seconds, len(records), edges)
            edges = int(progress["edges"])
            if progress["done"]:
                break
            walker = self._walker_for(progress, slots, timer.seconds)
            if walker is not None:
                begin = time.perf_counter()
                walked = self._walk_on(walker, state, progress)
                seconds += time.perf_counter() - begin
                records += walker.records(walked, int(progress["count"]), edges)
                edges, walked_faults = walked.edges, walked_faults + walked.faults
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
            invalid_ids=int(progress["invalid"]) + walked_faults,
            slots=slots,
            launches=launches,
            reads=launches,
        )

    def _walker_for(self, progress: np.void, slots: np.ndarray, seconds: float) -> Walker | None:
        """Return who walks on where the levels of the last launch, of so many ``seconds``, were thin and would have
        been quicker on the CPU; None: the device goes on."""
        tuning, used = self._tuning, slots[: np.count_nonzero(slots["direction"])]
        thin = int(progress["form"]) == QUEUE and int(progress["edges"]) <= tuning.walk_edges
        there = tuning.cpu_vertex_ns * int(used["frontier"].sum()) + tuning.cpu_edge_ns * int(used["edges"].sum())
        if not tuning.look or not thin or there > seconds * 1e9:
            return None
        self._thin_seconds += seconds
        return self.standby.ask() if self._thin_seconds >= tuning.load_seconds else None

    def _walk_on(self, walker: Walker, state: np.ndarray, progress: np.void) -> Walked:
        """Have the CPU walk on from ``progress``; the device then stands where the CPU has stopped."""
        runtime, visited, queue = self._runtime, self._arrays["visited"], self._arrays["queue"]
        begin, count, level = (int(progress[name]) for name in ("begin", "count", "level"))
        runtime.read(visited, walker.visited[: len(visited)])
        runtime.read(queue[begin : begin + count], walker.queue[:count])
        walked = walker.walk(count, level, last=int(state["max_depth"]), most=self._tuning.walk_edges)
        self._adopt_all(state, walked, begin + count)
        now = np.array(progress, PROGRESS).reshape(1)
        now["level"], now["edges"], now["hot"] = walked.depth, walked.edges, 0
        now["begin"], now["count"] = begin + count + walked.begin, len(walked.found) - walked.begin
        now["reached"] += np.uint64(len(walked.found))
        runtime.write(self._arrays["progress"], now.view(np.uint64))
        return walked

    def _adopt_all(self, state: np.ndarray, walked: Walked, at: int) -> None:
        """Append what the CPU has found to the queue at ``at``, and write down its parents and levels. They come in
        batches."""
        runtime = self._runtime
        runtime.write(self._arrays["queue"][at : at + len(walked.found)], walked.found)
        parents, levels = self._staging()
        most = min(len(parents), len(levels))
        for first in range(0, len(walked.found), most):
            count = min(most, len(walked.found) - first)
            runtime.write(parents[:count], walked.parents[first : first + count])
            runtime.write(levels[:count], walked.levels[first : first + count])
            blocks = max(1, min(runtime.max_blocks(self._adopt, BLOCK), -(-count // BLOCK)))
            self._adopt(blocks, BLOCK, (state, parents, levels, np.uint64(count), np.uint64(at + first)))
        runtime.synchronize()

    def _staging(self) -> tuple[Array, Array]:
        """Return where a batch of parents and levels comes to the device: the slots, which nobody needs between two
        launches."""
        slots = self._arrays["slots"]
        return slots[: len(slots) // 2].view(self.ids), slots[len(slots) // 2 :].view(np.int32)

    def _prepare(self, wanted: tuple[str, ...]) -> None:
        """Bring the results into the state that a search relies on, where the one before has not left them so.

        Until the search is over they count as spoilt: an interrupt may end it half-way, and others may work in them.
        """
        for name in wanted:
            if not self.take(name):
                self._runtime.fill(self.array(name), -1 if name == "levels" else no_vertex(self.ids))
        self.spoil(*wanted)


def _start() -> np.ndarray:
    """Return where a search stands when it begins."""
    start = np.zeros(1, PROGRESS)
    start["count"] = start["reached"] = start["edges"] = 1
    return start


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
