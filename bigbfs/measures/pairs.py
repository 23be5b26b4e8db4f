"""Pairs of vertices that may be farther apart than the longest distance known, once few vertices are open.

Two vertices are no farther apart than their distances from a third add up to. Which of the open vertices need not be
looked at: those with a neighbour that hangs on them alone (that one is farther from everything else), and all leaves of
one neighbour but one (they have the same eccentricity).
"""

from __future__ import annotations

import numpy as np

from bigbfs.algorithms.sweeps.options import FAR
from bigbfs.engines.cpu.bits import ONE, ZERO
from bigbfs.engines.cpu.rows import Rows, degree, row_count, seek, step
from bigbfs.jit.njit import njit

NO_LEAF = -1
PASSED = -2
"""What :func:`roots_of` says of a vertex with several neighbours, and of one that a leaf hangs on."""

_LOOK = np.uint64(64)
_FAR = np.int64(FAR)


def roots_of(rows: Rows, ids: np.ndarray) -> np.ndarray:
    """Return the neighbour of each of the vertices ``ids`` that is a leaf, else ``NO_LEAF`` or ``PASSED``; int64.

    Of a long row the first neighbours alone are looked at.
    """
    roots = np.empty(len(ids), np.int64)
    _roots(rows, np.uint64(row_count(rows)), ids, roots)
    return roots


@njit(cache=True, nogil=True)
def _roots(rows, n, ids, roots):
    for i in range(ids.size):
        u = np.uint64(ids[i])
        count = degree(rows, u)
        roots[i] = NO_LEAF
        position, v = seek(rows, u, ZERO), ZERO
        for k in range(min(count, _LOOK)):
            v, position = step(rows, position, k, v)
            if v >= n:
                continue
            if count == ONE:
                roots[i] = v
            elif v != u and degree(rows, v) == ONE:
                roots[i] = PASSED
                break


def partners_of(levels: np.ndarray, ones: np.ndarray, longest: int) -> np.ndarray:
    """Return for how many other vertices each of ``ones`` may be farther away than ``longest``, int64.

    ``levels``, int64 (sources, k): distances of the k vertices from some sources, ``FAR`` and more as ``FAR``;
    ``ones``: int64, indices of vertices.
    """
    counts = np.zeros(len(ones), np.int64)
    _partners(np.ascontiguousarray(levels.T), ones, np.int64(longest), counts)
    return counts


@njit(cache=True, nogil=True)
def _partners(levels, ones, longest, counts):
    sources = levels.shape[1]
    for i in range(ones.size):
        x = ones[i]
        count = 0
        for y in range(levels.shape[0]):
            near = y == x
            for s in range(sources):
                a, b = levels[x, s], levels[y, s]
                near |= a + b <= longest and a < _FAR and b < _FAR
                if near:
                    break
            count += not near
        counts[i] = count
