"""Numba kernels that read rows of a graph file wherever they lie, renumber what is in them, and sort them again.

A row is renumbered into a cache of its thread and sorted on the way to its place: in registers, a longer one by radix.

``rows[p]`` is the row of the file that the new row ``p`` was, ``numbers[v]`` the new number of each of its vertices.
Offsets are read-only int64. Kernels are serial over a range of new rows, release the GIL and may run side by side.
Ids that are no vertices, and rows that do not ascend, are noticed on the way: a kernel then returns that row, else -1.
"""

from __future__ import annotations

import numpy as np

from bigbfs.graph.adjacency import BLOCK_IDS
from bigbfs.graph.varint_kernels import read_ids
from bigbfs.jit.bits import fetch_soon
from bigbfs.jit.njit import njit
from bigbfs.jit.vectors import ascending, first_lanes, load_vector, store_vector

FEW, SOME, MORE, MUCH, MANY = (0,) * 8, (0,) * 16, (0,) * 32, (0,) * 64, (0,) * 128
LONG = 1 << 11
"""Ids from which on digits of up to 11 bits beat those of up to 8."""
_COUNTERS = 6 << 11  # digits of 11 bits in 64, and of 8 bits too
_AHEAD = 8
"""Rows: so far ahead ids are asked for, and twice as far where they lie."""
_SOON = 4
"""Rows: so far ahead new numbers are asked for."""


@njit(forceinline=True)
def _in_registers(ids, count, lanes):
    """Sort the first ``count`` ids of as many as there are lanes; what is behind them is lost."""
    found = first_lanes(load_vector(ids, 0, lanes), ids.dtype.type(count), ~ids.dtype.type(0))
    store_vector(ids, 0, ascending(found))


