"""What the reference says of the components of one graph: equal labels, the right counts."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bigbfs.algorithms.components.options import ComponentsOptions
from bigbfs.algorithms.components.reference import components
from bigbfs.algorithms.components.result import ComponentsResult
from bigbfs.algorithms.rules import first_difference
from bigbfs.graph.graph import Graph


class ComponentsOracle:
    """Expected labels of ``graph`` (plain rows)."""

    def __init__(self, graph: Graph, runs: int) -> None:
        self._labels = components(graph)

    def work(self, strategy: str) -> Iterator[ComponentsOptions]:
        """Yield Afforest, the default; strategies are for BFS, so once."""
        if strategy == "auto":
            yield ComponentsOptions()

    def differences(self, work: ComponentsOptions, result: ComponentsResult) -> list[str]:
        """Return what is wrong with ``result``."""
        if wrong := first_difference("label", result.labels, self._labels):
            return [wrong]
        sizes = np.unique(self._labels, return_counts=True)[1]
        have, want = (result.record.components, result.record.largest), (len(sizes), int(sizes.max(initial=0)))
        return [] if have == want else [f"components and largest are {have}, reference {want}"]
