"""Searches of a small graph by one thread: from a vertex, a part of other kernels, or from up to 64 at once, a kernel.

A search goes level by level, and the queue holds all that it has reached in that order, whichever way a level went:
top-down, or bottom-up over a list of those not reached yet. Up to 64 searches have a bit each in a word of every
vertex; their depths are told, and the levels where somebody wants them.

Sources: Beamer, Asanovic, Patterson, Direction-optimizing breadth-first search, SC 2012; Then et al., The more the
merrier, VLDB 2014.
"""

from __future__ import annotations

import numpy as np

from bigbfs.engines.cpu.bits import ONE, ZERO
from bigbfs.engines.cpu.rows import degree, fetch_place, fetch_row, seek, step
from bigbfs.jit.bits import trailing_zeros
from bigbfs.jit.njit import njit

AT_ONCE = 64
"""Searches whose depths are found together."""

UP_VERTEX, UP_PROBE = 2.0, 0.3
"""What a vertex costs in a bottom-up level, and a neighbour that is looked at, in edges of a top-down level."""
THIN = 1024
"""Edges of a level that goes top-down in any case."""
PUSHED = 4
"""Up to this share of the edges in the rows of a frontier, 64 searches go from it to its neighbours: else every vertex
looks at its own."""

_SOON, _LATER = 8, 24
"""Rows before whose turn one is asked for, and what says where it is."""
_NEW = np.int32(-1)


@njit
def search(rows, source, edges, widest, size, levels, queue, todo):
    """Search from ``source``; return how many are reached, the depth, edges of rows read or spared, and faults.

    ``levels``, int32 (n,), -1 unreached; ``queue``, int32 (n + 1,): vertices in the order in which they are reached.
    ``edges``: of the graph; ``widest``: most neighbours of a vertex; ``size``: vertices that can be reached, at most;
    ``todo``: int32 (n,), scratch.
    """
    levels[:] = _NEW
    levels[source], queue[0] = 0, source
    first, last, depth, explored = np.int64(0), np.int64(1), np.int64(0), np.int64(0)
    waiting, faults = np.int64(-1), np.int64(0)  # all of one type: what is called is compiled for each
    while last < size:
        more = np.int64(0)
        if (last - first) * widest > THIN:
            more = edges_of(rows, queue, first, last)
        if more > THIN and _goes_up(more, edges - explored - more, size - last):
            if waiting < 0:
                waiting = _unreached(rows, levels, todo)
            waiting, tail, bad = _up(rows, levels, queue, last, todo, waiting, depth)
        else:
            tail, more, bad = _down(rows, levels, queue, first, last, depth)
        explored += more
        faults += bad
        if tail == last:
            break
        first, last, depth = last, tail, depth + 1
    return last, depth, explored, faults


@njit
def edges_of(rows, queue, first, last):
    """Return the edges in the rows of a level."""
    count = ZERO
    for i in range(first, last):
        count += degree(rows, np.uint64(queue[i]))
    return np.int64(count)


@njit
def _goes_up(ahead, left, unvisited):
    """Return whether the next level is cheaper bottom-up; see :mod:`bigbfs.algorithms.bfs.cpu.search`."""
    chance = ahead / max(1, ahead + left)
    return UP_VERTEX * unvisited + UP_PROBE * min(left, unvisited / chance) < ahead


@njit
def _unreached(rows, levels, todo):
    """List those that have not been reached and have neighbours; return how many."""
    count = np.int64(0)
    for v in range(levels.size):
        todo[count] = v
        count += (levels[v] < 0) & (degree(rows, np.uint64(v)) != ZERO)
    return count


@njit
def _down(rows, levels, queue, first, last, depth):
    """Reach the neighbours of the level in ``queue[first:last]``; return the queue's end, the edges read, and faults.

    Every neighbour is written behind the queue and stays if it is new, without a branch: no predictor knows which are.
    """
    n, tail, read, faults, level = np.uint64(levels.size), last, ZERO, 0, np.int32(depth + 1)
    for i in range(first, last):
        u = np.uint64(queue[i])
        if i + _SOON < last:
            fetch_row(rows, np.uint64(queue[i + _SOON]))
        if i + _LATER < last:
            fetch_place(rows, np.uint64(queue[i + _LATER]))
        position, v = seek(rows, u, ZERO), ZERO
        count = degree(rows, u)
        read += count
        for k in range(count):
            v, position = step(rows, position, k, v)
            if v >= n:
                faults += 1
                continue
            before = levels[v]
            new = before < 0
            levels[v] = level if new else before
            queue[tail] = v
            tail += new
    return tail, np.int64(read), faults


