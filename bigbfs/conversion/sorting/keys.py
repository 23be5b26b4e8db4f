"""Keys of lines and of pairs: count those of each bucket, then write them there.

*Lines* are two id arrays, an edge ``src[i] -> dst[i]`` each; *pairs* (row, value) are neighbouring items of one flat
array. Ids are uint32 or uint64. Counts and cursors are int64, one for each bucket. Kernels are serial over a range,
release the GIL and may run side by side. Keys and buckets: :mod:`bigbfs.conversion.sorting.buckets`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bigbfs.conversion.sorting.buckets import edge_number
from bigbfs.jit.njit import njit

_ONE = np.uint64(1)


class Loops(NamedTuple):
    """Which pairs are self-loops: ``row - low + first == value``; ``keep`` them?  A state tuple."""

    first: np.uint64
    keep: bool


@njit(forceinline=True)
def _ends(u, v, undirected):
    """Return (row, value, backward) of the line u -> v: the larger id is the row where direction is dropped.

    Without a branch on u < v, which nobody can foresee: it takes half of the time.
    """
    if undirected:
        return np.uint64(max(u, v)), np.uint64(min(u, v)), np.uint64(u < v)
    return np.uint64(u), np.uint64(v), np.uint64(0)


@njit(forceinline=True)
def _key(edge, backward, shift):
    return ((edge & ((_ONE << shift) - _ONE)) << _ONE) | backward


@njit(cache=True, nogil=True)
def count_lines(src, dst, first, last, undirected, keep_loops, layout, counts):
    """Add the lines of each bucket to ``counts``; return how many lines are self-loops."""
    loops = 0
    rows = layout.shift - layout.value_bits  # a bucket holds whole rows: the value does not matter
    for i in range(first, last):
        u, v = src[i], dst[i]
        if u == v:
            loops += 1
            if not keep_loops:
                continue
        row, _, _ = _ends(u, v, undirected)
        counts[(row - layout.low) >> rows] += 1
    return loops


@njit(cache=True, nogil=True)
def scatter_lines(src, dst, first, last, undirected, keep_loops, layout, cursor, keys):
    """Write the key of every line to its bucket; ``cursor`` holds the next free place of each bucket."""
    for i in range(first, last):
        u, v = src[i], dst[i]
        if u == v and not keep_loops:
            continue
        row, value, backward = _ends(u, v, undirected)
        edge = edge_number(row, value, layout)
        bucket = edge >> layout.shift
        place = cursor[bucket]
        cursor[bucket] = place + 1
        keys[place] = _key(edge, backward, layout.shift)


@njit(cache=True, nogil=True)
def count_pairs(pairs, first, last, loops, layout, counts):
    """Add the pairs of each bucket to ``counts``, self-loops only where they are kept."""
    for i in range(first, last):
        row, value = np.uint64(pairs[2 * i]), np.uint64(pairs[2 * i + 1])
        if not loops.keep and row - layout.low + loops.first == value:
            continue
        counts[edge_number(row, value, layout) >> layout.shift] += 1


@njit(cache=True, nogil=True)
def scatter_pairs(pairs, first, last, loops, backward, layout, cursor, keys):
    """Write the key of every pair to its bucket; ``backward``: its line ran against the direction of the row."""
    direction = np.uint64(backward)
    for i in range(first, last):
        row, value = np.uint64(pairs[2 * i]), np.uint64(pairs[2 * i + 1])
        if not loops.keep and row - layout.low + loops.first == value:
            continue
        edge = edge_number(row, value, layout)
        bucket = edge >> layout.shift
        place = cursor[bucket]
        cursor[bucket] = place + 1
        keys[place] = _key(edge, direction, layout.shift)
