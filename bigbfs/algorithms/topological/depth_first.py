"""Depth-first search, one thread, by a stack of its own: the second oracle for topological order.

In: any graph. Out: times of discovery and of finishing, 0 to 2n - 1, each once; the interval of a vertex lies inside
that of its parent, and two intervals are nested or apart. On a directed acyclic graph the vertices by falling finishing
time are a topological order. Roots are tried in ascending order, neighbours in the order of the row. Source: Tarjan,
SIAM J. Comput. 1 (1972).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bigbfs.algorithms.plain_rows import plain_rows
from bigbfs.graph.graph import Graph
from bigbfs.jit.njit import njit


@dataclass(frozen=True, slots=True)
class DepthFirstForest:
    """The trees of a search that begins again until every vertex is found.

    Attributes
    ----------
    discovery, finish
        int64, shape (n,): when the vertex was met, and when its last neighbour was done with.
    parents
        int64, shape (n,): the vertex that it was met from; -1 for a root.
    """

    discovery: np.ndarray
    finish: np.ndarray
    parents: np.ndarray

    def reverse_finish_order(self) -> np.ndarray:
        """Return the vertices by falling finishing time: int64, shape (n,)."""
        vertices = np.full(2 * len(self.finish), -1, np.int64)
        vertices[self.finish] = np.arange(len(self.finish))
        return vertices[vertices >= 0][::-1]


def depth_first(graph: Graph) -> DepthFirstForest:
    """Search ``graph`` from every vertex not found yet, the smallest first."""
    return DepthFirstForest(*_search(*plain_rows(graph)))


@njit(cache=True)
def _search(indptr, indices):
    n = indptr.size - 1
    discovery = np.full(n, -1, np.int64)
    finish = np.full(n, -1, np.int64)
    parents = np.full(n, -1, np.int64)
    following = indptr[:-1].copy()  # the edge of each vertex to look at next
    time = 0
    for root in range(n):
        if discovery[root] >= 0:
            continue
        discovery[root] = time
        time += 1
        vertex = root
        while vertex >= 0:  # the stack is the way up to the root
            if following[vertex] == indptr[vertex + 1]:
                finish[vertex] = time
                time += 1
                vertex = parents[vertex]
                continue
            neighbour = np.int64(indices[following[vertex]])
            following[vertex] += 1
            if discovery[neighbour] < 0:
                discovery[neighbour] = time
                time += 1
                parents[neighbour] = vertex
                vertex = neighbour
    return discovery, finish, parents
