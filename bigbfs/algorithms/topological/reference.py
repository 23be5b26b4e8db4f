"""Topological order by Kahn's algorithm, one thread.

In: a directed graph. Out: ``order`` int64 (n,): every vertex once, each before the vertices that it points to, by round
and in a round ascending; ``rounds`` int32 (n,): the edges on the longest path that ends at the vertex. Source: Kahn,
Comm. ACM 5 (1962).
"""

from __future__ import annotations

import numpy as np

from bigbfs.algorithms.plain_rows import plain_rows
from bigbfs.algorithms.topological.cycle import refuse_cycle, require_directed
from bigbfs.algorithms.topological.result import order_of
from bigbfs.graph.graph import Graph
from bigbfs.jit.njit import njit


def topological_order(graph: Graph) -> tuple[np.ndarray, np.ndarray]:
    """Return the order and the rounds of the vertices of ``graph``.

    Raises
    ------
    CycleError
        The graph has a cycle; the message names vertices on it.
    UsageError
        The graph is undirected.
    """
    require_directed(graph)
    rounds = _kahn(*plain_rows(graph))
    if (rounds < 0).any():
        refuse_cycle(graph, rounds)
    return order_of(rounds), rounds


@njit(cache=True)
def _kahn(indptr, indices):
    """Return the round of every vertex, -1 where it has none."""
    n = indptr.size - 1
    waiting = np.zeros(n, np.int64)  # edges into the vertex from vertices not yet in the queue
    for neighbour in indices:
        waiting[neighbour] += 1
    rounds = np.full(n, -1, np.int32)
    queue = np.empty(n, np.int64)
    tail = 0
    for vertex in range(n):
        if waiting[vertex] == 0:
            rounds[vertex] = 0
            queue[tail] = vertex
            tail += 1
    head = 0
    while head < tail:
        vertex = queue[head]
        head += 1
        for neighbour in indices[indptr[vertex] : indptr[vertex + 1]]:
            waiting[neighbour] -= 1
            if waiting[neighbour] == 0:
                # the last of the predecessors in the queue is of the latest round
                rounds[neighbour] = rounds[vertex] + 1
                queue[tail] = neighbour
                tail += 1
    return rounds
