"""Connected components as work of the engine of a rank: all ranks run it together, and rank 0 has the labels."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from bigbfs.algorithms.components.cpu.labels import Labelled
from bigbfs.algorithms.components.options import ComponentsOptions
from bigbfs.algorithms.components.ranks import forest, prove
from bigbfs.algorithms.components.ranks.merge import Merge
from bigbfs.algorithms.components.result import ComponentsRecord, ComponentsResult, result_of
from bigbfs.engines.cpu import ranked_memory
from bigbfs.engines.cpu.bits import no_vertices
from bigbfs.engines.cpu.ranked import RankedGraph
from bigbfs.engines.cpu.ranked_survey import RankSurvey, stretches
from bigbfs.engines.cpu.rows import Rows, row_count, sample_rows
from bigbfs.engines.ranks.group import Group
from bigbfs.engines.ranks.numbering import whole
from bigbfs.engines.ranks.partition import Partition, deal
from bigbfs.errors import UsageError
from bigbfs.jit.workers import Workers
from bigbfs.record import RankRecord


class RankForest:
    """The forest of one rank over its own rows.

    Parameters
    ----------
    group, partition
        The ranks, and who owns what.
    rows
        Out-rows of all vertices, and in-rows of a directed graph that has them.
    sees_both_ends
        Whether every edge is stored with both of its vertices.
    survey
        Heads of own vertices.
    ids
        Dtype of a vertex id.
    workers, threads
        The rank's threads, and how many.
    """

    def __init__(
        self,
        group: Group,
        partition: Partition,
        rows: tuple[Rows, ...],
        sees_both_ends: bool,
        survey: RankSurvey,
        ids: np.dtype,
        workers: Workers,
        threads: int,
    ) -> None:
        self.n, self.ids = row_count(rows[0]), ids
        self.group, self.partition, self.part = group, partition, partition.part(group.rank)
        self.rows, self.sees_both_ends, self.survey, self.workers = rows, sees_both_ends, survey, workers
        alone = sees_both_ends and len(rows) == 1  # else a vertex without in-edges may have others
        self.merge = Merge(group, partition, ids, survey.empty if alone else no_vertices(self.n))
        self.hub = int(survey.ranks[: self.n].argmax()) if self.n else 0
        self.trees = np.empty(
            64 * partition.words, ids
        )  # whole words: those past the last vertex are trees of their own
        self.labels = np.empty(0, ids)
        self._stretches = stretches(int(self.part.words), threads)
        self._counts = np.zeros((max(1, len(self._stretches)), 2), np.uint64)

    @property
    def nbytes(self) -> int:
        """Bytes of the state."""
        return self.trees.nbytes + self.merge.nbytes

    def run(self, skips: bool = True, heads: bool = True) -> Labelled:
        """Fill ``labels`` of own vertices, in local order, together with all ranks."""
        self.group.barrier()
        start, before = time.perf_counter(), self.group.traffic.copy()
        forest.plant(self.trees)
        read = faults = self.merge.faults = 0
        if self.n:
            if heads:
                self._heads(0)
                self._heads(1)
            if self.group.size > 1 and self.sees_both_ends and skips:
                self.merge.tell_giant(self.trees, self.hub)
            for rows in self.rows:
                read, faults = (a + b for a, b in zip((read, faults), self._rows(rows, skips), strict=True))
            self.labels = self.merge.run(self.trees, self.hub, both_ends=self.sees_both_ends)
        mine = time.perf_counter() - start
        traffic = self.group.traffic.since(before)
        self.group.barrier()
        seconds = time.perf_counter() - start
        record = RankRecord(self.group.rank, self.group.host, mine, traffic.waited, traffic.sent)
        told = self.group.objects((record, seconds, read, faults + self.merge.faults))
        ranks, slowest = tuple(each[0] for each in told), max(each[1] for each in told)
        return Labelled(slowest, sum(each[3] for each in told), sum(each[2] for each in told), 1, 0, ranks)

    def _heads(self, place: int) -> None:
        heads, lots = self.survey.heads, self._stretches
        self.workers.each(len(lots), lambda i: forest.link_heads(self.part, heads, place, self.trees, *lots[i]))

    def _rows(self, rows: Rows, skips: bool) -> tuple[int, int]:
        skips, hub = skips and self.sees_both_ends, np.uint64(self.hub)
        self._counts[:] = 0

        def one(i: int) -> None:
            forest.link_own_rows(rows, self.part, self.trees, hub, skips, *self._stretches[i], self._counts[i])

        self.workers.each(len(self._stretches), one)
        read, faults = self._counts.sum(axis=0).tolist()
        return int(read), int(faults)


class RankComponents:
    """Connected components of one graph over ranks.

    Parameters
    ----------
    placed
        The graph, and the ranks.
    options
        Any that Afforest takes.
    """

    def __init__(self, placed: RankedGraph, options: ComponentsOptions) -> None:
        self._placed = placed
        self._forest: RankForest | None = None

    def warm(self, options: ComponentsOptions) -> None:
        """Compile, and make the state; refuse what there is no memory for, and other algorithms.

        Raises
        ------
        UsageError
            The algorithm, or a switch of it, has no form over ranks.
        DoesNotFitError
            The state takes more memory than is free.
        """
        if options != ComponentsOptions(skip_giant=options.skip_giant):
            raise UsageError(
                "components over ranks are found by Afforest, without rounds or passes to choose",
                about=(("algorithm", options.algorithm),),
                remedies=("run the others on one process",),
            )
        placed = self._placed
        n, group, ids = placed.n, placed.group, placed.ids
        mine, need = placed.partition.local_vertices(group.rank), 0
        if self._forest is None:
            need = ranked_memory.forest_bytes(n, mine, ids)
            need += 0 if placed.surveyed else ranked_memory.survey_bytes(n, mine, ids)
        need += ranked_memory.labels_bytes(n, mine, ids, first=group.rank == 0)
        ranked_memory.require(group, need, n, "take fewer ranks on a machine or machines with more, or free some")
        if self._forest is not None:
            return
        with placed.clock("compile"):
            sample, dealt = sample_rows(placed.out, ids), deal(2, group.size)
            survey = RankSurvey(sample, dealt.part(group.rank), ids, placed.workers, placed.threads)
            RankForest(group, dealt, (sample,), True, survey, ids, placed.workers, placed.threads).run()
        with placed.clock("place"):
            rows: tuple[Rows, ...] = (placed.out,)
            if placed.incoming is not None and placed.incoming is not placed.out:
                rows = (placed.out, placed.incoming)
            both, survey = placed.incoming is not None, placed.own_survey()
            self._forest = RankForest(group, placed.partition, rows, both, survey, ids, placed.workers, placed.threads)

    def run(self, options: ComponentsOptions) -> ComponentsResult:
        """Label the components; the labels are on rank 0, elsewhere they are the vertices' own."""
        placed, made = self._placed, self._forest
        assert made is not None
        found = made.run(options.skips_giant)
        placed.require_vertices(found.faults)
        labels = self._whole(made)
        result = result_of(labels, options.algorithm, found) if placed.group.rank == 0 else None
        counts = placed.group.objects(None if result is None else (result.record.components, result.record.largest))[0]
        components, largest = counts
        record = ComponentsRecord(
            components, largest, found.seconds, edges_read=found.edges_read, passes=1, ranks=found.ranks
        )
        return ComponentsResult(labels.astype(np.int64) if result is None else result.labels, record)

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

    def _whole(self, made: RankForest) -> Any:
        """Return the labels of all vertices on rank 0, an array of none elsewhere."""
        group, none = made.group, np.empty(0, np.uint8)
        raw = np.ascontiguousarray(made.labels).view(np.uint8)
        parts = group.exchange([raw if rank == 0 else none for rank in range(group.size)])
        if group.rank:
            return np.empty(0, made.ids)
        owns = [made.partition.own(rank) for rank in range(group.size)]
        return whole([part.view(made.ids) for part in parts], owns, made.n)
