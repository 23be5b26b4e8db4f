"""BFS as work of the CPU engine."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bigbfs.algorithms.bfs.cpu.search import Search
from bigbfs.algorithms.bfs.options import BfsOptions
from bigbfs.algorithms.bfs.result import BfsResult, RunRecord
from bigbfs.algorithms.bfs.validate import validate_tree
from bigbfs.engines.cpu import memory
from bigbfs.engines.cpu.heads import Survey
from bigbfs.engines.cpu.placed_graph import PlacedGraph
from bigbfs.engines.cpu.rows import VarintRows, sample_rows
from bigbfs.sizes import format_size

NO_LIMIT = 2**31 - 2


class CpuBfs:
    """BFS on one placed graph.

    Parameters
    ----------
    placed
        The graph.
    options
        Which strategy.
    survey
        What makes the survey that bottom-up levels look into; None: the graph has one.
    threads
        Threads of a search; None: those of the graph.
    """

    def __init__(
        self,
        placed: PlacedGraph,
        options: BfsOptions,
        survey: Callable[[], Survey] | None = None,
        threads: int | None = None,
    ) -> None:
        self._placed, self._survey, self._threads = placed, survey or placed.survey, threads or placed.threads
        self._upward = placed.incoming if options.entry.bottom_up else None
        self._search: Search | None = None

    def warm(self, options: BfsOptions, *, counted: bool = False) -> None:
        """Compile, and make the state; refuse what there is no memory for, unless the caller has ``counted`` it.

        Raises
        ------
        DoesNotFitError
            The state and the result take more memory than is free.
        """
        options.require_source(self._placed.n)
        if not counted:
            self._require_memory(options)
        if self._search is None:
            self._search = self._make()

    def _make(self) -> Search:
        placed, upward = self._placed, self._upward
        ids, threads = placed.ids, self._threads
        with placed.compiling("bfs", upward is None) as wanted:
            if wanted:
                sample, upward_sample, survey = sample_rows(placed.out, ids), None, None
                if upward is not None:
                    upward_sample, survey = sample, Survey(sample, ids, threads)
                Search(sample, upward_sample, survey, ids, 2, threads).warm_up()
        with placed.clock("place"):
            survey = None if upward is None else self._survey()
            return Search(placed.out, upward, survey, ids, placed.graph.m, threads)

    @property
    def search(self) -> Search:
        """What runs the levels, and holds levels and parents of the last search; there once it is warm."""
        assert self._search is not None
        return self._search

    def run(self, options: BfsOptions) -> BfsResult:
        """Traverse; see ``BfsOptions``."""
        placed, search = self._placed, self.search
        depth = NO_LIMIT if options.max_depth is None else min(options.max_depth, NO_LIMIT)
        found = search.run(options.source, depth, options.target)
        placed.require_vertices(found.faults)
        wanted = {"levels": options.fetch and options.want_levels, "parents": options.fetch and options.want_parents}
        result = search.handed(found.depth, **wanted)
        edges = placed.graph.m - found.unexplored if placed.incoming is placed.out else self._edges_of(search.levels)
        record = RunRecord(options.source, result.reached, found.depth, edges, found.seconds, levels=found.levels)
        record.deepest = result.deepest
        if placed.graph.flags.relabelled:
            record.deepest = placed.graph.first_by_id(search.levels == found.depth)
        levels = result.levels if wanted["levels"] else np.broadcast_to(np.int32(-1), placed.n)
        parents = result.parents if wanted["parents"] else np.broadcast_to(np.int64(-1), placed.n)
        return BfsResult(levels, parents, record)

    def verify(self, options: BfsOptions, result: BfsResult) -> None:
        """Prove the result right by the Graph500 rules.

        Raises
        ------
        VerificationError
            A rule is broken.
        """
        placed, last = self._placed, options.max_depth
        if options.target is not None and result.levels[options.target] >= 0:  # where the search was to end
            last = int(result.levels[options.target])
        validate_tree(placed.plain(), options.source, result.levels, result.parents, max_depth=last)

    @property
    def nbytes(self) -> int:
        """Bytes of the state."""
        return 0 if self._search is None else self._search.nbytes

    def _require_memory(self, options: BfsOptions) -> None:
        """Refuse a search for whose state, where it is not there yet, and result there is no room."""
        placed, n = self._placed, self._placed.n
        wanted = {"levels": options.fetch and options.want_levels, "parents": options.fetch and options.want_parents}
        need = result = memory.tree_bytes(n, **wanted)
        advice = "leave out levels or parents if they are not needed, or free some" if result else "free some"
        if self._search is None:
            need += memory.search_bytes(n, placed.ids)
            if self._upward is not None and not placed.surveyed:
                survey = memory.survey_bytes(n, placed.ids)
                advice = f"strategy topdown takes {format_size(need)}, or {advice}"
                need += survey
        if need:
            memory.require(need, n, advice)

    def _edges_of(self, levels: np.ndarray) -> int:
        """Return the number of edges in the rows of the vertices that have a level (int32, one per vertex)."""
        rows = self._placed.out
        lengths = rows.degree if isinstance(rows, VarintRows) else np.diff(rows.indptr)
        return int(lengths.sum(where=levels >= 0, dtype=np.uint64))
