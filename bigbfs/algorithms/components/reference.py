"""Connected components by union-find, one thread; a directed graph is read as undirected (weak components).

In: a graph. Out: ``labels`` int64 (n,): the smallest vertex of each vertex's component. The smaller root always
wins, so a root is the smallest vertex of its tree. Source: Tarjan and van Leeuwen, J. ACM 31 (1984), path halving.
"""

from __future__ import annotations

import numpy as np

from bigbfs.algorithms.plain_rows import plain_rows
from bigbfs.graph.graph import Graph
from bigbfs.jit.njit import njit


def components(graph: Graph) -> np.ndarray:
    """Return the component label of every vertex: int64, the smallest internal vertex of its component."""
    return _components(*plain_rows(graph))


@njit(cache=True)
def _find(forest, vertex):
    while forest[vertex] != vertex:
        forest[vertex] = forest[forest[vertex]]
        vertex = forest[vertex]
    return vertex


@njit(cache=True)
def _components(indptr, indices):
    n = indptr.size - 1
    forest = np.arange(n)
    for vertex in range(n):
        for neighbour in indices[indptr[vertex] : indptr[vertex + 1]]:
            one, other = _find(forest, vertex), _find(forest, np.int64(neighbour))
            forest[max(one, other)] = min(one, other)
    for vertex in range(n):
        forest[vertex] = _find(forest, vertex)
    return forest
