"""How many edges each level of a BFS reads in either direction, counted from the levels of its tree.

Top-down a level reads the rows of its frontier. Bottom-up it reads the in-row of every vertex that is not reached yet,
as far as the first neighbour in the frontier, in the order in which the row is stored (an engine that looks at a
table of strongest neighbours first reads fewer). Source: Beamer et al., Direction-Optimizing BFS, SC'12.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bigbfs.algorithms.plain_rows import plain_rows
from bigbfs.graph.adjacency import PlainAdjacency
from bigbfs.graph.graph import Graph
from bigbfs.graph.rows import frozen, signed
from bigbfs.jit.njit import njit


@dataclass(frozen=True, slots=True)
class Directions:
    """Edges that each level reads top-down (``down``) and bottom-up (``up``; empty without in-neighbours)."""

    down: tuple[int, ...]
    up: tuple[int, ...]

    def read(self, direction: str) -> tuple[int, ...] | None:
        """Return the edges of levels that went as the letters of ``direction`` say; None where that is not known."""
        if len(direction) > len(self.down) or ("b" in direction and not self.up):
            return None
        return tuple(self.up[i] if way == "b" else self.down[i] for i, way in enumerate(direction))


def directions(graph: Graph, levels: np.ndarray) -> Directions:
    """Return the edges of every level in either direction.

    Parameters
    ----------
    graph
        Plain rows.
    levels
        int32, one per vertex, -1 where unreached.
    """
    reached = levels >= 0
    depth = int(levels.max(initial=-1))

    def by_level(counts: np.ndarray) -> np.ndarray:
        return np.bincount(levels[reached], weights=counts[reached], minlength=depth + 1).astype(np.int64)

    down = by_level(graph.degrees())
    incoming = graph.in_adjacency
    if not isinstance(incoming, PlainAdjacency):
        return Directions(tuple(down.tolist()), ())
    if incoming is graph.adjacency:
        indptr, indices = plain_rows(graph)
    else:
        indptr, indices = signed(incoming.indptr), frozen(incoming.indices)
    lengths = np.diff(indptr)
    rest = int(lengths.sum()) - np.cumsum(by_level(lengths))  # of what is not reached after each level
    hits = _hits(indptr, indices, frozen(levels), depth)
    up = [int(hits[level + 1] + rest[level + 1]) if level < depth else int(rest[level]) for level in range(depth + 1)]
    return Directions(tuple(down.tolist()), tuple(up))


@njit(cache=True)
def _hits(indptr, indices, levels, depth):
    """Return for each level the edges that its vertices read until they find a parent."""
    found = np.zeros(depth + 1, np.int64)
    for vertex in range(levels.size):
        level = levels[vertex]
        if level > 0:
            for edge in range(indptr[vertex], indptr[vertex + 1]):
                if levels[indices[edge]] == level - 1:
                    found[level] += edge - indptr[vertex] + 1
                    break
    return found
