"""Connected components as work of the engine of a rank: all ranks run it together, and rank 0 has the labels."""

from __future__ import annotations

import time
from collections import Counter
from typing import Any

import numpy as np

from bigbfs.algorithms.components.cpu.labels import Components, Labelled
from bigbfs.algorithms.components.options import ComponentsOptions
from bigbfs.algorithms.components.ranks import prove
from bigbfs.algorithms.components.ranks.ancestors import ancestors
from bigbfs.algorithms.components.ranks.common_program import CommonComponents, require_afforest
from bigbfs.algorithms.components.ranks.merge import Merge
from bigbfs.algorithms.components.result import ComponentsResult, result_of_first
from bigbfs.engines.cpu import ranked_memory
from bigbfs.engines.cpu.bits import no_vertices
from bigbfs.engines.cpu.ranked import RankedGraph
from bigbfs.engines.cpu.ranked_survey import RankSurvey
from bigbfs.engines.cpu.rows import NOBODY, Rows, row_count, sample_rows
from bigbfs.engines.ranks.group import Group
from bigbfs.engines.ranks.numbering import whole
from bigbfs.engines.ranks.partition import Partition, deal
from bigbfs.record import RankRecord


class RankForest:
    """The forest of one rank over its own rows: that of one process, of own vertices. All ranks make it together.

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
    threads
        Threads of the rank.
    """

    def __init__(
        self,
        group: Group,
        partition: Partition,
        rows: tuple[Rows, ...],
        sees_both_ends: bool,
        survey: RankSurvey,
        ids: np.dtype,
        threads: int,
    ) -> None:
        self.n, self.ids = row_count(rows[0]), ids
        self.group, self.partition, self.part = group, partition, partition.part(group.rank)
        self.rows, self.sees_both_ends = rows, sees_both_ends
        alone = sees_both_ends and len(rows) == 1  # else a vertex without in-edges may have others
        self._aside = survey.empty if alone else no_vertices(self.n)
        self.merge = Merge(group, partition, ids, self._aside)
        incoming = rows[-1] if sees_both_ends else None
        self.local = Components(rows[0], incoming, survey, threads, self.merge.own)
        self.hub = self._meet() if group.size > 1 and self.n else 0

    def _meet(self) -> int:
        """Let own vertices have the trees that all ranks have, and return the root of the largest, by a sample."""
        local, own = self.local, self.partition.vertices(self.group.rank)
        local.plant_trees()
        local.tie()
        local.keep_others(ancestors(self.group, self.merge.owners, local.trees, own))
        local.tie()
        held: Counter[int] = Counter()
        for values, counts in self.group.objects(np.unique(local.sampled(local.trees), return_counts=True)):
            held.update(dict(zip(values.tolist(), counts.tolist(), strict=True)))
        local.hub = np.uint64(max(held, key=lambda root: (held[root], -root), default=0))
        return int(local.hub)

    @property
    def nbytes(self) -> int:
        """Bytes of the state."""
        return self.local.nbytes + self.merge.nbytes

    def run(self, skips: bool = True, heads: bool = True) -> Labelled:
        """Find the labels of own vertices, together with all ranks."""
        self.group.barrier()
        start, before = time.perf_counter(), self.group.traffic.copy()
        self.local.begin()
        self.merge.faults = 0
        if self.n:
            self._find(skips, heads)
        mine = time.perf_counter() - start
        traffic = self.group.traffic.since(before)
        self.group.barrier()
        seconds = time.perf_counter() - start
        record = RankRecord(self.group.rank, self.group.host, mine, traffic.waited, traffic.sent)
        told = self.group.objects((record, seconds, self.local.read, self.local.faults + self.merge.faults))
        ranks, slowest = tuple(each[0] for each in told), max(each[1] for each in told)
        return Labelled(slowest, sum(each[3] for each in told), sum(each[2] for each in told), 1, 0, ranks)

    def _find(self, skips: bool, heads: bool) -> None:
        local, hub = self.local, np.uint64(self.hub)
        if heads:
            giant = local.adaptive_rounds()
        else:
            giant = NOBODY
            local.start()
        skips = skips and self.sees_both_ends
        members, aside = np.zeros(0, np.uint64), self._aside
        if self.group.size > 1 and skips:
            members = self.merge.tell_giant(local.labels, int(giant))
            aside, giant = self._aside | members, NOBODY
        local.link_all(aside, giant if skips else NOBODY, members, hub)
        if self.group.size > 1:
            told = None
            if self.sees_both_ends:
                told = members if len(members) else np.zeros(self.partition.words, np.uint64)
            self.merge.run(local.labels, self.hub, told)
        local.flatten()

    def count(self) -> None:
        """Find the labels by every edge of every row, without heads and without leaving out any."""
        self.run(skips=False, heads=False)

    @property
    def own_labels(self) -> np.ndarray:
        """Labels that the last run has found for own vertices, in local order and whole words: a copy."""
        return self.local.padded.reshape(-1, 64)[self.partition.own(self.group.rank)].flatten()


def components_over_ranks(placed: RankedGraph, options: ComponentsOptions) -> RankComponents | CommonComponents:
    """Return the program for the ranks of ``placed``: in one forest where they are on one machine."""
    return CommonComponents(placed, options) if placed.common else RankComponents(placed, options)


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
        require_afforest(options)
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
            RankForest(group, dealt, (sample,), True, survey, ids, placed.threads).run()
        with placed.clock("place"):
            both, survey = placed.incoming is not None, placed.own_survey()
            self._forest = RankForest(group, placed.partition, placed.every_row, both, survey, ids, placed.threads)

    def run(self, options: ComponentsOptions) -> ComponentsResult:
        """Label the components; the labels are on rank 0, elsewhere they are the vertices' own."""
        placed, made = self._placed, self._forest
        assert made is not None
        found = made.run(options.skips_giant)
        placed.require_vertices(found.faults)
        return result_of_first(placed.group, self._whole(made), options.algorithm, found)

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
        raw = made.own_labels.view(np.uint8)
        parts = group.exchange([raw if rank == 0 else none for rank in range(group.size)])
        if group.rank:
            return np.empty(0, made.ids)
        owns = [made.partition.own(rank) for rank in range(group.size)]
        return whole([part.view(made.ids) for part in parts], owns, made.n)
