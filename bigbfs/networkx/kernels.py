"""Breadth-first search and topological generations in the very order in which NetworkX gives vertices; sets gathered.

Serial, over rows as they lie: a queue is what makes the order. Lengths of a graph file, which has no order but that of
its ids, are searched without it. ``indptr`` is int64, ``indices`` ids, both read-only.
"""

from __future__ import annotations

import numpy as np

from bigbfs.jit.bits import fetch_soon
from bigbfs.jit.njit import njit

_NEAR, _FAR = 8, 16
"""Rows whose neighbours, and whose offsets, are fetched while others are searched."""

_OPEN, _SWEEP = 14, 8
"""A level goes bottom-up where it has more edges than these parts of the edges left, and of all vertices."""

_SORTED = 32
"""Levels of fewer than one in so many vertices are sorted; for others all vertices are looked at."""


@njit(cache=True, nogil=True)
def search(indptr, indices, sources, most, seen, order, parents, ends):
    """Search from ``sources`` (int64, all different) to level ``most``; return how many vertices and levels were found.

    Parameters
    ----------
    seen
        uint8 (n,), all 0: 1 for the vertices that are found.
    order
        int32 or int64 (n + 1,), to be filled: vertices as they are found; what lies behind them means nothing.
    parents
        The same (n,), filled for those but the sources; or empty: nobody wants them.
    ends
        int64 (n + 1,), to be filled: how many vertices were found up to the end of each level.
    """
    n = len(indptr) - 1
    found = 0
    for source in sources:
        order[found] = source
        seen[source] = 1
        found += 1
    first = levels = 0
    while first < found:
        last = found
        ends[levels] = last
        levels += 1
        if levels > most or found == n:
            break
        for at in range(first, last):
            v = order[at]
            fetch_soon(indptr, np.int64(order[min(at + _FAR, last - 1)]))
            fetch_soon(indices, indptr[order[min(at + _NEAR, last - 1)]])
            if len(parents):
                for i in range(indptr[v], indptr[v + 1]):
                    w = np.int64(indices[i])
                    if seen[w] == 0:
                        seen[w] = 1
                        parents[w] = v
                        order[found] = w
                        found += 1
            else:  # without a branch, which no processor would foresee
                for i in range(indptr[v], indptr[v + 1]):
                    w = np.int64(indices[i])
                    order[found] = w
                    found += 1 - np.int64(seen[w])
                    seen[w] = 1
                if found == n:
                    break
        first = last
    return found, levels


@njit(cache=True, nogil=True)
def gather_sets(labels, order, ends):
    """Write the vertices to ``order``, set by set and ascending, and where each set ends to ``ends``; return how many.

    ``labels``, and ``order``: uint32 or uint64; the smallest vertex in the set of each. ``ends``: int64.
    """
    n = len(labels)
    place = np.zeros(n, np.int64)
    for v in range(n):
        place[labels[v]] += 1
    sets = before = 0
    for v in range(n):
        if place[v] > 0:
            size = place[v]
            place[v] = before
            before += size
            ends[sets] = before
            sets += 1
    for v in range(n):
        order[place[labels[v]]] = v
        place[labels[v]] += 1
    return sets


@njit(cache=True, nogil=True)
def distances(indptr, indices, into_ptr, into, most, level, queue):
    """Search to level ``most``, in ascending order inside a level; return how many vertices were found.

    Direction-optimizing: rows of who was not found are read where that is less. Source: Beamer et al. (SC'12).

    Parameters
    ----------
    into_ptr, into
        Rows of in-neighbours; both empty: not known, so top-down all the way.
    level
        int32 or int64 (n,), -1 where not found: 0 at the source before the call.
    queue
        The same (n + 1,): what is found; the source before the call.
    """
    n = len(indptr) - 1
    found, first, levels = 1, 0, 1
    left = indptr[n]
    while first < found < n and levels <= most:
        last = found
        edges = indptr[0]
        for at in range(first, last):
            fetch_soon(indptr, np.int64(queue[min(at + _FAR, last - 1)]))
            edges += indptr[queue[at] + 1] - indptr[queue[at]]
        left -= edges
        # eight vertices that are looked at one after the other cost what an edge does, which leads anywhere
        if len(into_ptr) and edges * _OPEN > left and edges * _SWEEP > n:
            found = _step_up(into_ptr, into, levels, level, queue, found)
        else:
            found = _step_down(indptr, indices, levels, level, queue, first, last)
            _ascend(level, levels, queue, last, found)
        first = last
        levels += 1
    return found


@njit(cache=True, nogil=True)
def _step_down(indptr, indices, depth, level, queue, first, last):
    """Find level ``depth`` from the vertices before it, in ``queue[first:last]``; return how many are found by now."""
    found = last
    for at in range(first, last):
        v = queue[at]
        fetch_soon(indptr, np.int64(queue[min(at + _FAR, last - 1)]))
        fetch_soon(indices, indptr[queue[min(at + _NEAR, last - 1)]])
        for i in range(indptr[v], indptr[v + 1]):
            w = np.int64(indices[i])
            fresh = level[w] < 0
            queue[found] = w
            found += np.int64(fresh)
            level[w] = depth if fresh else level[w]
    return found


@njit(cache=True, nogil=True)
def _step_up(indptr, indices, depth, level, queue, found):
    """Find level ``depth`` by the rows of all that have no level; return how many are found by now."""
    for v in range(len(indptr) - 1):
        if level[v] >= 0:
            continue
        for i in range(indptr[v], indptr[v + 1]):
            if level[np.int64(indices[i])] == depth - 1:
                level[v] = depth
                queue[found] = v
                found += 1
                break
    return found


@njit(cache=True, nogil=True)
def _ascend(level, depth, queue, first, last):
    """Put the vertices of level ``depth``, ``queue[first:last]``, in ascending order."""
    if (last - first) * _SORTED < len(level):
        queue[first:last].sort()
        return
    at = first
    for v in range(len(level)):
        queue[at] = v  # what stands behind the last one means nothing
        at += np.int64(level[v] == depth)


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
