"""Edges sorted out by rows: counted by units of rows, and written as keys to the buckets of one slice.

Rows are told apart by *units*, runs of rows that a shift and a few bits of their number tell (:func:`unit_of`): all of
the same length, or, where the first rows are the long ones, growing with the number of the row. A bucket is a run of
units, a slice a run of buckets. Keys are those of :mod:`bigbfs.conversion.sorting.one_bucket`; they are collected in
cache, ``LINE`` for a bucket, and written a line at a time, to ``CLAIM`` places that a thread claims for itself: what
all threads write to costs the more the oftener they do. Kernels are serial over a stretch of edges, release the GIL
and may run side by side.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bigbfs.jit.atomics import fetch_add
from bigbfs.jit.bits import leading_zeros
from bigbfs.jit.njit import njit

LARGER, FORWARD, BACKWARD, BOTH = 0, 1, 2, 3
"""Which row an edge is in: that of its larger end, of its source, of its target, of both ends."""
LINE = 8
"""Keys that are written at once: a line of the cache."""
CLAIM = 64
"""Places of a bucket that a thread claims at once; those that it has no use for get keys of no row."""
ELSEWHERE = 2**16 - 1
"""The bucket of a unit that is in another slice."""
_ONE = np.uint64(1)
_WORD = np.uint64(64)


class Staged(NamedTuple):
    """The keys of one thread that are not yet written; a state tuple.

    Attributes
    ----------
    keys
        uint64: ``LINE`` for each bucket.
    held
        int64: how many wait for each bucket.
    places
        int64: the next place claimed in each bucket; a multiple of ``CLAIM``: there is none.
    """

    keys: np.ndarray
    held: np.ndarray
    places: np.ndarray


class Units(NamedTuple):
    """How rows make units (uint64); a state tuple: see :func:`unit_of`."""

    down: np.uint64
    fine: np.uint64


class Slice(NamedTuple):
    """The buckets of a slice; a state tuple.

    Attributes
    ----------
    units
        How rows make units.
    table
        uint16: the bucket of each unit, or ``ELSEWHERE``.
    lows
        uint64: the first row of each bucket.
    bits
        Bits of a value.
    pads
        uint64: for each bucket the key of the row behind its last one.
    cursor
        int64: the first place of each bucket that nobody has claimed, a multiple of ``CLAIM``.
    keys
        uint64.
    """

    units: Units
    table: np.ndarray
    lows: np.ndarray
    bits: np.uint64
    pads: np.ndarray
    cursor: np.ndarray
    keys: np.ndarray


@njit(forceinline=True)
def unit_of(row, units):
    """Return the unit (uint64) of a row: up to ``fine`` bits as they are, more with only the highest of them kept."""
    row >>= units.down
    up = _WORD - leading_zeros(row >> units.fine)
    return (up << units.fine) + (row >> up)


@njit(cache=True, nogil=True)
def count_units(src, dst, way, units, counts):
    """Add the edges in rows of each unit, ``LARGER`` or ``FORWARD``, to ``counts``; return how many are self-loops."""
    loops = 0
    for i in range(len(src)):
        u, v = np.uint64(src[i]), np.uint64(dst[i])
        if u == v:
            loops += 1
        else:
            counts[unit_of(max(u, v) if way == LARGER else u, units)] += 1
    return loops


@njit(forceinline=True)
def _write(bucket, count, some, staged):
    """Write the first keys that wait for a bucket to the next places; there is a line of them."""
    place = staged.places[bucket]
    if place % CLAIM == 0:
        place = fetch_add(some.cursor, bucket, np.int64(CLAIM))
    for i in range(count):
        some.keys[place + i] = staged.keys[bucket * LINE + i]
    staged.held[bucket] = 0
    staged.places[bucket] = place + count


@njit(forceinline=True)
def _put(row, value, backward, some, staged):
    """Put an edge to the keys that wait for their bucket, if it is in the slice; write them where they fill a line."""
    bucket = np.int64(some.table[unit_of(row, some.units)])
    if bucket == ELSEWHERE:
        return
    count = staged.held[bucket]
    staged.keys[bucket * LINE + count] = (((row - some.lows[bucket]) << some.bits) | value) << _ONE | backward
    staged.held[bucket] = count + 1
    if count + 1 == LINE:
        _write(bucket, LINE, some, staged)


@njit(cache=True, nogil=True)
def scatter_edges(src, dst, way, some, staged):
    """Write the keys of the edges of a :class:`Slice`, but for self-loops; some wait, :class:`Staged`."""
    zero = np.uint64(0)
    for i in range(len(src)):
        u, v = np.uint64(src[i]), np.uint64(dst[i])
        if u == v:
            continue
        if way == LARGER:
            _put(max(u, v), min(u, v), np.uint64(u < v), some, staged)
        else:
            if way != BACKWARD:
                _put(u, v, zero, some, staged)
            if way != FORWARD:
                _put(v, u, zero, some, staged)


@njit(cache=True, nogil=True)
def write_rest(some, staged):
    """Write the keys that still wait, and pads to the places that are left of what was claimed."""
    for bucket in range(len(staged.held)):
        if staged.held[bucket]:
            _write(bucket, staged.held[bucket], some, staged)
        place = staged.places[bucket]
        while place % CLAIM:
            some.keys[place] = some.pads[bucket]
            place += 1
        staged.places[bucket] = 0


@njit(cache=True, nogil=True)
def rename(ids, numbers):
    """Put the number that each vertex gets in its place."""
    for i in range(len(ids)):
        ids[i] = numbers[ids[i]]
