"""Numba kernels of the delta-varint codec, and the one function that reads a varint, for other kernels to import.

Offsets are read-only int64 (``indptr``, ``edge_ptr``, ``block_ptr``: views of the uint64 arrays), ids uint32 or
uint64, the blob uint8. ``bounds`` (int64) cuts the rows, ``block_bounds`` the hub blocks, into runs; threads take one
after the other, as they come.

A row of more than BLOCK_IDS ids is a hub. Its blocks are independent, so all kernels treat hub blocks as rows of their
own: first every row that is not a hub, then every block of every hub.
"""

from __future__ import annotations

import numpy as np

from bigbfs.graph.adjacency import BLOCK_IDS
from bigbfs.graph.encode_kernels import WIDEST, put_long, put_short
from bigbfs.jit.atomics import fetch_add
from bigbfs.jit.bits import load_word, trailing_zeros
from bigbfs.jit.njit import njit
from bigbfs.jit.team import member, share

_STOPS = np.uint64(0x8080808080808080)
_HALF = np.uint64(32)
_LOW_HALF = np.uint64(0xFFFFFFFF)
_TOO_LARGE = np.uint64(1 << 53)
_NO_ID = np.uint64(2**64 - 1)
_ONE = np.uint64(1)
_PIECE = np.uint64(4096)
"""Edges, or bytes, that take about 10 us."""
_SEVENS = np.uint64(0x7F7F7F7F7F7F7F7F)


@njit(cache=True, nogil=True, inline="always")
def read_varint(blob, position):
    """Return the varint at ``blob[position]`` (uint64) and the position after it; ``position`` must be int64.

    Never reads more than 10 bytes, whatever they are.
    """
    byte = np.uint64(blob[position])
    position += np.int64(1)
    value = byte & np.uint64(127)
    shift = np.uint64(7)
    while byte >= np.uint64(128) and shift < np.uint64(64):
        byte = np.uint64(blob[position])
        position += np.int64(1)
        value |= (byte & np.uint64(127)) << shift
        shift += np.uint64(7)
    return value, position


@njit(cache=True, nogil=True)
def read_varint_before(blob, position, end):
    """Do what :func:`read_varint` does, but read no byte at or after ``end``, nor more than 10.

    The position returned is past ``end`` where the varint does not stop in time.
    """
    value = np.uint64(0)
    shift = np.uint64(0)
    while position < end and shift < np.uint64(70):
        byte = np.uint64(blob[position])
        position += np.int64(1)
        value |= (byte & np.uint64(127)) << min(shift, np.uint64(63))
        shift += np.uint64(7)
        if byte < np.uint64(128):
            return value, position
    return value, end + np.int64(1)


@njit(cache=True, nogil=True, inline="always")
def read_varint_wide(blob, position):
    """Do what :func:`read_varint` does, without a branch for each byte, where 8 bytes can be read.

    The lowest clear top bit ends the varint; three shift-and-or steps close the gaps between its groups of seven bits.
    A varint of more than 8 bytes takes the plain way.
    """
    word = load_word(blob, position)
    stops = ~word & _STOPS
    if stops == np.uint64(0):
        return read_varint_before(blob, position, np.int64(len(blob)))
    lowest = stops & (~stops + np.uint64(1))
    word &= (lowest - np.uint64(1)) & _SEVENS
    word = (word & np.uint64(0x007F007F007F007F)) | ((word & np.uint64(0x7F007F007F007F00)) >> np.uint64(1))
    word = (word & np.uint64(0x00003FFF00003FFF)) | ((word & np.uint64(0x3FFF00003FFF0000)) >> np.uint64(2))
    word = (word & np.uint64(0x000000000FFFFFFF)) | ((word & np.uint64(0x0FFFFFFF00000000)) >> np.uint64(4))
    return word, position + np.int64((trailing_zeros(stops) + np.uint64(1)) >> np.uint64(3))


@njit(cache=True, inline="always")
def _varint_size(value):
    """Return the bytes of ``value`` (uint64) as a varint."""
    size = np.int64(1)
    while value >= np.uint64(128):
        value >>= np.uint64(7)
        size += np.int64(1)
    return size


@njit(cache=True, inline="always")
def _short_varint_size(value):
    """Return the bytes of ``value`` (uint64 below 2**35) as a varint, without a branch."""
    return (
        np.int64(1)
        + np.int64(value >= np.uint64(1 << 7))
        + np.int64(value >= np.uint64(1 << 14))
        + np.int64(value >= np.uint64(1 << 21))
        + np.int64(value >= np.uint64(1 << 28))
    )


