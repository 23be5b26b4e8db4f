"""What the reference says of many searches: equal levels, and everything collected is what the levels say."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bigbfs.algorithms.many.options import ManyOptions
from bigbfs.algorithms.many.reference import many
from bigbfs.algorithms.many.result import ManyResult
from bigbfs.algorithms.many.validate import differences_of_sums
from bigbfs.algorithms.rules import first_difference
from bigbfs.graph.graph import Graph

SOURCES = 7
"""Sources for each run that is asked for."""


class ManyOracle:
    """Expected levels of ``graph`` (plain rows) from ``SOURCES`` times ``runs`` vertices, spread over all."""

    def __init__(self, graph: Graph, runs: int) -> None:
        self._sources = np.linspace(0, max(0, graph.n - 1), min(graph.n, SOURCES * runs)).astype(np.int64)
        self._expected = many(graph, self._sources)

    def work(self, strategy: str) -> Iterator[ManyOptions]:
        """Yield one run, where there are vertices; strategies are for BFS, so once."""
        if strategy == "auto" and len(self._sources):
            yield ManyOptions(self._sources, sums=True, harmonic=True, columns=True, fetch=True, width=64)

    def differences(self, work: ManyOptions, result: ManyResult) -> list[str]:
        """Return what is wrong with ``result``."""
        assert result.levels is not None
        for source, have, want in zip(self._sources, result.levels, self._expected, strict=True):
            if wrong := first_difference("level", have, want):
                return [f"source {source}: {wrong}"]
        return differences_of_sums(result, self._expected)
