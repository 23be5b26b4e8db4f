"""Numba kernels behind :mod:`bigbfs.graph.rows`.

Offsets come as read-only int64, ids as read-only uint32 or uint64; ``bounds`` (int64) cuts the rows into runs, one
which threads take one after the other.
"""

from __future__ import annotations

import numpy as np

from bigbfs.jit.atomics import fetch_add
from bigbfs.jit.njit import njit
from bigbfs.jit.team import member, share

_ONE = np.uint64(1)
_PIECE = np.uint64(4096)
"""Rows and edges that take about 10 us."""
_STRETCH = 1 << 12


@njit
def _pieces(indptr, indices):
    """Return the work of a pass over rows and edges, for :func:`bigbfs.jit.team.share`."""
    return np.uint64(len(indptr) + len(indices)) // _PIECE + _ONE


@njit(cache=True, nogil=True)
def scan(team, indptr, indices, n, bounds, found):
    """For each run of rows: first index not below ``n``, first row that descends (-1: none), duplicates, loops."""
    claim = np.zeros(1, np.uint64)
    share(team, _pieces(indptr, indices), _scan, (indptr, indices, n, bounds, found, claim))


@member
def _scan(indptr, indices, n, bounds, found, claim, t):
    """Take runs for :func:`scan` until there are no more."""
    while True:
        part = np.int64(fetch_add(claim, 0, _ONE))
        if part >= len(bounds) - 1:
            break
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


@njit(cache=True, nogil=True)
def survey(team, indptr, indices, bounds, found):
    """For each run of rows: the largest id, and how many places there are inside rows where ids descend.

    What :func:`scan` sees of sound rows, some times as fast: two passes without a branch over the ids, which processors
    take many at a time, and one over the offsets, which takes away the descents from the end of a row to the next.
    """
    claim = np.zeros(1, np.uint64)
    share(team, _pieces(indptr, indices), _survey, (indptr, indices, bounds, found, claim))


@member
def _survey(indptr, indices, bounds, found, claim, t):
    """Take runs for :func:`survey` until there are no more."""
    while True:
        part = np.int64(fetch_add(claim, 0, _ONE))
        if part >= len(bounds) - 1:
            break
        first, last = indptr[bounds[part]], indptr[bounds[part + 1]]
        largest, descents = np.uint64(0), np.int64(0)
        for at in range(first, last, _STRETCH):  # so that its ids are still in cache for the second pass
            own = indices[at : min(at + _STRETCH, last)]
            largest = max(largest, np.uint64(_largest(own)))
            descents += _descents(own)
            if at > first and own[0] < indices[at - 1]:
                descents += 1
        for row in range(bounds[part], bounds[part + 1]):
            start = indptr[row]
            if first < start < indptr[row + 1] and indices[start] < indices[start - 1]:
                descents -= 1
        found[part, 0] = largest
        found[part, 1] = np.uint64(descents)


@njit
def _largest(ids):
    largest = ids[0]
    for i in range(len(ids)):
        largest = max(largest, ids[i])
    return largest


@njit
def _descents(ids):
    count = np.uint32(0)
    for i in range(1, len(ids)):
        count += np.uint32(ids[i] < ids[i - 1])
    return np.int64(count)


@njit(cache=True, nogil=True)
def sort_rows(team, indptr, indices, bounds, longest):
    """Sort every row of at most ``longest`` ids in place."""
    claim = np.zeros(1, np.uint64)
    share(team, _pieces(indptr, indices), _sort_rows, (indptr, indices, bounds, longest, claim))


@member(allocates=True)
def _sort_rows(indptr, indices, bounds, longest, claim, t):
    """Take runs for :func:`sort_rows` until there are no more."""
    while True:
        part = np.int64(fetch_add(claim, 0, _ONE))
        if part >= len(bounds) - 1:
            break
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


@njit(cache=True, nogil=True)
def fingerprint(team, indptr, indices, bounds, key, sums):
    """For each run of rows: the sum of hash(u, v) - hash(v, u) over its edges, modulo 2**64."""
    claim = np.zeros(1, np.uint64)
    share(team, _pieces(indptr, indices), _fingerprint, (indptr, indices, bounds, key, sums, claim))


@member
def _fingerprint(indptr, indices, bounds, key, sums, claim, t):
    """Take runs for :func:`fingerprint` until there are no more."""
    while True:
        part = np.int64(fetch_add(claim, 0, _ONE))
        if part >= len(bounds) - 1:
            break
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
