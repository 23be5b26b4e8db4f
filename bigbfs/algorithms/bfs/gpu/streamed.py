"""BFS level by level, for rows that are read from the file; its state is in device memory.

In: placed rows (out-neighbours; in-neighbours too, where bottom-up may run). Out: levels int32 (n), parents id (n), and
what the run measured. A level first counts what its frontier would cost to read. If that is more than a sweep over the
heads of the unvisited vertices, the sweep is made: whoever finds a parent there has its level, whichever way the level
goes on. Then it is known exactly how many bytes the others would take bottom-up, and the cheaper direction is read.
"""

from __future__ import annotations

import time

import numpy as np

from bigbfs.algorithms.bfs.gpu.loop import Run
from bigbfs.algorithms.bfs.gpu.streamed_costs import read_seconds, sweep_seconds
from bigbfs.algorithms.bfs.gpu.tree import TreeArrays
from bigbfs.algorithms.bfs.strategies import Strategy
from bigbfs.engines.gpu.runtime.arguments import BLOCK, DIRECTIONS, SEARCH, SLOT, WARP, defines, struct
from bigbfs.engines.gpu.runtime.launch import launch
from bigbfs.engines.gpu.runtime.runtime import Array, Runtime
from bigbfs.engines.gpu.streamed.buffers import Traffic
from bigbfs.engines.gpu.streamed.placement import StreamedAdjacency
from bigbfs.record import LevelRecord

FILE = "algorithms/bfs/gpu/streamed_bfs.cu"
KERNELS = (
    "streamed_reset", "streamed_survey", "streamed_heads", "streamed_list", "streamed_hot", "streamed_expand",
    "streamed_search",
)  # fmt: skip

COUNTS = ("vertices", "edges", "rows", "units", "found", "invalid")
"""Counters of algorithms/bfs/gpu/streamed.cuh, in their order."""

TOP_DOWN, BOTTOM_UP = 1, 2


class StreamedBfs(TreeArrays):
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
    """

    def __init__(
        self,
        runtime: Runtime,
        out: StreamedAdjacency,
        incoming: StreamedAdjacency | None,
        strategy: Strategy,
        *,
        ids: np.dtype,
        codec: str,
    ) -> None:
        super().__init__(runtime, out.n, ids)
        self.bottom_up = strategy.bottom_up and incoming is not None
        self._out = out
        self._in = incoming or out
        words = -(-self.n // 32)
        self._arrays = {name: runtime.empty(words, np.uint32) for name in ("visited", "frontier", "next", "wanted")}
        self._arrays["counts"] = runtime.zeros(len(COUNTS), np.uint64)
        self._kernels = {name: runtime.kernel(FILE, name, defines(ids, codec)) for name in KERNELS}
        self._limits = {name: runtime.max_blocks(kernel, BLOCK) for name, kernel in self._kernels.items()}

    @property
    def buffers(self) -> dict[str, int]:
        """Bytes of every array by its name in the ledger."""
        arrays = self._arrays | {"levels": self._levels, "parents": self._parents}
        arrays["tallies"] = arrays.pop("counts")  # components have a name of the same kind
        return {name: int(array.nbytes) for name, array in arrays.items() if array is not None}

    @property
    def wanted(self) -> Array:
        """The bitmap of the rows to be read, of no use between two runs."""
        return self._arrays["wanted"]

    def warm(self) -> None:
        """Run every kernel on a graph of no vertices: the driver loads a kernel when it is first launched."""
        nothing, none = self._out.struct.copy(), np.uint64(0)
        nothing["n"] = nothing["chunks"] = 0
        state, counts = self._state(False, False), self._arrays["counts"]
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
        if want_levels:
            self.lend_levels()
        if want_parents:
            self.lend_parents()
        state = self._state(want_levels, want_parents)
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
                records.append(LevelRecord(level, DIRECTIONS[int(slot["direction"])], count, seconds))
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
            level_records=tuple(records),
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
        if self.bottom_up and down > sweep_seconds(self.n):
            self._launch("streamed_heads", self.n, self._in.struct, state)
            swept = self._counts()
            missed, missed_units = swept["rows"] - rows, swept["units"] - units
            up = read_seconds(missed, missed_units * unit, self._in.units * unit)
            if up <= down:
                direction, rows, units = BOTTOM_UP, missed, missed_units
        read = self._read(state, direction, rows, units)
        counts = self._counts()
        slot = struct(SLOT, frontier=cost["vertices"], direction=direction, missed=rows, chunks=read.batches)
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
            launch(self._runtime, self._kernels[name], count * WARP, (local, state, pieces, np.uint64(count)))

        return placed.read(self._arrays["wanted"], units, consume)

    def _survey(self, state: np.ndarray, everything: bool) -> dict[str, int]:
        """Return the counters of the frontier, or of all that is reached."""
        self._runtime.fill(self._arrays["counts"], 0)
        self._launch("streamed_survey", self.n, self._out.struct, state, np.uint32(everything))
        return self._counts()

    def _counts(self) -> dict[str, int]:
        return dict(zip(COUNTS, self._runtime.download(self._arrays["counts"]).tolist(), strict=True))

    def _launch(self, name: str, threads: int, *arguments: Array) -> None:
        self._kernels[name](max(1, min(self._limits[name], -(-threads // BLOCK))), BLOCK, arguments)

    def _state(self, want_levels: bool, want_parents: bool) -> np.ndarray:
        pointer = self._runtime.pointer
        return struct(
            SEARCH,
            levels=pointer(self._levels) if want_levels else 0,
            parents=pointer(self._parents) if want_parents else 0,
            **{name: pointer(array) for name, array in self._arrays.items()},
        )
