"""Kernels of the names section: front-coding a page of names in byte order, and reading one that may be damaged.

A name in memory is a *record* of 64-bit words: a header (bytes of the name in the low half, a number of its owner's in
the high half), then the bytes, little-endian, the last word filled up with zeros. A page is described in
docs/formats.md: for each name the bytes that it shares with the one before, the bytes that follow, both as LEB128, and
these bytes.
"""

from __future__ import annotations

import numpy as np

from bigbfs.graph.name_limits import PAGE_BYTES, PAGE_NAMES
from bigbfs.jit.bits import load_word, trailing_zeros
from bigbfs.jit.njit import njit

SLACK = 24
"""Bytes that a page takes for a name beside its suffix, at most, and that stores of whole words may pass its end by."""
_LOW = np.uint64(0xFFFFFFFF)
_ONE = np.uint64(1)
_HIGH = np.uint64(0x8080808080808080)


@njit(cache=True, nogil=True)
def length_of(words, record):
    """Return the bytes of the name of a record."""
    return np.int64(words[record] & _LOW)


@njit(cache=True, nogil=True)
def _shared(words, one, other):
    """Return the bytes at which two records agree from the beginning."""
    least = min(length_of(words, one), length_of(words, other))
    at = np.int64(0)
    while at < least:
        k = 1 + (at >> 3)
        different = words[one + k] ^ words[other + k]
        if different != 0:
            return min(least, at + np.int64(trailing_zeros(different) >> np.uint64(3)))
        at += 8
    return least


@njit(cache=True, nogil=True)
def _put_varint(value, page, at):
    rest = np.uint64(value)
    while rest >= np.uint64(128):
        page[at] = np.uint8((rest & np.uint64(127)) | np.uint64(128))
        rest >>= np.uint64(7)
        at += 1
    page[at] = np.uint8(rest)
    return at + 1


@njit(cache=True, nogil=True)
def encode(words, records, first, before, page, filled, count):
    """Front-code names into a page until it is full, they end, or the page's buffer does.

    Parameters
    ----------
    words, records
        Names in byte order: ``records`` are places in ``words``.
    first, before
        The next name to code; the record before it in the same page, -1 at its beginning.
    page, filled, count
        uint8 buffer, the bytes and names that it has.

    Returns
    -------
    first, before, filled, count, full
        As above, afterwards; ``full`` is 1 where the page is complete, 2 where the buffer has no room for the next.
    """
    while first < len(records):
        record = records[first]
        length = length_of(words, record)
        shared = np.int64(0) if before < 0 else _shared(words, before, record)
        if filled + (length - shared) + SLACK > len(page):
            return first, before, filled, count, 2
        filled = _put_varint(shared, page, filled)
        filled = _put_varint(length - shared, page, filled)
        for at in range(shared, length):
            word = words[record + 1 + (at >> 3)]
            page[filled] = np.uint8((word >> np.uint64(8 * (at & 7))) & np.uint64(255))
            filled += 1
        before, count, first = record, count + 1, first + 1
        if count >= PAGE_NAMES or filled >= PAGE_BYTES:
            return first, before, filled, count, 1
    return first, before, filled, count, 0


@njit(cache=True, nogil=True)
def _varint(page, at):
    """Return (value, byte behind it); -1 where it is cut short or not the shortest form."""
    value, shift = np.uint64(0), np.uint64(0)
    while at < len(page) and shift < np.uint64(42):
        byte = np.uint64(page[at])
        at += 1
        value |= (byte & np.uint64(127)) << shift
        if byte < np.uint64(128):
            if byte == 0 and shift > 0:
                return np.int64(-1), at
            return np.int64(value), at
        shift += np.uint64(7)
    return np.int64(-1), at


@njit(cache=True, nogil=True)
def measure(page, count):
    """Return the bytes of all names of a page; below 0: -1 - the byte at which it is damaged."""
    at, before, total = np.int64(0), np.int64(0), np.int64(0)
    for number in range(count):
        begin = at
        shared, at = _varint(page, at)
        more, at = _varint(page, at)
        if shared < 0 or more < 0 or shared > before or at + more > len(page) or (number == 0 and shared > 0):
            return -1 - begin
        at += more
        before = shared + more
        total += before
    if at != len(page):
        return -1 - at
    return total