@njit
def _up(rows, levels, queue, last, todo, waiting, depth):
    """Let those ``todo`` look for a neighbour in the level before; return how many are left, queue's end, faults."""
    n, tail, faults, left, below = np.uint64(levels.size), last, 0, 0, np.int32(depth)
    for i in range(waiting):
        u = np.uint64(todo[i])
        if levels[u] >= 0:
            continue
        position, v, found = seek(rows, u, ZERO), ZERO, False
        for k in range(degree(rows, u)):
            v, position = step(rows, position, k, v)
            if v >= n:
                faults += 1
            elif levels[v] == below:
                found = True
                break
        if found:
            levels[u], queue[tail] = below + 1, u
            tail += 1
        else:
            todo[left] = u
            left += 1
    return left, tail, faults


@njit(cache=True, nogil=True)
def search_at_once(rows, edges, inside, sources, found, levels, words, queue, following):
    """Search from up to 64 different ``sources``, int32, at once, and write the depth of each to ``found``.

    ``inside``, int32 (n,): 0 or more for the vertices of their component; ``levels``, int32 (n, sources), receives
    those of its vertices, or is empty; ``words``, uint64 (3, n), ``queue`` and ``following``, int32 (n,): scratch.
    Returns the largest depth, two vertices so far apart, ids read, and ids of no vertex.
    """
    n, faults, read = inside.size, np.int64(0), np.int64(0)
    words[:] = ZERO
    seen, front, new = words[0], words[1], words[2]
    full = (ONE << np.uint64(sources.size)) - ONE if sources.size < AT_ONCE else ~ZERO
    ahead, fill, depth = np.int64(0), np.int64(sources.size), np.int64(0)
    for i in range(fill):
        v = sources[i]
        queue[i], found[i] = v, 0
        seen[v] = front[v] = ONE << np.uint64(i)
        ahead += np.int64(degree(rows, np.uint64(v)))
    pulled = False
    while True:
        if levels.size:
            _note(levels, queue, fill, front, depth)
        read += ahead
        if ahead * PUSHED <= edges:
            if pulled:  # what was the front is no scratch yet
                new[:] = ZERO
            fill, ahead, reach, bad = _push(rows, seen, front, new, queue, fill, following)
            pulled = False
        else:
            fill, ahead, reach, bad = _pull(rows, inside, seen, front, new, full, following)
            pulled = True
        queue, following = following, queue
        faults += bad
        if reach == ZERO:
            break
        depth += 1
        front, new = new, front
        while reach != ZERO:
            found[np.int64(trailing_zeros(reach))] = depth
            reach &= reach - ONE
    for v in range(n):
        if front[v] != ZERO:
            return depth, np.int64(sources[np.int64(trailing_zeros(front[v]))]), np.int64(v), read, faults
    return depth, np.int64(sources[0]), np.int64(sources[0]), read, faults


@njit
def _note(levels, queue, fill, front, depth):
    """Write the level of the vertices in the queue, for each search that has reached them in it."""
    for i in range(fill):
        v = np.uint64(queue[i])
        bits = front[v]
        while bits != ZERO:
            levels[v, np.int64(trailing_zeros(bits))] = depth
            bits &= bits - ONE


@njit
def _push(rows, seen, front, new, queue, fill, following):
    """Go from the vertices in the queue to their neighbours, who are ``following``; ``new`` is 0 before, then ``front``
    is, unless none has been reached. Return how many, their edges, the searches that have reached any, and faults."""
    n, tail, reach, faults, ahead = np.uint64(seen.size), np.int64(0), ZERO, np.int64(0), ZERO
    for i in range(fill):
        u = np.uint64(queue[i])
        bits = front[u]
        position, v = seek(rows, u, ZERO), ZERO
        for k in range(degree(rows, u)):
            v, position = step(rows, position, k, v)
            if v >= n:
                faults += 1
                continue
            more = bits & ~seen[v]
            if more != ZERO:
                if new[v] == ZERO:
                    following[tail] = v
                    tail += 1
                new[v] |= more
    for i in range(fill if tail else 0):
        front[np.uint64(queue[i])] = ZERO
    for i in range(tail):
        v = np.uint64(following[i])
        seen[v] |= new[v]
        reach |= new[v]
        ahead += degree(rows, v)
    return tail, np.int64(ahead), reach, faults


@njit
def _pull(rows, inside, seen, front, new, full, following):
    """Let every vertex take what its neighbours have; return as :func:`_push` does, who that is in ``following``."""
    n, tail, reach, faults, ahead = np.uint64(seen.size), np.int64(0), ZERO, np.int64(0), ZERO
    for u in range(n):
        mine, bits = seen[u], ZERO
        if mine != full and inside[u] >= 0:
            position, v, lacking = seek(rows, u, ZERO), ZERO, full & ~mine
            count = degree(rows, u)
            for k in range(count):
                v, position = step(rows, position, k, v)
                if v >= n:
                    faults += 1
                    continue
                bits |= front[v]
                if lacking & ~bits == ZERO:
                    break
            bits &= lacking
            seen[u] = mine | bits
            reach |= bits
            if bits != ZERO:
                following[tail] = u
                tail += 1
                ahead += count
        new[u] = bits
    return tail, np.int64(ahead), reach, faults
