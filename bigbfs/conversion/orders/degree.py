"""Order by descending degree: the rows that a traversal touches most lie together at the front."""

from __future__ import annotations

import numpy as np

from bigbfs.graph.adjacency import id_dtype


def degree_order(indptr: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (order, rank): vertices by descending degree, ties by number, and the inverse permutation."""
    return order_of(np.diff(indptr))


def order_of(degree: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Do what :func:`degree_order` does, given the degrees (int64); beside the result it takes two numbers a vertex."""
    n = len(degree)
    ids = id_dtype(n)
    most = int(degree.max(initial=0))
    if n < 2**32 and most < 2**32:
        # one sort of plain integers, which NumPy vectorises, instead of an indirect stable sort
        keys = degree.astype(np.uint64)
        np.subtract(np.uint64(most), keys, out=keys)
        keys <<= np.uint64(32)
        keys |= np.arange(n, dtype=np.uint64)
        keys.sort()
        keys &= np.uint64(0xFFFFFFFF)
        order = keys.astype(ids)
    else:
        order = np.argsort(-degree, kind="stable").astype(ids)
    rank = np.empty(n, ids)
    rank[order] = np.arange(n, dtype=ids)
    return order, rank
