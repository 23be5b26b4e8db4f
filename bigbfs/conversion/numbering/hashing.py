"""Ranks by hashing, for ids spread over far more values than there are lines.

The table is open addressing with linear probing, ``FREE`` marking an unused slot (no id is that large). Kernels are
serial over a range, release the GIL and may run side by side. ids are uint32 or uint64.
"""

from __future__ import annotations

import numpy as np

from bigbfs.conversion.numbering.ids import PIECE, chunks
from bigbfs.graph.adjacency import id_dtype
from bigbfs.jit.atomics import compare_and_swap
from bigbfs.jit.njit import njit
from bigbfs.jit.workers import ranges, run
from bigbfs.report.progress import SILENT, Progress

FREE = np.uint64(2**64 - 1)
LONGEST_PROBE = 200  # a table three quarters full rarely needs a quarter of this
_ONE = np.uint64(1)


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


class HashTable:
    """Ranks by hashing: ids spread over far more values than there are lines."""

    def __init__(
        self,
        free: list[np.ndarray],
        declared: list[tuple[int, int]],
        low: int,
        span: int,
        threads: int,
        told: Progress = SILENT,
    ) -> None:
        self._threads, self._told = threads, told
        arrays = free + [np.arange(first, end, dtype=np.uint64) for first, end in declared]
        most = sum(map(len, arrays))
        size = 1 << max(12, (most // 16).bit_length())
        while True:
            self._table = np.full(size, FREE)

            def put(ids: np.ndarray, first: int, last: int) -> bool:
                done = insert(ids, first, last, self._table)
                told.advance(last - first if done else 0)
                return bool(done)

            if all(run(threads, put, chunks(arrays, threads, PIECE))):
                break
            size *= 4
        keys = self._table[self._table != FREE]
        keys.sort()
        self.n = len(keys)
        self._keys = keys
        self._ranks = np.empty(size, id_dtype(self.n))
        shared = (self._table, self._ranks)
        run(threads, store_ranks, [(keys, a, b, *shared) for a, b in ranges(self.n, threads)])

    def labels(self) -> np.ndarray:
        """Return the ids that occur, ascending: int64, shape (n,)."""
        return self._keys.view(np.int64)

    def ranks(self, ids: np.ndarray, out: np.ndarray) -> None:
        """Write the rank of every id to ``out`` (which may be ``ids``)."""
        shared = (self._table, self._ranks, out)

        def rank(given: np.ndarray, first: int, last: int) -> None:
            rank_found(given, first, last, *shared)
            self._told.advance(last - first)

        run(self._threads, rank, chunks([ids], self._threads, PIECE))