@njit(cache=True, nogil=True)
def decode(page, count, data, offsets):
    """Write the names of a page that ``measure`` has seen to ``data``, and where each begins to ``offsets``."""
    at, filled = np.int64(0), np.int64(0)
    begin = np.int64(0)
    offsets[0] = 0
    for number in range(count):
        shared, at = _varint(page, at)
        more, at = _varint(page, at)
        start = filled
        for i in range(shared):
            data[filled] = data[begin + i]
            filled += 1
        for i in range(more):
            data[filled] = page[at + i]
            filled += 1
        at += more
        begin = start
        offsets[number + 1] = filled


@njit(cache=True, nogil=True)
def first_descent(data, offsets, count):
    """Return the first name of ``count`` that is not above the one before it in byte order; -1 where all ascend."""
    for number in range(1, count):
        a, b, c = offsets[number - 1], offsets[number], offsets[number + 1]
        at = np.int64(0)
        least = min(b - a, c - b)
        while at < least and data[a + at] == data[b + at]:
            at += 1
        if at == least:
            if c - b <= b - a:
                return number
        elif data[b + at] < data[a + at]:
            return number
    return np.int64(-1)


@njit(cache=True, nogil=True)
def gather_lengths(offsets, ranks, out):
    """Write to ``out`` (one longer than ``ranks``) where each of the names ``ranks`` begins in a copy; -1: empty."""
    out[0] = 0
    for i in range(len(ranks)):
        length = 0 if ranks[i] < 0 else offsets[ranks[i] + 1] - offsets[ranks[i]]
        out[i + 1] = out[i] + length


@njit(cache=True, nogil=True)
def gather_bytes(data, offsets, ranks, places, out):
    """Copy the names ``ranks`` to ``places`` of ``out``."""
    for i in range(len(ranks)):
        if ranks[i] >= 0:
            begin = offsets[ranks[i]]
            for at in range(places[i + 1] - places[i]):
                out[places[i] + at] = data[begin + at]


@njit(cache=True, nogil=True)
def beyond_ascii(words, records, first, found):
    """Write records from ``first`` on with a byte above 127 to ``found``, until it is full; return (next, how many)."""
    count = np.int64(0)
    while first < len(records) and count < len(found):
        record = records[first]
        bits = np.uint64(0)
        for k in range((length_of(words, record) + 7) // 8):
            bits |= words[record + 1 + k]
        if bits & _HIGH:
            found[count] = record
            count += 1
        first += 1
    return first, count


@njit(cache=True, nogil=True)
def record_name(data, begin, end, words, at, number):
    """Write ``data[begin:end]`` as a record to ``words[at:]``; return the place behind it."""
    length = end - begin
    words[at] = np.uint64(length) | (np.uint64(number) << np.uint64(32))
    at += 1
    place = begin
    while place < end:
        words[at] = word_at(data, place, end)
        at += 1
        place += 8
    return at


@njit(cache=True, nogil=True)
def word_at(data, place, end):
    """Return up to 8 bytes from ``place`` on as a little-endian word, zeros from ``end`` on."""
    left = end - place
    if place + 8 <= len(data):
        word = load_word(data, place)
        if left < 8:
            word &= (_ONE << np.uint64(8 * left)) - _ONE
        return word
    word = np.uint64(0)
    for i in range(min(left, 8)):
        word |= np.uint64(data[place + i]) << np.uint64(8 * i)
    return word


@njit(cache=True, nogil=True)
def records_of(data, offsets, first, last, words, records):
    """Write the names ``first`` to ``last - 1`` as records to ``words``, their places to ``records``."""
    at = np.int64(0)
    for i in range(first, last):
        records[i - first] = at
        at = record_name(data, offsets[i], offsets[i + 1], words, at, 0)
    return at
