"""Kernels of the CSR build: partition lines into buckets of rows, sort a bucket, transpose.

All are serial, release the GIL and work on a range, so that several threads call them side by side. ``lines`` are
two id arrays (uint32 or uint64). A *bucket* holds ``2**shift`` neighbouring rows. A *key* is a uint64

    row within the bucket | value (the other end) | 1 bit: the line ran from the smaller to the larger id

and offsets are int64. Buckets fit a core's cache, so that the random writes of a counting sort stay inside it
(Beamer, Asanovic, Patterson: Reducing Pagerank communication via propagation blocking, IPDPS 2017).
"""

from __future__ import annotations

import numpy as np

from bigbfs.jit.njit import njit

ONE = np.uint64(1)
DIGIT = 11  # bits of a radix digit: 2048 counters of 8 bytes are 16 KiB, half of a first-level cache
BINS = 1 << DIGIT
SMALL = 48  # keys up to which insertion beats the counting sort


@njit(cache=True, nogil=True, inline="always")
def _ends(u, v, undirected):
    """Return (row, value, direction bit) of the line u -> v: the larger id is the row where direction is dropped."""
    if undirected and u < v:
        return np.uint64(v), np.uint64(u), ONE
    return np.uint64(u), np.uint64(v), np.uint64(0)


@njit(cache=True, nogil=True)
def count_lines(src, dst, first, last, undirected, keep_loops, shift, counts):
    """Add the lines of each bucket to ``counts``; return how many lines are self-loops."""
    loops = 0
    wide = np.uint64(shift)
    for i in range(first, last):
        u, v = src[i], dst[i]
        if u == v:
            loops += 1
            if not keep_loops:
                continue
        row, _, _ = _ends(u, v, undirected)
        counts[row >> wide] += 1
    return loops


@njit(cache=True, nogil=True)
def scatter_lines(src, dst, first, last, undirected, keep_loops, shift, value_bits, cursor, keys):
    """Write the key of every line to its bucket; ``cursor`` holds the next free place of each bucket."""
    wide, up = np.uint64(shift), np.uint64(value_bits + 1)
    mask = (ONE << wide) - ONE
    for i in range(first, last):
        u, v = src[i], dst[i]
        if u == v and not keep_loops:
            continue
        row, value, forward = _ends(u, v, undirected)
        bucket = row >> wide
        place = cursor[bucket]
        cursor[bucket] = place + 1
        keys[place] = ((row & mask) << up) | (value << ONE) | forward


@njit(cache=True, nogil=True)
def insertion_sort(keys):
    """Sort a few keys in place."""
    for i in range(1, len(keys)):
        key = keys[i]
        j = i - 1
        while j >= 0 and keys[j] > key:
            keys[j + 1] = keys[j]
            j -= 1
        keys[j + 1] = key


@njit(cache=True, nogil=True)
def radix_sort(keys, spare, low, bits):
    """Sort by the bits ``low`` to ``low + bits``; return the array (of the two) that holds the result."""
    passes = (bits + DIGIT - 1) // DIGIT
    counts = np.zeros((passes, BINS), np.int64)
    bottom = np.uint64(BINS - 1)
    for i in range(len(keys)):
        key = keys[i] >> np.uint64(low)
        for digit in range(passes):
            counts[digit, key & bottom] += 1
            key >>= np.uint64(DIGIT)
    source, target = keys, spare
    for digit in range(passes):
        down = np.uint64(low + digit * DIGIT)
        places = counts[digit]
        if places[(source[0] >> down) & bottom] == len(keys):
            continue  # every key has the same digit
        total = 0
        for value in range(BINS):
            here = places[value]
            places[value] = total
            total += here
        for i in range(len(keys)):
            key = source[i]
            value = (key >> down) & bottom
            target[places[value]] = key
            places[value] += 1
        source, target = target, source
    return source


@njit(cache=True, nogil=True)
def _emit(keys, value_bits, copies, first_row, rows, ends, out):
    """Write the values of sorted ``keys`` to ``out`` and where each row ends to ``ends``; return (values, repeats).

    ``copies``: 0 writes an edge once, 1 as often as it was given in either direction, 2 as often as in the
    direction that gave it more often (an input that lists both directions). ``out`` may be the memory of ``keys``:
    it is never ahead of what has been read.
    """
    up = np.uint64(value_bits)
    mask = (ONE << up) - ONE
    written = 0
    repeats = 0
    row = 0
    i = 0
    while i < len(keys):
        edge = keys[i] >> ONE
        forward = 0
        start = i
        while i < len(keys) and keys[i] >> ONE == edge:
            forward += np.int64(keys[i] & ONE)
            i += 1
        backward = i - start - forward
        here = np.int64(edge >> up)
        if np.int64(edge & mask) != first_row + here:  # a self-loop is counted as that
            repeats += max(forward - 1, 0) + max(backward - 1, 0)
        while row < here:
            ends[row] = written
            row += 1
        times = 1
        if copies == 1:
            times = forward + backward
        elif copies == 2:
            times = max(forward, backward)
        for _ in range(times):
            out[written] = edge & mask
            written += 1
    while row < rows:
        ends[row] = written
        row += 1
    return written, repeats


