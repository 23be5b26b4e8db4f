"""Breadth-first search as the textbook has it: one queue, one thread.

In: a graph and a source. Out: ``levels`` int32 (n,), -1 where unreached, and ``parents`` int64 (n,), -1 where there
is none (the source and the unreached).
"""

from __future__ import annotations

import numpy as np

from bigbfs.algorithms.plain_rows import plain_rows
from bigbfs.algorithms.serial import search
from bigbfs.errors import UsageError
from bigbfs.graph.graph import Graph


def bfs(graph: Graph, source: int, *, max_depth: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return the levels and the parents of a BFS of ``graph`` from the vertex ``source`` (internal id).

    Parameters
    ----------
    max_depth
        Reach no vertex beyond this level; None reaches all that can be reached.

    Raises
    ------
    UsageError
        ``source`` is no vertex, or ``max_depth`` is negative.
    """
    if not 0 <= source < graph.n:
        raise UsageError(f"no vertex {source}: the graph has {graph.n}, numbered from 0")
    if max_depth is not None and max_depth < 0:
        raise UsageError(f"max_depth is {max_depth}: it must be 0 or more")
    indptr, indices = plain_rows(graph)
    levels, parents = search(indptr, indices, int(source), graph.n if max_depth is None else min(max_depth, graph.n))
    return levels, parents
