"""Many searches as the definition has it: one after the other.

In: a graph and its sources. Out: ``levels`` int32 (sources, n), -1 where unreached.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bigbfs.algorithms.plain_rows import plain_rows
from bigbfs.algorithms.serial import search
from bigbfs.graph.graph import Graph


def many(graph: Graph, sources: Sequence[int] | np.ndarray, *, max_depth: int | None = None) -> np.ndarray:
    """Return the levels of a search from each of ``sources`` (internal vertices)."""
    found = np.full((len(sources), graph.n), -1, np.int32)
    indptr, indices = plain_rows(graph)
    for row, source in zip(found, sources, strict=True):
        row[:] = search(indptr, indices, int(source), graph.n if max_depth is None else min(max_depth, graph.n))[0]
    return found
