"""Kernels that find which ids occur and give each its rank: a bitmap for dense ids, a hash table for sparse ones.

All are serial over a range, release the GIL and may run side by side. ids are uint32 or uint64. The bitmap has one
bit for each id from ``base`` on, in uint64 words, with the number of ids before each word in ``before``. The hash table
is open addressing with linear probing, ``FREE`` marking an unused slot (no id is that large).
"""

from __future__ import annotations

import numpy as np

from bigbfs.jit.atomics import compare_and_swap, fetch_or
from bigbfs.jit.njit import njit

FREE = np.uint64(2**64 - 1)
LONGEST_PROBE = 200  # a table three quarters full rarely needs a quarter of this
_ONE = np.uint64(1)
_SIX = np.uint64(6)
_LOW_SIX = np.uint64(63)


@njit(cache=True, nogil=True)
def mark_alone(ids, first, last, base, words):
    """Set the bit of every id; nobody else writes to ``words``. Without a branch: a third of the time of `mark`."""
    for i in range(first, last):
        place = np.uint64(ids[i]) - base
        words[place >> _SIX] |= _ONE << (place & _LOW_SIX)


@njit(cache=True, nogil=True)
def mark(ids, first, last, base, words):
    """Set the bit of every id, with others that do the same."""
    for i in range(first, last):
        place = np.uint64(ids[i]) - base
        bit = _ONE << (place & _LOW_SIX)
        if not words[place >> _SIX] & bit:  # most ids have occurred before: no atomic then
            fetch_or(words, place >> _SIX, bit)


@njit(cache=True, nogil=True)
def popcount(word):
    """Return the number of bits set in a uint64."""
    word -= (word >> _ONE) & np.uint64(0x5555555555555555)
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (word * np.uint64(0x0101010101010101)) >> np.uint64(56)


@njit(cache=True, nogil=True)
def rank_marked(ids, first, last, base, words, before, out):
    """Write the rank of every id among the marked ones to ``out``."""
    for i in range(first, last):
        place = np.uint64(ids[i]) - base
        word = place >> _SIX
        below = (_ONE << (place & _LOW_SIX)) - _ONE
        out[i] = before[word] + popcount(words[word] & below)


@njit(cache=True, nogil=True)
def list_marked(first, last, base, words, before, labels):
    """Write the ids marked in the words ``first`` to ``last``, ascending."""
    for word in range(first, last):
        bits = words[word]
        place = before[word]
        while bits:
            low = bits & (~bits + _ONE)
            labels[place] = base + (np.uint64(word) << _SIX) + popcount(low - _ONE)
            place += _ONE
            bits ^= low


@njit(cache=True, nogil=True)
def _slot(key, mask):
    """Return the first slot to try: the finalizer of SplitMix64, which no regular pattern of ids survives."""
    key ^= key >> np.uint64(30)
    key *= np.uint64(0xBF58476D1CE4E5B9)
    key ^= key >> np.uint64(27)
    key *= np.uint64(0x94D049BB133111EB)
    return (key ^ (key >> np.uint64(31))) & mask


@njit(cache=True, nogil=True)
def insert(ids, first, last, table):
    """Put every id into the table; return False as soon as one would have to be probed for too long."""
    mask = np.uint64(len(table) - 1)
    for i in range(first, last):
        key = np.uint64(ids[i])
        slot = _slot(key, mask)
        probes = 0
        while True:
            found = table[slot]
            if found == FREE:
                found = compare_and_swap(table, slot, FREE, key)
                if found == FREE:
                    break
            if found == key:
                break
            probes += 1
            if probes > LONGEST_PROBE:
                return False
            slot = (slot + _ONE) & mask
    return True


@njit(cache=True, nogil=True)
def _find(key, table, mask):
    slot = _slot(key, mask)
    while table[slot] != key:
        slot = (slot + _ONE) & mask
    return slot


@njit(cache=True, nogil=True)
def store_ranks(labels, first, last, table, ranks):
    """Write to ``ranks`` at the slot of each of the ascending ``labels`` its position."""
    mask = np.uint64(len(table) - 1)
    for i in range(first, last):
        ranks[_find(labels[i], table, mask)] = i


@njit(cache=True, nogil=True)
def rank_found(ids, first, last, table, ranks, out):
    """Write the rank of every id to ``out``."""
    mask = np.uint64(len(table) - 1)
    for i in range(first, last):
        out[i] = ranks[_find(np.uint64(ids[i]), table, mask)]
