"""What many searches on the CPU will take, before they are run: memory of each width, passes over the edges, seconds.

Single searches from a few random vertices show the levels of this graph. Where a search has the share ``e`` of the
edges in the rows of a level, ``w`` of them that know nothing of each other have ``1 - (1 - e) ** w``: a top-down level
reads so many. A bottom-up level concerns the rows of those vertices that some search has not reached, ``1 - c ** w``
with the share ``c`` of what can be reached that one has. Rows that are all heads are not read; those of vertices that
lack a bit even after the level are read to their ends; of the others as many ids as it takes until each bit has been
met, where a neighbour has one with probability ``c``. Each level takes the cheaper direction, by the costs of
:mod:`~.many.cpu.batch`. Searches do know of each other, vertices that are far from all of them above all, so that the
order of magnitude is what can be foreseen. The seconds are those of all rows that a level concerns, as they were when a
time for each was measured.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bigbfs.algorithms.bfs.options import BfsOptions
from bigbfs.algorithms.engine import Engine
from bigbfs.algorithms.many.cpu.batch import PULL_EDGE, PULL_VERTEX, PUSH_EDGE
from bigbfs.algorithms.many.cpu.bottomup import LOOKED
from bigbfs.engines.cpu.heads import HEADS
from bigbfs.graph.graph import Graph

SAMPLES = 3
"""Searches whose levels are looked at."""
EDGE_SECONDS = 12e-9
"""A neighbour whose 512 bits, a cache line, lie in no near cache (docs/notebook/many-sources.md)."""
LINE_BITS = 512
NEAR = 0.4
"""The share of that time that does not depend on how wide the bits are."""


@dataclass(frozen=True, slots=True)
class Shape:
    """Levels of one search: the share of the edges in the rows of each level, and in rows reached before it."""

    edges: np.ndarray
    before: np.ndarray


@dataclass(frozen=True, slots=True)
class Lengths:
    """Rows that bottom-up levels read, by length, int64: ``lengths`` that occur, ``rows`` of each, m ``edges``."""

    lengths: np.ndarray
    rows: np.ndarray
    edges: int

    def upto(self, ids: float) -> float:
        """Return the share of the edges that are read where each row is read up to so many ids, heads apart."""
        read = np.where(self.lengths > HEADS, np.minimum(self.lengths, ids), 0.0)
        return float((read * self.rows).sum()) / max(1, self.edges)


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
    found, lengths = [], lengths_of(graph)
    for width, size in need.items():
        whole, rest = divmod(sources, width)
        passes = seconds = 0.0
        for count, searches in ((whole, width), (1 if rest else 0, rest)):
            read, cost = batch_of(graph, shapes, searches, lengths) if count else (0.0, 0.0)
            passes += count * read
            seconds += count * cost * graph.m * EDGE_SECONDS * (NEAR + (1 - NEAR) * width / LINE_BITS) / threads
        found.append(Foreseen(width, whole + (rest > 0), size, passes, seconds))
    return found


def lengths_of(graph: Graph) -> Lengths:
    """Return the lengths of the rows that bottom-up levels of ``graph`` read."""
    rows = graph.adjacency if graph.in_adjacency is None else graph.in_adjacency
    lengths, count = np.unique(rows.degrees(), return_counts=True)
    return Lengths(lengths, count, graph.m)


def batch_of(graph: Graph, shapes: list[Shape], searches: int, lengths: Lengths) -> tuple[float, float]:
    """Return passes over the edges of a batch, and what it costs in passes of bottom-up levels: means of ``shapes``."""
    if not shapes:
        return 0.0, 0.0
    sizes = [_batch_of(graph, shape, searches, lengths) for shape in shapes]
    return sum(read for read, _ in sizes) / len(sizes), sum(cost for _, cost in sizes) / len(sizes)


def _batch_of(graph: Graph, shape: Shape, searches: int, lengths: Lengths) -> tuple[float, float]:
    down = 1 - (1 - np.minimum(shape.edges, 1.0)) ** searches
    up = 1 - np.minimum(shape.before, 1.0) ** searches
    push = PUSH_EDGE * down
    pull = PULL_EDGE * up + PULL_VERTEX * graph.n / graph.m
    if graph.in_adjacency is None:
        pull = np.full_like(push, np.inf)
    return _read(graph, shape, searches, lengths, down), float(np.minimum(push, pull).sum())


def _read(graph: Graph, shape: Shape, searches: int, lengths: Lengths, down: np.ndarray) -> float:
    """Return the passes over the edges of the levels of ``shape``, of which top-down ones read the shares ``down``."""
    whole, total = lengths.upto(np.inf), max(float(shape.edges.sum()), 1 / max(1, graph.m))
    reached = np.minimum(np.cumsum(shape.edges) / total, 1.0)  # when the frontier is this level
    left, passes = 1.0, 0.0
    for level, share in enumerate(reached.tolist()):
        if graph.in_adjacency is None or PULL_VERTEX * graph.n / graph.m + PULL_EDGE * left >= PUSH_EDGE * down[level]:
            passes += float(down[level])
            continue
        after = float(reached[min(level + 1, len(reached) - 1)])
        lacking, still = 1 - share**searches, 1 - after**searches
        # of so many bits that a vertex lacks, each of which a neighbour has with probability ``share``, the last is met
        ids = LOOKED + np.log(max(2.0, searches * (1 - share))) / -np.log(max(1e-9, 1 - share))
        inside = still * whole + (lacking - still) * lengths.upto(ids)
        passes += total * inside + (1 - total) * whole
        left = total * lacking + 1 - total
    return passes
