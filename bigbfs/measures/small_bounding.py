"""All eccentricities of a small graph on the CPU: bounds renewed by searches from 64 vertices at once, by one thread.

Nothing is placed and no engine started: where all vertices could be searched from in a tenth of a second, that would
take longer, and in a first run its kernels seconds to compile. The searches are those that the diameter ends with.
"""

from __future__ import annotations

import time

import numpy as np

from bigbfs.measures.bounding import BATCH, Bounding, Searched, bounds_of
from bigbfs.measures.small import Small
from bigbfs.record import Alone


class SmallBounding(Bounding):
    """The batches of one run, from what searches for the diameter know on; see :class:`Bounding`.

    Parameters
    ----------
    swept
        These searches.
    """

    def __init__(self, swept: Small) -> None:
        self._small, self._graph, self._threads = swept, swept.graph, 1
        self._two_ways = self._singly = False
        self._helps = self._went_on = True
        self.bounds, self.components = bounds_of(swept, "all", swept.graph), 1
        self._best, self._record = swept.longest, swept.record
        self._record.width = BATCH

    def _search_at_once(self, sources: np.ndarray) -> Searched:
        """Search from ``sources``; nobody asks here which vertices are the farthest."""
        levels = np.full((self._graph.n, len(sources)), -1, np.int32)
        return self._search(sources, levels), sources, levels, levels

    def _count(self, sources: np.ndarray) -> np.ndarray:
        """Search from ``sources`` and note no more than their own eccentricities."""
        depth = [self._search(sources[first : first + BATCH]) for first in range(0, len(sources), BATCH)]
        self.bounds.settle(sources, np.concatenate(depth))
        return sources

    def _search(self, sources: np.ndarray, *levels: np.ndarray) -> np.ndarray:
        """Return the eccentricities of up to 64 vertices, and write their ``levels`` where these are wanted."""
        before, mine = Alone.now(), self._record
        depth, found = self._small.search_at_once(sources.astype(np.int32), *levels)
        self._add(len(sources), 1, time.perf_counter() - before.clock, before.lost())
        self._best = max(self._best, found[:3])
        mine.edges_read, mine.pairs = mine.edges_read + found.read, mine.pairs + len(sources) * self._small.reached
        return depth.copy()
