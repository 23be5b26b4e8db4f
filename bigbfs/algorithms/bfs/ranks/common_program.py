"""BFS as work of the engine of a rank that sees the state of all: ranks run it together, and rank 0 has the tree."""

from __future__ import annotations

from typing import Any

import numpy as np

from bigbfs.algorithms.bfs.cpu.program import NO_LIMIT
from bigbfs.algorithms.bfs.options import BfsOptions
from bigbfs.algorithms.bfs.ranks.common import CommonSearch
from bigbfs.algorithms.bfs.ranks.costs import Forced
from bigbfs.algorithms.bfs.ranks.loop import Found
from bigbfs.algorithms.bfs.ranks.prove import prove
from bigbfs.algorithms.bfs.result import BfsResult, RunRecord
from bigbfs.engines.cpu import memory, ranked_memory
from bigbfs.engines.cpu.common_survey import CommonSurvey
from bigbfs.engines.cpu.ranked import RankedGraph
from bigbfs.engines.cpu.rows import row_lengths, sample_rows
from bigbfs.engines.ranks.partition import deal
from bigbfs.record import RankRecord


class CommonBfs:
    """BFS on one graph by ranks of one machine.

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
        self._search: CommonSearch | None = None

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
        """Refuse a search for whose state, where it is not there yet, and result the machine has no room."""
        placed, need = self._placed, 0
        n, ids, group = placed.n, placed.ids, placed.group
        if self._search is None:
            need = ranked_memory.common_bytes(n, ids, first=group.rank == 0)
            if self._upward is not None and not placed.surveyed:
                need += ranked_memory.common_survey_bytes(n, ids, first=group.rank == 0)
        wanted = {"levels": options.fetch and options.want_levels, "parents": options.fetch and options.want_parents}
        if group.rank == 0:
            need += memory.tree_bytes(n, **wanted)
        if self._search is None or any(wanted.values()):
            advice = "leave out levels or parents if they are not needed, or free some"
            ranked_memory.require(group, need, n, advice)

    def _make(self) -> CommonSearch:
        placed, upward = self._placed, self._upward
        group, ids, threads = placed.group, placed.ids, placed.threads
        with placed.compiling("bfs of ranks", upward is None) as wanted:
            if wanted:
                sample, rows, survey = sample_rows(placed.out, ids), None, None
                if upward is not None:
                    rows, survey = sample, CommonSurvey(sample, ids, threads, group)
                CommonSearch(group, deal(2, group.size), sample, rows, survey, ids, 2, threads).warm_up()
        with placed.clock("place"):
            survey = None if upward is None else placed.survey()
            made = CommonSearch(
                group, placed.partition, placed.out, upward, survey, ids, placed.graph.m, threads, Forced(None)
            )
        made.proof_rows = placed.incoming
        return made

    def run(self, options: BfsOptions) -> BfsResult:
        """Traverse; see ``BfsOptions``. Levels and parents are on rank 0; elsewhere they are all -1."""
        placed, search = self._placed, self._search
        assert search is not None
        depth = NO_LIMIT if options.max_depth is None else min(options.max_depth, NO_LIMIT)
        found = search.run_all(options.source, depth, options.target)
        placed.require_vertices(found.faults)
        wanted = {"levels": options.fetch and options.want_levels, "parents": options.fetch and options.want_parents}
        levels: Any = np.broadcast_to(np.int32(-1), placed.n)
        parents: Any = np.broadcast_to(np.int64(-1), placed.n)
        counted = None
        if placed.group.rank == 0:
            handed = search.handed(found.depth, **wanted)
            levels = handed.levels if wanted["levels"] else levels
            parents = handed.parents if wanted["parents"] else parents
            counted = handed.reached, self._edges(found), self._deepest(found, handed.deepest)
        return BfsResult(levels, parents, self._record(options, found, counted))

    def _edges(self, found: Found) -> int:
        """Return the edges in the rows of the vertices reached."""
        placed, search = self._placed, self._search
        assert search is not None
        if placed.incoming is placed.out:
            return placed.graph.m - found.unexplored
        return int(row_lengths(placed.out, np.flatnonzero(search.levels >= 0)).sum())

    def _deepest(self, found: Found, first: int) -> int:
        """Return the vertex of the last level whose original id is smallest; ``first``: whose own one is."""
        placed, search = self._placed, self._search
        assert search is not None
        if not placed.graph.flags.relabelled:
            return first
        nearest = placed.graph.first_by_id(search.levels == found.depth)
        assert nearest is not None  # the source at least has a level
        return int(nearest)

    def _record(self, options: BfsOptions, found: Found, counted: tuple[int, int, int] | None) -> RunRecord:
        """Return what the search measured, with a record of each rank; rank 0 has ``counted`` for all."""
        group = self._placed.group
        mine = RankRecord(group.rank, group.host, found.mine, found.traffic.waited, found.traffic.sent)
        told = group.objects((mine, counted))
        reached, edges, deepest = told[0][1]
        record = RunRecord(options.source, reached, found.depth, edges, found.seconds)
        record.levels, record.exchanges, record.deepest = found.levels, found.exchanges, deepest
        record.ranks = tuple(each for each, _ in told)
        return record

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
        prove(self._placed.graph, self._search, options.source, record.depth, n if limit is None else min(limit, n))

    @property
    def nbytes(self) -> int:
        """Bytes of the state."""
        return 0 if self._search is None else self._search.nbytes
