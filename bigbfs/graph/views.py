"""Arrays as kernels take them, and rows cut into runs of about equal work. NumPy alone."""

from __future__ import annotations

import numpy as np


def row_chunks(indptr: np.ndarray, parts: int) -> np.ndarray:
    """Cut the rows into at most ``parts`` runs of about equal edges plus rows: int64, shape (parts + 1,)."""
    n = len(indptr) - 1
    m = int(indptr[-1]) - int(indptr[0])
    parts = max(1, min(parts, n))
    wanted = np.array([int(indptr[0]) + m * part // parts for part in range(1, parts)], dtype=indptr.dtype)
    by_edges = np.searchsorted(indptr, wanted).astype(np.int64)
    if m < n:  # mostly empty rows: they, not the edges, are the work
        by_edges = np.array([n * part // parts for part in range(1, parts)], np.int64)
    return np.concatenate([np.zeros(1, np.int64), np.minimum(by_edges, n), np.full(1, n, np.int64)])


def frozen(array: np.ndarray) -> np.ndarray:
    """Return a read-only view, so that kernels compile once for arrays in memory and mapped ones."""
    view = array.view()
    view.flags.writeable = False
    return view


def signed(offsets: np.ndarray) -> np.ndarray:
    """Return ``offsets`` (uint64, below 2**63) as a read-only int64 view."""
    return frozen(offsets).view(np.int64)
