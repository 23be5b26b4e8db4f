"""Kernels that sort records of names by their bytes, and merge sorted runs of them.

Sorting is a quicksort on eight bytes at a time, which are kept beside the records (Bentley and Sedgewick, "Fast
algorithms for sorting and searching strings", SODA 1997; the kept bytes are Ng and Kakehi's, 2007). Names differ, and
one that ends inside or behind eight bytes that others share stands before them, the shorter ones first.
"""

from __future__ import annotations

import numpy as np

from bigbfs.jit.njit import njit

_LOW = np.uint64(0xFFFFFFFF)
_FEW = 12
_BYTES = np.uint64(0x00FF00FF00FF00FF)
_PAIRS = np.uint64(0x0000FFFF0000FFFF)


@njit(cache=True, nogil=True)
def _turned(word):
    """Return a word with its bytes in reverse order: numbers compare then as their bytes do."""
    word = ((word >> np.uint64(8)) & _BYTES) | ((word & _BYTES) << np.uint64(8))
    word = ((word >> np.uint64(16)) & _PAIRS) | ((word & _PAIRS) << np.uint64(16))
    return (word >> np.uint64(32)) | (word << np.uint64(32))


@njit(cache=True, nogil=True)
def _key(words, record, depth):
    """Return the bytes from ``8 * depth`` on."""
    return _turned(words[record + 1 + depth]) if 8 * depth < np.int64(words[record] & _LOW) else np.uint64(0)


@njit(cache=True, nogil=True)
def below(words, one, others, other, depth):
    """Return whether a name stands before one in ``others``; they agree in the first ``8 * depth`` bytes."""
    a, b = np.int64(words[one] & _LOW), np.int64(others[other] & _LOW)
    least = min(a, b)
    at = 8 * depth
    while at < least:
        first, second = words[one + 1 + (at >> 3)], others[other + 1 + (at >> 3)]
        if first != second:
            return _turned(first) < _turned(second)
        at += 8
    return a < b


@njit(cache=True, nogil=True)
def _few(words, records, low, high, depth):
    """Sort a few records by insertion."""
    for i in range(low + 1, high):
        record = records[i]
        at = i
        while at > low and below(words, record, words, records[at - 1], depth):
            records[at] = records[at - 1]
            at -= 1
        records[at] = record


@njit(cache=True, nogil=True)
def _middle(keys, low, high, draw):
    """Return the middle one of three keys at places that no input knows beforehand."""
    width = np.uint64(high - low)
    a = keys[low + np.int64((draw >> np.uint64(8)) % width)]
    b = keys[low + np.int64((draw >> np.uint64(24)) % width)]
    c = keys[low + np.int64((draw >> np.uint64(40)) % width)]
    return max(min(a, b), min(max(a, b), c))


@njit(cache=True, nogil=True)
def _ended_first(words, records, low, high, depth):
    """Put the names that end here, equal but for their length, before the others; return where those are."""
    end = low
    for i in range(low, high):
        if np.int64(words[records[i]] & _LOW) <= 8 * (depth + 1):
            records[end], records[i] = records[i], records[end]
            end += 1
    _few(words, records, low, end, depth + 1)
    return end


@njit(cache=True, nogil=True)
def sort_names(words, records, keys):
    """Sort ``records`` (int64) by the names' bytes; ``keys`` (uint64) is room of the same length."""
    stack = [(np.int64(0), np.int64(len(records)), np.int64(0), True)]
    draw = np.uint64(0x9E3779B97F4A7C15)
    while len(stack):
        low, high, depth, fresh = stack.pop()
        if high - low <= _FEW:
            _few(words, records, low, high, depth)
            continue
        if fresh:
            for i in range(low, high):
                keys[i] = _key(words, records[i], depth)
        draw = draw * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
        pivot = _middle(keys, low, high, draw)
        less, at, more = low, low, high
        while at < more:
            if keys[at] < pivot:
                keys[less], keys[at] = keys[at], keys[less]
                records[less], records[at] = records[at], records[less]
                less += 1
                at += 1
            elif keys[at] > pivot:
                more -= 1
                keys[more], keys[at] = keys[at], keys[more]
                records[more], records[at] = records[at], records[more]
            else:
                at += 1
        stack.append((low, less, depth, False))
        stack.append((more, high, depth, False))
        going_on = _ended_first(words, records, less, more, depth)
        stack.append((going_on, more, depth + 1, True))


@njit(cache=True, nogil=True)
def _sift(words, records, heads, heap, size, at):
    """Let the run at ``at`` of the heap sink to its place."""
    while True:
        least = at
        for child in (2 * at + 1, 2 * at + 2):
            if child < size and below(words, records[heads[heap[child]]], words, records[heads[heap[least]]], 0):
                least = child
        if least == at:
            return
        heap[at], heap[least] = heap[least], heap[at]
        at = least


@njit(cache=True, nogil=True)
def merge(words, records, heads, ends, last, carried, first_rank, ranks, distinct):
    """Merge sorted runs until one has no more records here though it goes on elsewhere.

    Parameters
    ----------
    words, records
        Names; run r has ``records[heads[r]:ends[r]]``. ``heads`` move.
    last
        Whether a run ends with what is here.
    carried
        A copy of the last record of the call before; empty in the first.
    first_rank
        The rank of the next name that differs from that.
    ranks
        Gets the rank of each record, at its place in ``records``.
    distinct
        Gets the records of different names, in order.

    Returns
    -------
    count
        How many of those.
    """
    heap = np.empty(len(heads), np.int64)
    size = 0
    for run in range(len(heads)):
        if heads[run] < ends[run]:
            heap[size] = run
            size += 1
        elif not last[run]:
            return np.int64(0)
    for at in range(size // 2, -1, -1):
        _sift(words, records, heads, heap, size, at)
    count = np.int64(0)
    while size:
        run = heap[0]
        record = records[heads[run]]
        if count:
            new = below(words, distinct[count - 1], words, record, 0)
        else:
            new = len(carried) == 0 or below(carried, 0, words, record, 0)
        if new:
            distinct[count] = record
            count += 1
        ranks[heads[run]] = np.uint64(first_rank + count - 1)
        heads[run] += 1
        if heads[run] == ends[run]:
            if not last[run]:
                return count
            size -= 1
            heap[0] = heap[size]
        _sift(words, records, heads, heap, size, 0)
    return count
