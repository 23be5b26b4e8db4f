"""Shortest paths between two vertices: a search from each end, the one with fewer edges ahead takes the next level.

Marks are undone after each pair, so that a pair costs what its search touched. In a directed graph the search from the
end goes against the edges; where in-neighbours are not stored, the search from the start goes all the way.

Source: Pohl, Bi-directional search, Machine Intelligence 6 (1971).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bigbfs.algorithms.engine import Engine
from bigbfs.algorithms.many.vertices import vertices_of
from bigbfs.engines.cpu import memory
from bigbfs.engines.cpu.bits import ZERO
from bigbfs.engines.cpu.rows import Rows, degree, rows_of, seek, step
from bigbfs.errors import ArgumentError, FormatError
from bigbfs.graph.graph import Graph
from bigbfs.jit.njit import njit
from bigbfs.measures.placing import placed


@dataclass(slots=True)
class ShortestPath:
    """One shortest path.

    Attributes
    ----------
    source, target
        Original ids.
    vertices
        Original ids along the path, both ends included; empty where there is none.
    edges_read
        Edges looked at.
    """

    source: int
    target: int
    vertices: list[int]
    edges_read: int

    @property
    def distance(self) -> int:
        """Edges on the path; -1 where there is none."""
        return len(self.vertices) - 1


class PathFinder:
    """Searches for paths in one graph, one after the other; internal vertices.

    Parameters
    ----------
    graph
        Plain or compressed, known to be valid.

    Raises
    ------
    DoesNotFitError
        Parents and queues of both searches take more memory than is free.
    """

    def __init__(self, graph: Graph) -> None:
        memory.require(bytes_of(graph.n), graph.n, "free some, or take a machine with more")
        graph.require_whole()
        self._out: Rows = rows_of(graph.adjacency)
        incoming = graph.in_adjacency
        self._in: Rows = self._out if incoming is None or graph.flags.symmetric else rows_of(incoming)
        self._both = incoming is not None
        self._parents = np.full((2, graph.n), -1, np.int64)
        self._queues = np.empty((2, graph.n), np.int64)

    def find(self, source: int, target: int) -> tuple[np.ndarray, int]:
        """Return the vertices on a shortest path (int64, empty: there is none), and edges looked at."""
        before, behind = self._parents
        queues = self._queues
        found = _search(self._out, self._in, np.int64(source), np.int64(target), before, behind, *queues, self._both)
        meet, visited, back_visited, read, faults = (int(value) for value in found)
        path: list[int] = []
        if meet >= 0:
            path = _chain(before, meet)[::-1] + _chain(behind, meet)[1:]
        before[queues[0, :visited]] = -1
        behind[queues[1, :back_visited]] = -1
        if faults:
            raise FormatError("neighbour ids are no vertices: the file is damaged; `bigbfs check` says where")
        return np.array(path, np.int64), read


def bytes_of(n: int) -> int:
    """Return the bytes of parents and queues in a graph of ``n`` vertices."""
    return 2 * (8 + 8) * n


def _chain(parents: np.ndarray, vertex: int) -> list[int]:
    """Return the vertices from ``vertex`` to the root of its tree, whose parent is itself."""
    chain = [vertex]
    while parents[vertex] != vertex:
        vertex = int(parents[vertex])
        chain.append(vertex)
    return chain


@njit(cache=True, nogil=True)
def _expand(rows, queue, first, last, parents, other):
    """Visit the neighbours of ``queue[first:last]``; return the queue's end, edges ahead, a meeting place, edges read.

    A meeting place is a vertex that the ``other`` search has visited, -1: none. The level is not finished then: any
    such vertex is as near, because both searches have finished the levels before.
    """
    n = np.uint64(parents.size)
    tail, ahead, read, faults = last, np.int64(0), np.int64(0), np.int64(0)
    for i in range(first, last):
        u = np.uint64(queue[i])
        position, v = seek(rows, u, ZERO), ZERO
        for k in range(degree(rows, u)):
            v, position = step(rows, position, k, v)
            read += 1
            if v >= n:
                faults += 1
            elif parents[v] < 0:
                parents[v] = np.int64(u)
                queue[tail] = np.int64(v)
                tail += 1
                ahead += np.int64(degree(rows, v))
                if other[v] >= 0:
                    return tail, ahead, np.int64(v), read, faults
    return tail, ahead, np.int64(-1), read, faults


@njit(cache=True, nogil=True)
def _search(out, incoming, source, target, before, behind, queue, back_queue, both):
    """Return where the two searches met (-1: nowhere), the vertices visited by each, edges read, and faults."""
    before[source], behind[target] = source, target
    queue[0], back_queue[0] = source, target
    first, last, back_first, back_last = 0, 1, 0, 1
    if source == target:
        return source, last, back_last, np.int64(0), np.int64(0)
    ahead, back_ahead = np.int64(degree(out, np.uint64(source))), np.int64(degree(incoming, np.uint64(target)))
    read, faults = np.int64(0), np.int64(0)
    while first < last and back_first < back_last:
        if not both or ahead <= back_ahead:
            end, ahead, meet, more, bad = _expand(out, queue, first, last, before, behind)
            first, last = last, end
        else:
            end, back_ahead, meet, more, bad = _expand(incoming, back_queue, back_first, back_last, behind, before)
            back_first, back_last = back_last, end
        read += more
        faults += bad
        if meet >= 0:
            return meet, last, back_last, read, faults
    return np.int64(-1), last, back_last, read, faults


def shortest_paths(
    graph: Graph | str | Path | Engine, pairs: Iterable[Sequence[int | str]], *, threads: int | None = None
) -> Iterator[ShortestPath]:
    """Yield a shortest path for each of ``pairs`` of original ids or names, in their order.

    Raises
    ------
    UsageError
        A vertex is not in the graph (all of them are named, ten at most); before the first path.
    ArgumentError
        Something is no pair of vertices.
    DoesNotFitError
        The two searches take more memory than is free.
    FormatError
        The graph's file is damaged.
    """
    with placed(graph, threads, "cpu", ()) as engine:
        here = engine.graph
        try:
            ends = [tuple(pair) for pair in pairs]
        except TypeError:
            ends = [()]
        if any(len(pair) != 2 for pair in ends):
            raise ArgumentError("must be pairs of two vertices, source and target", about=(("pairs", pairs),))
        vertices = vertices_of(here, [end for pair in ends for end in pair], "vertex", "vertices").reshape(-1, 2)
        finder = PathFinder(here)
        originals = np.asarray(here.original(vertices)).tolist()
        for (source, target), (start, end) in zip(originals, vertices.tolist(), strict=True):
            path, read = finder.find(start, end)
            yield ShortestPath(source, target, np.asarray(here.original(path)).tolist(), read)


def shortest_path(graph: Graph | str | Path | Engine, source: int | str, target: int | str) -> list[int]:
    """Return the original ids along one shortest path between two ids or names; empty where there is none.

    Raises
    ------
    UsageError
        One of the two is not in the graph.
    DoesNotFitError
        The two searches take more memory than is free.
    FormatError
        The graph's file is damaged.
    """
    return next(shortest_paths(graph, [(source, target)])).vertices
