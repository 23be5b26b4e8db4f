"""What the levels of a search will count, from the degrees of a graph alone: nothing is searched.

Each end of an edge is taken to be as probable a neighbour as any other (the configuration model). Then so many of the
vertices of each degree are found by a frontier of so many edges, level after level, until nothing is left to find.
Kronecker and uniform graphs keep to it; where neighbours know each other (grids, roads, crawls) there are more levels,
and how many a small search on the host has to say (bfs/ranks/depth.py): :func:`thin` has their shape.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bigbfs.engines.gpu.runtime.arguments import LINE
from bigbfs.graph.adjacency import Adjacency, CompressedAdjacency

EXACT = 1 << 12
"""Degrees below are counted each; above, those of a sixteenth of an octave together, as their mean."""
STEPS = 16

BLOCK = 1 << 22
"""Vertices that are counted at a time."""

MOST_LEVELS = 64
LEAST = 0.5
"""A level that finds fewer vertices is the last."""


@dataclass(frozen=True)
class Degrees:
    """How many vertices (``counts``) have which ``degree``, both float64, ascending by degree; those without edges are
    left out."""

    degree: np.ndarray
    counts: np.ndarray

    @property
    def busy(self) -> float:
        """Vertices with edges."""
        return float(self.counts.sum())

    @property
    def edges(self) -> float:
        """Edges stored."""
        return float(self.degree @ self.counts)

    @property
    def middle(self) -> float:
        """Degree of the median vertex."""
        ends = np.cumsum(self.counts)
        return float(self.degree[np.searchsorted(ends, ends[-1] / 2)]) if len(ends) else 0.0

    def from_top(self, edges: float) -> np.ndarray:
        """Return which share of the rows of each degree is among the longest rows, of so many ``edges`` together."""
        rows = self.degree * self.counts
        longer = rows[::-1].cumsum()[::-1] - rows
        return np.clip((edges - longer) / np.maximum(rows, 1e-9), 0.0, 1.0)


@dataclass(frozen=True, slots=True)
class Level:
    """A level as it begins, in counts of all ranks.

    Attributes
    ----------
    vertices, edges
        Of the frontier; the edges in its rows.
    rows, lines, held
        Its rows that are not near, and the lines of 128 bytes that these take; those of rows that heads hold whole
        besides.
    unvisited, unexplored
        Vertices with edges that are not reached yet, and the edges in their rows.
    found
        Vertices that the level finds.
    missed
        Unvisited vertices that no head of theirs decides.
    """

    vertices: float
    edges: float
    rows: float
    lines: float
    held: float
    unvisited: float
    unexplored: float
    found: float
    missed: float


def degrees_of(adjacency: Adjacency) -> Degrees:
    """Return how many vertices have which degree. Reads the offsets of the graph once: O(n)."""
    sums, counts = np.zeros(0), np.zeros(0)
    for start in range(0, adjacency.n, BLOCK):
        each = _lengths(adjacency, start, min(start + BLOCK, adjacency.n))
        place = _bin(each)
        size = max(len(counts), int(place.max(initial=0)) + 1)
        counts = np.pad(counts, (0, size - len(counts))) + np.bincount(place, minlength=size)
        sums = np.pad(sums, (0, size - len(sums))) + np.bincount(place, each, minlength=size)
    filled = (counts > 0) & (sums > 0)
    return Degrees(sums[filled] / counts[filled], counts[filled])


def _lengths(adjacency: Adjacency, start: int, stop: int) -> np.ndarray:
    """Return the degrees of vertices [start, stop)."""
    if isinstance(adjacency, CompressedAdjacency):
        return np.asarray(adjacency.degree[start:stop]).astype(np.int64)
    ends = np.asarray(adjacency.indptr[start : stop + 1]).astype(np.int64)
    return ends[1:] - ends[:-1]


def _bin(degrees: np.ndarray) -> np.ndarray:
    """Return where each of ``degrees`` is counted."""
    place, long = degrees.copy(), np.flatnonzero(degrees >= EXACT)
    place[long] = EXACT + np.floor(STEPS * np.log2(degrees[long] / EXACT)).astype(np.int64)
    return place


@dataclass(frozen=True, slots=True)
class Rows:
    """How the rows of a graph lie.

    Attributes
    ----------
    edge_bytes
        Bytes of an edge in a row.
    heads
        Heads of a vertex; 0: none.
    holds
        Whether rows that heads hold whole are read from them.
    hot
        Share of the edges that are in device memory too.
    even
        Whether no vertex is likelier to be reached early than another; else hubs are hot first, and heads, which are
        the strongest neighbours, are taken to decide whatever the whole row would.
    """

    edge_bytes: float
    heads: int
    holds: bool
    hot: float
    even: bool

    def far(self, degrees: Degrees) -> np.ndarray:
        """Return the share of the rows of each degree that are not hot."""
        return (
            np.full(len(degrees.degree), 1 - self.hot) if self.even else 1 - degrees.from_top(self.hot * degrees.edges)
        )

    def counted(self, degrees: Degrees, frontier: np.ndarray) -> tuple[float, float, float]:
        """Return the rows of a ``frontier`` that are not near, their lines, and the lines of rows that heads hold.

        Where many rows are read, neighbours have a line in common.
        """
        far, share = self.far(degrees) * frontier, frontier.sum() / max(degrees.busy, 1e-9)
        lines = (degrees.degree * self.edge_bytes / LINE + 1 - share) * far
        held = np.logical_and(self.holds, degrees.degree <= self.heads)
        return float(far[~held].sum()), float(lines[~held].sum()), float(lines[held].sum())


def expected(degrees: Degrees, rows: Rows) -> list[Level]:
    """Return the levels of a search from a vertex of the middle degree."""
    degree, left = degrees.degree, degrees.counts.copy()
    frontier = np.zeros(len(left))
    if len(left):
        start = int(np.searchsorted(degree, degrees.middle))
        frontier[start] = 1.0
        left[start] -= 1.0
    levels: list[Level] = []
    looked_at = np.minimum(degree, rows.heads) if rows.even else degree
    while frontier.sum() >= LEAST and len(levels) < MOST_LEVELS:
        vertices, edges, unexplored = float(frontier.sum()), float(frontier @ degree), float(left @ degree)
        ends = max(0.0, edges - (vertices if levels else 0.0))  # one edge of each leads back to its parent
        missing = 1 - ends / max(ends + unexplored, 1e-9)  # of an edge: that its end is not in the frontier
        stays = np.power(missing, degree)
        undecided = np.power(missing, looked_at) * (degree > rows.heads)
        found = left * (1 - stays)
        counts = (float(left.sum()), unexplored, float(found.sum()), float(left @ undecided))
        levels.append(Level(vertices, edges, *rows.counted(degrees, frontier), *counts))
        frontier, left = found, left * stays
    return levels


def thin(degrees: Degrees, rows: Rows, count: int) -> list[Level]:
    """Return ``count`` levels that are all alike: those of a graph that is deep."""
    vertices, edges = degrees.busy / count, degrees.edges / count
    far, lines, held = rows.counted(degrees, degrees.counts / count)
    per = edges / max(vertices, 1e-9)
    left = (degrees.busy - vertices * level for level in range(1, count + 1))
    return [Level(vertices, edges, far, lines, held, rest, rest * per, vertices, rest) for rest in left]
