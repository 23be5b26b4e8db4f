"""Connected components as work of the engine of a rank that sees the state of all: rank 0 has the labels."""

from __future__ import annotations

import numpy as np

from bigbfs.algorithms.components.options import ComponentsOptions
from bigbfs.algorithms.components.ranks import prove
from bigbfs.algorithms.components.ranks.common import CommonForest
from bigbfs.algorithms.components.result import ComponentsResult, result_of_first
from bigbfs.engines.cpu import ranked_memory
from bigbfs.engines.cpu.common_survey import CommonSurvey
from bigbfs.engines.cpu.ranked import RankedGraph
from bigbfs.engines.cpu.rows import sample_rows
from bigbfs.engines.ranks.partition import deal
from bigbfs.errors import UsageError


def require_afforest(options: ComponentsOptions) -> None:
    """Refuse what has no form over ranks.

    Raises
    ------
    UsageError
        Names the algorithm, or the switch.
    """
    default = ComponentsOptions()
    for name in ("algorithm", "rounds", "single_pass"):
        if (asked := getattr(options, name)) != getattr(default, name):
            raise UsageError(
                "over ranks on CPUs, and of shards there, components are found by Afforest, without rounds or passes "
                "to choose; leave it out, or give one process one graph file",
                about=((name, asked),),
            )


class CommonComponents:
    """Connected components of one graph by ranks of one machine.

    Parameters
    ----------
    placed
        The graph, and the ranks.
    options
        Any that Afforest takes.
    """

    def __init__(self, placed: RankedGraph, options: ComponentsOptions) -> None:
        self._placed = placed
        self._forest: CommonForest | None = None

    def warm(self, options: ComponentsOptions) -> None:
        """Compile, and make the state; refuse what there is no memory for, and other algorithms.

        Raises
        ------
        UsageError
            The algorithm, or a switch of it, has no form over ranks.
        DoesNotFitError
            The state takes more memory than is free.
        """
        require_afforest(options)
        placed = self._placed
        n, group, ids, threads = placed.n, placed.group, placed.ids, placed.threads
        need = ranked_memory.labels_bytes(n, 0, ids, first=group.rank == 0)
        if self._forest is None:
            need += ranked_memory.common_forest_bytes(n, ids, first=group.rank == 0)
            need += 0 if placed.surveyed else ranked_memory.common_survey_bytes(n, ids, first=group.rank == 0)
        ranked_memory.require(group, need, n, "take a machine with more, or free some")
        if self._forest is not None:
            return
        with placed.compiling("components of ranks") as wanted:
            if wanted:
                sample = sample_rows(placed.out, ids)
                survey = CommonSurvey(sample, ids, threads, group)
                CommonForest(group, deal(2, group.size), (sample,), True, survey, threads).warm_up(options.algorithm)
        with placed.clock("place"):
            both, survey = placed.incoming is not None, placed.survey()
            self._forest = CommonForest(group, placed.partition, placed.every_row, both, survey, threads)

    def run(self, options: ComponentsOptions) -> ComponentsResult:
        """Label the components; the labels are on rank 0, elsewhere they are the vertices' own."""
        placed, made = self._placed, self._forest
        assert made is not None
        found = made.run_all(options)
        placed.require_vertices(found.faults)
        labels = made.labels if placed.group.rank == 0 else np.empty(0, placed.ids)
        return result_of_first(placed.group, labels, options.algorithm, found)

    def verify(self, options: ComponentsOptions, result: ComponentsResult) -> None:
        """Prove the labels right: each rank its own rows, and a plain forest counts the components again.

        Raises
        ------
        VerificationError
            A rule is broken, on any rank.
        """
        assert self._forest is not None
        prove.prove(self._placed.graph, self._forest, result.record.components)

    @property
    def nbytes(self) -> int:
        """Bytes of the state."""
        return 0 if self._forest is None else self._forest.nbytes
