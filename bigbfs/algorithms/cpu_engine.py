"""The CPU engine with words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bigbfs.algorithms.bfs.options import BfsOptions
from bigbfs.algorithms.words import Words
from bigbfs.engines.cpu import engine as cpu
from bigbfs.engines.engine import Work
from bigbfs.graph.graph import Graph


class CpuEngine(Words, cpu.CpuEngine):
    """The CPU engine; parameters of :class:`bigbfs.engines.cpu.engine.CpuEngine`, and the ``strategy`` of BFS."""

    def __init__(
        self,
        graph: Graph,
        *,
        strategy: str = "auto",
        threads: int | None = None,
        work: Sequence[Work] | None = None,
    ) -> None:
        self.strategy = strategy
        asked = (BfsOptions(strategy=strategy),) if work is None else work
        cpu.CpuEngine.__init__(self, graph, work=asked, threads=threads)

    def run(self, work: Any) -> Any:
        """Run ``work`` and return its result."""
        return cpu.CpuEngine.run(self, work)
