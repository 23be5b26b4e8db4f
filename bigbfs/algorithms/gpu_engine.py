"""The GPU engine with words, and plans for what it runs. No Numba here: a run on a GPU starts without it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bigbfs.algorithms.bfs.gpu.tree import Run
from bigbfs.algorithms.components.options import ComponentsOptions
from bigbfs.algorithms.words import Words, usual_work
from bigbfs.engines.engine import Work
from bigbfs.engines.gpu import engine as gpu
from bigbfs.engines.gpu import planning
from bigbfs.engines.gpu.placement.placed import PlacedAdjacency
from bigbfs.engines.gpu.runtime.runtime import Array, Runtime
from bigbfs.errors import UsageError
from bigbfs.graph.graph import Graph


def make_plan(graph: Graph, *arguments: Any, work: Sequence[Work] | None = None, **options: Any) -> planning.Plan:
    """Return the plan of a GPU run (see :func:`bigbfs.engines.gpu.planning.make_plan`) for ``work``, or the usual."""
    options["work"] = usual_work() if work is None else work
    return planning.make_plan(graph, *arguments, **options)


class GpuEngine(Words, gpu.GpuEngine):
    """The GPU engine; parameters of :class:`bigbfs.engines.gpu.engine.GpuEngine`, the ``strategy`` of BFS, and how it
    is tuned."""

    def __init__(
        self,
        graph: Graph,
        *,
        strategy: str = "auto",
        tuning: Any = None,
        work: Sequence[Work] | None = None,
        **options: Any,
    ) -> None:
        self.strategy, self._tuning = strategy, tuning
        try:
            wanted = usual_work(strategy, tuning) if work is None else work
        except UsageError:
            if options.get("runtime") is not None:  # it is the engine's, whatever happens
                options["runtime"].close()
            raise
        gpu.GpuEngine.__init__(self, graph, work=wanted, **options)

    def run(self, work: Any) -> Any:
        """Run ``work`` and return its result."""
        return gpu.GpuEngine.run(self, work)

    def run_bfs(self, source: int, *, want_parents: bool = True) -> Run:
        """Traverse, and leave levels and parents on the device (see ``tree_arrays``)."""
        work = self.search(source, want_parents=want_parents)
        run: Run = self.program(work).search(work)
        return run

    def run_components(self, options: ComponentsOptions | None = None) -> Any:
        """Label the components, and leave the labels on the device (see ``label_array``)."""
        work = options or ComponentsOptions()
        return self.program(work).label(work)

    def tree_arrays(self) -> tuple[Array, Array]:
        """Return the device's levels and parents of the last BFS."""
        loop = self.program(self.search(0)).loop
        return loop.array("levels"), loop.array("parents")

    def label_array(self) -> Array:
        """Return the device's labels of the last run."""
        return self.program(ComponentsOptions()).loop.label_array()

    def rows(self) -> PlacedAdjacency:
        """Return the placed rows."""
        return self.placed.out

    def runtime(self) -> Runtime:
        """Return what runs the kernels."""
        return self.placed.runtime

    def trace_components(self, options: ComponentsOptions | None = None) -> list[tuple[str, float]]:
        """Return (kernel, seconds) of every launch of a run, each waited for."""
        work = options or ComponentsOptions()
        launches: list[tuple[str, float]] = self.program(work).loop.trace(work)
        return launches

    def verify_tree(self, source: int) -> None:
        """Prove the tree of the last BFS on the device; VerificationError if a rule is broken."""
        work = self.search(source)
        self.program(work).verify(work, None)

    def verify_labels(self) -> None:
        """Prove the labels of the last run on the device; VerificationError if a rule is broken."""
        self.program(ComponentsOptions()).verify(ComponentsOptions(), None)