@njit(cache=True, nogil=True)
def _ids_size(indices, start, stop):
    """Return the bytes of ``indices[start:stop]`` as one block."""
    if start == stop:
        return np.int64(0)
    size = _varint_size(np.uint64(indices[start]))
    # places that cannot be negative, and nothing that hangs on the step before: a loop of vectors
    for edge in range(np.uint64(start) + _ONE, np.uint64(stop)):
        delta = np.uint64(indices[edge]) - np.uint64(indices[edge - _ONE])
        if indices.itemsize == 4:
            size += _short_varint_size(np.uint64(np.uint32(delta)))
        else:
            size += _varint_size(delta)
    return size


@njit(cache=True, nogil=True)
def _write_ids(indices, start, stop, blob, position, end):
    """Write ``indices[start:stop]`` as one block to the bytes from ``position`` to ``end``, and to no other."""
    before = np.uint64(0)
    edge, last_word = start, end - np.int64(8)
    while edge < stop and position <= last_word:
        value = np.uint64(indices[edge])
        delta = value - before
        before = value
        edge += np.int64(1)
        if indices.itemsize == 8 and delta >= WIDEST:
            position = put_long(delta, blob, position)
        else:
            position = put_short(delta, blob, position)
    while edge < stop:
        value = np.uint64(indices[edge])
        position = put_long(value - before, blob, position)
        before = value
        edge += np.int64(1)


