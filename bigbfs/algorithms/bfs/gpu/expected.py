"""What the levels of a search will count, from the degrees of a graph alone: nothing is searched.

Each end of an edge is taken to be as probable a neighbour as any other (the configuration model). Then so many of the
vertices of each degree are found by a frontier of so many edges, level after level, until nothing is left to find.
Kronecker and uniform graphs keep to it; where neighbours know each other (grids, roads, crawls) there are more levels,
and how many a small search on the host has to say (bfs/ranks/depth.py): :func:`thin` has their shape.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

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
    lines
        Lines of 128 bytes that its rows take where they are not near.
    unvisited, unexplored
        Vertices with edges that are not reached yet, and the edges in their rows.
    found
        Vertices that the level finds.
    missed
        Unvisited vertices that no head of theirs decides.
    """

    vertices: float
    edges: float
    lines: float
    unvisited: float
    unexplored: float
    found: float
    missed: float


def degrees_of(adjacency: Adjacency) -> Degrees:
    """Return how many vertices have which degree. Reads the offsets of the graph once: O(n)."""
    sums, counts = np.zeros(0), np.zeros(0)
    for start in range(0, adjacency.n, BLOCK):
        stop = min(start + BLOCK, adjacency.n)
        if isinstance(adjacency, CompressedAdjacency):
            each = np.asarray(adjacency.degree[start:stop]).astype(np.int64)
        else:
            each = np.diff(np.asarray(adjacency.indptr[start : stop + 1]).astype(np.int64))
        place = _bin(each)
        size = max(len(counts), int(place.max(initial=0)) + 1)
        counts = np.bincount(place, minlength=size) + np.pad(counts, (0, size - len(counts)))
        sums = np.bincount(place, each, minlength=size) + np.pad(sums, (0, size - len(sums)))
    filled = (counts > 0) & (sums > 0)
    return Degrees(sums[filled] / counts[filled], counts[filled].astype(np.float64))


def _bin(degrees: np.ndarray) -> np.ndarray:
    """Return where each of ``degrees`` is counted."""
    long = np.maximum(degrees, EXACT)
    return np.where(degrees < EXACT, degrees, EXACT + np.floor(STEPS * np.log2(long / EXACT)).astype(np.int64))


def expected(degrees: Degrees, id_bytes: int, heads: int, near: np.ndarray, even: bool) -> list[Level]:
    """Return the levels of a search from a vertex of the middle degree.

    Parameters
    ----------
    degrees
        Of the graph.
    id_bytes
        Of an id in a row.
    heads
        Heads of a vertex; 0: none.
    near
        Share of the rows of each degree whose lines are not counted: copies, or heads, are read instead.
    even
        Whether no neighbour is likelier to be reached early than another; else heads, which are the strongest ones,
        are taken to decide whatever the whole row would.
    """
    degree, left = degrees.degree, degrees.counts.copy()
    lines_of = (degree * id_bytes / 128 + 1) * (1 - near)
    frontier = np.zeros(len(left))
    if len(left):
        start = int(np.searchsorted(degree, degrees.middle))
        frontier[start] = 1.0
        left[start] -= 1.0
    levels: list[Level] = []
    open_to = heads if even else np.inf
    while frontier.sum() >= LEAST and len(levels) < MOST_LEVELS:
        vertices, edges, unexplored = float(frontier.sum()), float(frontier @ degree), float(left @ degree)
        ends = max(0.0, edges - (vertices if levels else 0.0))  # one edge of each leads back to its parent
        missing = 1 - ends / max(ends + unexplored, 1e-9)  # of an edge: that its end is not in the frontier
        stays = np.power(missing, degree)
        undecided = np.power(missing, np.minimum(degree, open_to)) * (degree > heads)
        found = left * (1 - stays)
        levels.append(
            Level(
                vertices,
                edges,
                float(frontier @ lines_of),
                float(left.sum()),
                unexplored,
                float(found.sum()),
                float(left @ undecided),
            )
        )
        frontier, left = found, left * stays
    return levels


def thin(degrees: Degrees, id_bytes: int, count: int) -> list[Level]:
    """Return ``count`` levels that are all alike: those of a graph that is deep."""
    vertices, edges = degrees.busy / count, degrees.edges / count
    lines = edges * id_bytes / 128 + vertices
    found = [degrees.busy * (1 - level / count) for level in range(count)]
    per = degrees.edges / max(1.0, degrees.busy)
    return [Level(vertices, edges, lines, rest, rest * per, vertices, rest) for rest in found]
