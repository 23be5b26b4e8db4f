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

MOST_PAIRS = 1024
"""Pairs that are named at most."""

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


def partners_of(levels: np.ndarray, ones: np.ndarray, longest: int) -> tuple[np.ndarray, np.ndarray]:
    """Return for how many other vertices each of ``ones`` may be farther away than ``longest``, and some such pairs.

    ``levels``, int64 (sources, k): distances of the k vertices from some sources, ``FAR`` and more as ``FAR``;
    ``ones``: int64, indices of vertices, ascending. Counts are int64; pairs, int64 (p, 2), are of indices, each named
    once, the first ``MOST_PAIRS`` of them.
    """
    counts = np.zeros(len(ones), np.int64)
    among = np.zeros(levels.shape[1], np.bool_)
    among[ones] = True
    pairs = np.empty((MOST_PAIRS, 2), np.int64)
    total = _partners(np.ascontiguousarray(levels.T), ones, among, np.int64(longest), counts, pairs)
    return counts, pairs[:total]


@njit(cache=True, nogil=True)
def _partners(levels, ones, among, longest, counts, pairs):
    sources, total = levels.shape[1], 0
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
            if not near and total < len(pairs) and not (among[y] and y < x):
                pairs[total, 0], pairs[total, 1] = x, y
                total += 1
        counts[i] = count
    return total
