"""BFS as work of the engine of a rank: all ranks run it together, and rank 0 has the tree."""

from __future__ import annotations

from typing import Any

import numpy as np

from bigbfs.algorithms.bfs.cpu.program import NO_LIMIT
from bigbfs.algorithms.bfs.options import BfsOptions
from bigbfs.algorithms.bfs.ranks.common_program import CommonBfs
from bigbfs.algorithms.bfs.ranks.costs import Forced
from bigbfs.algorithms.bfs.ranks.loop import Found
from bigbfs.algorithms.bfs.ranks.prove import prove
from bigbfs.algorithms.bfs.ranks.search import RankSearch
from bigbfs.algorithms.bfs.result import BfsResult, RunRecord
from bigbfs.engines.cpu import ranked_memory
from bigbfs.engines.cpu.ranked import MESSAGES, RankedGraph
from bigbfs.engines.cpu.ranked_survey import RankSurvey
from bigbfs.engines.cpu.rows import row_lengths, sample_rows
from bigbfs.engines.ranks.numbering import to_first, whole
from bigbfs.engines.ranks.partition import deal
from bigbfs.record import RankRecord


def bfs_over_ranks(placed: RankedGraph, options: BfsOptions) -> RankBfs | CommonBfs:
    """Return the program for the ranks of ``placed``: on one state where they are on one machine."""
    return CommonBfs(placed, options) if placed.common else RankBfs(placed, options)


class RankBfs:
    """BFS on one graph over ranks.

    Parameters
    ----------
    placed
        The graph, and the ranks.
    options
        Which strategy.
    """

    def __init__(self, placed: RankedGraph, options: BfsOptions) -> None:
        self._placed = placed
        self._upward = placed.incoming if options.entry.bottom_up else None
        self._search: RankSearch | None = None

    def warm(self, options: BfsOptions) -> None:
        """Compile, and make the state; refuse what there is no memory for.

        Raises
        ------
        DoesNotFitError
            The state takes more memory than is free.
        """
        options.require_source(self._placed.n)
        self._require_memory(options)
        if self._search is None:
            self._search = self._make()

    def _require_memory(self, options: BfsOptions) -> None:
        """Refuse a search for whose state, where it is not there yet, and result a machine has no room."""
        placed, need = self._placed, 0
        n, ids, group = placed.n, placed.ids, placed.group
        mine = placed.partition.local_vertices(group.rank)
        if self._search is None:
            need = ranked_memory.search_bytes(n, mine, ids, group) + ranked_memory.buffer_bytes(placed.threads, ids)
            if self._upward is not None and not placed.surveyed:
                need += ranked_memory.survey_bytes(n, mine, ids)
        wanted = {"levels": options.fetch and options.want_levels, "parents": options.fetch and options.want_parents}
        if any(wanted.values()):
            need += ranked_memory.tree_bytes(n, mine, ids, first=group.rank == 0, **wanted)
        if self._search is None or any(wanted.values()):
            advice = "take ranks on more machines, leave out levels or parents if they are not needed, or free some"
            ranked_memory.require(group, need, n, advice)

    def _make(self) -> RankSearch:
        placed, upward = self._placed, self._upward
        group, ids, threads = placed.group, placed.ids, placed.threads
        with placed.clock("compile"):
            sample, dealt = sample_rows(placed.out, ids), deal(2, group.size)
            survey = None
            if upward is not None:
                survey = RankSurvey(sample, dealt.part(group.rank), ids, placed.workers, threads)
            rows = sample if upward is not None else None
            RankSearch(group, dealt, sample, rows, survey, ids, 2, placed.workers, threads).warm_up()
        with placed.clock("place"):
            survey = None if upward is None else placed.own_survey()
            forced = Forced(None if placed.exchange == MESSAGES else placed.exchange)
            m = placed.graph.m
            made = RankSearch(
                group, placed.partition, placed.out, upward, survey, ids, m, placed.workers, threads, forced
            )
        made.proof_rows = placed.incoming
        return made

    def run(self, options: BfsOptions) -> BfsResult:
        """Traverse; see ``BfsOptions``. Levels and parents are on rank 0; elsewhere they are all -1."""
        placed, search = self._placed, self._search
        assert search is not None
        depth = NO_LIMIT if options.max_depth is None else min(options.max_depth, NO_LIMIT)
        found = search.run(options.source, depth, options.target)
        record = self._record(options, found)
        placed.require_vertices(found.faults)
        levels: Any = np.broadcast_to(np.int32(-1), placed.n)
        parents: Any = np.broadcast_to(np.int64(-1), placed.n)
        if options.fetch and options.want_levels:
            levels = self._fetched(search.own.levels, levels)
        if options.fetch and options.want_parents:
            fetched = self._fetched(search.own.parents, None)
            if fetched is not None:
                parents = fetched.astype(np.int64)
                parents[fetched == search.nobody] = -1
        return BfsResult(levels, parents, record)

    def verify(self, options: BfsOptions, result: BfsResult) -> None:
        """Prove the result right by the Graph500 rules, each rank its own rows.

        Raises
        ------
        VerificationError
            A rule is broken, on any rank.
        """
        assert self._search is not None
        n, limit, record = self._placed.n, options.max_depth, result.record
        if options.target is not None and self._search.met_target:  # where the search was to end
            limit = record.depth
        last = n if limit is None else min(limit, n)
        prove(self._placed.graph, self._search, options.source, record.depth, last)

    @property
    def nbytes(self) -> int:
        """Bytes of the state."""
        return 0 if self._search is None else self._search.nbytes

    def _record(self, options: BfsOptions, found: Found) -> RunRecord:
        """Return what the search measured, with a record of each rank."""
        placed, search = self._placed, self._search
        assert search is not None
        group = placed.group
        mine = RankRecord(group.rank, group.host, found.mine, found.traffic.waited, found.traffic.sent)
        vertices = placed.partition.vertices(group.rank)
        levels = search.own.levels[: len(vertices)]
        reached = levels >= 0
        edges = int(row_lengths(placed.out, vertices[reached]).sum())
        deepest = vertices[levels == found.depth]
        originals = placed.graph.original(deepest) if len(deepest) else deepest
        nearest = deepest[originals.argmin()] if len(deepest) else -1
        told = group.objects((mine, int(nearest), int(originals.min()) if len(deepest) else None))
        totals = group.sum([int(reached.sum()), edges])
        record = RunRecord(options.source, int(totals[0]), found.depth, int(totals[1]), found.seconds)
        record.levels, record.exchanges = found.levels, found.exchanges
        record.ranks = tuple(each for each, _, _ in told)
        record.deepest = min((smallest, vertex) for _, vertex, smallest in told if smallest is not None)[1]
        return record

    def _fetched(self, mine: np.ndarray, otherwise: Any) -> Any:
        """Return the array of all vertices on rank 0, ``otherwise`` elsewhere."""
        group = self._placed.group
        parts = to_first(group, mine)
        if group.rank:
            return otherwise
        owns = [self._placed.partition.own(rank) for rank in range(group.size)]
        return whole(parts, owns, self._placed.n)
