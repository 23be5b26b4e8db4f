"""Pairs of vertices that may be farther apart than the longest distance known, searched for from both ends.

In a small world such a search reads some hundred ids (:mod:`bigbfs.measures.between`), a search from one of the two
every edge. Where it reads much, on roads, it is given up, and tried with others after the next search from one vertex.
"""

from __future__ import annotations

import numpy as np

from bigbfs.errors import DoesNotFitError, FormatError
from bigbfs.graph.graph import Graph
from bigbfs.measures.between import GIVEN_UP, NO_PATH, PathFinder

SHARE = 16
"""All pairs of a look read about this share of the edges at most, or so many ids: a fraction of what a search takes."""
LEAST = 2**15


class Apart:
    """What is known of pairs in one component of an undirected graph; vertices are internal.

    Attributes
    ----------
    edges
        Of the graph.
    read
        Ids read so far.
    """

    def __init__(self, graph: Graph) -> None:
        self._graph, self.edges = graph, graph.m
        self._finder: PathFinder | None = None
        self._near: set[tuple[int, int]] = set()
        self._done: list[np.ndarray] = []  # pairs that are near, too, and not in the set yet: mostly nobody asks
        self.read = 0

    def look_at(
        self, pairs: np.ndarray, longest: int, most: int | None = None
    ) -> tuple[np.ndarray, tuple[int, int, int] | None]:
        """Search for ``pairs``, int64 (k, 2), until one is found to be more than ``longest`` edges apart.

        Of about ``most`` ids that may be read at most; None: a share of all.
        Returns which are not known to be ``longest`` apart or less, bool, and (distance, one, other) of the one found.

        Raises
        ------
        FormatError
            A pair has no path, or as :meth:`PathFinder.no_farther`: the graph is not what its file says.
        """
        left = np.ones(len(pairs), np.bool_)
        for each in self._done:
            self._near.update(_names(each))
        self._done.clear()
        if self._near:
            left[:] = [name not in self._near for name in _names(pairs)]
        finder = self._found() if left.any() else None
        if finder is None:
            return left, None
        todo, most = pairs[left], max(LEAST, self.edges // SHARE) if most is None else most
        done, distance, read = finder.no_farther(todo, longest, most)
        self.read += read
        if done < len(todo) and distance == NO_PATH:  # a search reached both: whoever waits for a longer way never ends
            raise FormatError("an edge u -> v has no twin v -> u: the file is damaged; `bigbfs check` says where")
        left[np.flatnonzero(left)[:done]] = False
        self._done += [todo[:done]] * bool(done)
        if done == len(todo) or distance == GIVEN_UP:
            return left, None
        return left, (distance, *todo[done].tolist())

    def _found(self) -> PathFinder | None:
        """Return what searches, None where there is no room for it."""
        if self._finder is None:
            try:
                self._finder = PathFinder(self._graph)
            except DoesNotFitError:
                return None
        return self._finder


def _names(pairs: np.ndarray) -> list[tuple[int, int]]:
    """Return pairs in the form in which each of them has one."""
    return [(min(pair), max(pair)) for pair in pairs.tolist()]
