"""BFS level by level, for rows that are read from the file; its state is in device memory.

In: placed rows (out-neighbours; in-neighbours too, where bottom-up may run). Out: levels int32 (n), parents id (n), and
what the run measured. A level first counts what its frontier would cost to read. If that is more than a sweep over the
heads of the unvisited vertices, the sweep is made: whoever finds a parent there has its level, whichever way the level
goes on. Then it is known exactly how many bytes the others would take bottom-up, and the cheaper direction is read.
"""

from __future__ import annotations

import time

import numpy as np

from bigbfs.algorithms.bfs.gpu.arguments import DIRECTIONS, LEVELS, PARENTS, SLOT
from bigbfs.algorithms.bfs.gpu.streamed_costs import read_seconds, sweep_seconds
from bigbfs.algorithms.bfs.gpu.tree import SPECS, Run, TreeArrays, wanted_names
from bigbfs.algorithms.bfs.level_records import LevelRecords
from bigbfs.algorithms.bfs.strategies import Strategy
from bigbfs.engines.gpu.placed_graph import PlacedGraph
from bigbfs.engines.gpu.placement.arrays import ArraySpec, pointer_fields
from bigbfs.engines.gpu.runtime.arguments import WARP, fields, struct
from bigbfs.engines.gpu.runtime.kernels import Launcher, kernels_of
from bigbfs.engines.gpu.runtime.launch import launch
from bigbfs.engines.gpu.runtime.runtime import Array
from bigbfs.engines.gpu.streamed.buffers import Traffic
from bigbfs.engines.gpu.streamed.placement import StreamedAdjacency
from bigbfs.record import LevelRecord

COUNTS = ("vertices", "edges", "rows", "units", "found", "invalid")
"""Counters of algorithms/bfs/gpu/streamed.cuh, in their order."""

WANTED = ArraySpec("wanted", "u32", "words", "bitmap: rows to be read from the file")

ARRAYS = (
    ArraySpec("visited", "u32", "words", "bitmap: vertices reached"),
    ArraySpec("frontier", "u32", "words", "bitmap: vertices to expand"),
    ArraySpec("next", "u32", "words", "bitmap: vertices found by this level"),
    WANTED,
    LEVELS,
    PARENTS,
    ArraySpec("tallies", "u64", f"{len(COUNTS)}", "counters of a level", True),
)
"""What ``struct Search`` (streamed.cuh) has pointers to, in its order."""

SEARCH = fields(*(spec.name for spec in ARRAYS), "level")

KERNELS = kernels_of(
    "algorithms/bfs/gpu/streamed_bfs.cu",
    (
        *("streamed_reset", "streamed_survey", "streamed_heads", "streamed_list", "streamed_hot", "streamed_expand"),
        "streamed_search",
    ),
    defines=(("SEARCH_ARRAYS", pointer_fields(ARRAYS)), ("SEARCH_BYTES", str(SEARCH.itemsize))),
)

TOP_DOWN, BOTTOM_UP = 1, 2


