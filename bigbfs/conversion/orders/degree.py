"""Order by descending degree: the rows that a traversal touches most lie together at the front."""

from __future__ import annotations

import numpy as np

from bigbfs.graph.adjacency import id_dtype


def degree_order(indptr: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (order, rank): vertices by descending degree, ties by number, and the inverse permutation."""
    n = len(indptr) - 1
    ids = id_dtype(n)
    degree = np.diff(indptr)
    most = int(degree.max(initial=0))
    if n < 2**32 and most < 2**32:
        # one sort of plain integers, which NumPy vectorises, instead of an indirect stable sort
        keys = (np.uint64(most) - degree.astype(np.uint64)) << np.uint64(32)
        keys |= np.arange(n, dtype=np.uint64)
        keys.sort()
        order = (keys & np.uint64(0xFFFFFFFF)).astype(ids)
    else:
        order = np.argsort(-degree, kind="stable").astype(ids)
    rank = np.empty(n, ids)
    rank[order] = np.arange(n, dtype=ids)
    return order, rank
