"""Proof that an order is topological: every vertex once, every edge forward."""

from __future__ import annotations

import numpy as np

from bigbfs.algorithms.plain_rows import plain_rows
from bigbfs.algorithms.rules import ends_of, fail, name_of, require_array
from bigbfs.graph.graph import Graph
from bigbfs.jit.njit import njit


def validate_order(graph: Graph, order: np.ndarray) -> None:
    """Prove that ``order`` (int64, shape (n,)) holds every vertex once, each before those that it points to.

    Raises
    ------
    VerificationError
        Names the vertex or edge that breaks the rule.
    """
    require_array("order", order, np.int64, graph.n)
    outside = (order < 0) | (order >= graph.n)
    if outside.any():
        fail("an order holds vertices", f"entry {int(outside.argmax())} is {int(order[outside.argmax()])}")
    position = np.full(graph.n, -1, np.int64)
    position[order] = np.arange(graph.n)
    if (position < 0).any():
        fail("an order holds every vertex once", f"vertex {name_of(graph, int((position < 0).argmax()))} is missing")
    indptr, indices = plain_rows(graph)
    if (edge := int(_order_violation(indptr, indices, position))) >= 0:
        u, v = ends_of(indptr, indices, edge)
        fail(
            "an edge leads forward",
            f"edge {name_of(graph, u)} -> {name_of(graph, v)} leads from place {position[u]} to place {position[v]}",
        )


@njit(cache=True, nogil=True)
def _order_violation(indptr, indices, position):
    """Return the first edge that does not lead from an earlier ``position`` to a later one, or -1."""
    for vertex in range(position.size):
        for edge in range(indptr[vertex], indptr[vertex + 1]):
            if position[indices[edge]] <= position[vertex]:
                return edge
    return -1