class StreamedBfs(TreeArrays):
    """The state of BFS on one placed graph, reused from source to source.

    Parameters
    ----------
    placed
        The graph, its rows streamed.
    strategy
        From the catalogue.
    """

    def __init__(self, placed: PlacedGraph, strategy: Strategy) -> None:
        super().__init__(placed)
        assert isinstance(placed.out, StreamedAdjacency)
        self.bottom_up = strategy.bottom_up and placed.incoming is not None
        self._out = placed.out
        self._in = placed.incoming if isinstance(placed.incoming, StreamedAdjacency) else placed.out
        self._arrays = {spec.name: self.borrow(spec) for spec in ARRAYS if spec.name not in SPECS}
        self._launch = Launcher(self._runtime, KERNELS, placed.ids, placed.codec)

    def warm(self) -> None:
        """Run every kernel on a graph of no vertices: the driver loads a kernel when it is first launched."""
        nothing, none = self._out.struct.copy(), np.uint64(0)
        nothing["n"] = nothing["chunks"] = 0
        state, counts = self._state(()), self._arrays["tallies"]
        self._launch("streamed_reset", 1, state, none, none)
        self._launch("streamed_survey", 1, nothing, state, np.uint32(0))
        for name in ("streamed_heads", "streamed_list"):
            self._launch(name, 1, nothing, state)
        self._launch("streamed_hot", 1, nothing, state, np.uint32(0))
        for name in ("streamed_expand", "streamed_search"):
            self._launch(name, 1, nothing, state, counts, none)
        self._runtime.synchronize()

    def run(self, source: int, max_depth: int | None, want_parents: bool, want_levels: bool = True) -> Run:
        """Traverse from ``source``; levels and parents stay on the device, where they are wanted.

        The clock runs from the reset of the state to the end of the last level.

        Raises
        ------
        DeviceError
            A kernel failed.
        FileAccessError, FormatError
            The file cannot be read, or is damaged.
        """
        runtime = self._runtime
        wanted = wanted_names(want_levels, want_parents)
        for name in wanted:
            self.take(name)
        state = self._state(wanted)
        level, count, reached, invalid = 0, 1, 1, 0
        records: list[LevelRecord] = []
        slots: list[np.ndarray] = []
        traffic: list[Traffic] = []
        with runtime.timer() as timer:
            self._launch("streamed_reset", self.n, state, np.uint64(self.n), np.uint64(source))
            while count and (max_depth is None or level < max_depth):
                start = time.perf_counter()
                state["level"] = level
                slot, read, counts = self._level(state)
                state["frontier"], state["next"] = int(state["next"]), int(state["frontier"])
                seconds = time.perf_counter() - start
                records.append(
                    LevelRecord(level, DIRECTIONS[int(slot["direction"])], count, seconds, int(slot["edges"]))
                )
                slots.append(slot)
                traffic.append(read)
                count = counts["found"]
                invalid += counts["invalid"]
                reached += count
                level += 1
        return Run(
            reached=reached,
            depth=level if count else level - 1,
            edges=self._survey(state, True)["edges"],
            seconds=timer.seconds,
            level_records=LevelRecords.of(records),
            invalid_ids=invalid,
            slots=np.array(slots, SLOT),
            traffic=tuple(traffic),
        )

    def _level(self, state: np.ndarray) -> tuple[np.ndarray, Traffic, dict[str, int]]:
        """Find the neighbours of the frontier; return what was done, what was read, and the counters."""
        unit = self._out.unit
        cost = self._survey(state, False)
        down = read_seconds(cost["rows"], cost["units"] * unit, self._out.units * unit)
        direction, rows, units = TOP_DOWN, cost["rows"], cost["units"]
        if self.bottom_up and down > sweep_seconds(self.n, int(self._in.struct["head_groups"])):
            self._launch("streamed_heads", self.n, self._in.struct, state)
            swept = self._counts()
            missed, missed_units = swept["rows"] - rows, swept["units"] - units
            up = read_seconds(missed, missed_units * unit, self._in.units * unit)
            if up <= down:
                direction, rows, units = BOTTOM_UP, missed, missed_units
        read = self._read(state, direction, rows, units)
        counts = self._counts()
        slot = struct(SLOT, frontier=cost["vertices"], direction=direction, missed=rows, chunks=read.batches)
        slot["edges"] = cost["edges"]
        slot["queued" if direction == TOP_DOWN else "found"] = counts["found"]
        return slot, read, counts

    def _read(self, state: np.ndarray, direction: int, rows: int, units: int) -> Traffic:
        """Do what a level does in ``direction``, after the sweep over the heads where there was one."""
        placed, name = (self._out, "streamed_expand") if direction == TOP_DOWN else (self._in, "streamed_search")
        if direction == TOP_DOWN:
            self._launch("streamed_list", self.n, placed.struct, state)
        if placed.hot_bytes:
            hub_threads = placed.chunks * WARP
            self._launch("streamed_hot", hub_threads, placed.struct, state, np.uint32(direction == BOTTOM_UP))
        if rows == 0:
            return Traffic()

        def consume(local: np.ndarray, pieces: Array, count: int) -> None:
            launch(self._runtime, self._launch.kernel(name), count * WARP, (local, state, pieces, np.uint64(count)))

        return placed.read(self._arrays["wanted"], units, consume, rows)

    def _survey(self, state: np.ndarray, everything: bool) -> dict[str, int]:
        """Return the counters of the frontier, or of all that is reached."""
        self._runtime.fill(self._arrays["tallies"], 0)
        self._launch("streamed_survey", self.n, self._out.struct, state, np.uint32(everything))
        return self._counts()

    def _counts(self) -> dict[str, int]:
        return dict(zip(COUNTS, self._runtime.download(self._arrays["tallies"]).tolist(), strict=True))

    def _state(self, wanted: tuple[str, ...]) -> np.ndarray:
        arrays = self._arrays | {name: self.array(name) for name in wanted}
        return struct(SEARCH, **{name: self._runtime.pointer(array) for name, array in arrays.items()})
