"""A table of the ids that exist, which gives each its rank.

``table`` (uint64) interleaves, for each 64 ids from a base on, one bit for each that exists and the number of those
before them, so that a rank takes one cache line. Kernels are serial over a range, release the GIL and may run side by
side. ids are uint32 or uint64.
"""

from __future__ import annotations

import numpy as np

from bigbfs.graph.views import frozen
from bigbfs.jit.atomics import fetch_or
from bigbfs.jit.bits import population
from bigbfs.jit.njit import njit
from bigbfs.jit.workers import Workers, ranges

_ONE = np.uint64(1)
_TWO = np.uint64(2)
_SIX = np.uint64(6)
_LOW_SIX = np.uint64(63)

# Small functions are inlined by LLVM (forceinline), because inline="always" takes and drops a reference to every array
# for every id: a tenth of the speed.


@njit(forceinline=True)
def mark_one(place, table):
    """Set the bit ``place``, with others that do the same."""
    word = (place >> _SIX) * _TWO
    bit = _ONE << (place & _LOW_SIX)
    if not table[word] & bit:  # most ids have occurred before: no atomic then
        fetch_or(table, word, bit)


@njit(forceinline=True)
def rank_of(place, table):
    """Return how many bits before ``place`` are set."""
    word = (place >> _SIX) * _TWO
    below = (_ONE << (place & _LOW_SIX)) - _ONE
    return table[word + _ONE] + population(table[word] & below)


@njit(cache=True, nogil=True)
def mark_alone(ids, first, last, base, words):
    """Set the bit of every id in plain ``words``, to which nobody else writes.

    Without a branch: a third of the time of :func:`mark`.
    """
    for i in range(first, last):
        place = np.uint64(ids[i]) - base
        words[place >> _SIX] |= _ONE << (place & _LOW_SIX)


@njit(cache=True, nogil=True)
def mark(ids, first, last, base, table):
    """Set the bit of every id, with others that do the same."""
    for i in range(first, last):
        mark_one(np.uint64(ids[i]) - base, table)


@njit(cache=True, nogil=True)
def count_marked(first, last, table):
    """Return how many ids are marked in the words ``first`` to ``last``."""
    total = np.uint64(0)
    for word in range(first, last):
        total += population(table[2 * word])
    return total


@njit(cache=True, nogil=True)
def place_marked(first, last, before, table):
    """Write beside each of these words how many ids are marked before it; ``before`` is that of the first."""
    for word in range(first, last):
        table[2 * word + 1] = before
        before += population(table[2 * word])


@njit(cache=True, nogil=True)
def rank_marked(ids, first, last, base, table, out):
    """Write the rank of every id among the marked ones to ``out`` (which may be ``ids``)."""
    for i in range(first, last):
        out[i] = rank_of(np.uint64(ids[i]) - base, table)


@njit(cache=True, nogil=True)
def list_marked(first, last, base, table, labels):
    """Write the ids marked in the words ``first`` to ``last``, ascending, to ``labels``; return how many."""
    place = np.int64(0)
    for word in range(first, last):
        bits = table[2 * word]
        while bits:
            lowest = bits & (~bits + _ONE)
            labels[place] = base + (np.uint64(word) << _SIX) + population(lowest - _ONE)
            place += 1
            bits ^= lowest
    return place


def place_ranks(table: np.ndarray, workers: Workers, threads: int) -> int:
    """Fill in the counts beside the bits of ``table``; return how many ids are marked."""
    chunks = ranges(len(table) // 2, 4 * threads) if len(table) else []
    counts = np.zeros(len(chunks), np.int64)
    bits = frozen(table)

    def count(i: int) -> None:
        counts[i] = count_marked(*chunks[i], bits)

    workers.each(len(chunks), count)
    before = (np.cumsum(counts) - counts).astype(np.uint64)
    workers.each(len(chunks), lambda i: place_marked(*chunks[i], before[i], table))
    return int(counts.sum())
