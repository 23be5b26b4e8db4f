"""Shortest paths between two vertices, for one pair or for many, in original ids; on the CPU (:mod:`.between`).

A pair takes microseconds in a small world and as many milliseconds on roads. So pairs are searched for one after the
other, and dealt out to threads, a pair each, once they are seen to take longer than handing one over does.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bigbfs import api
from bigbfs.algorithms.engine import Engine
from bigbfs.algorithms.many.vertices import vertices_of
from bigbfs.errors import ArgumentError, UsageError
from bigbfs.graph.graph import Graph
from bigbfs.jit.workers import Workers, thread_count
from bigbfs.measures.between import PathFinder, bytes_of
from bigbfs.measures.placing import placed
from bigbfs.sizes import choice, free_memory

BLOCK = 16
"""Pairs of a thread between two looks at what a pair takes; those of a block are yielded when all of it are done."""
WORTH = 2e-4
"""Seconds of a pair from which on threads are worth it: a few times what handing it over takes."""


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
        Ids of neighbours read.
    seconds
        Of the search, on the thread that made it; ids were looked up before.
    """

    source: int
    target: int
    vertices: list[int]
    edges_read: int
    seconds: float

    @property
    def distance(self) -> int:
        """Edges on the path; -1 where there is none."""
        return len(self.vertices) - 1


class PathSearches:
    """Pairs of vertices of a placed graph, found by their ids, and what searches between them; iterating searches.

    Parameters
    ----------
    engine
        On the CPU, or on a GPU: the rows in host memory are read.
    pairs
        Of original ids or names.

    Raises
    ------
    UsageError
        A vertex is not in the graph (all of them are named, ten at most).
    ArgumentError
        Something is no pair of vertices.
    DoesNotFitError
        The two searches take more memory than is free.
    """

    def __init__(self, engine: Engine, pairs: Iterable[Sequence[int | str]]) -> None:
        self._graph = engine.graph
        try:
            ends = [tuple(pair) for pair in pairs]
        except TypeError:
            ends = [()]
        if any(len(pair) != 2 for pair in ends):
            raise ArgumentError("must be pairs of two vertices, source and target", about=(("pairs", pairs),))
        flat = [end for pair in ends for end in pair]
        vertices = vertices_of(self._graph, flat, "vertex", "vertices").reshape(-1, 2)
        self._originals = np.asarray(self._graph.original(vertices)).tolist()
        self._pairs = vertices.tolist()
        self._finders = deque([PathFinder(self._graph)])
        room = free_memory() // max(bytes_of(self._graph.n, self._graph.ids), 1)
        self._threads = max(1, min(engine.threads or thread_count(), room))

    def __iter__(self) -> Iterator[ShortestPath]:
        """Yield a shortest path for each pair, in their order.

        Raises
        ------
        FormatError
            The graph's file is damaged.
        """
        found: list[ShortestPath | None] = [None] * len(self._pairs)
        first, threads = 0, 1
        with Workers(self._threads) as workers:
            while first < len(found):
                last = min(first + BLOCK * threads, len(found))

                def search(number: int, first: int = first) -> None:
                    found[first + number] = self._find(first + number)

                if threads == 1:
                    for number in range(last - first):
                        search(number)
                else:
                    workers.each(last - first, search)
                block = [path for path in found[first:last] if path is not None]
                found[first:last] = [None] * len(block)
                yield from block
                if sum(path.seconds for path in block) > WORTH * len(block):
                    threads = self._threads
                first = last

    def _find(self, number: int) -> ShortestPath:
        try:
            finder = self._finders.pop()
        except IndexError:  # each thread takes one
            finder = PathFinder(self._graph)
        start = time.perf_counter()
        path, read = finder.find(*self._pairs[number])
        seconds = time.perf_counter() - start
        self._finders.append(finder)
        ends, vertices = self._originals[number], np.asarray(self._graph.original(path)).tolist()
        return ShortestPath(ends[0], ends[1], vertices, read, seconds)


def shortest_paths(
    graph: Graph | str | Path | Engine,
    pairs: Iterable[Sequence[int | str]],
    *,
    threads: int | None = None,
    backend: str = "auto",
) -> Iterator[ShortestPath]:
    """Yield a shortest path for each of ``pairs`` of original ids or names, in their order.

    ``threads`` is as for :func:`bigbfs.distances`; ``backend`` is ``"auto"`` or ``"cpu"``, which are the same here.

    Raises
    ------
    UsageError
        A vertex is not in the graph (all of them are named, ten at most); or the backend is another. Before the first
        path.
    ArgumentError
        Something is no pair of vertices.
    DoesNotFitError
        The two searches take more memory than is free.
    FormatError
        The graph's file is damaged.
    """
    if choice("backend", backend, api.BACKENDS) == "gpu":
        said = "paths between two vertices are searched for on the CPU alone"
        raise UsageError(said, about=(("backend", backend),), remedies=("leave it out", ("backend", "cpu")))
    with placed(graph, threads, "cpu", ()) as engine:
        yield from PathSearches(engine, pairs)


def shortest_path(
    graph: Graph | str | Path | Engine, source: int | str, target: int | str, *, backend: str = "auto"
) -> list[int]:
    """Return the original ids along one shortest path between two ids or names; empty where there is none.

    ``backend`` is as for :func:`shortest_paths`.

    Raises
    ------
    UsageError
        One of the two is not in the graph, or the backend is the GPU.
    DoesNotFitError
        The two searches take more memory than is free.
    FormatError
        The graph's file is damaged.
    """
    return next(shortest_paths(graph, [(source, target)], backend=backend)).vertices
