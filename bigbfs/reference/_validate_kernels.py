"""Kernels behind validate.py: each looks at the vertices, or the edges, from ``first`` to ``last`` - 1.

They are serial and release the GIL, so that several threads can share the work. Each returns its first offender, or
-1; what rule that broke is found out afterwards, for that one vertex or edge, by plain Python. A range of edges may
begin and end inside a row, so that a hub's row is shared out as well.
"""

import numpy as np

from bigbfs.machine.jit import njit


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


@njit(cache=True, nogil=True)
def label_vertices(first, last, labels):
    """Find vertices whose label is no vertex, is not its own label, or is not the smaller one."""
    for vertex in range(first, last):
        label = labels[vertex]
        if not (0 <= label <= vertex and labels[label] == label):
            return vertex
    return -1


@njit(cache=True, nogil=True)
def label_edges(first, last, indptr, indices, labels):
    """Find edges that join two labels."""
    edge = first
    row = np.searchsorted(indptr, first, side="right") - 1
    while edge < last:
        stop = min(indptr[row + 1], last)
        label = labels[row]
        while edge < stop:
            if labels[indices[edge]] != label:
                return edge
            edge += 1
        row += 1
    return -1


@njit(cache=True, nogil=True)
def _root(forest, vertex):
    while forest[vertex] != vertex:
        forest[vertex] = forest[forest[vertex]]
        vertex = forest[vertex]
    return vertex


@njit(cache=True, nogil=True)
def _unite(forest, vertex, edges):
    """Join ``vertex`` with its neighbours ``edges``; return how many sets fewer there are."""
    fewer = 0
    for neighbour in edges:
        one, other = _root(forest, vertex), _root(forest, np.int64(neighbour))
        if one != other:
            forest[max(one, other)] = min(one, other)
            fewer += 1
    return fewer


@njit(cache=True, nogil=True)
def unproven(indptr, indices, labels):
    """Return a vertex that no path joins to its label, or -1, by uniting vertices along edges (one thread).

    Each stage adds edges: two of every row, then whole rows of the vertices not yet joined to their label, then
    every row. It stops at the first stage that joins all; almost always that is the second, after O(n) edges.
    """
    n = labels.size
    forest = np.arange(n)
    claimed = 0
    for vertex in range(n):
        claimed += labels[vertex] == vertex
    sets = n
    for stage in range(3):
        for vertex in range(n):
            first, stop = indptr[vertex], indptr[vertex + 1]
            if stage == 0:
                stop = min(first + 2, stop)
            if stage != 1 or _root(forest, vertex) != _root(forest, labels[vertex]):
                sets -= _unite(forest, vertex, indices[first:stop])
        if sets == claimed:
            return -1
    for vertex in range(n):
        if _root(forest, vertex) != _root(forest, labels[vertex]):
            return vertex
    return -1


@njit(cache=True, nogil=True)
def order_violation(indptr, indices, position):
    """Return the first edge that does not lead from an earlier ``position`` to a later one, or -1."""
    for vertex in range(position.size):
        for edge in range(indptr[vertex], indptr[vertex + 1]):
            if position[indices[edge]] <= position[vertex]:
                return edge
    return -1
