"""Which vertices a graph has, and the lines in their numbers 0..n-1.

A vertex exists where its id occurs in a line, or where its input declares it (``EdgeList.declared_n``) or lists it
(``EdgeList.isolated``); the vertices of several inputs are the union. Vertices are numbered in ascending order of id.
Ids without gaps need no table (their first one is ``Vertices.first_id``); others are kept as ``Vertices.labels``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bigbfs.conversion.in_memory import relabel_kernels as kernels
from bigbfs.conversion.sorting.csr import Lines
from bigbfs.errors import InputError
from bigbfs.graph.adjacency import id_dtype
from bigbfs.graph.edges import EdgeList
from bigbfs.graph.views import frozen
from bigbfs.jit.workers import ranges, run

LARGEST_ID = 2**63 - 1
BITS_PER_OCCURRENCE = 64  # a bitmap may take as much memory as 64-bit ids do; sparser ids go to the hash table
SMALL_SPAN = 1 << 27  # ... or 16 MiB, whatever the number of lines
OWN_MAPS_BYTES = 1 << 26  # up to this in all, each thread marks in a bitmap of its own, without atomics


@dataclass(frozen=True)
class Vertices:
    """Vertices 0..n-1 with original ids ``first_id`` onwards, or ``labels`` (int64, ascending) where not None."""

    n: int
    first_id: int = 0
    labels: np.ndarray | None = None


def _extent(arrays: list[np.ndarray], threads: int) -> tuple[int, int] | None:
    """Return the smallest and largest element, or None where there is none."""
    pieces = [array[a:b] for array in arrays for a, b in ranges(len(array), threads) if len(array)]
    if not pieces:
        return None
    found = run(threads, lambda piece: (int(piece.min()), int(piece.max())), [(piece,) for piece in pieces])
    return min(low for low, _ in found), max(high for _, high in found)


def declared_ranges(lists: list[EdgeList], threads: int) -> list[tuple[int, int]]:
    """Return the declared id ranges, first and end, merged where they touch; check that ids keep to them."""
    spans = []
    for edges in lists:
        if edges.declared_n is None:
            continue
        first, end = edges.first_id, edges.first_id + edges.declared_n
        extent = _extent([edges.src, edges.dst], threads)
        if extent and not first <= extent[0] <= extent[1] < end:
            wrong = extent[0] if extent[0] < first else extent[1]
            raise InputError(f"an edge names vertex {wrong}, but its input declares vertices {first} to {end - 1}")
        if end > first:
            spans.append((first, end))
    merged: list[tuple[int, int]] = []
    for first, end in sorted(spans):
        if merged and first <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((first, end))
    return merged


def find_vertices(lists: list[EdgeList], *, keep_ids: bool, threads: int) -> tuple[Vertices, Numbering | None]:
    """Return the vertices of the graph of all ``lists``, and the numbering where ids are not consecutive.

    Raises
    ------
    InputError
        An id is outside what its input declares, or above 2**63 - 1.
    """
    declared = declared_ranges(lists, threads)
    named = [(edges.src, edges.dst, edges.isolated) for edges in lists if edges.declared_n is None]
    free = [array for arrays in named for array in arrays if array is not None and len(array)]
    extent = _extent(free, threads)
    spans = declared + ([(extent[0], extent[1] + 1)] if extent else [])
    if not spans:
        return Vertices(0), None
    low, end = min(first for first, _ in spans), max(end for _, end in spans)
    if end - 1 > LARGEST_ID:
        raise InputError(f"id {end - 1} is above 2^63-1, the largest that a vertex can have")
    if keep_ids:
        return Vertices(end), None
    if declared == [(low, end)]:
        return Vertices(end - low, low), None
    occurrences = sum(map(len, free))
    span = end - low
    dense = span <= max(SMALL_SPAN, BITS_PER_OCCURRENCE * occurrences)
    numbering = (Bitmap if dense else HashTable)(free, declared, low, span, threads)
    if numbering.n == span:
        return Vertices(span, low), None
    return Vertices(numbering.n, labels=numbering.labels()), numbering


class Bitmap:
    """Ranks by one bit for each id between the smallest and the largest."""

    def __init__(
        self, free: list[np.ndarray], declared: list[tuple[int, int]], low: int, span: int, threads: int
    ) -> None:
        self._threads = threads
        self._low = np.uint64(low)
        self._words = np.zeros(-(-span // 64), np.uint64)
        self._mark(free, threads)
        for first, end in declared:
            set_bits(self._words, first - low, end - low)
        self._before = np.zeros(len(self._words) + 1, np.uint64)
        np.cumsum(np.bitwise_count(self._words), dtype=np.uint64, out=self._before[1:])
        self.n = int(self._before[-1])

    def _mark(self, free: list[np.ndarray], threads: int) -> None:
        """Set the bits of all ids: each thread in a map of its own where those are small."""
        if threads * self._words.nbytes > OWN_MAPS_BYTES:
            run(threads, kernels.mark, [(ids, a, b, self._low, self._words) for ids, a, b in _chunks(free, threads)])
            return
        maps = [self._words, *(np.zeros_like(self._words) for _ in range(threads - 1))]

        def fill(thread: int) -> None:
            for ids in free:
                first, last = len(ids) * thread // threads, len(ids) * (thread + 1) // threads
                kernels.mark_alone(frozen(ids), first, last, self._low, maps[thread])

        run(threads, fill, [(thread,) for thread in range(threads)])
        for other in maps[1:]:
            self._words |= other

    def labels(self) -> np.ndarray:
        """Return the ids that occur, ascending: int64, shape (n,)."""
        labels = np.empty(self.n, np.int64)
        shared = (self._low, self._words, self._before, labels)
        run(self._threads, kernels.list_marked, [(a, b, *shared) for a, b in ranges(len(self._words), self._threads)])
        return labels

    def ranks(self, ids: np.ndarray, out: np.ndarray) -> None:
        """Write the rank of every id to ``out`` (which may be ``ids``)."""
        shared = (self._low, self._words, self._before, out)
        run(self._threads, kernels.rank_marked, [(i, a, b, *shared) for i, a, b in _chunks([ids], self._threads)])


class HashTable:
    """Ranks by hashing: ids spread over far more values than there are lines."""

    def __init__(
        self, free: list[np.ndarray], declared: list[tuple[int, int]], low: int, span: int, threads: int
    ) -> None:
        self._threads = threads
        arrays = free + [np.arange(first, end, dtype=np.uint64) for first, end in declared]
        most = sum(map(len, arrays))
        size = 1 << max(12, (most // 16).bit_length())
        while True:
            self._table = np.full(size, kernels.FREE)
            tasks = [(ids, a, b, self._table) for ids, a, b in _chunks(arrays, threads)]
            if all(run(threads, kernels.insert, tasks)):
                break
            size *= 4
        keys = self._table[self._table != kernels.FREE]
        keys.sort()
        self.n = len(keys)
        self._keys = keys
        self._ranks = np.empty(size, id_dtype(self.n))
        shared = (self._table, self._ranks)
        run(threads, kernels.store_ranks, [(keys, a, b, *shared) for a, b in ranges(self.n, threads)])

    def labels(self) -> np.ndarray:
        """Return the ids that occur, ascending: int64, shape (n,)."""
        return self._keys.view(np.int64)

    def ranks(self, ids: np.ndarray, out: np.ndarray) -> None:
        """Write the rank of every id to ``out`` (which may be ``ids``)."""
        shared = (self._table, self._ranks, out)
        run(self._threads, kernels.rank_found, [(i, a, b, *shared) for i, a, b in _chunks([ids], self._threads)])


Numbering = Bitmap | HashTable


def _chunks(arrays: list[np.ndarray], threads: int) -> list[tuple[np.ndarray, int, int]]:
    return [(frozen(array), a, b) for array in arrays for a, b in ranges(len(array), 4 * threads) if len(array)]


def set_bits(words: np.ndarray, first: int, end: int) -> None:
    """Set the bits ``first`` to ``end``: whole bytes at once, the ragged ends one by one."""
    view = words.view(np.uint8)
    inner_first, inner_end = -(-first // 8), end // 8
    view[inner_first:inner_end] = 0xFF
    for bit in {*range(first, min(end, inner_first * 8)), *range(max(first, inner_end * 8), end)}:
        view[bit >> 3] |= np.uint8(1 << (bit & 7))


def number_lines(
    lists: list[EdgeList], vertices: Vertices, numbering: Numbering | None, threads: int, *, reuse: bool
) -> Lines:
    """Return the edges of all ``lists`` as one pair of arrays of vertex numbers; ``lists`` is emptied.

    ``reuse`` allows to write the numbers into the arrays of the list.
    """
    dtype = id_dtype(vertices.n)
    if len(lists) == 1:
        edges = lists.pop()
        sources, targets = [edges.src], [edges.dst]
        edges.src = edges.dst = np.empty(0, dtype)  # not a slice, which would keep the whole array alive
    else:
        sources, targets = [edges.src for edges in lists], [edges.dst for edges in lists]
        for edges in lists:
            edges.src = edges.dst = np.empty(0, dtype)
        lists.clear()

    def translate(ids: np.ndarray, out: np.ndarray) -> None:
        if numbering is not None:
            numbering.ranks(ids, out)
        else:
            base = ids.dtype.type(vertices.first_id)

            def shift(first: int, last: int) -> None:
                np.subtract(ids[first:last], base, out=out[first:last], casting="unsafe")

            run(threads, shift, ranges(len(ids), threads) if len(ids) else [])

    def numbers(pieces: list[np.ndarray]) -> np.ndarray:
        only = pieces[0] if len(pieces) == 1 else None
        if only is not None and only.dtype == dtype:
            if numbering is None and vertices.first_id == 0:
                return only
            if reuse and only.flags.writeable:
                translate(only, only)
                return only
        del only
        out = np.empty(sum(map(len, pieces)), dtype)
        place = 0
        while pieces:
            piece = pieces.pop(0)
            translate(piece, out[place : place + len(piece)])
            place += len(piece)
        return out

    return Lines(numbers(sources), numbers(targets), vertices.n)
