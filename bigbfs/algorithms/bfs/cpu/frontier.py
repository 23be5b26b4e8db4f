"""What is known of a search between two of its levels, and at its end."""

from __future__ import annotations

from dataclasses import dataclass

from bigbfs.algorithms.bfs.level_records import LevelRecords


@dataclass(slots=True)
class Step:
    """Levels that ran as one step.

    ``level`` is the first one expanded, of ``vertices`` vertices, ``count`` how many were; those after the first were
    ``queue[first:last]``, and ``edges`` are in the rows of those of the first.
    """

    level: int
    count: int
    direction: str
    vertices: int
    first: int
    last: int
    seconds: float
    edges: int


@dataclass(slots=True)
class Frontier:
    """What is known between two levels; vertices and edges are exact for symmetric graphs, estimates for others.

    Attributes
    ----------
    depth
        Level of the frontier's vertices.
    first, last, hubs
        Window of the queue and number of hubs; meaningless while ``in_bitmap``.
    vertices, edges
        Vertices in the frontier and edges in their rows.
    unvisited, unexplored
        Vertices not visited and edges in their rows.
    in_bitmap
        The frontier is the difference of the two bitmaps, not the queue.
    reach
        Vertices found for each edge of the last level, where that went top-down; 1: nobody knows.
    """

    depth: int
    first: int
    last: int
    hubs: int
    vertices: int
    edges: int
    unvisited: int
    unexplored: int
    in_bitmap: bool = False
    reach: float = 1.0


@dataclass(frozen=True, slots=True)
class Measured:
    """What a search measured.

    ``depth`` of the farthest vertex, edges ``unexplored`` (exact for symmetric graphs), ``faults``: ids met that are no
    vertices, ``seconds``, and a record for each level expanded, where these are wanted.
    """

    depth: int
    unexplored: int
    faults: int
    seconds: float
    levels: LevelRecords
