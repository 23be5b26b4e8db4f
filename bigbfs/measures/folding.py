"""Trees that hang off the rest of a graph: their eccentricities follow from that of the vertex that they hang on.

Vertices with one neighbour are taken off again and again; ``parents`` leads to the neighbour that was left, ``heights``
says how deep the tree below a vertex goes. If the farthest vertex from the parent ``p`` of ``v`` is not below ``v``, it
is one farther from ``v``: the eccentricity of ``v`` is that of ``p`` and one. That is so where 1 + height of ``v`` is
less than a lower bound of ``p``'s, and for a leaf wherever there is a third vertex.

Source: Takes and Kosters, Computing the eccentricity distribution of large graphs, Algorithms 6 (2013), section 4.2,
for leaves; extended to trees here.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bigbfs.engines.cpu.bits import ZERO
from bigbfs.engines.cpu.rows import Rows, degree, row_count, seek, step
from bigbfs.jit.njit import njit


@dataclass(slots=True)
class Forest:
    """The hanging trees of an undirected graph.

    Attributes
    ----------
    order
        int64: the vertices taken off, in that order: a vertex comes before its parent.
    parents
        int64, (n,): -1 for a vertex that was not taken off.
    heights
        int64, (n,): edges on the longest way down.
    """

    order: np.ndarray
    parents: np.ndarray
    heights: np.ndarray


def forest_bytes(n: int) -> int:
    """Return the bytes that :func:`fold` takes at most: the forest, its order twice, and degrees left."""
    return 5 * 8 * n


def fold(rows: Rows) -> Forest:
    """Return the trees that hang off the undirected graph of ``rows``."""
    n = row_count(rows)
    order, parents, heights = np.empty(n, np.int64), np.full(n, -1, np.int64), np.zeros(n, np.int64)
    count = _peel(rows, order, parents, heights)
    return Forest(order[:count].copy(), parents, heights)


@njit(cache=True, nogil=True)
def _peel(rows, order, parents, heights):
    """Take off vertices with one neighbour left; return how many there were."""
    n = np.uint64(parents.size)
    left = np.zeros(parents.size, np.int64)
    for u in range(n):
        position, v, last = seek(rows, u, ZERO), ZERO, n
        for k in range(degree(rows, u)):
            v, position = step(rows, position, k, v)
            if v != u and v != last and v < n:  # neither self-loop nor duplicate
                left[u] += 1
            last = v
    tail = 0
    for u in range(n):
        if left[u] == 1:
            order[tail] = u
            tail += 1
    head = 0
    while head < tail:
        u = np.uint64(order[head])
        if left[u] != 1:  # the last of a tree: everything else hangs on it
            left[u] = -1
            order[head] = -1
            head += 1
            continue
        head += 1
        left[u] = -1
        position, v = seek(rows, u, ZERO), ZERO
        for k in range(degree(rows, u)):
            v, position = step(rows, position, k, v)
            if v != u and v < n and left[v] >= 0:
                parents[u] = v
                heights[v] = max(heights[v], heights[u] + 1)
                left[v] -= 1
                if left[v] == 1:
                    order[tail] = v
                    tail += 1
                break
    kept = 0
    for i in range(tail):
        if order[i] >= 0:
            order[kept] = order[i]
            kept += 1
    return kept


@njit(cache=True, nogil=True)
def hand_down(order, parents, heights, sizes, lower, upper, roots):
    """Tighten the bounds of tree vertices by those of their parents; ``roots``: whose bounds each vertex's follow.

    A vertex whose eccentricity is not known to be its parent's and one is a root of its own.
    """
    for v in range(roots.size):
        roots[v] = v
    for i in range(order.size - 1, -1, -1):
        v = order[i]
        p = parents[v]
        tied = heights[v] + 1 < lower[p] or (heights[v] == 0 and sizes[v] > 2)
        upper[v] = min(upper[v], upper[p] + 1)
        lower[v] = max(lower[v], lower[p] - 1)
        if tied:
            lower[v] = max(lower[v], lower[p] + 1)
            roots[v] = roots[p]
