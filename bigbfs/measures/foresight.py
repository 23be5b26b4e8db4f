"""What many searches on the CPU will take, before they are run: memory of each width, passes over the edges, seconds.

Single searches from a few random vertices show the levels of this graph. Where a search has the share ``e`` of the
edges in the rows of a level, ``w`` of them that know nothing of each other have ``1 - (1 - e) ** w``: a top-down level
reads so many. A bottom-up level reads the rows of those vertices that some search has not reached, ``1 - c ** w`` with
the share ``c`` that one has. Each level takes the cheaper of the two, by the costs of :mod:`~.many.cpu.batch`. Vertices
that their heads settle are not known beforehand, so that more is foreseen than is read.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bigbfs.algorithms.bfs.options import BfsOptions
from bigbfs.algorithms.engine import Engine
from bigbfs.algorithms.many.cpu.batch import PULL_EDGE, PULL_VERTEX, PUSH_EDGE
from bigbfs.graph.graph import Graph

SAMPLES = 3
"""Searches whose levels are looked at."""
EDGE_SECONDS = 12e-9
"""A neighbour whose 512 bits, a cache line, lie in no near cache (docs/results/many-sources.md)."""
LINE_BITS = 512
NEAR = 0.4
"""The share of that time that does not depend on how wide the bits are."""


@dataclass(frozen=True, slots=True)
class Shape:
    """Levels of one search: the share of the edges in the rows of each level, and in rows reached before it."""

    edges: np.ndarray
    before: np.ndarray


@dataclass(frozen=True, slots=True)
class Foreseen:
    """What searches from ``sources`` vertices take with ``width`` at once.

    Attributes
    ----------
    width, batches
        Searches at once at most, and how often.
    bytes
        Memory beside the graph.
    passes
        How often all batches together read the edges.
    seconds
        Of the searches alone.
    """

    width: int
    batches: int
    bytes: int
    passes: float
    seconds: float


def shapes_of(engine: Engine, seed: int = 1) -> list[Shape]:
    """Return the levels of searches from a few random vertices that have an edge; none in a graph without."""
    graph = engine.graph
    degrees = graph.degrees()
    linked = np.flatnonzero(degrees)
    found = []
    for source in np.random.default_rng(seed).permutation(linked)[:SAMPLES].tolist():
        levels = engine.run_internal(BfsOptions(source, want_parents=False)).levels
        reached = levels >= 0
        edges = np.bincount(levels[reached], degrees[reached]) / graph.m
        found.append(Shape(edges, np.concatenate([[0.0], np.cumsum(edges)[:-1]])))
    return found


def foresee(graph: Graph, shapes: list[Shape], sources: int, need: dict[int, int], threads: int) -> list[Foreseen]:
    """Return what searches from ``sources`` random vertices take at each width of ``need`` (bytes)."""
    found = []
    for width, size in need.items():
        whole, rest = divmod(sources, width)
        passes = seconds = 0.0
        for count, searches in ((whole, width), (1 if rest else 0, rest)):
            read, cost = batch_of(graph, shapes, searches) if count else (0.0, 0.0)
            passes += count * read
            seconds += count * cost * graph.m * EDGE_SECONDS * (NEAR + (1 - NEAR) * width / LINE_BITS) / threads
        found.append(Foreseen(width, whole + (rest > 0), size, passes, seconds))
    return found


def batch_of(graph: Graph, shapes: list[Shape], searches: int) -> tuple[float, float]:
    """Return passes over the edges of a batch, and what it costs in passes of bottom-up levels: means of ``shapes``."""
    if not shapes:
        return 0.0, 0.0
    sizes = [_batch_of(graph, shape, searches) for shape in shapes]
    return sum(read for read, _ in sizes) / len(sizes), sum(cost for _, cost in sizes) / len(sizes)


def _batch_of(graph: Graph, shape: Shape, searches: int) -> tuple[float, float]:
    down = 1 - (1 - np.minimum(shape.edges, 1.0)) ** searches
    up = 1 - np.minimum(shape.before, 1.0) ** searches
    push = PUSH_EDGE * down
    pull = PULL_EDGE * up + PULL_VERTEX * graph.n / graph.m
    if graph.in_adjacency is None:
        pull = np.full_like(push, np.inf)
    return float(np.where(push <= pull, down, up).sum()), float(np.minimum(push, pull).sum())