@njit(cache=True, nogil=True)
def measure(team, edge_ptr, indices, bounds, row_bytes, block_starts, block_bytes, block_bounds):
    """Fill in the bytes of every row that is no hub (hubs: 0) and of every hub block.

    ``block_starts`` int64[b, 2]: first and last + 1 edge of each hub block.
    """
    claim = np.zeros(1, np.uint64)
    arrays = edge_ptr, indices, bounds, row_bytes, block_starts, block_bytes, block_bounds
    share(team, np.uint64(len(edge_ptr) + len(indices)) // _PIECE + _ONE, _measure, (arrays, claim))


@member
def _measure(arrays, claim, t):
    """Take runs for :func:`measure` until there are no more."""
    edge_ptr, indices, bounds, row_bytes, block_starts, block_bytes, block_bounds = arrays
    runs = np.int64(len(bounds) - 1)
    while True:
        run = np.int64(fetch_add(claim, 0, _ONE))
        if run < runs:
            for row in range(bounds[run], bounds[run + 1]):
                start, stop = edge_ptr[row], edge_ptr[row + 1]
                row_bytes[row] = _ids_size(indices, start, stop) if stop - start <= BLOCK_IDS else 0
            continue
        run -= runs
        if run >= len(block_bounds) - 1:
            break
        for block in range(block_bounds[run], block_bounds[run + 1]):
            block_bytes[block] = _ids_size(indices, block_starts[block, 0], block_starts[block, 1])


@njit(cache=True, nogil=True)
def write(team, edge_ptr, indices, bounds, indptr, block_starts, block_ends, block_bounds, blob):
    """Write every row that is no hub, then every hub block, where :func:`measure` found their place to be.

    ``block_ends`` int64[b, 2]: first and last + 1 byte of each hub block.
    """
    claim = np.zeros(1, np.uint64)
    arrays = edge_ptr, indices, bounds, indptr, block_starts, block_ends, block_bounds, blob
    share(team, np.uint64(len(edge_ptr) + len(indices)) // _PIECE + _ONE, _write, (arrays, claim))


@member
def _write(arrays, claim, t):
    """Take runs for :func:`write` until there are no more."""
    edge_ptr, indices, bounds, indptr, block_starts, block_ends, block_bounds, blob = arrays
    runs = np.int64(len(bounds) - 1)
    while True:
        run = np.int64(fetch_add(claim, 0, _ONE))
        if run < runs:
            for row in range(bounds[run], bounds[run + 1]):
                start, stop = edge_ptr[row], edge_ptr[row + 1]
                if stop - start <= BLOCK_IDS:
                    _write_ids(indices, start, stop, blob, indptr[row], indptr[row + 1])
            continue
        run -= runs
        if run >= len(block_bounds) - 1:
            break
        for block in range(block_bounds[run], block_bounds[run + 1]):
            place, end = block_ends[block, 0], block_ends[block, 1]
            _write_ids(indices, block_starts[block, 0], block_starts[block, 1], blob, place, end)


@njit(cache=True, nogil=True, inline="always")
def _pair(word, stops, first_end):
    """Return the first two varints in ``word``, up to 4 bytes each, in the halves of a uint64.

    ``stops`` has the top bits of their last bytes, ``first_end`` is the bit after the first.
    """
    first = word & ~stops & (stops - np.uint64(1))
    word, stops = word >> first_end, stops >> first_end
    second = word & ~stops & (stops - np.uint64(1))
    pair = (first | (second << _HALF)) & _SEVENS
    pair = (pair & np.uint64(0x007F007F007F007F)) | ((pair & np.uint64(0x7F007F007F007F00)) >> np.uint64(1))
    return (pair & np.uint64(0x00003FFF00003FFF)) | ((pair & np.uint64(0x3FFF00003FFF0000)) >> np.uint64(2))


@njit(cache=True, nogil=True)
def read_ids(blob, position, end, n, target, at, count):
    """Decode a block to ``target[at:at + count]``; return its last id, or ``_NO_ID`` if it does not end at ``end``
    with ids below n.

    Two varints of up to 4 bytes each, by far the most, are taken from one word, and their groups of seven bits closed
    up side by side. How far to go on hangs on nothing but the second stop: that chain is what bounds the speed.
    """
    value, large = np.uint64(0), np.uint64(0)
    wide_end = np.int64(len(blob)) - np.int64(8)
    place, last = at, at + count
    most = np.int64(5 if target.itemsize == 4 else 10)
    while place < last:
        begin = position
        if position > wide_end:  # also after a varint that does not stop: nothing is read after it
            delta, position = read_varint_before(blob, position, np.int64(len(blob)))
        else:
            word = load_word(blob, position)
            stops = ~word & _STOPS
            first_end = trailing_zeros(stops) + np.uint64(1)
            if first_end <= _HALF and place + np.int64(1) < last:
                second_end = trailing_zeros(stops & (stops - np.uint64(1))) + np.uint64(1)
                if second_end - first_end <= _HALF:
                    pair = _pair(word, stops, first_end)
                    target[place] = value + (pair & _LOW_HALF)
                    value += (pair & _LOW_HALF) + (pair >> _HALF)
                    target[place + np.int64(1)] = value
                    position += np.int64(second_end >> np.uint64(3))
                    place += np.int64(2)
                    continue
            delta, position = read_varint_wide(blob, position)
        length = position - begin
        if position > len(blob) or length > most or (length == np.int64(10) and blob[begin + np.int64(9)] > 1):
            large = _TOO_LARGE  # more bytes than an id has, or more bits, be they zeros: decoders of a GPU drop them
        value += delta
        large |= delta
        target[place] = value
        place += np.int64(1)
    # a block has so few ids that without a difference of 2**53 or more, which no graph has, nothing has overflowed
    return value if value < n and large < _TOO_LARGE and position == end else _NO_ID


@njit(cache=True, nogil=True)
def read(team, indptr, edge_ptr, blob, n, bounds, blocks, block_bounds, indices, keep, bad, block_ids):
    """Decode every row that is no hub, then every hub block, to ``indices``, or to nowhere without ``keep``.

    ``blocks`` int64[b, 4]: first byte, last + 1 byte, first edge, last + 1 edge of each hub block. ``bad`` int64[2]
    for each run: the first row and the first block that are not what the offsets say (-1: none). ``block_ids``
    uint64[b, 2] gets the first and the last id of each block.
    """
    claim = np.zeros(1, np.uint64)
    spare = np.empty((0 if keep else len(team), BLOCK_IDS), indices.dtype)
    arrays = indptr, edge_ptr, blob, n, bounds, blocks, block_bounds, indices, keep, bad, block_ids
    share(team, np.uint64(len(edge_ptr) + len(blob)) // _PIECE + _ONE, _read, (arrays, spare, claim))


@member
def _read(arrays, spare, claim, t):
    """Take runs for :func:`read` until there are no more."""
    indptr, edge_ptr, blob, n, bounds, blocks, block_bounds, indices, keep, bad, block_ids = arrays
    target = indices if keep else spare[t]
    runs = np.int64(len(bounds) - 1)
    while True:
        run = np.int64(fetch_add(claim, 0, _ONE))
        first = np.int64(-1)
        if run < runs:
            for row in range(bounds[run], bounds[run + 1]):
                start, count = edge_ptr[row], edge_ptr[row + 1] - edge_ptr[row]
                if count <= BLOCK_IDS:
                    at = start if keep else np.int64(0)
                    last = read_ids(blob, indptr[row], indptr[row + 1], n, target, at, count)
                    if last == _NO_ID and first < 0:
                        first = np.int64(row)
            bad[run, 0] = first
            continue
        run -= runs
        if run >= len(block_bounds) - 1:
            break
        for block in range(block_bounds[run], block_bounds[run + 1]):
            start, count = blocks[block, 2], blocks[block, 3] - blocks[block, 2]
            at = start if keep else np.int64(0)
            last = read_ids(blob, blocks[block, 0], blocks[block, 1], n, target, at, count)
            block_ids[block, 0] = target[at]
            block_ids[block, 1] = last
            if last == _NO_ID and first < 0:
                first = np.int64(block)
        bad[run, 1] = first
