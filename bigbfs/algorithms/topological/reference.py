"""Topological order by Kahn's algorithm, one thread.

In: a directed graph. Out: ``order`` int64 (n,): every vertex once, each before the vertices that it points to; among
the vertices that are ready the one that became ready first comes first. Source: Kahn, Comm. ACM 5 (1962).
"""

from __future__ import annotations

import numpy as np

from bigbfs.algorithms.plain_rows import plain_rows
from bigbfs.errors import UsageError
from bigbfs.graph.graph import Graph
from bigbfs.jit.njit import njit


def topological_order(graph: Graph) -> np.ndarray:
    """Return the vertices of ``graph`` in topological order.

    Raises
    ------
    UsageError
        The graph has a cycle (an undirected edge or a self-loop is one); the message names a vertex on it.
    """
    indptr, indices = plain_rows(graph)
    order, done, waiting = _kahn(indptr, indices)
    if done < graph.n:
        vertex = int(graph.original(_on_cycle(indptr, indices, waiting)))
        raise UsageError(
            f"{graph.path or 'graph'}: there is no topological order: vertex {vertex} lies on a cycle"
            + ("" if graph.flags.directed else " (the graph is undirected; convert its source with --directed)")
        )
    return order


@njit(cache=True)
def _kahn(indptr, indices):
    n = indptr.size - 1
    waiting = np.zeros(n, np.int64)  # edges into the vertex from vertices not yet in the order
    for neighbour in indices:
        waiting[neighbour] += 1
    order = np.empty(n, np.int64)
    tail = 0
    for vertex in range(n):
        if waiting[vertex] == 0:
            order[tail] = vertex
            tail += 1
    head = 0
    while head < tail:
        vertex = order[head]
        head += 1
        for neighbour in indices[indptr[vertex] : indptr[vertex + 1]]:
            waiting[neighbour] -= 1
            if waiting[neighbour] == 0:
                order[tail] = neighbour
                tail += 1
    return order, tail, waiting


@njit(cache=True)
def _on_cycle(indptr, indices, waiting):
    """Return a vertex on a cycle: every vertex that waits has a predecessor that waits, so walking back ends in one."""
    n = indptr.size - 1
    predecessor = np.full(n, -1, np.int64)
    last = -1
    for vertex in range(n):
        if waiting[vertex] > 0:
            last = vertex
            for neighbour in indices[indptr[vertex] : indptr[vertex + 1]]:
                predecessor[neighbour] = vertex
    for _ in range(n):
        last = predecessor[last]
    return last
