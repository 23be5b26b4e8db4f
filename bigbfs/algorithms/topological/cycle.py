"""A graph that has no topological order: the cycle that is in the way, named by its vertices.

In: a graph, and the rounds of a run that came to an end before all vertices had one (-1: none). Every such vertex has a
predecessor without a round, so walking back from any of them comes to a cycle.
"""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from bigbfs.engines.cpu.bits import ZERO
from bigbfs.engines.cpu.rows import NOBODY, Rows, degree, rows_of, seek, step
from bigbfs.errors import Argument, Call, FormatError, Remedy, UsageError
from bigbfs.graph.graph import Graph
from bigbfs.jit.njit import njit

SHOWN = 8
"""Vertices of a cycle that a message names at most."""


class CycleError(UsageError):
    """The graph has a cycle, so there is no topological order; the command line ends with 1, for it is no slip in it.

    Attributes
    ----------
    cycle
        Original ids along the cycle: an edge leads from each to the next, and from the last to the first.
    """

    exit_code = 1

    def __init__(self, message: str = "", *, cycle: tuple[int, ...] = (), **words: Any) -> None:
        super().__init__(message, **words)
        self.cycle = cycle


def require_directed(graph: Graph) -> None:
    """Refuse an undirected graph: each of its edges is a cycle.

    Raises
    ------
    UsageError
        It is undirected and has an edge.
    """
    if not graph.flags.directed and graph.m:
        raise UsageError(
            f"{graph.path or 'graph'}: is undirected, so every edge is a cycle and there is no topological order",
            remedies=(Remedy(Call("convert", "SOURCE", (Argument("directed", True),)), "convert its source: {}"),),
        )


def require_countable(graph: Graph) -> None:
    """Refuse a graph whose in-degrees might not fit an id: one that kept so many duplicates.

    Raises
    ------
    UsageError
        It has.
    """
    if not graph.flags.deduplicated and graph.m > np.iinfo(graph.ids).max:
        raise UsageError(
            f"{graph.path or 'graph'}: {graph.m:,} edges, duplicates kept: more might lead to one vertex than an id of "
            f"{8 * graph.ids.itemsize} bits can count; convert its source without keeping them"
        )


def require_complete(graph: Graph, rounds: np.ndarray, unsettled: int) -> None:
    """Refuse the rounds of a run that left vertices without one, or ``unsettled``: edges into them are not as counted.

    Raises
    ------
    CycleError
        There is a cycle.
    FormatError
        The in-neighbours stored are not those of the edges.
    """
    if (rounds < 0).any():
        refuse_cycle(graph, rounds)
    if unsettled:
        refuse_in_rows(graph)


def refuse_in_rows(graph: Graph) -> NoReturn:
    """Say that the in-neighbours stored are not those of the edges."""
    raise FormatError(
        f"{graph.path or 'graph'}: the in-neighbours stored are not those of the edges; run `bigbfs check` on it"
    )


def refuse_cycle(graph: Graph, rounds: np.ndarray) -> NoReturn:
    """Name a cycle among the vertices whose entry of ``rounds`` (int32, shape (n,)) is below 0.

    Raises
    ------
    CycleError
        Names the first vertices of the cycle.
    FormatError
        There is none: the in-neighbours are not those that the rows say.
    """
    cycle = tuple(int(vertex) for vertex in np.asarray(graph.original(find_cycle(rows_of(graph.adjacency), rounds))))
    if not cycle:
        refuse_in_rows(graph)
    shown = " -> ".join(str(graph.called(vertex)) for vertex in cycle[:SHOWN])
    first = graph.called(cycle[0])
    back = f" -> {first}" if len(cycle) <= SHOWN else f" -> ... -> {first}"
    length = "a self-loop" if len(cycle) == 1 else f"a cycle of {len(cycle):,} edges"
    raise CycleError(f"{graph.path or 'graph'}: there is no topological order: {shown}{back} is {length}", cycle=cycle)


def find_cycle(rows: Rows, rounds: np.ndarray) -> np.ndarray:
    """Return the vertices of a cycle, in the direction of its edges: int64; empty where there is none."""
    waiting = np.flatnonzero(rounds < 0)
    before = _predecessors(rows, rounds)
    if not len(waiting):
        return waiting
    return np.asarray(_walk_back(before, np.uint64(waiting[0])))[::-1]


@njit(cache=True, nogil=True)
def _predecessors(rows, rounds):
    """Return for each vertex without a round one without that points to it; NOBODY: none."""
    n = np.uint64(rounds.size)
    before = np.full(rounds.size, NOBODY, np.uint64)
    for u in range(n):
        if rounds[u] >= 0:
            continue
        position, v = seek(rows, u, ZERO), ZERO
        for k in range(degree(rows, u)):
            v, position = step(rows, position, k, v)
            if v < n and rounds[v] < 0:
                before[v] = u
    return before


@njit(cache=True, nogil=True)
def _walk_back(before, vertex):
    """Return the cycle that the way back from ``vertex`` comes to, against the direction of its edges."""
    seen = np.zeros(before.size, np.bool_)
    while vertex != NOBODY and not seen[vertex]:
        seen[vertex] = True
        vertex = before[vertex]
    if vertex == NOBODY:
        return np.empty(0, np.int64)
    length, at = 1, before[vertex]
    while at != vertex:
        length += 1
        at = before[at]
    cycle = np.empty(length, np.int64)
    for i in range(length):
        cycle[i] = np.int64(at)
        at = before[at]
    return cycle
