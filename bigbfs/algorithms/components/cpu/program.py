"""Connected components as work of the CPU engine."""

from __future__ import annotations

from bigbfs.algorithms.components.cpu.handing import handed
from bigbfs.algorithms.components.cpu.whole import WholeComponents
from bigbfs.algorithms.components.options import ComponentsOptions
from bigbfs.algorithms.components.result import ComponentsResult, counted_result
from bigbfs.algorithms.components.validate import validate_labels
from bigbfs.engines.cpu import memory
from bigbfs.engines.cpu.heads import Survey
from bigbfs.engines.cpu.placed_graph import PlacedGraph
from bigbfs.engines.cpu.rows import sample_rows
from bigbfs.jit.team import team_of


class CpuComponents:
    """Connected components of one placed graph.

    Parameters
    ----------
    placed
        The graph.
    options
        Any.
    """

    def __init__(self, placed: PlacedGraph, options: ComponentsOptions) -> None:
        self._placed = placed
        self._components: WholeComponents | None = None
        self._compiled: set[str] = set()

    def warm(self, options: ComponentsOptions) -> None:
        """Compile the kernels of the algorithm, and make the state; refuse what there is no memory for.

        Raises
        ------
        DoesNotFitError
            The state and the result take more memory than is free.
        """
        placed = self._placed
        if self._components is None:
            survey = 0 if placed.surveyed else memory.survey_bytes(placed.n, placed.ids)
            need = survey + memory.components_bytes(placed.n, placed.ids)
            memory.require(need, placed.n, "free some, or take a machine with more")
        if options.algorithm not in self._compiled:
            with placed.compiling("components", options.algorithm) as wanted:
                if wanted:
                    warmed = self._of_sample()
                    warmed.warm_up(options.algorithm)
                    handed(team_of(placed.threads), warmed.labels, warmed.labels)
            self._compiled.add(options.algorithm)
        if self._components is None:
            with placed.clock("place"):
                components = WholeComponents(placed.out, placed.incoming, placed.survey(), placed.threads)
            if components.heads_left():
                with placed.compiling("components", "firsts") as wanted:
                    if wanted:
                        self._of_sample().warm_up_firsts()
                with placed.clock("place"):
                    components.choose()
            self._components = components

    def _of_sample(self) -> WholeComponents:
        """Return components of the smallest graph of the same kind of rows."""
        ids, threads = self._placed.ids, self._placed.threads
        sample = sample_rows(self._placed.out, ids)
        return WholeComponents(sample, sample, Survey(sample, ids, threads), threads)

    def run(self, options: ComponentsOptions) -> ComponentsResult:
        """Label the components; see ``ComponentsOptions``."""
        components, team = self._components, team_of(self._placed.threads)
        assert components is not None
        found = components.run(options)
        self._placed.require_vertices(found.faults)
        counted = handed(team, components.labels, components.sampled(components.labels))
        return counted_result(*counted, options.algorithm, found)

    def verify(self, options: ComponentsOptions, result: ComponentsResult) -> None:
        """Prove the labels right.

        Raises
        ------
        VerificationError
            A rule is broken.
        """
        validate_labels(self._placed.plain(), result.labels)

    @property
    def nbytes(self) -> int:
        """Bytes of the state."""
        return 0 if self._components is None else self._components.nbytes
