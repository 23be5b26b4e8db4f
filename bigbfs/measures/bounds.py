"""Lower and upper bounds of every vertex's eccentricity, renewed by the distances of a batch of searches.

With the distances ``d`` between a source ``s`` and a vertex ``v``, the eccentricity of ``v`` is at least ``d(v, s)``
and at least ``ecc(s) - d(s, v)``, and at most ``d(v, s) + ecc(s)``. In a component of k vertices it is at most k - 1.

Source: Takes and Kosters, Determining the diameter of small world networks, CIKM 2011.
"""

from __future__ import annotations

import numpy as np

from bigbfs.jit import workers
from bigbfs.jit.njit import njit
from bigbfs.measures.folding import Forest, hand_down

GOALS = ("diameter", "radius", "all")


def bounds_bytes(n: int) -> int:
    """Return the bytes of :class:`Bounds` of ``n`` vertices: what it keeps, and what picking takes at most."""
    kept = 3 * 8 + 1
    picking = 8 * 8 + 3
    return (kept + picking) * n


class Bounds:
    """Bounds of the eccentricities of a graph's vertices (internal).

    Parameters
    ----------
    sizes
        int64, (n,): vertices in the component of each.
    inside
        bool, (n,): those that are asked for.
    degrees
        int64, (n,).
    forest
        Hanging trees; None: none are folded (a directed graph).
    distances
        Integers, (n,): distances from the centre of a ball; None: there is none. One end of any path longer than the
        longest known lies outside of the ball of half that length, so that ``"diameter"`` asks for no others.

    Attributes
    ----------
    lower, upper
        int64, (n,).
    roots
        int64, (n,): the vertex whose bounds those of each follow; itself, for one that no tree holds.
    searched
        bool, (n,).
    """

    def __init__(
        self,
        sizes: np.ndarray,
        inside: np.ndarray,
        degrees: np.ndarray,
        forest: Forest | None,
        distances: np.ndarray | None = None,
    ) -> None:
        n = len(sizes)
        self._distances = distances
        self.inside, self._sizes, self._degrees, self._forest = inside, sizes, degrees, forest
        self.lower = np.minimum(sizes - 1, 1)
        self.upper = sizes - 1
        self.roots = np.arange(n)
        self.searched = np.zeros(n, np.bool_)

    def renew(self, sources: np.ndarray, depth: np.ndarray, to: np.ndarray, back: np.ndarray, threads: int) -> None:
        """Take account of searches from ``sources`` with eccentricities ``depth``.

        ``to`` and ``back``, int32 (n, sources): distances from the source and back to it, the same array in an
        undirected graph.
        """
        tasks = [
            (to[first:last], back[first:last], depth, self.lower[first:last], self.upper[first:last])
            for first, last in workers.ranges(len(self.lower), threads)
        ]
        workers.run(threads, _renew, tasks)
        self.settle(sources, depth)

    def settle(self, sources: np.ndarray, depth: np.ndarray) -> None:
        """Note that the eccentricities of ``sources`` are ``depth``."""
        self.lower[sources] = self.upper[sources] = depth
        self.searched[sources] = True
        if self._forest is not None:
            forest = self._forest
            hand_down(forest.order, forest.parents, forest.heights, self._sizes, self.lower, self.upper, self.roots)

    @property
    def diameter(self) -> tuple[int, int]:
        """Bounds of the largest eccentricity."""
        longest = int(self.lower[self.inside].max(initial=0))
        return longest, max(longest, int(self.upper[self._outside(longest)].max(initial=0)))

    def _outside(self, longest: int) -> np.ndarray:
        """Return which vertices may be the end of a path longer than ``longest``, as far as the ball tells."""
        return self.inside if self._distances is None else self.inside & (self._distances > longest // 2)

    @property
    def radius(self) -> tuple[int, int]:
        """Bounds of the smallest eccentricity."""
        return int(self.lower[self.inside].min()), int(self.upper[self.inside].min())

    def open(self, goal: str) -> np.ndarray:
        """Return the vertices whose bounds keep ``goal`` open, int64."""
        unsure = self.inside & (self.lower < self.upper)
        if goal == "diameter":
            longest = self.diameter[0]
            unsure &= self._outside(longest) & (self.upper > longest)
        elif goal == "radius":
            unsure &= self.lower < self.radius[1]
        return np.flatnonzero(unsure)

    def pick(self, unsure: np.ndarray, count: int) -> np.ndarray:
        """Return ``count`` vertices to search from next, at most: far out and central ones by turns.

        Those far out have the largest upper bounds, the central ones the smallest lower bounds; of equal ones those of
        the highest degree come first.
        """
        degrees = self._degrees[unsure]
        out = self.roots[unsure[np.lexsort((-degrees, -self.upper[unsure]))[: 4 * count]]]
        pool = np.flatnonzero(self.inside & ~self.searched & (self.lower < self.upper) & (self.roots == self._all()))
        central = pool[np.lexsort((-self._degrees[pool], self.lower[pool]))[:count]]
        both = np.full(2 * max(len(out), len(central)), -1, np.int64)
        both[0 : 2 * len(out) : 2] = out
        both[1 : 2 * len(central) : 2] = central
        both = both[both >= 0]
        both = both[~self.searched[both]]
        first = np.sort(np.unique(both, return_index=True)[1])
        return both[first][:count]

    def outermost(self, unsure: np.ndarray, count: int) -> np.ndarray:
        """Return ``count`` vertices to search from next, at most, those of the largest upper bounds."""
        out = self.roots[unsure[np.argsort(-self.upper[unsure], kind="stable")]]
        out = out[~self.searched[out]]
        first = np.sort(np.unique(out, return_index=True)[1])
        return out[first][:count]

    def _all(self) -> np.ndarray:
        return np.arange(len(self.roots))


@njit(cache=True, nogil=True)
def _renew(to, back, depth, lower, upper):
    """Renew the bounds of a stretch of vertices."""
    for v in range(lower.size):
        low, high = lower[v], upper[v]
        if low == high:
            continue
        for s in range(depth.size):
            there, here = np.int64(back[v, s]), np.int64(to[v, s])
            if there >= 0:
                low = max(low, there)
                high = min(high, there + depth[s])
            if here >= 0:
                low = max(low, depth[s] - here)
        lower[v], upper[v] = low, high
