"""Topological order as work of the GPU engine."""

from __future__ import annotations

import numpy as np

from bigbfs.algorithms.topological.cycle import require_complete, require_countable
from bigbfs.algorithms.topological.gpu import arguments, verify
from bigbfs.algorithms.topological.gpu.loop import KahnLoop
from bigbfs.algorithms.topological.options import TopologicalOptions
from bigbfs.algorithms.topological.result import TopologicalResult, result_of
from bigbfs.engines.gpu.placed_graph import PlacedGraph
from bigbfs.engines.gpu.placement.arrays import ArraySpec
from bigbfs.engines.gpu.runtime.kernels import KernelSpec


def every_kernel() -> tuple[KernelSpec, ...]:
    """Return every kernel of topological order."""
    return (*arguments.KERNELS, *verify.KERNELS)


class GpuTopological:
    """Topological order of one placed graph.

    Parameters
    ----------
    placed
        The graph.
    options
        Any.

    Attributes
    ----------
    loop
        What runs the rounds.
    """

    @staticmethod
    def arrays(options: TopologicalOptions, residency: str) -> tuple[ArraySpec, ...]:
        """Return the state of a run."""
        return (*arguments.ARRAYS, arguments.RESULTS)

    @staticmethod
    def kernels(options: TopologicalOptions, residency: str) -> tuple[KernelSpec, ...]:
        """Return every kernel that a run launches."""
        return arguments.KERNELS

    def __init__(self, placed: PlacedGraph, options: TopologicalOptions) -> None:
        require_countable(placed.graph)
        self._placed = placed
        self.loop = KahnLoop(placed, options)
        self._handed_over = False

    def warm(self, options: TopologicalOptions) -> None:
        """Launch every kernel once, on nothing."""
        self.loop.warm()

    def run(self, options: TopologicalOptions) -> TopologicalResult:
        """Run the rounds; see ``TopologicalOptions``."""
        found = self.loop.run()
        self._placed.require_vertices(found.invalid_ids)
        self._handed_over = found.rounds is not None
        rounds = np.zeros(0, np.int32) if not self._placed.n else found.rounds
        rounds = self.loop.rounds() if rounds is None else rounds.copy()
        require_complete(self._placed.graph, rounds, found.unsettled)
        return result_of(rounds, self._placed.graph.m, found.seconds, found.ran)

    def verify(self, options: TopologicalOptions, result: TopologicalResult) -> None:
        """Prove the rounds of the last run on the device; the order follows from them.

        Raises
        ------
        VerificationError
            A rule is broken.
        """
        runtime = self._placed.runtime
        rounds = runtime.upload(result.rounds) if self._handed_over else self.loop.round_array()
        verify.verify_rounds_on_device(self._placed, rounds)
