"""Breadth-first search and topological generations in the very order in which NetworkX gives vertices.

Serial, over rows as they lie: a queue is what makes the order. ``indptr`` is int64, ``indices`` ids, both read-only.
"""

from __future__ import annotations

import numpy as np

from bigbfs.jit.njit import njit


@njit(cache=True, nogil=True)
def search(indptr, indices, sources, most, wanted, order, parents, levels):
    """Search from ``sources`` (int64, all different) to level ``most``, or until ``wanted`` (-1: none) is found.

    Parameters
    ----------
    order
        int64 (n,), to be filled: vertices as they are found.
    parents, levels
        int64 (n,), levels all -1: filled for the vertices that are found.

    Returns
    -------
    How many were found.
    """
    found = 0
    for source in sources:
        order[found] = source
        levels[source] = 0
        parents[source] = -1
        found += 1
    at = 0
    while at < found and (wanted < 0 or levels[wanted] < 0):
        v = order[at]
        at += 1
        if levels[v] >= most:
            break
        for i in range(indptr[v], indptr[v + 1]):
            w = np.int64(indices[i])
            if levels[w] < 0:
                levels[w] = levels[v] + 1
                parents[w] = v
                order[found] = w
                found += 1
    return found


@njit(cache=True, nogil=True)
def generations(indptr, indices, order, bounds):
    """Write the vertices to ``order`` (int64 (n,)), round by round; where rounds end, to ``bounds`` (int64 (n + 1,)).

    Returns (vertices written, rounds): fewer than all where there is a cycle.
    """
    n = len(indptr) - 1
    before = np.zeros(n, np.int64)
    for i in range(len(indices)):
        before[np.int64(indices[i])] += 1
    found = 0
    for v in range(n):
        if before[v] == 0:
            order[found] = v
            found += 1
    rounds = at = 0
    bounds[0] = 0
    while at < found:
        end = found
        while at < end:
            v = order[at]
            at += 1
            for i in range(indptr[v], indptr[v + 1]):
                w = np.int64(indices[i])
                before[w] -= 1
                if before[w] == 0:
                    order[found] = w
                    found += 1
        rounds += 1
        bounds[rounds] = end
    return found, rounds
