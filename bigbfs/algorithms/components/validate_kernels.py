"""Kernels behind validate.py: each looks at the vertices, or the edges, from ``first`` to ``last`` - 1.

They are serial and release the GIL, so that several threads can share the work. Each returns its first offender, or
-1; what rule that broke is found out afterwards, for that one vertex or edge, by plain Python. A range of edges may
begin and end inside a row, so that a hub's row is shared out as well.
"""

import numpy as np

from bigbfs.jit.njit import njit


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
