"""Proof that an order is topological and that rounds are longest paths, from the graph and the result alone."""

from __future__ import annotations

import numpy as np

from bigbfs.algorithms.plain_rows import plain_rows
from bigbfs.algorithms.rules import ends_of, fail, first_offender, name_of, require_array
from bigbfs.graph.graph import Graph
from bigbfs.graph.views import frozen
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
    if (vertex := first_offender(_leads_back, graph.n, indptr, indices, frozen(position))) >= 0:
        u, v = _first_edge_back(indptr, indices, position, vertex)
        fail(
            "an edge leads forward",
            f"edge {name_of(graph, u)} -> {name_of(graph, v)} leads from place {position[u]} to place {position[v]}",
        )


def validate_rounds(graph: Graph, rounds: np.ndarray) -> None:
    """Prove that ``rounds`` (int32, shape (n,)) holds the edges on the longest path that ends at each vertex.

    Raises
    ------
    VerificationError
        Names the vertex or edge that breaks the rule.
    """
    require_array("rounds", rounds, np.int32, graph.n)
    if (rounds < 0).any():
        fail("every vertex has a round", f"vertex {name_of(graph, int((rounds < 0).argmax()))} has {rounds.min()}")
    indptr, indices = plain_rows(graph)
    have = frozen(np.ascontiguousarray(rounds))
    if (vertex := first_offender(_leads_back, graph.n, indptr, indices, have)) >= 0:
        u, v = _first_edge_back(indptr, indices, rounds, vertex)
        fail(
            "an edge leads to a later round",
            f"edge {name_of(graph, u)} -> {name_of(graph, v)} leads from round {rounds[u]} to round {rounds[v]}",
        )
    reached = have == 0
    first_offender(_mark_next, graph.n, indptr, indices, have, reached)
    if not reached.all():
        vertex = int(np.argmin(reached))
        fail(
            "a round follows the latest of its predecessors",
            f"vertex {name_of(graph, vertex)} is in round {rounds[vertex]}; no edge from the one before leads to it",
        )


def validate_topological(graph: Graph, order: np.ndarray, rounds: np.ndarray) -> None:
    """Prove ``order`` and ``rounds`` right, and that the order goes by round and, in a round, by vertex.

    Raises
    ------
    VerificationError
        Names the rule and the vertex or edge that breaks it.
    """
    validate_order(graph, order)
    validate_rounds(graph, rounds)
    of_place = rounds[order]
    ascending = (of_place[1:] > of_place[:-1]) | ((of_place[1:] == of_place[:-1]) & (order[1:] > order[:-1]))
    if not ascending.all():
        place = int(np.argmin(ascending))
        u, v = (name_of(graph, int(order[at])) for at in (place, place + 1))
        fail("an order goes by round, then by vertex", f"vertex {u} is at place {place}, vertex {v} behind it")


@njit(cache=True, nogil=True)
def _leads_back(begin, end, indptr, indices, place):
    """Return the first vertex in begin..end - 1 with an edge that does not lead to a later ``place``, or -1."""
    for vertex in range(begin, end):
        for edge in range(indptr[vertex], indptr[vertex + 1]):
            if place[indices[edge]] <= place[vertex]:
                return vertex
    return -1


@njit(cache=True, nogil=True)
def _mark_next(begin, end, indptr, indices, rounds, reached):
    """Mark the vertices that an edge leads to from the round before, of the vertices begin..end - 1; return -1."""
    for vertex in range(begin, end):
        for edge in range(indptr[vertex], indptr[vertex + 1]):
            if rounds[indices[edge]] == rounds[vertex] + 1:
                reached[indices[edge]] = True
    return -1


def _first_edge_back(indptr: np.ndarray, indices: np.ndarray, place: np.ndarray, vertex: int) -> tuple[int, int]:
    """Return the ends of the first edge of ``vertex`` that does not lead to a later ``place``."""
    row = indices[indptr[vertex] : indptr[vertex + 1]].astype(np.int64)
    return ends_of(indptr, indices, int(indptr[vertex]) + int(np.argmax(place[row] <= place[vertex])))
