"""Kernels that tell names apart: a hash table whose every hit is compared byte by byte.

A slot is two words: the hash and the place of the name's record in the arena (:mod:`bigbfs.graph.name_kernels`) plus 1;
0 is free. The hash is seeded anew in every process, so nobody can prepare names that collide, and equal hashes cost
time alone: a name is found by its bytes. Nothing of the result depends on the seed.
"""

from __future__ import annotations

import numpy as np

from bigbfs.graph.name_kernels import record_name, word_at
from bigbfs.jit.bits import fetch_soon
from bigbfs.jit.njit import njit

_K1, _K2 = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD6E8FEB86659FD93)
_HALF, _LOW = np.uint64(32), np.uint64(0xFFFFFFFF)
_ONE = np.uint64(1)
_AHEAD = 32
"""Names that are looked for at once."""
_LATER = 4
"""Words from the beginning of a record to its second cache line, where there is one."""


@njit(cache=True, nogil=True)
def hash_names(data, offsets, first, last, seed, hashes):
    """Write the hash of each name to ``hashes``."""
    for i in range(first, last):
        place, end = np.int64(offsets[i]), np.int64(offsets[i + 1])
        found = seed ^ (np.uint64(end - place) * _K1)
        while place < end:
            found = (found ^ word_at(data, place, end)) * _K2
            found ^= found >> _HALF
            place += 8
        found *= _K1
        hashes[i] = found ^ (found >> _HALF)


@njit(cache=True, nogil=True)
def _same(words, record, data, begin, end):
    if np.int64(words[record] & _LOW) != end - begin:
        return False
    place, at = begin, record + 1
    while place < end:
        if words[at] != word_at(data, place, end):
            return False
        place += 8
        at += 1
    return True


@njit(cache=True, nogil=True)
def _own(hashes, at, last, shard, shards, own):
    """Write the places from ``at`` on whose names are of one shard to ``own`` until it is full; (how many, next)."""
    many = np.uint64(shards)
    count = np.int64(0)
    while at < last and count < len(own):
        own[count] = at
        count += np.int64(
            ((hashes[at] >> _HALF) * many) >> _HALF == np.uint64(shard)
        )  # no branch: nobody can foresee it
        at += 1
    return count, at


@njit(cache=True, nogil=True)
def _seek(hashes, own, count, table, mask, words, slots):
    """Find the slot of each name, or the free one where its search ends, and have the record there fetched.

    All slots are fetched before the first is looked at, and all records before the first is compared: one wait for
    memory instead of one for each. A free slot may be another name's when its turn comes; no slot is moved.
    """
    for k in range(count):
        fetch_soon(table, np.int64(2 * (hashes[own[k]] & mask)))
    for k in range(count):
        key = hashes[own[k]]
        slot = key & mask
        while table[2 * slot + _ONE] != 0 and table[2 * slot] != key:
            slot = (slot + _ONE) & mask
        slots[k] = slot
        record = np.int64(table[2 * slot + _ONE]) - 1
        fetch_soon(words, record)
        fetch_soon(words, record + _LATER)


@njit(cache=True, nogil=True)
def insert(data, offsets, hashes, first, last, shard, shards, table, words, state, numbers):
    """Number the names of one shard: ``numbers[i]`` is (names before it in the shard) * shards + shard.

    There is room in ``table`` and ``words`` for all of them. ``state``: names of the shard so far, and the place in
    ``words`` behind the last one's record.
    """
    mask = np.uint64(len(table) // 2 - 1)
    count, free = state[0], state[1]
    own, slots = np.empty(_AHEAD, np.int64), np.empty(_AHEAD, np.uint64)
    while first < last:
        here, first = _own(hashes, first, last, shard, shards, own)
        _seek(hashes, own, here, table, mask, words, slots)
        for k in range(here):
            i = own[k]
            key = hashes[i]
            begin, end = np.int64(offsets[i]), np.int64(offsets[i + 1])
            slot = slots[k]
            while True:
                found = table[2 * slot + _ONE]
                if found == 0:
                    table[2 * slot] = key
                    table[2 * slot + _ONE] = np.uint64(free + 1)
                    numbers[i] = np.uint32(count * shards + shard)
                    free = record_name(data, begin, end, words, free, count)
                    count += 1
                    break
                if table[2 * slot] == key:
                    record = np.int64(found) - 1
                    if _same(words, record, data, begin, end):
                        numbers[i] = np.uint32(np.int64(words[record] >> _HALF) * shards + shard)
                        break
                slot = (slot + _ONE) & mask
    state[0], state[1] = count, free


@njit(cache=True, nogil=True)
def grow(table, larger):
    """Put all slots of a table into a larger one."""
    mask = np.uint64(len(larger) // 2 - 1)
    for place in range(len(table) // 2):
        if table[2 * place + 1] != 0:
            slot = table[2 * place] & mask
            while larger[2 * slot + _ONE] != 0:
                slot = (slot + _ONE) & mask
            larger[2 * slot] = table[2 * place]
            larger[2 * slot + _ONE] = table[2 * place + 1]


@njit(cache=True, nogil=True)
def places(words, at, records):
    """Write the places of the records from ``at`` on to ``records``."""
    for i in range(len(records)):
        records[i] = at
        at += 1 + (np.int64(words[at] & _LOW) + 7) // 8


@njit(cache=True, nogil=True)
def translate(numbers, shards, bases, ranks, out):
    """Write the rank of each name to ``out``: shard s has ``ranks[bases[s]:bases[s + 1]]``."""
    many = np.uint32(shards)
    for i in range(len(numbers)):
        out[i] = ranks[bases[numbers[i] % many] + np.int64(numbers[i] // many)]
