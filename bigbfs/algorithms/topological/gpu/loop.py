"""Topological order on a device: in-degrees, then all rounds in one launch, and its state.

In: placed rows; in-neighbours too, where they are stored: then their lengths are the in-degrees. Out: the round of each
vertex, int32 (n), and the vertices by round, id (n). Where rounds are thin for long and the CPU is expected to be
quicker with the edges that are left, the launch ends, the state is downloaded once, and one thread of the CPU goes on.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from bigbfs.algorithms.topological.cpu.kahn import Kahn
from bigbfs.algorithms.topological.gpu.arguments import ARRAYS, DEEP, DONE, KAHN, KERNELS, STAND
from bigbfs.algorithms.topological.gpu.tuning import DEFAULT, Tuning
from bigbfs.algorithms.topological.options import TopologicalOptions
from bigbfs.engines.cpu.rows import rows_of, sample_rows
from bigbfs.engines.gpu.placed_graph import PlacedGraph
from bigbfs.engines.gpu.runtime.arguments import COUNTS, WARP, struct, team_threads
from bigbfs.engines.gpu.runtime.kernels import Launcher
from bigbfs.engines.gpu.runtime.runtime import Array

BLOCK_ROUNDS, GRID_ROUNDS = "one block", "whole grid"


@dataclass(slots=True)
class Rounds:
    """What one run measured.

    Attributes
    ----------
    seconds
        From the first in-degree to the last vertex in the queue.
    placed
        Vertices that have a round.
    invalid_ids
        Ids read that are no vertices.
    unsettled
        Vertices that not all edges, or too many, were taken off.
    ran
        How many rounds ran where.
    rounds
        int32, shape (n,), where the CPU has finished the run; None: they are on the device.
    """

    seconds: float
    placed: int
    invalid_ids: int
    unsettled: int
    ran: dict[str, int] = field(default_factory=dict)
    rounds: np.ndarray | None = None


class KahnLoop:
    """The state of topological order on one placed graph, reused from run to run.

    Parameters
    ----------
    placed
        The graph, its rows in device memory or mapped.
    options
        Whether to hand over, and how rounds are shared out.
    """

    def __init__(self, placed: PlacedGraph, options: TopologicalOptions) -> None:
        self._placed, self._runtime, self.n = placed, placed.runtime, placed.n
        self._tuning = options.tuning or DEFAULT
        self._hand_over = options.hand_over
        self._cpu: Kahn | None = None
        self._kernels = Launcher(placed.runtime, KERNELS, placed.ids, placed.codec)
        self._team = team_threads(placed.runtime.team, placed.ids)
        self._team_blocks = placed.runtime.max_blocks(self._kernels.kernel("topo_rounds"), self._team)
        self._borrow()

    def _borrow(self) -> None:
        """Take the arrays, whatever they hold, and make the kernels' argument."""
        self._arrays = {spec.name: self._placed.pool.lend(spec, self)[0] for spec in ARRAYS}
        self._state = self._make_state(self._tuning)

    def _make_state(self, tuning: Tuning) -> np.ndarray:
        """Return the kernels' argument: arrays, thresholds and costs, in picoseconds."""
        varint, mapped = self._placed.graph.codec == "varint", self._placed.residency == "mapped"
        return struct(
            KAHN,
            out=self._placed.out.struct,
            edges=self._placed.graph.m,
            most_rounds=tuning.most_rounds,
            thin_edges=tuning.thin_edges,
            thin_slices=tuning.thin_slices_varint if varint else tuning.thin_slices_plain,
            window=tuning.window if self._hand_over else 0,
            deep_width=tuning.deep_width,
            round_cost=int(1e6 * (tuning.mapped_round_us if mapped else tuning.round_us)),
            edge_cost=int(1e3 * tuning.edge_ns),
            cpu_edge_cost=int(1e3 * (tuning.cpu_edge_ns_varint if varint else tuning.cpu_edge_ns_plain)),
            cpu_cost=int(1e6 * tuning.hand_over_us + 1e3 * self.n * tuning.hand_over_vertex_ns),
            **{name: self._runtime.pointer(array) for name, array in self._arrays.items()},
        )

    def warm(self) -> None:
        """Run every kernel on a graph of no vertices, and what goes on on the CPU on a small one."""
        nothing = self._state.copy()
        nothing["out"]["n"] = 0
        nothing["out"]["chunks"] = 0
        left, counts = self._arrays["left"], self._arrays["counts"]
        self._kernels("topo_lengths", 1, nothing["out"], left)
        self._kernels("topo_count_rows", 1, nothing["out"], left, counts)
        self._kernels("topo_count_hubs", 1, nothing["out"], left, counts)
        self._runtime.fill(self._arrays["stand"], 0)
        self._kernels("topo_begin", 1, nothing)
        self._kernels.kernel("topo_rounds")(self._team_blocks, self._team, (nothing,))
        self._kernels("topo_left", 1, np.uint64(0), left, counts)
        self._runtime.synchronize()
        if self._hand_over:
            sample = sample_rows(rows_of(self._placed.graph.adjacency), self._placed.ids)
            small = Kahn(sample, sample, self._placed.ids, 2, 1)
            small.run()
            small.go_on(0, 0, 0)

    def run(self) -> Rounds:
        """Run all rounds; what they leave stays on the device, unless the CPU has finished them.

        Raises
        ------
        DeviceError
            A kernel failed.
        """
        if self.n == 0:
            return Rounds(0.0, 0, 0, 0)
        self._borrow()
        runtime, arrays = self._runtime, self._arrays
        rounds, ran, on_cpu = None, {}, 0
        with runtime.timer() as timer:
            for name in ("stand", "counts"):
                runtime.fill(arrays[name], 0)
            self._count_in_degrees()
            self._kernels("topo_begin", self.n, self._state)
            stand = self._launch()
            if int(stand["ending"]) == DEEP:
                cpu = self._finish_on_cpu(stand)
                rounds, ran, on_cpu = cpu.rounds, cpu.ran, cpu.faults
        here = {BLOCK_ROUNDS: int(stand["alone"]), GRID_ROUNDS: int(stand["wide"])}
        if rounds is None:
            placed = int(stand["begin"])
            self._kernels("topo_left", self.n, np.uint64(self.n), arrays["left"], arrays["counts"])
            unsettled = int(self._counts()["open"])
        else:
            assert self._cpu is not None
            placed = int(np.count_nonzero(rounds >= 0))
            unsettled = int(np.count_nonzero(self._cpu.left))
        return Rounds(timer.seconds, placed, int(self._counts()["invalid"]) + on_cpu, unsettled, here | ran, rounds)

    def rounds(self) -> np.ndarray:
        """Copy the rounds of the last run to host memory: int32, shape (n,)."""
        return self._runtime.download(self._arrays["rounds"])

    def round_array(self) -> Array:
        """Return the device's rounds of the last run."""
        return self._arrays["rounds"]

    def _counts(self) -> np.void:
        counts: np.void = self._runtime.download(self._arrays["counts"]).view(COUNTS)[0]
        return counts

    def _count_in_degrees(self) -> None:
        """Fill ``left``."""
        left, counts, out = self._arrays["left"], self._arrays["counts"], self._placed.out
        if self._placed.incoming is not None:
            self._kernels("topo_lengths", self.n, self._placed.incoming.struct, left)
            return
        self._runtime.fill(left, 0)
        self._kernels("topo_count_rows", self.n, out.struct, left, counts)
        if out.chunks:
            self._kernels("topo_count_hubs", out.chunks * WARP, out.struct, left, counts)

    def _launch(self) -> np.void:
        """Run rounds until none is left, or what is left is for the CPU; return where they stand."""
        while True:
            self._runtime.fill(self._arrays["round_sums"], 0)
            self._kernels.kernel("topo_rounds")(self._team_blocks, self._team, (self._state,))
            stand: np.void = self._runtime.download(self._arrays["stand"]).view(STAND)[0]
            if int(stand["ending"]) in (DONE, DEEP):
                return stand

    def _finish_on_cpu(self, stand: np.void) -> Kahn:
        """Go on serially from the state, which is downloaded."""
        if self._cpu is None:
            graph = self._placed.graph
            self._cpu = Kahn(rows_of(graph.adjacency), None, graph.ids, graph.m, 1)
        cpu, first = self._cpu, int(stand["begin"])
        last = first + int(stand["count"])
        self._runtime.read(self._arrays["left"], cpu.left)
        self._runtime.read(self._arrays["queue"][first:last], cpu.queue[first:last])
        self._runtime.read(self._arrays["rounds"], cpu.rounds)
        cpu.go_on(first, last, int(stand["number"]))
        return cpu
