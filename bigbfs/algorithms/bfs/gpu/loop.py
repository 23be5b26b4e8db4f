"""BFS on a device: one launch for a whole traversal, and its state.

In: placed rows (out-neighbours; in-neighbours too, where bottom-up may run). Out: levels int32 (n), parents id (n),
and what the run measured. The kernel goes from level to level by itself (algorithms/bfs/gpu/bfs_traverse.cu) and leaves
a record of each; it comes back early only when its slots are full, and is launched again from where it stopped. Where
levels have been thin for so long, a thread of the CPU walks on until one is wide (standby.py).
"""

from __future__ import annotations

import time

import numpy as np

from bigbfs.algorithms.bfs.gpu.arguments import BFS, BOTTOM_UP, EDGES, KERNELS, PROGRESS, SLOT, arrays
from bigbfs.algorithms.bfs.gpu.costs import Costs, costs
from bigbfs.algorithms.bfs.gpu.handover import HandOver
from bigbfs.algorithms.bfs.gpu.pace import Pace
from bigbfs.algorithms.bfs.gpu.standby import Limits, Standby, Walked
from bigbfs.algorithms.bfs.gpu.tree import (
    NEVER,
    SPECS,
    Run,
    TreeArrays,
    held,
    local_rows,
    row_length,
    wanted_names,
    wide_from,
)
from bigbfs.algorithms.bfs.gpu.tuning import DEFAULT, Tuning
from bigbfs.algorithms.bfs.level_records import LevelRecords, table_of
from bigbfs.algorithms.bfs.strategies import Strategy
from bigbfs.algorithms.bfs.strategies.persistent import SLOT_WORDS
from bigbfs.engines.gpu.placed_graph import PlacedGraph
from bigbfs.engines.gpu.placement.placed import PlacedAdjacency
from bigbfs.engines.gpu.runtime.arguments import BLOCK, no_vertex, struct, team_threads