@njit(cache=True, nogil=True)
def _count_and_deal(ids, room, bits, counters):
    """Sort numbers of so many bits into ``room``, as long as ``ids``: a stable counting sort by each digit.

    Each pass takes them from one of the two to the other. Places are unsigned: nobody looks whether they are negative.
    """
    count = len(ids)
    most = np.int64(11 if count >= LONG else 8)
    passes = (bits + most - 1) // most
    digit = np.uint64((bits + passes - 1) // passes)
    values = np.uint64(1) << digit
    mask = values - np.uint64(1)
    counters[: np.int64(passes) << np.int64(digit)] = 0
    for i in range(count):
        value = np.uint64(ids[i])
        base = np.uint64(0)
        for _ in range(passes):
            counters[base | (value & mask)] += 1
            value >>= digit
            base += values
    down = np.uint64(0)
    source, target = ids, room
    for which in range(passes):
        places = counters[which << np.int64(digit) : (which + 1) << np.int64(digit)]
        total = np.int64(0)
        for value in range(len(places)):
            here = places[value]
            places[value] = total
            total += here
        for i in range(count):
            number = source[i]
            value = (np.uint64(number) >> down) & mask
            place = places[value]
            target[np.uint64(place)] = number
            places[value] = place + 1
        source, target = target, source
        down += digit
    if passes & 1 == 0:
        room[:] = ids


@njit(forceinline=True)
def _sort(ids, count, used, out, first, counters):
    """Sort the first ``count`` of ``ids``, which has room for ``MANY`` more, into ``out[first:]``.

    ``used`` has all bits that are set in one of them: where few numbers occur, there are fewer digits.
    """
    if count > len(MANY):
        bits = np.int64(0)
        while used >> np.uint64(bits) != 0:
            bits += 1
        _count_and_deal(ids[:count], out[first : first + count], bits, counters)
        return
    if count <= len(FEW):
        _in_registers(ids, count, FEW)
    elif count <= len(SOME):
        _in_registers(ids, count, SOME)
    elif count <= len(MORE):
        _in_registers(ids, count, MORE)
    elif count <= len(MUCH):
        _in_registers(ids, count, MUCH)
    else:
        _in_registers(ids, count, MANY)
    for i in range(count):
        out[first + i] = ids[i]


@njit(cache=True, nogil=True)
def _room(turn, first, last, ptr, out):
    """Return room to sort the longest of the new rows ``turn[first:last]``: ids as ``out`` has, and counters."""
    longest = np.int64(0)
    for i in range(first, last):
        p = turn[i] if len(turn) else np.int64(i)
        longest = max(longest, ptr[p + 1] - ptr[p])
    return np.empty(longest + len(MANY), out.dtype), np.empty(_COUNTERS if longest > len(MANY) else 0, np.int64)


@njit(forceinline=True)
def _ask(i, last, turn, rows, indptr, data):
    """Ask for the ids of the row that is read ``_AHEAD`` rows later, and where the one as far behind it lies.

    New rows lie anywhere in the file: short ones are little work, and two waits for memory each.
    """
    if i + 2 * _AHEAD < last:
        later = i + 2 * _AHEAD
        fetch_soon(indptr, np.int64(rows[turn[later] if len(turn) else later]))
        later -= _AHEAD
        begin = indptr[np.int64(rows[turn[later] if len(turn) else later])]
        if begin < len(data):
            fetch_soon(data, begin)


@njit(forceinline=True)
def _ask_numbers(i, last, turn, rows, indptr, indices, numbers):
    """Ask for the new numbers of the first ids of a row, which are there by now."""
    if i < last:
        row = np.int64(rows[turn[i] if len(turn) else i])
        for edge in range(indptr[row], min(indptr[row + 1], indptr[row] + len(SOME))):
            fetch_soon(numbers, np.int64(indices[edge]))


@njit(cache=True, nogil=True)
def gather_plain(turn, first, last, rows, numbers, ptr, base, indptr, indices, out):
    """Write the new rows ``turn[first:last]`` to ``out``, of which the first item is the edge ``base``.

    Parameters
    ----------
    turn
        int64: new rows in the order in which they are read; empty: as they stand.
    ptr
        int64: the first edge of each new row.
    indptr, indices
        The rows of the file.
    """
    n = len(numbers)
    spare, counters = _room(turn, first, last, ptr, out)
    for i in range(first, last):
        p = turn[i] if len(turn) else np.int64(i)
        _ask(i, last, turn, rows, indptr, indices)
        _ask_numbers(i + _SOON, last, turn, rows, indptr, indices, numbers)
        row, start = np.int64(rows[p]), ptr[p] - base
        count, before, ascends = np.int64(0), np.int64(0), True
        known, used = np.int64(0), np.uint64(0)
        for edge in range(indptr[row], indptr[row + 1]):
            vertex = np.int64(indices[edge])
            if vertex < known or vertex >= n:
                return row
            known = vertex
            number = np.int64(numbers[vertex])
            spare[count] = number
            ascends &= number >= before
            before = number
            used |= np.uint64(number)
            count += 1
        if ascends:
            for j in range(count):
                out[start + j] = spare[j]
        else:
            _sort(spare, count, used, out, start, counters)
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
def gather_varint(turn, first, last, rows, numbers, ptr, base, indptr, blob, hubs, hub_ptr, block_ptr, out):
    """Do what :func:`gather_plain` does, for rows of delta-varints; ``hubs`` is int64 here."""
    n = len(numbers)
    spare, counters = _room(turn, first, last, ptr, out)
    for i in range(first, last):
        p = turn[i] if len(turn) else np.int64(i)
        _ask(i, last, turn, rows, indptr, blob)
        row, start, stop = np.int64(rows[p]), ptr[p] - base, ptr[p + 1] - base
        if not _read_row(row, stop - start, indptr, blob, hubs, hub_ptr, block_ptr, np.uint64(n), out, start):
            return row
        before, ascends, used = np.int64(0), True, np.uint64(0)
        for place in range(start, stop):
            number = np.int64(numbers[np.int64(out[place])])
            out[place] = spare[place - start] = number
            ascends &= number >= before
            before = number
            used |= np.uint64(number)
        if not ascends:
            _sort(spare, stop - start, used, out, start, counters)
    return np.int64(-1)
