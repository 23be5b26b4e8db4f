"""Kernels of the external build: spread pairs over partitions, turn a partition's pairs into sorted rows.

All are serial over a range, release the GIL and may run side by side. A *pair* is (row, value): two neighbouring items
of a flat uint32 or uint64 array. A *map* (uint16) leads from ``(id - low) >> shift``, cut off at its last entry, to the
number of a partition. Within a partition an edge is one number

    K = row in the partition << value_bits | (value - value_low)

and a *bucket* holds the edges with the same ``K >> shift``; its keys are ``(K & mask) << 1 | backward`` in uint64.
``present`` (uint64) interleaves, for each 64 ids, one bit for each that exists and the number of ids before them.
Offsets are int64.
"""

from __future__ import annotations

import numpy as np

from bigbfs.conversion.sorting.kernels import SMALL, insertion_sort, radix_sort
from bigbfs.jit.atomics import fetch_add, fetch_or
from bigbfs.jit.bits import population
from bigbfs.jit.njit import njit

OFFSET, PRESENT, LABELLED = 0, 1, 2
"""How ids become numbers: minus the first one; by rank among those present; rows by rank in ``labels``, values are."""
MODE, LOW, DIRECTORY_SHIFT, BASE, LOOP = range(5)
"""Items of ``numbers`` (uint64), which say how a partition's ids become numbers: the mode; its lowest id; the shift of
the directory of labels; OFFSET: id of vertex 0, else the number of the partition's first row; the value that its first
row would have, so that a self-loop shows."""

# Small functions are inlined by LLVM (forceinline), because inline="always" takes and drops a reference to every array
# for every pair: a tenth of the speed.

_ONE = np.uint64(1)
_TWO = np.uint64(2)
_SIX = np.uint64(6)
_LOW_SIX = np.uint64(63)


@njit(forceinline=True)
def _part(identifier, low, shift, parts):
    place = (np.uint64(identifier) - low) >> shift
    last = np.uint64(len(parts) - 1)
    return parts[min(place, last)]


@njit(cache=True, nogil=True)
def count_ends(src, dst, first, last, shift, parts, counts, present):
    """Count the lines of each partition by source (``counts[0]``) and by target; return (self-loops, largest id).

    With ``present`` (else empty) mark the ids that it has room for.
    """
    wide, low = np.uint64(shift), np.uint64(0)
    room = np.uint64(len(present) * 32)
    loops = 0
    largest = np.uint64(0)
    for i in range(first, last):
        u, v = np.uint64(src[i]), np.uint64(dst[i])
        loops += u == v
        largest = max(largest, u, v)
        counts[0, _part(u, low, wide, parts)] += 1
        counts[1, _part(v, low, wide, parts)] += 1
        for end in (u, v):
            if end < room:
                bit = _ONE << (end & _LOW_SIX)
                if not present[(end >> _SIX) * _TWO] & bit:  # most ids have occurred before: no atomic then
                    fetch_or(present, (end >> _SIX) * _TWO, bit)
    return loops, largest


@njit(cache=True, nogil=True)
def scatter_ends(rows, values, first, last, shift, parts, cursor, pairs):
    """Write (row, value) of every line to its partition; ``cursor`` holds the next free place of each."""
    wide, low = np.uint64(shift), np.uint64(0)
    for i in range(first, last):
        part = _part(rows[i], low, wide, parts)
        place = cursor[part]
        cursor[part] = place + 1
        pairs[2 * place] = rows[i]
        pairs[2 * place + 1] = values[i]


@njit(cache=True, nogil=True)
def count_pairs(pairs, first, last, side, low, shift, parts, counts):
    """Count pairs by the partition of their row (``side`` 0) or value (1)."""
    wide = np.uint64(shift)
    for i in range(first, last):
        counts[_part(pairs[2 * i + side], low, wide, parts)] += 1


