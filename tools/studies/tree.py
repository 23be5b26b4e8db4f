"""A search's vertices by level, and what its frontiers are logically: counted on the CPU, exact whatever the device.

A level's *vertex frontier* is its vertices, its *edge frontier* the edges that begin there; of their ends, some are
reached already, some are found by several edges, and what is left is the next level (report 004, figure 3).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bigbfs.algorithms.bfs.reference import bfs
from bigbfs.algorithms.plain_rows import plain_rows
from bigbfs.graph.graph import Graph
from bigbfs.jit.njit import njit


@dataclass(frozen=True, slots=True)
class Tree:
    """A search.

    Attributes
    ----------
    source
        Its vertex.
    levels
        int32, shape (n,), -1 where unreached.
    order
        int64: the vertices reached, by level and in a level ascending.
    begins
        int64, shape (depth + 2,): where each level begins in ``order``.
    edges
        Edges of all that are reached.
    """

    source: int
    levels: np.ndarray
    order: np.ndarray
    begins: np.ndarray
    edges: int

    @property
    def sizes(self) -> np.ndarray:
        """Vertices of each level."""
        return np.diff(self.begins)

    @property
    def reached(self) -> int:
        """Vertices reached."""
        return len(self.order)


def tree_of(graph: Graph, source: int) -> Tree:
    """Return the search of ``graph``, whose rows are plain, from ``source``."""
    levels = bfs(graph, source)[0]
    sizes = np.bincount(levels[levels >= 0])
    begins = np.concatenate(([0], np.cumsum(sizes)))
    order = np.argsort(levels, kind="stable")[len(levels) - int(begins[-1]) :]
    edges = int(graph.degrees().sum(where=levels >= 0, dtype=np.int64))
    return Tree(source, levels, order, begins, edges)


def frontiers(graph: Graph, tree: Tree) -> dict[str, list[int]]:
    """Return the logical frontiers of each level, by column.

    ``vertices``; ``edges`` that begin there; ``ends``: theirs, each once; ``unreached``: edges whose end no earlier
    level holds, nor this one; ``new``: such ends, each once, which are the next level.
    """
    found = _frontiers(*plain_rows(graph), tree.levels, tree.order, tree.begins)
    return {"vertices": tree.sizes.tolist()} | {name: found[:, i].tolist() for i, name in enumerate(COLUMNS[:-1])}


def sums(graph: Graph, tree: Tree) -> dict[str, np.ndarray]:
    """Return what kernels that read each level's rows must have counted: int64, one per level: ``edges``,
    ``unreached`` (of them), ``sum`` of the ids read."""
    found = _frontiers(*plain_rows(graph), tree.levels, tree.order, tree.begins)
    return {name: found[:, COLUMNS.index(name)] for name in ("edges", "unreached", "sum")}


COLUMNS = ("edges", "ends", "unreached", "new", "sum")


@njit(cache=True)
def _frontiers(indptr, indices, levels, order, begins):
    """Return ``COLUMNS`` of each level: int64, shape (levels, 5)."""
    counts = np.zeros((begins.size - 1, 5), np.int64)
    seen = np.full(levels.size, -1, np.int32)
    for level in range(begins.size - 1):
        for place in range(begins[level], begins[level + 1]):
            vertex = order[place]
            counts[level, 0] += indptr[vertex + 1] - indptr[vertex]
            for end in indices[indptr[vertex] : indptr[vertex + 1]]:
                fresh = seen[end] != level
                seen[end] = level
                counts[level, 1] += fresh
                counts[level, 4] += np.int64(end)
                if levels[end] > level:
                    counts[level, 2] += 1
                    counts[level, 3] += fresh
    return counts
