"""Topological order as work of the CPU engine."""

from __future__ import annotations

import numpy as np

from bigbfs.algorithms.topological.cpu.kahn import Kahn
from bigbfs.algorithms.topological.cycle import require_complete, require_countable
from bigbfs.algorithms.topological.options import TopologicalOptions
from bigbfs.algorithms.topological.result import TopologicalResult, result_of
from bigbfs.algorithms.topological.validate import validate_topological
from bigbfs.engines.cpu import memory
from bigbfs.engines.cpu.placed_graph import PlacedGraph
from bigbfs.engines.cpu.rows import sample_rows


class CpuTopological:
    """Topological order of one placed graph.

    Parameters
    ----------
    placed
        The graph.
    options
        Any.
    """

    def __init__(self, placed: PlacedGraph, options: TopologicalOptions) -> None:
        require_countable(placed.graph)
        self._placed = placed
        self._kahn: Kahn | None = None

    def warm(self, options: TopologicalOptions) -> None:
        """Compile the kernels and make the state; refuse what there is no memory for.

        Raises
        ------
        DoesNotFitError
            The state and the result take more memory than is free.
        """
        if self._kahn is not None:
            return
        placed = self._placed
        state = placed.n * (2 * placed.ids.itemsize + 4)
        memory.require(state + 12 * placed.n, placed.n, "free some, or take a machine with more")
        with placed.clock("compile"):
            sample = sample_rows(placed.out, placed.ids)
            Kahn(sample, sample, placed.ids, 2, placed.threads).warm_up()
        with placed.clock("place"):
            self._kahn = Kahn(placed.out, placed.incoming, placed.ids, placed.graph.m, placed.threads)

    def run(self, options: TopologicalOptions) -> TopologicalResult:
        """Run the rounds; see ``TopologicalOptions``."""
        assert self._kahn is not None
        seconds = self._kahn.run()
        self._placed.require_vertices(self._kahn.faults)
        rounds = self._kahn.rounds.copy()
        require_complete(self._placed.graph, rounds, int(np.count_nonzero(self._kahn.left)))
        return result_of(rounds, self._placed.graph.m, seconds, self._kahn.ran)

    def verify(self, options: TopologicalOptions, result: TopologicalResult) -> None:
        """Prove order and rounds right.

        Raises
        ------
        VerificationError
            A rule is broken.
        """
        validate_topological(self._placed.plain(), result.order, result.rounds)

    @property
    def nbytes(self) -> int:
        """Bytes of the state."""
        return 0 if self._kahn is None else self._kahn.nbytes