@njit(cache=True, nogil=True)
def scatter_pairs(pairs, first, last, side, low, shift, parts, cursor, out):
    """Write every pair to the partition that its row (``side`` 0) or value (1) belongs to."""
    wide = np.uint64(shift)
    for i in range(first, last):
        part = _part(pairs[2 * i + side], low, wide, parts)
        place = cursor[part]
        cursor[part] = place + 1
        out[2 * place] = pairs[2 * i]
        out[2 * place + 1] = pairs[2 * i + 1]


@njit(cache=True, nogil=True)
def count_present(first, last, present):
    """Return how many ids are marked in the words ``first`` to ``last``."""
    total = np.uint64(0)
    for word in range(first, last):
        total += population(present[2 * word])
    return total


@njit(cache=True, nogil=True)
def place_present(first, last, before, present):
    """Write beside each of these words how many ids are marked before it; ``before`` is that of the first."""
    for word in range(first, last):
        present[2 * word + 1] = before
        before += population(present[2 * word])


@njit(forceinline=True)
def _rank(identifier, present):
    """Return how many ids below ``identifier`` exist."""
    word = (identifier >> _SIX) * _TWO
    below = (_ONE << (identifier & _LOW_SIX)) - _ONE
    return present[word + _ONE] + population(present[word] & below)


@njit(cache=True, nogil=True)
def list_present(first, last, present, labels):
    """Write the ids of the words ``first`` to ``last`` that exist; return how many."""
    place = np.int64(0)
    for word in range(first, last):
        bits = present[2 * word]
        while bits:
            lowest = bits & (~bits + _ONE)
            labels[place] = (np.uint64(word) << _SIX) + population(lowest - _ONE)
            place += 1
            bits ^= lowest
    return place


@njit(cache=True, nogil=True)
def fill_directory(labels, low, shift, directory):
    """Write to ``directory[d]`` the first of the ascending ``labels`` with ``(label - low) >> shift >= d``."""
    wide = np.uint64(shift)
    entry = 0
    for i in range(len(labels)):
        here = np.int64((labels[i] - low) >> wide)
        while entry <= here:
            directory[entry] = i
            entry += 1
    while entry < len(directory):
        directory[entry] = len(labels)
        entry += 1


@njit(cache=True, nogil=True)
def find_rows(pairs, first, last, low, shift, labels, directory, base, turn, out):
    """Find the place of every row among the ascending ``labels`` (it is there).

    Pairs (id, other) become (base + place, other) in ``out`` (which may be ``pairs``), with ``turn`` (other, base +
    place). The search is written out here: a function that is given arrays for every pair counts references to them.
    """
    wide = np.uint64(shift)
    for i in range(first, last):
        identifier, other = np.uint64(pairs[2 * i]), pairs[2 * i + 1]
        here = np.int64((identifier - low) >> wide)
        start, stop = directory[here], directory[here + 1] - 1
        while start < stop:
            middle = (start + stop) >> 1
            if labels[middle] < identifier:
                start = middle + 1
            else:
                stop = middle
        number = base + np.uint64(start)
        out[2 * i] = other if turn else number
        out[2 * i + 1] = number if turn else other


@njit(cache=True, nogil=True)
def count_keys(pairs, first, last, keep_loops, shift, low, loop, value_bits, value_low, counts):
    """Add the pairs of each bucket to ``counts``.

    ``low`` is the lowest row of the partition, and row ``low`` has a self-loop where its value is ``loop``.
    """
    wide, bits, base = np.uint64(shift), np.uint64(value_bits), np.uint64(value_low)
    for i in range(first, last):
        row, value = np.uint64(pairs[2 * i]) - low, np.uint64(pairs[2 * i + 1])
        if not keep_loops and row + loop == value:
            continue
        counts[((row << bits) | (value - base)) >> wide] += 1


@njit(cache=True, nogil=True)
def scatter_keys(pairs, first, last, keep_loops, backward, shift, low, loop, value_bits, value_low, cursor, keys):
    """Write the key of every pair to its bucket; ``cursor`` holds the next free place of each."""
    wide, bits, base = np.uint64(shift), np.uint64(value_bits), np.uint64(value_low)
    mask = (_ONE << wide) - _ONE
    direction = np.uint64(backward)
    for i in range(first, last):
        row, value = np.uint64(pairs[2 * i]) - low, np.uint64(pairs[2 * i + 1])
        if not keep_loops and row + loop == value:
            continue
        edge = (row << bits) | (value - base)
        bucket = edge >> wide
        place = cursor[bucket]
        cursor[bucket] = place + 1
        keys[place] = ((edge & mask) << _ONE) | direction


