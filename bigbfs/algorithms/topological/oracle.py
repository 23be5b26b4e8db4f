"""What the reference says of the order of one graph: equal order and rounds, or that a cycle is in the way."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import numpy as np

from bigbfs.algorithms.rules import first_difference
from bigbfs.algorithms.topological.cycle import CycleError
from bigbfs.algorithms.topological.options import TopologicalOptions
from bigbfs.algorithms.topological.reference import topological_order
from bigbfs.algorithms.topological.result import TopologicalResult, shape_of
from bigbfs.graph.graph import Graph


class TopologicalOracle:
    """Expected order and rounds of ``graph`` (plain rows, directed)."""

    def __init__(self, graph: Graph, runs: int) -> None:
        self._expected: tuple[np.ndarray, np.ndarray] | None = None
        with suppress(CycleError):
            self._expected = topological_order(graph)

    def work(self, strategy: str) -> Iterator[TopologicalOptions]:
        """Yield the defaults, where there is an order; strategies are for BFS, so once."""
        if strategy == "auto" and self._expected is not None:
            yield TopologicalOptions()

    def differences(self, work: TopologicalOptions, result: TopologicalResult) -> list[str]:
        """Return what is wrong with ``result``."""
        assert self._expected is not None
        order, rounds = self._expected
        if wrong := first_difference("round", result.rounds, rounds):
            return [wrong]
        if wrong := first_difference("place", result.order, order):
            return [wrong]
        record = result.record
        have, want = (record.rounds, record.widest, record.thin), shape_of(rounds)
        return [] if have == want else [f"rounds, widest and thin ones are {have}, reference {want}"]
