"""What the reference says of BFS on one graph: levels equal, a valid tree, the right counts."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bigbfs.algorithms.bfs.options import BfsOptions
from bigbfs.algorithms.bfs.reference import bfs
from bigbfs.algorithms.bfs.result import BfsResult
from bigbfs.algorithms.bfs.validate import validate_tree
from bigbfs.algorithms.rules import first_difference
from bigbfs.errors import VerificationError
from bigbfs.graph.graph import Graph


class BfsOracle:
    """Expected trees from some sources of ``graph`` (plain rows)."""

    def __init__(self, graph: Graph, runs: int) -> None:
        self._graph = graph
        self._degrees = graph.degrees()
        self._levels = {source: bfs(graph, source)[0] for source in sources_of(graph, runs)}

    def work(self, strategy: str) -> Iterator[BfsOptions]:
        """Yield a search from every source."""
        for source in self._levels:
            yield BfsOptions(source, strategy=strategy)

    def differences(self, work: BfsOptions, result: BfsResult) -> list[str]:
        """Return what is wrong with ``result``."""
        where, expected = f"source {work.source}", self._levels[work.source]
        if wrong := first_difference("level", result.levels, expected):
            return [f"{where}: {wrong}"]
        try:
            validate_tree(self._graph, work.source, result.levels, result.parents)
        except VerificationError as error:
            return [f"{where}: {error}"]
        record, reached = result.record, expected >= 0
        have = (record.source, record.reached, record.depth, record.edges)
        want = (work.source, int(reached.sum()), int(expected.max()), int(self._degrees[reached].sum()))
        return [] if have == want else [f"{where}: source, reached, depth, edges are {have}, reference {want}"]


def sources_of(graph: Graph, count: int, seed: int = 1) -> list[int]:
    """Return up to ``count`` different internal vertices: first, last, the largest hub, then random ones."""
    if graph.n == 0:
        return []
    first = [0, graph.n - 1, int(np.argmax(graph.degrees()))]
    random = np.random.default_rng(seed).integers(0, graph.n, count).tolist()
    return list(dict.fromkeys(first + random))[:count]
