"""Order by descending degree: the rows that a traversal touches most lie together at the front."""

from __future__ import annotations

import numpy as np

from bigbfs.graph.adjacency import id_dtype
from bigbfs.jit.njit import njit
from bigbfs.jit.workers import Workers, cursors, ranges

CLASSES = 1 << 16
"""Degrees that are told apart by counting; the few vertices of more are sorted."""


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


def degree_order_by(workers: Workers, threads: int, degree: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return what :func:`degree_order` does, of degrees (int64), by all threads; it takes no more than the result."""
    n = len(degree)
    order, rank = np.empty(n, id_dtype(n)), np.empty(n, id_dtype(n))
    parts = ranges(n, threads)
    counts = np.zeros((len(parts), CLASSES), np.int64)
    workers.each(len(parts), lambda i: _count_classes(degree, *parts[i], counts[i]))
    places, starts = cursors(counts)
    workers.each(len(parts), lambda i: _place_classes(degree, *parts[i], places[i], order, rank))
    large = order[: starts[1]]
    large[:] = large[np.argsort(-degree[large], kind="stable")]
    rank[large] = np.arange(len(large), dtype=rank.dtype)
    return order, rank


@njit(cache=True, nogil=True)
def _count_classes(degree, first, last, counts):
    """Count the vertices of each class: the largest degrees together, then one after another, descending."""
    for vertex in range(first, last):
        counts[CLASSES - 1 - min(degree[vertex], CLASSES - 1)] += 1


@njit(cache=True, nogil=True)
def _place_classes(degree, first, last, places, order, rank):
    """Give each vertex the next place of its class."""
    for vertex in range(first, last):
        which = CLASSES - 1 - min(degree[vertex], CLASSES - 1)
        place = places[which]
        places[which] = place + 1
        order[place] = vertex
        rank[vertex] = place
