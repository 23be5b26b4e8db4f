"""Parts of a kernel: searches of a graph of few neighbours, roads and meshes, that read four ids of every vertex.

Where a row begins and how long it is are two reads of their own, and no predictor knows how long. So the first four
neighbours of all vertices are laid side by side, 16 bytes each, and the vertex itself where it has fewer: no branch is
left but for the few vertices that have more, whose whole rows are read. Who has been reached is a byte, of which a
cache near the core holds more than of levels; the levels are written when a vertex has its turn. Levels of such graphs
are thin, so that what is asked for before its turn is not of the level alone, but of whatever stands in the queue.

``fours``, int32 (4 n,): the rows. Bottom-up levels would not pay where nobody has many neighbours.
"""

from __future__ import annotations

import numpy as np

from bigbfs.engines.cpu.bits import ZERO
from bigbfs.engines.cpu.rows import degree, seek, step
from bigbfs.jit.bits import fetch_soon
from bigbfs.jit.njit import njit

WIDEST = 16
"""Neighbours of a vertex at most."""
AHEAD = 12
"""Places of the queue ahead at which rows are asked for: it has so many more than there are vertices."""

_FOUR, _THREE, _ONE = np.uint64(4), np.uint64(3), np.uint64(1)
_MORE, _NEW = np.int32(-1), np.int32(-1)


@njit
def fill(rows, fours):
    """Lay the rows side by side; return how many ids are no vertices, after which ``fours`` is of no use.

    The last of four is -1 where there are more. Where there are fewer the last id is read again, without a branch.
    """
    n, faults = np.uint64(fours.size) // _FOUR, 0
    for u in range(n):
        count, at = degree(rows, u), _FOUR * u
        if count == ZERO:  # there may be nothing to read
            fours[at : at + _FOUR] = u
            continue
        position, v = seek(rows, u, ZERO), ZERO
        for k in range(_FOUR):
            v, after = step(rows, position, k, v)
            inside = k < count
            fours[at + k] = v if inside else u
            faults += inside & (v >= n)
            position = after if k + _ONE < count else position
        if count > _FOUR:
            fours[at + _THREE] = _MORE
            for k in range(_FOUR, count):
                v, position = step(rows, position, k, v)
                faults += v >= n
    return faults


@njit
def search(rows, fours, source, size, levels, queue, seen):
    """Search from ``source``; return how many are reached, the depth, and where in the queue unread rows begin.

    As :func:`bigbfs.measures.serial_search.search`; ``queue``, int32 (n + ``AHEAD``,); ``seen``, uint8 (n,): scratch.
    """
    levels[:] = _NEW
    seen[:] = 0
    seen[source], queue[0] = 1, source
    first, last, depth = ZERO, _ONE, np.int32(0)
    while last < size:
        tail = last
        for i in range(first, last):
            fetch_soon(fours, np.int64(_FOUR) * queue[i + np.uint64(AHEAD)])
            u = np.uint64(queue[i])
            levels[u] = depth
            at = _FOUR * u
            if fours[at + _THREE] < 0:
                tail = _reach_all(rows, u, queue, seen, tail)
            else:
                for k in range(_FOUR):
                    tail = _reach(np.uint64(fours[at + k]), queue, seen, tail)
        if tail == last:
            return np.int64(last), np.int64(depth), np.int64(last)
        first, last, depth = last, tail, depth + np.int32(1)
    for i in range(first, last):
        levels[np.uint64(queue[i])] = depth
    return np.int64(last), np.int64(depth), np.int64(first)


@njit
def _reach(v, queue, seen, tail):
    """Write ``v`` behind the queue, where it stays if it is new; return the queue's end."""
    before = seen[v]
    seen[v] = 1
    queue[tail] = v
    return tail + _ONE - np.uint64(before)


@njit
def _reach_all(rows, u, queue, seen, tail):
    """Do so with all neighbours of ``u``."""
    position, v = seek(rows, u, ZERO), ZERO
    for k in range(degree(rows, u)):
        v, position = step(rows, position, k, v)
        if v < np.uint64(seen.size):  # as it was when the rows were laid, unless somebody writes to the file
            tail = _reach(v, queue, seen, tail)
    return tail
