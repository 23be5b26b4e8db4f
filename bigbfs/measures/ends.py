"""The farthest vertices of many sources, from their levels: of several the one of the smallest original id.

Which of them a search meets first depends on threads, on how many sources share a batch, and on the order in which
vertices are stored.
"""

from __future__ import annotations

import numpy as np

from bigbfs.graph.graph import Graph

_ITEMS = 1 << 18
"""Levels that are looked at together."""


def farthest(graph: Graph, levels: np.ndarray) -> np.ndarray:
    """Return the original id (int64, (S,)) of the farthest vertex of each source; ``levels``: integers, (n, S)."""
    n, count = levels.shape
    deepest = levels.max(axis=0)
    found = np.full(count, np.iinfo(np.int64).max)
    step = max(1, _ITEMS // max(1, count))
    for first in range(0, n, step):
        vertices, sources = np.divmod(np.flatnonzero(levels[first : first + step] == deepest), count)
        np.minimum.at(found, sources, np.asarray(graph.original(first + vertices)))
    return found
