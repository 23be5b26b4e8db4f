"""Which vertices a graph has, and the lines in their numbers 0..n-1.

A vertex exists where its id occurs in a line, or where its input declares it (``EdgeList.declared_n``) or lists it
(``EdgeList.isolated``); the vertices of several inputs are the union. Vertices are numbered in ascending order of id.
Ids without gaps need no table (their first one is ``Vertices.first_id``); others are kept as ``Vertices.labels``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bigbfs.conversion.numbering import table
from bigbfs.conversion.numbering.hashing import HashTable
from bigbfs.conversion.numbering.ids import LARGEST_ID, PIECE, chunks, declared_ranges, extent, set_bits
from bigbfs.conversion.sorting.lines import Lines
from bigbfs.errors import InputError
from bigbfs.graph.adjacency import id_dtype
from bigbfs.graph.edges import EdgeList
from bigbfs.graph.views import frozen
from bigbfs.jit.workers import Workers, ranges, run
from bigbfs.report.progress import SILENT, Progress

BITS_PER_OCCURRENCE = 64  # a bitmap may take as much memory as 64-bit ids do; sparser ids go to the hash table
SMALL_SPAN = 1 << 27  # ... or 16 MiB, whatever the number of lines
OWN_MAPS_BYTES = 1 << 26  # up to this in all, each thread marks in a bitmap of its own, without atomics
PASSES = 3
"""Looks at every id: for the smallest and the largest, for those that occur, and to number it."""


@dataclass(frozen=True)
class Vertices:
    """Vertices 0..n-1 with original ids ``first_id`` onwards, or ``labels`` (int64, ascending) where not None."""

    n: int
    first_id: int = 0
    labels: np.ndarray | None = None


class Others:
    """What other processes have read of the same graph, where several make it; here there are none."""

    def extent(self, found: tuple[int, int] | None) -> tuple[int, int] | None:
        """Return the smallest and the largest id of all, given those found here."""
        return found

    def occurrences(self, count: int) -> int:
        """Return how many ids all have read, given how many were read here."""
        return count

    def mark(self, bits: np.ndarray) -> None:
        """Set the bits (uint64 words) that others have set."""

    def labels(self, labels: np.ndarray) -> np.ndarray:
        """Return the ids of all, ascending, given those found here."""
        return labels


def find_vertices(
    lists: list[EdgeList], *, keep_ids: bool, threads: int, told: Progress = SILENT, others: Others | None = None
) -> tuple[Vertices, Numbering | None]:
    """Return the vertices of the graph of all ``lists``, and the numbering where ids are not consecutive.

    ``told`` is told of the ids looked at. With ``others`` no input declares its vertices.

    Raises
    ------
    InputError
        An id is outside what its input declares, or above 2**63 - 1.
    """
    declared = declared_ranges(lists, threads)
    named = [(edges.src, edges.dst, edges.isolated) for edges in lists if edges.declared_n is None]
    free = [array for arrays in named for array in arrays if array is not None and len(array)]
    others = others or Others()
    found = others.extent(extent(free, threads))
    told.advance(2 * sum(len(edges.src) for edges in lists))
    spans = declared + ([(found[0], found[1] + 1)] if found else [])
    if not spans:
        return Vertices(0), None
    low, end = min(first for first, _ in spans), max(end for _, end in spans)
    if end - 1 > LARGEST_ID:
        raise InputError(f"id {end - 1} is above 2^63-1, the largest that a vertex can have")
    if keep_ids:
        return Vertices(end), None
    if declared == [(low, end)]:
        return Vertices(end - low, low), None
    span = end - low
    dense = span <= max(SMALL_SPAN, BITS_PER_OCCURRENCE * others.occurrences(sum(map(len, free))))
    numbering: Numbering
    if dense:
        numbering = Bitmap(free, declared, low, span, threads, told, others)
    else:
        numbering = HashTable(free, declared, low, span, threads, told)
        mine = numbering.labels()
        labels = others.labels(mine)
        if labels is not mine:
            numbering = HashTable([labels.view(np.uint64)], [], low, span, threads)
    if numbering.n == span:
        return Vertices(span, low), None
    return Vertices(numbering.n, labels=numbering.labels()), numbering


class Bitmap:
    """Ranks by one bit for each id between the smallest and the largest."""

    def __init__(
        self,
        free: list[np.ndarray],
        declared: list[tuple[int, int]],
        low: int,
        span: int,
        threads: int,
        told: Progress = SILENT,
        others: Others | None = None,
    ) -> None:
        self._threads, self._told = threads, told
        self._low = np.uint64(low)
        self._words = -(-span // 64)
        self._table = np.zeros(2 * self._words, np.uint64)
        self._mark(free, declared, low)
        if others is not None:
            others.mark(self._table[::2])
        with Workers(threads) as workers:
            self.n = table.place_ranks(self._table, workers, threads)

    def _mark(self, free: list[np.ndarray], declared: list[tuple[int, int]], low: int) -> None:
        """Set the bits of all ids: each thread in a map of its own where those are small."""
        if self._threads * 8 * self._words > OWN_MAPS_BYTES:

            def mark(ids: np.ndarray, first: int, last: int) -> None:
                table.mark(ids, first, last, self._low, self._table)
                self._told.advance(last - first)

            run(self._threads, mark, chunks(free, self._threads, PIECE))
            maps = [np.zeros(self._words, np.uint64)] if declared else []
        else:
            maps = [np.zeros(self._words, np.uint64) for _ in range(self._threads)]

            def fill(thread: int) -> None:
                for ids in free:
                    begin, end = (len(ids) * part // self._threads for part in (thread, thread + 1))
                    for first in range(begin, end, PIECE):
                        last = min(first + PIECE, end)
                        table.mark_alone(frozen(ids), first, last, self._low, maps[thread])
                        self._told.advance(last - first)

            run(self._threads, fill, [(thread,) for thread in range(self._threads)])
        for first, end in declared:
            set_bits(maps[0], first - low, end - low)
        for words in maps:
            self._table[::2] |= words

    def labels(self) -> np.ndarray:
        """Return the ids that occur, ascending: int64, shape (n,)."""
        labels = np.empty(self.n, np.int64)
        shared = (self._low, frozen(self._table))
        parts = [(a, b, *shared, labels[int(self._table[2 * a + 1]) :]) for a, b in ranges(self._words, self._threads)]
        run(self._threads, table.list_marked, parts)
        return labels

    def ranks(self, ids: np.ndarray, out: np.ndarray) -> None:
        """Write the rank of every id to ``out`` (which may be ``ids``)."""
        shared = (self._low, frozen(self._table), out)

        def rank(given: np.ndarray, first: int, last: int) -> None:
            table.rank_marked(given, first, last, *shared)
            self._told.advance(last - first)

        run(self._threads, rank, chunks([ids], self._threads, PIECE))


Numbering = Bitmap | HashTable


def number_lines(
    lists: list[EdgeList],
    vertices: Vertices,
    numbering: Numbering | None,
    threads: int,
    *,
    reuse: bool,
    told: Progress = SILENT,
) -> Lines:
    """Return the edges of all ``lists`` as one pair of arrays of vertex numbers; ``lists`` is emptied.

    ``reuse`` allows to write the numbers into the arrays of the list; ``told`` is told of the ids that are numbered.
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
        elif len(ids):  # of a rank that has read none they are narrow, whatever the first id of all
            base = ids.dtype.type(vertices.first_id)

            def shift(first: int, last: int) -> None:
                np.subtract(ids[first:last], base, out=out[first:last], casting="unsafe")

            run(threads, shift, ranges(len(ids), threads))
            told.advance(len(ids))

    def numbers(stretches: list[np.ndarray]) -> np.ndarray:
        only = stretches[0] if len(stretches) == 1 else None
        if only is not None and only.dtype == dtype:
            if numbering is None and vertices.first_id == 0:
                return only
            if reuse and only.flags.writeable:
                translate(only, only)
                return only
        del only
        out = np.empty(sum(map(len, stretches)), dtype)
        place = 0
        while stretches:
            stretch = stretches.pop(0)
            translate(stretch, out[place : place + len(stretch)])
            place += len(stretch)
        return out

    return Lines(numbers(sources), numbers(targets), vertices.n)
