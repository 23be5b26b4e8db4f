"""Sweeps on the CPU: the single search, and one pass that renews bounds from its levels where these are.

A few searches do not pay for a head table, which reads every row once: the first one goes without, and the others look
for parents where the first has found them.
"""

from __future__ import annotations

from functools import cache, partial

import numpy as np

from bigbfs.algorithms.bfs.cpu.frontier import Measured
from bigbfs.algorithms.bfs.cpu.program import NO_LIMIT, CpuBfs
from bigbfs.algorithms.bfs.cpu.search import ALONE_EDGES
from bigbfs.algorithms.bfs.options import BfsOptions
from bigbfs.algorithms.sweeps.cpu.farthest import rim_of
from bigbfs.algorithms.sweeps.cpu.renewing import LIST, Ask, Known, hub_of, prepared, renew
from bigbfs.algorithms.sweeps.options import (
    KEPT,
    LISTED,
    WORDS,
    Hub,
    Listed,
    SweepOptions,
    Swept,
    beyond,
    require_short,
    told,
)
from bigbfs.engines.cpu import memory
from bigbfs.engines.cpu.heads import Survey
from bigbfs.engines.cpu.placed_graph import PlacedGraph
from bigbfs.engines.cpu.rows import sample_rows
from bigbfs.jit.team import team_of

SEARCH = BfsOptions(want_levels=False, want_parents=False)
"""The search, of which no array is copied."""
ADVICE = "free some, or take a machine with more; the depth of a single search is a lower bound"


def known_bytes(n: int, ids: np.dtype) -> int:
    """Return the bytes of bounds, distances kept and open vertices of ``n`` vertices."""
    return n * (2 * 4 + 2 * KEPT) + LISTED * 8


def bytes_of(n: int, ids: np.dtype) -> int:
    """Return the bytes that sweeps over ``n`` vertices take beside the graph."""
    return known_bytes(n, ids) + memory.survey_bytes(n, ids) + memory.search_bytes(n, ids)


class CpuSweeps:
    """Sweeps of one placed graph, undirected.

    Parameters
    ----------
    placed
        The graph.
    options
        Any.
    """

    def __init__(self, placed: PlacedGraph, options: SweepOptions) -> None:
        self._placed = placed
        # where no level is for two threads (see there), passes over the vertices are not worth waking one
        self._threads = placed.threads if placed.graph.m > ALONE_EDGES else 1
        self._surveyed = cache(
            partial(_survey, placed, self._threads)
        )  # not a method: state that refers to itself is let go of late
        self._search = CpuBfs(placed, SEARCH, self._surveyed, self._threads)
        self._renew = prepared()
        self._known: Known | None = None
        self._longest = self._kept = 0
        self._tree: Measured | None = None  # of the first search, which the next is to lean on

    def warm(self, options: SweepOptions) -> None:
        """Compile, and make the state.

        Raises
        ------
        DoesNotFitError
            It takes more memory than is free.
        """
        if self._known is not None:
            return
        placed = self._placed
        memory.require(bytes_of(placed.n, placed.ids), placed.n, ADVICE)
        self._search.warm(SEARCH, counted=True)
        with placed.compiling("sweeps") as wanted:
            if wanted:
                hub_of(sample_rows(placed.out, placed.ids))
                renew(_known(2, 1), np.zeros(2, np.int32), np.zeros(3, np.uint8), _ask(0, 0, 0, options))
        with placed.clock("place"):
            self._known = _known(placed.n, self._threads)

    def run(self, options: SweepOptions) -> Swept | Hub | tuple[np.ndarray, ...]:
        """Search, look for the hub, or say what is known; see ``SweepOptions``."""
        placed, known = self._placed, self._known
        assert known is not None
        if options.source is None and options.keep is not None:
            return known.lower, known.upper, beyond(known.kept[options.keep])
        if options.source is None:
            return Hub(*(int(part) for part in hub_of(placed.out)))
        search = self._search.search
        if options.anew or self._tree is not None:
            search.lean_on(None if options.anew else self._tree)
        found = search.run(options.source, NO_LIMIT, records=False)
        placed.require_vertices(found.faults)
        edges, self._tree = search.m - found.unexplored, found if options.anew else None
        require_short(found.depth)
        if options.anew:
            self._longest = self._kept = 0
        self._longest = max(self._longest, found.depth)
        self._kept |= 0 if options.keep is None else 1 << options.keep
        ask = _ask(found.depth, self._longest, self._kept, options)
        record = renew(known, search.levels, self._surveyed().ranks, ask, self._renew)
        parts = told(record, self._kept)
        return Swept(
            depth=found.depth,
            halfway=self._climb(parts.far, found.depth) if options.halfway else -1,
            longest=self._longest,
            listed=self._listed(parts.open),
            edges=edges,
            seconds=found.seconds,
            rim=rim_of(search.levels, found.depth) if options.anew else None,
            **parts._asdict(),
        )

    def _climb(self, vertex: int, depth: int) -> int:
        """Return the vertex half as deep as ``vertex`` on its way to the source."""
        parents = self._search.search.parents
        for _ in range(depth - depth // 2):
            vertex = int(parents[vertex])
        return vertex

    def _listed(self, count: int) -> Listed | None:
        """Return the ``count`` open vertices if they are few."""
        known = self._known
        assert known is not None
        if count > LISTED:
            return None
        ids = np.sort(known.listed[:count]).astype(np.int64)
        levels = self._search.search.levels
        return Listed(ids, *(each[..., ids].astype(np.int64) for each in (known.upper, levels, known.kept)))

    def verify(self, options: SweepOptions, result: Swept) -> None:
        """Do nothing: bounds are proved by single searches, in the room that asks for them."""

    @property
    def nbytes(self) -> int:
        """Bytes of the state."""
        if self._known is None:
            return self._search.nbytes
        return sum(int(array.nbytes) for array in self._known[1:]) + self._search.nbytes + self._surveyed().nbytes


def _survey(placed: PlacedGraph, threads: int) -> Survey:
    """Return a survey of the graph, without heads."""
    return Survey(placed.out, placed.ids, threads, heads=False)


def _ask(depth: int, longest: int, kept: int, options: SweepOptions) -> Ask:
    """Return what the kernel is told of a search."""
    keep = -1 if options.keep is None else options.keep
    flags = (np.bool_(options.anew), np.bool_(options.central))
    return Ask(np.int32(depth), np.int32(longest), np.int64(keep), np.int64(kept), *flags)


def _known(n: int, threads: int) -> Known:
    """Return the state of ``n`` vertices of which nothing is known."""
    return Known(
        team_of(threads),
        np.empty(n, np.int32),
        np.empty(n, np.int32),
        np.empty((KEPT, n), np.uint16),
        np.empty(LISTED, np.uint64),
        np.zeros(2 * LIST, np.uint64),
        np.zeros((threads, WORDS), np.uint64),
    )
