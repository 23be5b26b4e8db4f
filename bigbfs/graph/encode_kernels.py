"""The Numba kernel that encodes a stretch of rows in one pass: it checks the ids, and writes their bytes as it goes.

:mod:`bigbfs.graph.varint_kernels` measures and then writes where the bytes belong; here they go to a buffer, so that
nothing has to be known beforehand, and a varint is one store of 8 bytes, of which the next one overwrites the rest.
"""

from __future__ import annotations

import numpy as np

from bigbfs.graph.adjacency import BLOCK_IDS
from bigbfs.jit.bits import leading_zeros, store_word
from bigbfs.jit.njit import njit

SLACK = 16
"""Bytes of the buffer, at least, behind the last varint."""

WIDEST = np.uint64(1 << 56)
_BITS = range(65)
_SIZES = np.array([max(1, -(-bits // 7)) for bits in _BITS][::-1], np.int64)
"""Bytes of a varint by the leading zeros of its value."""
_MARKS = np.array([0x80808080808080 >> 8 * max(0, 8 - size) for size in _SIZES], np.uint64)
"""The top bits of all its bytes but the last, where it has up to 8 of them."""


@njit(cache=True, inline="always")
def _spread(value):
    """Return ``value`` (uint64 below 2**56) with every group of seven bits in a byte of its own."""
    word = (value & np.uint64(0x000000000FFFFFFF)) | ((value & np.uint64(0x00FFFFFFF0000000)) << np.uint64(4))
    word = (word & np.uint64(0x00003FFF00003FFF)) | ((word & np.uint64(0x0FFFC0000FFFC000)) << np.uint64(2))
    return (word & np.uint64(0x007F007F007F007F)) | ((word & np.uint64(0x3F803F803F803F80)) << np.uint64(1))


@njit(cache=True, nogil=True)
def put_long(value, buffer, position):
    """Write a varint of any length; return where the next one goes."""
    while value >= np.uint64(128):
        buffer[position] = np.uint8(value & np.uint64(127)) | np.uint8(128)
        position += np.int64(1)
        value >>= np.uint64(7)
    buffer[position] = np.uint8(value)
    return position + np.int64(1)


@njit(cache=True, inline="always")
def put_short(value, buffer, position):
    """Write a varint of a value below ``WIDEST``, and up to 8 bytes in all; return where the next one goes."""
    zeros = np.int64(leading_zeros(value))
    store_word(buffer, position, _spread(value) | _MARKS[zeros])
    return position + _SIZES[zeros]


@njit(cache=True, nogil=True)
def _put_ids(indices, start, stop, n, buffer, position):
    """Write ``indices[start:stop]`` as one block; return where the next one goes, -1 unless they ascend below ``n``."""
    before = np.uint64(0)
    descends = False
    for edge in range(start, stop):
        value = np.uint64(indices[edge])
        delta = value - before
        descends |= value < before
        before = value
        if indices.itemsize == 8 and delta >= WIDEST:
            position = put_long(delta, buffer, position)
        else:
            position = put_short(delta, buffer, position)
    return np.int64(-1) if descends or (start < stop and before >= n) else position


@njit(cache=True, nogil=True)
def put_rows(edge_ptr, indices, n, first, first_edge, last, last_edge, buffer, ends, degree, starts):
    """Encode the rows ``first`` to ``last - 1``; return bytes and hub blocks, or (-1, 0) where an id is wrong.

    Of the row ``first`` the edges from ``first_edge`` on, and of the row ``last`` those before ``last_edge`` too: only
    hubs are cut, between two blocks. ``ends`` (int64) gets the byte of ``buffer`` at which each row ends, ``degree``
    its ids, ``starts`` (int64) the byte at which each hub block begins. What takes no more than 5 bytes if it is right
    may take 10: ``buffer`` has room for so many for each edge.
    """
    position, blocks = np.int64(0), np.int64(0)
    start = first_edge
    for row in range(first, last + 1):
        stop = edge_ptr[row + 1] if row < last else last_edge
        if row == last and start == stop:
            break
        degree_here = edge_ptr[row + 1] - edge_ptr[row]
        if degree_here <= BLOCK_IDS:
            position = _put_ids(indices, start, stop, n, buffer, position)
            start = stop
        while start < stop and position >= 0:
            if start > edge_ptr[row] and indices[start] < indices[start - 1]:
                return np.int64(-1), np.int64(0)
            starts[blocks] = position
            blocks += np.int64(1)
            position = _put_ids(indices, start, min(start + BLOCK_IDS, stop), n, buffer, position)
            start = min(start + BLOCK_IDS, stop)
        if position < 0:
            return np.int64(-1), np.int64(0)
        if row < last:
            ends[row - first] = position
            degree[row - first] = degree_here
    return position, blocks
