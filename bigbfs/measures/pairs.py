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

MOST_PAIRS = 1024
"""Pairs that are named at most."""

_NO_LEAF, _PASSED = np.int64(-1), np.int64(-2)
"""What is said of a vertex with several neighbours, and of one that a leaf hangs on."""

_LOOK = np.uint64(64)
_LOW, _SPREAD, _HIGH = np.uint64(2**32 - 1), np.uint64(0x9E3779B1), np.uint64(12)
"""A product of 32 bits by 32: Python, too, keeps it in 64."""
_FAR = np.int64(FAR)


def wanted_of(rows: Rows, ids: np.ndarray, source: int, bare: set[int]) -> np.ndarray:
    """Return which of the vertices ``ids``, int64, no other stands for, bool.

    ``bare``: neighbours of leaves that have been searched from; that of ``source`` is added where it is a leaf. Of a
    long row the first neighbours alone are looked at.
    """
    wanted, known = np.empty(len(ids), np.bool_), np.array([*bare, -1], np.int64)
    root = wanted_among(rows, np.uint64(row_count(rows)), ids, np.int64(source), known, wanted)
    if root >= 0:
        bare.add(int(root))
    return wanted


@njit(cache=True, nogil=True)
def wanted_among(rows, n, ids, source, bare, wanted):
    """Fill ``wanted`` and return the neighbour of the leaf ``source``, or that it is none."""
    size = 2
    while size < 2 * (ids.size + bare.size + 1):
        size *= 2
    table = np.full(size, -1, np.int64)  # of neighbours whose leaves are out
    root = root_of(rows, n, source)
    if root >= 0:
        _is_new(table, root)
    for each in bare:
        if each >= 0:
            _is_new(table, each)
    for i in range(ids.size):
        theirs = root_of(rows, n, ids[i])
        wanted[i] = theirs == _NO_LEAF or (theirs >= 0 and _is_new(table, theirs))
    return root


@njit
def _is_new(table, vertex):
    """Put ``vertex`` into a table, half empty, of as many places as a power of two; return whether it was not in."""
    place = np.int64(((np.uint64(vertex) & _LOW) * _SPREAD) >> _HIGH) & (table.size - 1)
    while table[place] >= 0:
        if table[place] == vertex:
            return False
        place = (place + 1) & (table.size - 1)
    table[place] = vertex
    return True


@njit
def root_of(rows, n, vertex):
    """Return the neighbour of a leaf, else whether a leaf hangs on the vertex."""
    u = np.uint64(vertex)
    count = degree(rows, u)
    position, v = seek(rows, u, ZERO), ZERO
    for k in range(min(count, _LOOK)):
        v, position = step(rows, position, k, v)
        if v >= n:
            continue
        if count == ONE:
            return np.int64(v)
        if v != u and degree(rows, v) == ONE:
            return _PASSED
    return _NO_LEAF


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
    total = partners(np.ascontiguousarray(levels.T), ones, among, np.int64(longest), counts, pairs)
    return counts, pairs[:total]


@njit(cache=True, nogil=True)
def partners(levels, ones, among, longest, counts, pairs):
    """Write both; return how many pairs. ``levels``: (k, sources); ``among``: who is one of ``ones``, bool (k,)."""
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
