"""Numba kernels that read rows of a graph file wherever they lie, renumber what is in them, and sort them again.

``rows[p]`` is the row of the file that the new row ``p`` was, ``numbers[v]`` the new number of each of its vertices.
Offsets are read-only int64. Kernels are serial over a range of new rows, release the GIL and may run side by side.
Ids that are no vertices, and rows that do not ascend, are noticed on the way: a kernel then returns that row, else -1.
"""

from __future__ import annotations

import numpy as np

from bigbfs.graph.adjacency import BLOCK_IDS
from bigbfs.graph.varint_kernels import read_ids
from bigbfs.jit.njit import njit

FEW = 48
"""Ids up to which insertion beats the counting sort."""
MANY = 1 << 12
"""Ids from which on digits of 11 bits beat those of 8."""
_COUNTERS = 6 << 11  # digits of 11 bits in 64, and of 8 bits too


@njit(cache=True, nogil=True)
def _insert(ids, first, last):
    """Sort the few ids ``ids[first:last]``."""
    for i in range(first + 1, last):
        value = ids[i]
        j = i - 1
        while j >= first and ids[j] > value:
            ids[j + 1] = ids[j]
            j -= 1
        ids[j + 1] = value


@njit(cache=True, nogil=True)
def _count_and_deal(ids, first, last, bits, spare, counters):
    """Sort ``ids[first:last]``, numbers of so many bits: a stable counting sort by each digit, from the lowest on."""
    count = last - first
    digit = np.int64(11 if count >= MANY else 8)
    passes = (bits + digit - 1) // digit
    mask = np.uint64((1 << digit) - 1)
    counters[: passes << digit] = 0
    for i in range(first, last):
        value = np.uint64(ids[i])
        for which in range(passes):
            counters[(which << digit) + np.int64(value & mask)] += 1
            value >>= np.uint64(digit)
    for which in range(passes):
        down, base = np.uint64(which * digit), which << digit
        if counters[base + np.int64((np.uint64(ids[first]) >> down) & mask)] == count:
            continue  # every id has the same digit
        total = np.int64(0)
        for value in range(base, base + (1 << digit)):
            here = counters[value]
            counters[value] = total
            total += here
        for i in range(first, last):
            value = base + np.int64((np.uint64(ids[i]) >> down) & mask)
            spare[counters[value]] = ids[i]
            counters[value] += 1
        ids[first:last] = spare[:count]


@njit(cache=True, nogil=True)
def _sort(ids, first, last, bits, spare, counters):
    """Sort ``ids[first:last]``."""
    if last - first <= FEW:
        _insert(ids, first, last)
    else:
        _count_and_deal(ids, first, last, bits, spare, counters)


@njit(cache=True, nogil=True)
def _room(turn, first, last, ptr, out):
    """Return room to sort the longest of the new rows ``turn[first:last]``: ids as ``out`` has, and counters."""
    longest = np.int64(0)
    for i in range(first, last):
        p = turn[i] if len(turn) else np.int64(i)
        longest = max(longest, ptr[p + 1] - ptr[p])
    counts = longest > FEW
    return np.empty(longest if counts else 0, out.dtype), np.empty(_COUNTERS if counts else 0, np.int64)


@njit(cache=True, nogil=True)
def gather_plain(turn, first, last, rows, numbers, bits, ptr, base, indptr, indices, out):
    """Write the new rows ``turn[first:last]`` to ``out``, of which the first item is the edge ``base``.

    Parameters
    ----------
    turn
        int64: new rows in the order in which they are read; empty: as they stand.
    bits
        Of the largest new number.
    ptr
        int64: the first edge of each new row.
    indptr, indices
        The rows of the file.
    """
    n = len(numbers)
    spare, counters = _room(turn, first, last, ptr, out)
    for i in range(first, last):
        p = turn[i] if len(turn) else np.int64(i)
        row, start = np.int64(rows[p]), ptr[p] - base
        place, before, ascends = start, np.int64(0), True
        known = np.int64(0)
        for edge in range(indptr[row], indptr[row + 1]):
            vertex = np.int64(indices[edge])
            if vertex < known or vertex >= n:
                return row
            known = vertex
            number = np.int64(numbers[vertex])
            out[place] = number
            ascends &= number >= before
            before = number
            place += 1
        if not ascends:
            _sort(out, start, place, bits, spare, counters)
    return np.int64(-1)


@njit(cache=True, nogil=True)
def _read_row(row, count, indptr, blob, hubs, hub_ptr, block_ptr, n, out, at):
    """Decode a row of ``count`` ids to ``out[at:]``; return whether all is as it must be."""
    if count <= BLOCK_IDS:
        last = read_ids(blob, indptr[row], indptr[row + 1], n, out, at, count)
        return count == 0 or last < n
    hub = np.searchsorted(hubs, row)
    block, end = hub_ptr[hub], hub_ptr[hub + 1]
    done, before = np.int64(0), np.uint64(0)
    while block < end:
        stop = block_ptr[block + 1] if block + 1 < end else indptr[row + 1]
        here = min(np.int64(BLOCK_IDS), count - done)
        last = read_ids(blob, block_ptr[block], stop, n, out, at + done, here)
        if last >= n or np.uint64(out[at + done]) < before:
            return False
        before = last
        done += here
        block += 1
    return done == count


@njit(cache=True, nogil=True)
def gather_varint(turn, first, last, rows, numbers, bits, ptr, base, indptr, blob, hubs, hub_ptr, block_ptr, out):
    """Do what :func:`gather_plain` does, for rows of delta-varints; ``hubs`` is int64 here."""
    n = len(numbers)
    spare, counters = _room(turn, first, last, ptr, out)
    for i in range(first, last):
        p = turn[i] if len(turn) else np.int64(i)
        row, start, stop = np.int64(rows[p]), ptr[p] - base, ptr[p + 1] - base
        if not _read_row(row, stop - start, indptr, blob, hubs, hub_ptr, block_ptr, np.uint64(n), out, start):
            return row
        before, ascends = np.int64(0), True
        for place in range(start, stop):
            number = np.int64(numbers[np.int64(out[place])])
            out[place] = number
            ascends &= number >= before
            before = number
        if not ascends:
            _sort(out, start, stop, bits, spare, counters)
    return np.int64(-1)
