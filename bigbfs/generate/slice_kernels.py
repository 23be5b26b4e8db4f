"""Edges sorted out by rows: counted by units of rows, and written as keys to the buckets of one slice.

Rows are told apart by *units*, runs of rows that a shift and a few bits of their number tell (:func:`unit_of`): all of
the same length, or, where the first rows are the long ones, growing with the number of the row. A bucket is a run of
units, a slice a run of buckets. Keys are those of :mod:`bigbfs.conversion.sorting.one_bucket`; they are collected in
cache, ``LINE`` for a bucket, and written a line at a time. Kernels are serial over a stretch of edges, release the GIL
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
ELSEWHERE = 2**16 - 1
"""The bucket of a unit that is in another slice."""
_ONE = np.uint64(1)
_WORD = np.uint64(64)


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
    cursor
        int64: where the next key of each bucket goes. A line of the cache begins there while whole ones are written.
    keys
        uint64.
    """

    units: Units
    table: np.ndarray
    lows: np.ndarray
    bits: np.uint64
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
def _put(row, value, backward, some, staged, held):
    """Put an edge to the keys that wait for their bucket, if it is in the slice; write them where they fill a line."""
    bucket = np.int64(some.table[unit_of(row, some.units)])
    if bucket == ELSEWHERE:
        return
    first, count = bucket * LINE, held[bucket]
    staged[first + count] = (((row - some.lows[bucket]) << some.bits) | value) << _ONE | backward
    if count + 1 < LINE:
        held[bucket] = count + 1
        return
    held[bucket] = 0
    place = fetch_add(some.cursor, bucket, np.int64(LINE))
    for i in range(LINE):
        some.keys[place + i] = staged[first + i]


@njit(cache=True, nogil=True)
def scatter_edges(src, dst, way, some, staged, held):
    """Write the keys of the edges of a slice, but for self-loops; some wait in ``staged``.

    Parameters
    ----------
    some
        :class:`Slice`.
    staged, held
        uint64 (``LINE`` times the buckets) and int64 (one for each): keys that wait, and how many.
    """
    zero = np.uint64(0)
    for i in range(len(src)):
        u, v = np.uint64(src[i]), np.uint64(dst[i])
        if u == v:
            continue
        if way == LARGER:
            _put(max(u, v), min(u, v), np.uint64(u < v), some, staged, held)
        else:
            if way != BACKWARD:
                _put(u, v, zero, some, staged, held)
            if way != FORWARD:
                _put(v, u, zero, some, staged, held)


@njit(cache=True, nogil=True)
def write_rest(some, staged, held):
    """Write the keys that still wait."""
    for bucket in range(len(held)):
        count = held[bucket]
        place = fetch_add(some.cursor, bucket, count)
        for i in range(count):
            some.keys[place + i] = staged[bucket * LINE + i]
        held[bucket] = 0


@njit(cache=True, nogil=True)
def rename(ids, numbers):
    """Put the number that each vertex gets in its place."""
    for i in range(len(ids)):
        ids[i] = numbers[ids[i]]
