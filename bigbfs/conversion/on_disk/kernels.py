"""Kernels of the external build: spread lines and pairs over partitions, number the rows of pairs.

All are serial over a range, release the GIL and may run side by side. A *pair* is (row, value): two neighbouring items
of a flat uint32 or uint64 array. A *map* (uint16) leads from ``(id - low) >> shift``, cut off at its last entry, to the
number of a partition.
"""

from __future__ import annotations

import numpy as np

from bigbfs.conversion.numbering.table import mark_one
from bigbfs.jit.njit import njit


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
                mark_one(end, present)
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
def find_rows(pairs, first, last, rules, base, turn, out):
    """Find the place of every row among the ascending ``rules.labels`` (it is there).

    Pairs (id, other) become (base + place, other) in ``out`` (which may be ``pairs``), with ``turn`` (other, base +
    place). The search is written out here: a function that is given arrays for every pair counts references to them.
    """
    labels, directory = rules.labels, rules.directory
    for i in range(first, last):
        identifier, other = np.uint64(pairs[2 * i]), pairs[2 * i + 1]
        here = np.int64((identifier - rules.low) >> rules.shift)
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


@njit(cache=True, nogil=True)
def add_up(words, sums):
    """Go on with two ``sums`` (uint64) over ``words``: of these, and of that sum after each of them (Fletcher).

    They notice any word that has changed, and words that have changed places, at the speed of memory.
    """
    first, second = sums[0], sums[1]
    for i in range(len(words)):
        first += words[i]
        second += first
    sums[0], sums[1] = first, second