@njit(cache=True, nogil=True)
def sort_keys(
    first, last, starts, keys, shift, numbers, value_bits, value_low, copies, present, degrees, packed, written
):
    """Sort and thin out the buckets ``first`` to ``last``; return the repeated forward lines found.

    Their values, as numbers of vertices, go to the front of the memory of the keys (``packed`` is ``keys`` seen as
    ids), how many to ``written``; they are added to the ``degrees`` of their rows (empty where the partition is a part
    of one row), atomically, because a large row lies in several buckets.
    """
    ratio = len(packed) // max(len(keys), 1)
    repeats = 0
    for bucket in range(first, last):
        begin, end = starts[bucket], starts[bucket + 1]
        ordered = keys[begin:end]
        if end - begin <= SMALL:
            insertion_sort(ordered)
        else:
            ordered = radix_sort(ordered, np.empty(end - begin, np.uint64), 1, shift)
        high = np.uint64(bucket) << np.uint64(shift)
        out = packed[begin * ratio : end * ratio]
        count, more = _emit(ordered, high, numbers, value_bits, value_low, copies, present, degrees, out)
        written[bucket] = count
        repeats += more
    return repeats


@njit(cache=True, nogil=True)
def _emit(ordered, high, numbers, value_bits, value_low, copies, present, degrees, out):
    """Write the values of one bucket's ascending keys; return (values, repeated forward lines)."""
    bits, base = np.uint64(value_bits), np.uint64(value_low)
    mask = (_ONE << bits) - _ONE
    ranked = numbers[MODE] == np.uint64(PRESENT)
    labelled = numbers[MODE] == np.uint64(LABELLED)
    count = repeats = i = row_start = 0
    row = np.int64(-1)
    last_row = np.uint64(2**64 - 1)
    while i < len(ordered):
        low = ordered[i] >> _ONE
        start = i
        backward = 0
        while i < len(ordered) and ordered[i] >> _ONE == low:
            backward += np.int64(ordered[i] & _ONE)
            i += 1
        forward = i - start - backward
        here, value = (high | low) >> bits, ((high | low) & mask) + base
        if len(degrees) and here != last_row:
            if row >= 0:
                fetch_add(degrees, row, count - row_start)
            row = np.int64(_rank(here + numbers[LOW], present) - numbers[BASE] if ranked else here)
            last_row, row_start = here, count
        if forward > 1 and here + numbers[LOOP] != value:  # a self-loop is counted as that
            repeats += forward - 1
        times = 1
        if copies == 1:
            times = forward + backward
        elif copies == 2:
            times = max(forward, backward)
        target = value
        if ranked:
            target = _rank(value, present)
        elif not labelled:
            target = value - numbers[BASE]
        for _ in range(times):
            out[count] = target
            count += 1
    if row >= 0:
        fetch_add(degrees, row, count - row_start)
    return count, repeats


@njit(cache=True, nogil=True)
def gather_keys(first, last, starts, ratio, bases, packed, out):
    """Move the values of the buckets close together."""
    for bucket in range(first, last):
        base, begin = bases[bucket], starts[bucket] * ratio
        for i in range(bases[bucket + 1] - base):
            out[base + i] = packed[begin + i]


@njit(cache=True, nogil=True)
def rename_pairs(indices, first, last, row, offset, indptr, rank, backward, out):
    """Write (rank of row, rank of value), or with ``backward`` the reverse, of the edges ``first`` to ``last``.

    ``indices[0]`` is edge ``offset`` of the graph; edge ``offset + first`` is in ``row``.
    """
    for i in range(first, last):
        while indptr[row + 1] <= offset + i:
            row += 1
        here, value = rank[row], rank[indices[i]]
        out[2 * i] = value if backward else here
        out[2 * i + 1] = here if backward else value
