"""Numba kernels behind :mod:`bigbfs.graph.rows`.

Offsets come as read-only int64, ids as read-only uint32 or uint64; ``bounds`` (int64) cuts the rows into runs, one
for each iteration of the parallel loop.
"""

from __future__ import annotations

import numpy as np
from numba import prange

from bigbfs.jit.njit import njit


@njit(cache=True, parallel=True, nogil=True)
def scan(indptr, indices, n, bounds, found):
    """For each run of rows: first index not below ``n``, first row that descends (-1: none), duplicates, loops."""
    for part in prange(len(bounds) - 1):
        bad, unsorted = np.int64(-1), np.int64(-1)
        duplicates, loops = np.int64(0), np.int64(0)
        for row in range(bounds[part], bounds[part + 1]):
            own = np.uint64(row)
            before = np.uint64(0)
            descends = False
            start = indptr[row]
            for edge in range(start, indptr[row + 1]):
                value = np.uint64(indices[edge])
                if value >= n and bad < 0:
                    bad = edge
                if value == own:
                    loops += 1
                if edge > start:
                    descends |= value < before
                    if value == before:
                        duplicates += 1
                before = value
            if descends and unsorted < 0:
                unsorted = np.int64(row)
        found[part, 0] = bad
        found[part, 1] = unsorted
        found[part, 2] = duplicates
        found[part, 3] = loops


@njit(cache=True, parallel=True, nogil=True)
def sort_rows(indptr, indices, bounds, longest):
    """Sort every row of at most ``longest`` ids in place."""
    for part in prange(len(bounds) - 1):
        for row in range(bounds[part], bounds[part + 1]):
            start, stop = indptr[row], indptr[row + 1]
            if stop - start <= longest:
                indices[start:stop].sort()


@njit(inline="always")
def _mix(word):
    """Return a bijective scramble of 64 bits (the finalizer of splitmix64)."""
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))


@njit(cache=True, parallel=True, nogil=True)
def fingerprint(indptr, indices, bounds, key, sums):
    """For each run of rows: the sum of hash(u, v) - hash(v, u) over its edges, modulo 2**64."""
    for part in prange(len(bounds) - 1):
        total = np.uint64(0)
        for row in range(bounds[part], bounds[part + 1]):
            u = np.uint64(row)
            first = _mix(u + key[0])
            for edge in range(indptr[row], indptr[row + 1]):
                v = np.uint64(indices[edge])
                total += _mix(first ^ (v + key[1])) - _mix(_mix(v + key[0]) ^ (u + key[1]))
        sums[part] = total


@njit(cache=True, nogil=True)
def first_unmatched(indptr, indices, cursor):
    """Return the first edge (u, v) whose twin is not next in row v, or (-1, -1); ``cursor`` is zero, int64[n]."""
    for u in range(len(indptr) - 1):
        for edge in range(indptr[u], indptr[u + 1]):
            v = np.int64(indices[edge])
            place = indptr[v] + cursor[v]
            if place >= indptr[v + 1]:
                return np.int64(u), v
            twin = np.int64(indices[place])
            if twin < u:  # row v holds an edge to twin that row twin does not answer
                return v, twin
            if twin > u:
                return np.int64(u), v
            cursor[v] += 1
    return np.int64(-1), np.int64(-1)
