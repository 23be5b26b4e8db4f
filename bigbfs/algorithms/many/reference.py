"""Many searches as the definition has it: one after the other.

In: a graph and its sources. Out: ``levels`` int32 (sources, n), -1 where unreached.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bigbfs.algorithms.plain_rows import plain_rows
from bigbfs.graph.graph import Graph
from bigbfs.jit.njit import njit


def many(graph: Graph, sources: Sequence[int] | np.ndarray, *, max_depth: int | None = None) -> np.ndarray:
    """Return the levels of a search from each of ``sources`` (internal vertices)."""
    found = np.full((len(sources), graph.n), -1, np.int32)
    indptr, indices = plain_rows(graph)
    for row, source in zip(found, sources, strict=True):
        _search(indptr, indices, int(source), graph.n if max_depth is None else max_depth, row)
    return found


@njit(cache=True)
def _search(indptr, indices, source, max_depth, levels):
    queue = np.empty(levels.size, np.int64)
    queue[0] = source
    levels[source] = 0
    head, tail = 0, 1
    while head < tail:
        vertex = queue[head]
        head += 1
        if levels[vertex] == max_depth:
            break
        for neighbour in indices[indptr[vertex] : indptr[vertex + 1]]:
            if levels[neighbour] < 0:
                levels[neighbour] = levels[vertex] + 1
                queue[tail] = neighbour
                tail += 1
