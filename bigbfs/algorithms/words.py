"""The words of an engine: one for each thing that tools and tests keep asking for, on internal vertices.

``engine.run(options)`` is all that an engine knows. :class:`bigbfs.api.Engine` speaks original ids.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bigbfs.algorithms import ALGORITHMS
from bigbfs.algorithms.bfs.options import BfsOptions
from bigbfs.algorithms.bfs.result import BfsResult, RunRecord
from bigbfs.algorithms.components.options import ComponentsOptions
from bigbfs.algorithms.components.result import ComponentsResult
from bigbfs.algorithms.registry import work_of
from bigbfs.engines.engine import Work

USUAL = ("bfs", "cc")
"""What an engine gets ready for when nobody says what it will run."""


def usual_work(strategy: str = "auto", tuning: Any = None, names: Sequence[str] = USUAL) -> tuple[Work, ...]:
    """Return the work of the algorithms ``names``, BFS by ``strategy``."""
    return tuple(
        BfsOptions(strategy=strategy, tuning=tuning) if isinstance(work, BfsOptions) else work
        for work in work_of(ALGORITHMS, names)
    )


class Words:
    """The words; ``strategy`` is that of BFS."""

    strategy: str
    _tuning: Any = None

    def run(self, work: Any) -> Any:
        """Run ``work``: the engine's."""
        raise AssertionError("an engine comes after this class")

    def bfs(
        self, source: int, *, max_depth: int | None = None, want_levels: bool = True, want_parents: bool = True
    ) -> BfsResult:
        """Traverse from vertex ``source``; see ``BfsOptions``."""
        result: BfsResult = self.run(self.search(source, max_depth, want_levels, want_parents))
        return result

    def traverse(
        self, source: int, *, max_depth: int | None = None, want_levels: bool = True, want_parents: bool = True
    ) -> RunRecord:
        """Do as ``bfs`` does, but leave levels and parents where they are: what was measured is all that comes back."""
        result: BfsResult = self.run(self.search(source, max_depth, want_levels, want_parents, fetch=False))
        return result.record

    def connected_components(self, options: ComponentsOptions | None = None) -> ComponentsResult:
        """Label the (weakly) connected components: the smallest vertex of each."""
        result: ComponentsResult = self.run(options or ComponentsOptions())
        return result

    def search(
        self,
        source: int,
        max_depth: int | None = None,
        want_levels: bool = True,
        want_parents: bool = True,
        *,
        fetch: bool = True,
    ) -> BfsOptions:
        """Return the options of a search by this engine's strategy."""
        return BfsOptions(source, max_depth, want_levels, want_parents, self.strategy, fetch, self._tuning)