LOOKED_UP = 4
"""Windows of so many times the size where ids are looked up as they are read (docs/notebook/gpu-search.md)."""


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
        self._may_be_wide = strategy.bottom_up
        self._tuning = tuning
        self._last_source = 0
        own = [spec for spec in arrays(tuning.slots) if spec.name not in SPECS]
        self._arrays = {spec.name: self.borrow(spec) for spec in own}
        self._edges = self.borrow(EDGES)
        self._traverse, self._count, adopt = (spec.build(runtime, placed.ids, placed.codec) for spec in KERNELS)
        self._pace = Pace(tuning)
        self._hand_over = HandOver(placed, self._pace, adopt, self._arrays)
        self._team = team_threads(runtime.team, placed.ids)
        self._team_blocks = runtime.max_blocks(self._traverse, self._team)
        self._state = self._make_state(placed.out, placed.incoming or placed.out)

    @property
    def standby(self) -> Standby:
        """Who walks thin levels on the CPU."""
        return self._hand_over.standby

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
            **held(out, mapped),
            thin_to=min(self._team, tuning.thin_to),
            local=local_rows(self._placed, tuning),
            wide_from=wide_from(self._placed, tuning) if self._may_be_wide else NEVER,
            asks=tuning.asks,
            sort_from=tuning.sort_from if mapped else NEVER,
            defer_from=tuning.defer_from_mapped if mapped else tuning.defer_from_vram,
            window=_window(self._window_bytes(), out, searched) if mapped else NEVER,
            sweep_cost=unit.sweep,
            vertex_cost=unit.vertex,
            edge_cost=unit.edge,
            claim_cost=unit.claim,
            mark_cost=unit.mark,
            parent_cost=unit.parent,
            look_cost=unit.look,
            line_cost=_line_cost(unit, tuning.costs or costs(self.n, "vram", profile), out, searched),
            **{name: self._runtime.pointer(array) for name, array in self._arrays.items()},
        )
        state["in"] = searched.struct
        if self._placed.incoming is out:  # undirected: no edge leads to the vertices behind the last that has one
            state["out"]["n"] = state["in"]["n"] = self._placed.graph.adjacency.rows_end
        return state

    def _window_bytes(self) -> int:
        """Return how many bytes of mapped rows are read at a time: more of those whose ids are looked up, so that more
        warps wait for it."""
        return self._tuning.window_bytes * (1 if self._placed.numbers is None else LOOKED_UP)

    def warm(self) -> None:
        """Run every kernel on a graph of no vertices: the driver loads a kernel when it is first launched."""
        nothing = self._state.copy()
        for side in ("out", "in"):
            nothing[side]["n"] = 0
        nothing["max_depth"] = 0
        nothing["queue"] = nothing["visited"]
        self._traverse(self._team_blocks, self._team, (nothing, np.uint64(0), np.uint64(0), np.uint32(1)))
        self._count(1, BLOCK, (nothing, self._edges))
        self._hand_over.warm(nothing)
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
        runtime.write(self._arrays["progress"], _start(1).view(np.uint64))
        ends = (np.uint64(source), np.uint64(self._last_source))
        seconds, edges, launches, walked_faults, level = 0.0, row_length(self._placed.graph, source), 0, 0, 0
        records: list[np.ndarray] = []
        self._pace.begin()
        progress, limits = _start(edges)[0], self._limits_at_once(int(state["max_depth"]))
        while True:
            since: float | None = None
            walked: Walked | None = None
            if limits is not None and self._hand_over.ready(progress, limits):
                walked, since, spent = self._walk(state, ends, progress, limits, None if launches else source)
                launches, seconds = max(1, launches), seconds + spent
                edges, level, walked_faults = walked.edges, walked.depth, walked_faults + walked.faults
            progress, slots, spent = self._launch(state, ends, launches > 0, level, since)
            launches += 1
            seconds += spent
            if walked is not None:  # not before: what is launched behind a walk does not wait for this
                records.append(self._hand_over.records(walked))
            records.append(records_of(slots, int(progress["clock"]), spent, edges))
            edges, level = int(progress["edges"]), int(progress["level"])
            if progress["done"]:
                break
            limits = self._limits(progress, slots, spent, int(state["max_depth"]))
        if want_levels:
            self._last_source = source
        self.keep(*wanted)
        level, count = int(progress["level"]), int(progress["count"])
        return Run(
            reached=int(progress["reached"]),
            depth=level if count else level - 1,
            edges=self._edges_reached(state),
            seconds=seconds,
            level_records=LevelRecords(records),
            invalid_ids=int(progress["invalid"]) + walked_faults,
            slots=slots,
            launches=launches,
            reads=launches,
        )

    def _walk(
        self,
        state: np.ndarray,
        ends: tuple[np.uint64, np.uint64],
        progress: np.void,
        limits: Limits,
        source: int | None,
    ) -> tuple[Walked, float | None, float]:
        """Have the CPU go on, or begin at ``source`` while the device resets the state, which records no level.

        Return what it did; since when what is under way is to be timed (``perf_counter``), None if it has been waited
        for; and the seconds of what has.
        """
        runtime = self._runtime
        if source is not None:
            runtime.synchronize()
        start = time.perf_counter()
        if source is not None:
            state["slot_count"] = 0
            self._traverse(self._team_blocks, self._team, (state, *ends, np.uint32(0)))
        walked = self._hand_over.walk(state, progress, limits, source)
        if walked.count == 0 or walked.depth >= limits.last:
            return walked, start, 0.0  # nothing but the end is to come: it is not waited for what the walk has left
        runtime.synchronize()
        return walked, None, time.perf_counter() - start

    def _edges_reached(self, state: np.ndarray) -> int:
        """Return the edges of the rows of all reached vertices."""
        self._runtime.fill(self._edges, 0)
        grid = max(1, min(self._runtime.max_blocks(self._count, BLOCK), -(-self.n // BLOCK)))
        self._count(grid, BLOCK, (state, self._edges))
        return int(self._runtime.download(self._edges)[0])

    def _launch(
        self, state: np.ndarray, ends: tuple[np.uint64, np.uint64], resume: bool, level: int, since: float | None
    ) -> tuple[np.void, np.ndarray, float]:
        """Go on from ``level``; return where the search stands, what was noted of each level (SLOT), and seconds, from
        ``since`` on (``perf_counter``) where something is under way that they are to contain."""
        runtime, most = self._runtime, self._pace.slots
        slots = self._arrays["slots"][: most * SLOT_WORDS]
        state["slot_count"] = most
        runtime.fill(slots, 0)
        if since is None:
            runtime.synchronize()
            since = time.perf_counter()
        self._traverse(self._team_blocks, self._team, (state, *ends, np.uint32(resume)))
        runtime.synchronize()
        seconds = time.perf_counter() - since
        progress = runtime.download(self._arrays["progress"]).view(PROGRESS)[0]
        done = int(progress["level"]) - level
        return progress, runtime.download(slots[: done * SLOT_WORDS]).view(SLOT), seconds

    def _limits(self, progress: np.void, slots: np.ndarray, seconds: float, last: int) -> Limits | None:
        """Return how far the CPU may go where the last levels of a launch would have been quicker there, and such
        levels have taken long; None: the device goes on."""
        if self._placed.numbers is not None:
            return None  # the rows that it would read have other ids
        pace = self._pace
        thin = pace.launched(slots, int(progress["clock"]), seconds)
        return pace.limits(last) if thin and pace.thin_seconds >= self._tuning.load_seconds else None

    def _limits_at_once(self, last: int) -> Limits | None:
        """Return how far the CPU may go from the source on, where a search is likely to be deep; None: the device
        begins."""
        pace = self._pace
        able = pace.begins_on_cpu and self._placed.numbers is None and last > self._tuning.look
        return pace.limits(last) if able else None

    def _prepare(self, wanted: tuple[str, ...]) -> None:
        """Bring the results into the state that a search relies on, where the one before has not left them so.

        Until the search is over they count as spoilt: an interrupt may end it half-way, and others may work in them.
        """
        for name in wanted:
            if not self.take(name):
                self._runtime.fill(self.array(name), -1 if name == "levels" else no_vertex(self.ids))
        self.spoil(*wanted)


def _start(edges: int) -> np.ndarray:
    """Return where a search stands when it begins, at a vertex of so many ``edges``."""
    start = np.zeros(1, PROGRESS)
    start["count"] = start["reached"] = 1
    start["edges"] = edges
    return start


def _line_cost(unit: Costs, in_memory: Costs, *placed: PlacedAdjacency) -> int:
    """Return the mean cost of a line where part of the edges is in device memory too."""
    near = min(rows.near_share for rows in placed)
    return int(unit.line * (1 - near) + in_memory.line * near)


def _window(window_bytes: int, *placed: PlacedAdjacency) -> int:
    """Return how many neighbouring vertices have rows of ``window_bytes``."""
    row_bytes = max(int(rows.struct["data_bytes"]) for rows in placed)
    return max(1, placed[0].n * window_bytes // max(1, row_bytes))


def records_of(used: np.ndarray, end: int, seconds: float, edges: int) -> np.ndarray:
    """Return the levels of one launch (``used``: SLOT): its time is shared out by the cycles that the device counted;
    ``edges`` are in the rows of its first frontier."""
    cycles = np.maximum(np.diff(np.append(used["clock"], np.uint64(end)).astype(np.int64)), 0)
    scale = seconds / max(1, end - int(used["clock"][0]) if len(used) else 0)
    before = np.append(np.int64(edges), used["edges"].astype(np.int64))[: len(used)]
    up = used["direction"] == BOTTOM_UP
    return table_of(len(used), direction=up, frontier=used["frontier"], seconds=cycles * scale, edges=before)