@njit(cache=True, nogil=True)
def sort_buckets(first, last, starts, keys, shift, value_bits, copies, ends, out, written):
    """Sort and thin out the buckets ``first`` to ``last``; return the repeated lines found.

    ``keys[starts[b]:starts[b + 1]]`` are the keys of bucket b. Its values go to the front of the same memory (``out``
    is ``keys`` seen as ids), their number to ``written[b]``, and the end of every row, counted within the bucket, to
    ``ends``.
    """
    n = len(ends)
    ratio = len(out) // max(len(keys), 1)
    repeats = 0
    for bucket in range(first, last):
        row = bucket << shift
        rows = min(n - row, 1 << shift)
        begin, end = starts[bucket], starts[bucket + 1]
        mine = keys[begin:end]
        if end - begin <= SMALL:
            insertion_sort(mine)
            ordered = mine
        else:
            ordered = radix_sort(mine, np.empty(end - begin, np.uint64), 1, value_bits + shift)
        values = out[begin * ratio : end * ratio]
        count, more = _emit(ordered, value_bits, copies, row, rows, ends[row : row + rows], values)
        written[bucket] = count
        repeats += more
    return repeats


@njit(cache=True, nogil=True)
def gather_buckets(first, last, starts, ratio, bases, shift, packed, out, indptr):
    """Move the sorted buckets close together and turn row ends within the bucket into offsets."""
    n = len(indptr) - 1
    for bucket in range(first, last):
        base = bases[bucket]
        count = bases[bucket + 1] - base
        begin = starts[bucket] * ratio
        for i in range(count):
            out[base + i] = packed[begin + i]
        row = bucket << shift
        for vertex in range(row, min(n, row + (1 << shift))):
            indptr[vertex + 1] += base


@njit(cache=True, nogil=True)
def count_columns(first, last, indptr, indices, order, rank, skip_loops, shift, counts):
    """Add the edges of each bucket of columns to ``counts``, over the rows ``order[first:last]``.

    ``order`` and ``rank`` are a permutation and its inverse, or empty for none.
    """
    wide = np.uint64(shift)
    for position in range(first, last):
        row = position if len(order) == 0 else np.int64(order[position])
        for i in range(indptr[row], indptr[row + 1]):
            column = np.int64(indices[i])
            if not (skip_loops and column == row):
                if len(rank):
                    column = np.int64(rank[column])
                counts[np.uint64(column) >> wide] += 1


@njit(cache=True, nogil=True)
def scatter_columns(first, last, indptr, indices, order, rank, skip_loops, shift, row_bits, cursor, keys):
    """Write (column within its bucket, row) of every edge to the bucket of its column, rows ascending."""
    wide, up = np.uint64(shift), np.uint64(row_bits)
    mask = (ONE << wide) - ONE
    for position in range(first, last):
        row = position if len(order) == 0 else np.int64(order[position])
        for i in range(indptr[row], indptr[row + 1]):
            column = np.int64(indices[i])
            if skip_loops and column == row:
                continue
            if len(rank):
                column = np.int64(rank[column])
            bucket = np.uint64(column) >> wide
            place = cursor[bucket]
            cursor[bucket] = place + 1
            keys[place] = ((np.uint64(column) & mask) << up) | np.uint64(position)


@njit(cache=True, nogil=True)
def place_columns(first, last, starts, keys, row_bits, shift, bases, head_indptr, head_indices, indptr, out):
    """Write the rows of the transpose: for each bucket of columns a counting sort that keeps the order of the rows.

    With ``head_indptr`` (else empty) the row of ``head_indices`` comes first in each row of the result.
    """
    up = np.uint64(row_bits)
    mask = (ONE << up) - ONE
    n = len(indptr) - 1
    places = np.empty(1 << shift, np.int64)
    for bucket in range(first, last):
        row = bucket << shift
        rows = min(n - row, 1 << shift)
        places[:rows] = 0
        for i in range(starts[bucket], starts[bucket + 1]):
            places[keys[i] >> up] += 1
        total = bases[bucket]
        for local in range(rows):
            tail = places[local]
            if len(head_indptr):
                for i in range(head_indptr[row + local], head_indptr[row + local + 1]):
                    out[total] = head_indices[i]
                    total += 1
            places[local] = total
            total += tail
            indptr[row + local + 1] = total
        for i in range(starts[bucket], starts[bucket + 1]):
            key = keys[i]
            place = places[key >> up]
            places[key >> up] = place + 1
            out[place] = key & mask
