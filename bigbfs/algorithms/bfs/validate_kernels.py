"""Kernels behind validate.py: each looks at the vertices, or the edges, from ``first`` to ``last`` - 1.

They are serial and release the GIL, so that several threads can share the work. Each returns its first offender, or
-1; what rule that broke is found out afterwards, for that one vertex or edge, by plain Python. A range of edges may
begin and end inside a row, so that a hub's row is shared out as well.
"""

import numpy as np

from bigbfs.jit.njit import njit


@njit(cache=True, nogil=True)
def tree_vertices(first, last, source, levels, parents, max_depth):
    """Find vertices whose level and parent cannot belong to a tree that hangs from ``source``."""
    n = levels.size
    for vertex in range(first, last):
        level, parent = np.int64(levels[vertex]), parents[vertex]
        if vertex == source:
            right = level == 0 and parent == -1
        elif level == -1:
            right = parent == -1
        else:
            right = 0 < level <= max_depth and 0 <= parent < n and levels[parent] == level - 1
        if not right:
            return vertex
    return -1


@njit(cache=True, nogil=True)
def tree_edges(first, last, indptr, indices, levels, parents, max_depth, joined):
    """Find edges that lead too far down; set ``joined`` of each vertex that the edge from its parent is seen of.

    ``parents`` of size 0 means that none were recorded: then any edge from the level above joins.
    Threads may set the same ``joined`` entry: all write the same byte.
    """
    any_parent = parents.size == 0
    edge = first
    row = np.searchsorted(indptr, first, side="right") - 1
    while edge < last:
        stop = min(indptr[row + 1], last)
        level = np.int64(levels[row])
        if level < 0:
            edge = stop
        while edge < stop:
            below = np.int64(levels[indices[edge]])
            if below == level + 1:
                if any_parent or parents[indices[edge]] == row:
                    joined[indices[edge]] = 1
            elif below > level or (below < 0 and level < max_depth):
                return edge
            edge += 1
        row += 1
    return -1
