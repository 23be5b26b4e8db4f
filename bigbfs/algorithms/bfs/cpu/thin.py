"""Thin levels for somebody else: what they find is written down in order, and handed over from there.

Source: as for topdown.py. The rows of ``found`` are vertices, their parents and their levels.
"""

from __future__ import annotations

import numpy as np

from bigbfs.engines.cpu.bits import ONE, SHIFT, ZERO, bit_of, is_set
from bigbfs.engines.cpu.rows import degree, fetch_row, seek, step
from bigbfs.jit.njit import njit


@njit(nogil=True, cache=True)
def follow(rows, visited, faults, found, count, levels, n, done, depth, max_depth, thin, most, owed):
    """Visit level after level serially, as long as they are thin on the whole and ``found`` has room.

    Parameters
    ----------
    rows, visited, n
        The graph, who is reached, and the number of vertices.
    faults
        uint64 (1,): ids met that are no vertices are added.
    found, count
        id (3, room): vertices, parents, levels. The first ``count`` vertices are the frontier; what is found is written
        behind them.
    levels
        uint32 (more than n, 2): gets vertices and edges of each level, from row ``done`` on.
    depth, max_depth
        Level of the frontier, and of the last that may be found.
    thin, most, owed
        A level owes the edges that it has above ``thin``; a thinner one pays back. Nobody may owe more than ``most``.

    Returns begin and end of the next frontier in ``found``, done, depth and owed as they are now, edges of the next
    frontier and of all levels done, and whether it ended because ``found`` has too little room for another level.
    """
    queue, parents, depths = found[0], found[1], found[2]
    room = np.uint64(len(queue))
    begin, end = ZERO, count
    edges, walked, full = ZERO, ZERO, False
    for i in range(end):
        edges += degree(rows, np.uint64(queue[i]))
    while begin < end and depth < max_depth:
        after = owed + edges
        after -= min(after, thin)
        if after > most:
            break
        if edges > room - end:
            full = True
            break
        owed = after
        depth += 1
        levels[done, 0], levels[done, 1] = end - begin, edges
        done += ONE
        walked += edges
        edges = ZERO
        tail = end
        for i in range(begin, end):
            u = np.uint64(queue[i])
            position = seek(rows, u, ZERO)
            v = ZERO
            for k in range(degree(rows, u)):
                v, position = step(rows, position, k, v)
                if v >= n:
                    faults[0] += ONE
                elif not is_set(visited, v):
                    visited[v >> SHIFT] |= bit_of(v)
                    queue[tail], parents[tail], depths[tail] = v, u, depth
                    tail += ONE
                    edges += degree(rows, v)
                    fetch_row(rows, v)
        begin, end = end, tail
    return begin, end, done, depth, owed, edges, walked, full
