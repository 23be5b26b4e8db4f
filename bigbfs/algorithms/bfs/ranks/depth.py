"""How many levels a search will have, about, from the growth of a small one on the host: whether several GPUs pay.

A level of several GPUs costs meetings over the link. Where thousands of levels are thin, one GPU alone is quicker: a
grid of 5000 x 5000 has 5,000 levels, a road network as many. What a search finds in its first levels grows with their
number to some power (2 in a plane, 1 on a path), or exponentially; carried on to all vertices that is the depth.
"""

from __future__ import annotations

from math import log2
from threading import Lock
from weakref import WeakKeyDictionary

import numpy as np

from bigbfs.engines.cpu.ranked import sample_neighbours
from bigbfs.engines.cpu.rows import PlainRows, Rows, row_count, row_lengths, rows_of
from bigbfs.engines.ranks.group import Group
from bigbfs.graph.graph import Graph

MOST_VERTICES = 1 << 16
MOST_LEVELS = 256
MOST_EDGES = 1 << 18
"""Where the small search ends: so many vertices, levels, or edges of a level. Ranks wait for it, and it sorts the ends
of a level's edges: of a uniform graph 3 ms, where 2^22 edges took 1.56 s (docs/notebook/several-gpus-whole.md)."""

STARTS = 8
"""Vertices it is begun from: a component may be small."""

DEEP = 64
"""Fewer levels are never too many."""

LEVEL_SECONDS = 10e-6
"""What a thin level of several GPUs takes longer than one of one GPU: two meetings and more barriers."""

EDGE_SECONDS = 80e-12
"""What an edge takes that one GPU reads over its link to host memory: in its own memory it takes less."""


_EXPECTED: WeakKeyDictionary[Graph, float] = WeakKeyDictionary()
_SEARCHING = Lock()


def expected_levels(rows: Rows) -> float:
    """Return about how many levels a search over ``rows`` has."""
    n = row_count(rows)
    starts = np.unique(np.linspace(0, max(0, n - 1), min(n, 64 * STARTS)).astype(np.int64))
    starts = starts[row_lengths(rows, starts) > 0][:: max(1, len(starts) // STARTS)] if n else starts
    grown: list[list[int]] = []
    for start in starts[:STARTS]:
        grown.append(_grow(rows, int(start)))
        if grown[-1][-1] > MOST_EDGES:  # as good as all others that have met a hub
            break
    return _carried_on(max(grown, key=lambda sizes: sizes[-1]), n) if grown else 0.0


def levels_of(graph: Graph) -> float:
    """Return what :func:`expected_levels` says of ``graph``, whose structure it checks.

    The small search is made once for a graph: it may have been, in a thread, before anybody waits for it.
    """
    graph.require_structure()
    with _SEARCHING:
        if graph not in _EXPECTED:
            _EXPECTED[graph] = expected_levels(rows_of(graph.adjacency))
        return _EXPECTED[graph]


def too_deep(levels: float, m: int, size: int) -> bool:
    """Return whether ``size`` GPUs lose more by meeting in so many ``levels`` than they save by sharing ``m`` edges."""
    return levels > DEEP and levels * LEVEL_SECONDS > m * EDGE_SECONDS * (size - 1) / size


def thin_levels(graph: Graph, size: int) -> int | None:
    """Return about how many levels a search has, where for so many one GPU is quicker than ``size``; else None."""
    levels = levels_of(graph)
    return round(levels) if too_deep(levels, graph.m, size) else None


def agreed_thin_levels(graph: Graph, group: Group) -> int | None:
    """Return what :func:`thin_levels` says on the first rank; all ranks make this call."""
    told: int | None = group.objects(thin_levels(graph, group.size) if group.rank == 0 else None)[0]
    return told


def _grow(rows: Rows, start: int) -> list[int]:
    """Return how many vertices a small search has found by the end of each level."""
    seen = np.zeros(row_count(rows), bool)
    seen[start] = True
    frontier, sizes = np.array([start], np.int64), [1]
    while len(frontier) and sizes[-1] < MOST_VERTICES and len(sizes) <= MOST_LEVELS:
        lengths = row_lengths(rows, frontier)
        edges = int(lengths.sum())
        if edges > MOST_EDGES:  # a hub: the next level is wide
            return [*sizes, sizes[-1] + MOST_EDGES]
        found = _neighbours(rows, frontier, lengths)
        found = np.unique(found[found < len(seen)])
        frontier = found[~seen[found]]
        seen[frontier] = True
        if len(frontier):
            sizes.append(sizes[-1] + len(frontier))
    return sizes


def _neighbours(rows: Rows, frontier: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Return the ends of all edges out of ``frontier``: int64. Plain rows are read without a compiled loop, which GPUs
    with nothing else to compile would wait for."""
    found = np.empty(int(lengths.sum()), np.int64)
    if isinstance(rows, PlainRows):
        ends = np.cumsum(lengths)
        at = np.repeat(rows.indptr[frontier].astype(np.int64) - (ends - lengths), lengths)
        found[:] = rows.indices[at + np.arange(len(found))]
    else:
        sample_neighbours(rows, frontier, lengths, found)
    return found


def _carried_on(sizes: list[int], n: int) -> float:
    """Return the levels in which ``n`` vertices are found, by the power with which ``sizes`` have grown at last."""
    last = len(sizes) - 1
    if sizes[-1] < MOST_VERTICES and last < MOST_LEVELS:
        return float(last)  # that was all of it
    half = last // 2
    power = log2(sizes[-1] / sizes[half]) / log2(last / half) if half else 32.0
    return float(last * max(1.0, n / sizes[-1]) ** (1 / max(power, 0.5)))
