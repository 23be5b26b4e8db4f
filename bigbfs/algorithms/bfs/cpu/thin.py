"""Thin levels for somebody else: what they find is written down in order, and handed over from there.

Source: as for topdown.py. The rows of ``found`` are vertices, their parents, and where each level ends: which level a
vertex is of need not be written for each.
"""

from __future__ import annotations

import numpy as np

from bigbfs.engines.cpu.bits import ONE, SHIFT, ZERO, bit_of, is_set
from bigbfs.engines.cpu.row_ends import is_before, row_stop
from bigbfs.engines.cpu.rows import degree, fetch_row, seek, step
from bigbfs.jit.bits import unforeseen
from bigbfs.jit.njit import njit

HALF = np.uint64(16)
"""A level is one word of 32 bits: its vertices above this bit, its edges below."""


@njit(nogil=True, cache=True)
def follow(rows, visited, faults, found, room, begin, end, levels, n, since, done, last, thin, most, owed):
    """Visit level after level serially, as long as they are thin on the whole and ``found`` has room.

    Parameters
    ----------
    rows, visited, n
        The graph, who is reached, and the number of vertices.
    faults
        uint64 (1,): ids met that are no vertices are added.
    found, room, begin, end
        id (3, at least room): vertices, parents, ends of levels; so many columns may be used. Columns of the frontier,
        behind which is written what is found.
    levels, done, last
        uint32 (more than n,): vertices and edges of each level (``HALF``). How many are done, and may be.
    since
        The level whose end (a column) is the first in ``found``.
    thin, most, owed
        A level owes the edges above ``thin``; a thinner one pays back. Nobody may owe more than ``most``. Both together
        are less than 2**16, and so is the first frontier.

    Returns begin and end of the next frontier in ``found``, done and owed as they are now, edges of the next frontier
    and of all levels done, and whether it ended because there is too little room for another level.
    """
    queue, parents, ends = found[0], found[1], found[2]
    edges, walked, full = ZERO, ZERO, False
    for i in range(begin, end):
        edges += degree(rows, np.uint64(queue[i]))
    while begin < end and done < last:
        after = owed + edges - min(owed + edges, thin)
        full = after <= most and edges > room - end
        if after > most or full:
            break
        owed = after
        # up to here thin levels need not be asked any of this: a level of a path is a few nanoseconds
        quiet = room - min(room, thin) if owed == ZERO else ZERO
        while True:
            levels[done] = ((end - begin) << HALF) | edges
            walked += edges
            edges, tail = ZERO, end
            for i in range(begin, end):
                u = np.uint64(queue[i])
                position, stop = seek(rows, u, ZERO), row_stop(rows, u)
                v, k = ZERO, ZERO
                while is_before(rows, position, k, stop):
                    v, position = step(rows, position, k, v)
                    k, position = k + ONE, unforeseen(position)
                    if v >= n:
                        faults[0] += ONE
                    elif not is_set(visited, v):
                        visited[v >> SHIFT] |= bit_of(v)
                        queue[tail], parents[tail] = v, u
                        tail += ONE
                        edges += degree(rows, v)
                        fetch_row(rows, v)
            begin, end = end, tail
            ends[done - since] = end
            done += ONE
            if begin == end or end > quiet or edges > thin or done == last:
                break
    return begin, end, done, owed, edges, walked, full
