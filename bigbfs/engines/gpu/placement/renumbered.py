"""A graph of the vertices that have edges, where many between them have none: consecutive numbers for them on a device.

In: a plain undirected graph. Out: the same edges under new offsets (host memory), and a table by which a kernel
finds the number of an id as the file has it: for each 32 vertices a word of 64 bits, which of them have edges in the
low half and how many are before them in the high one. Ids in device memory are written anew once; ids that stay in host
memory are looked up as they are read (kernels/rows/numbers.cuh). Bitmaps, heads, levels and parents then have no gaps.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bigbfs.graph import pages
from bigbfs.graph.adjacency import WIDE_FROM, PlainAdjacency
from bigbfs.graph.graph import Graph

SMALLEST = 1 << 16
"""Vertices of the smallest graph that is renumbered."""
EMPTY_SHARE = 8
"""One in so many vertices at least has no edges, of those up to the last that has some."""
EVEN_DEPTH = 8
"""Least edges of a vertex that has some, on average: graphs of fewer may be deep, and the CPU may walk on in the file's
own numbers."""
LOOKS = 4096
STRETCH = 1 << 20


@dataclass(frozen=True, eq=False)
class NumberedRows(PlainAdjacency):
    """Rows of numbers. ``indices`` has ids as the file has them, to whose numbers a table of ``table_bytes`` leads."""

    table_bytes: int = 0


class Renumbered:
    """Consecutive numbers for the vertices of ``graph`` that have edges.

    Parameters
    ----------
    graph
        A graph of which :func:`renumbers` is true.
    threads
        Threads to use.

    Attributes
    ----------
    graph
        The vertices with edges, under their numbers; its neighbour ids are those of the file.
    file
        The graph as it was given.
    words
        uint64, shape (n / 32,): see above.
    n
        Vertices of the whole graph.
    """

    def __init__(self, graph: Graph, threads: int) -> None:
        rows = graph.adjacency
        assert isinstance(rows, PlainAdjacency)
        self.n, self.file = graph.n, graph
        self.words = np.zeros(-(-graph.n // 32), np.uint64)
        stretches = [(low, min(graph.n, low + STRETCH)) for low in range(0, graph.n, STRETCH)]
        with ThreadPoolExecutor(max(1, threads)) as pool:
            counts = list(pool.map(lambda at: self._mark(rows.indptr, *at), stretches))
            before = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
            starts = pages.empty(int(before[-1]) + 1, np.uint64)
            starts[-1] = rows.indptr[-1]
            list(pool.map(lambda at, place: self._fill(rows.indptr, starts, place, *at), stretches, before[:-1]))
        own = NumberedRows(starts, rows.indices, self.words.nbytes)
        self.graph = Graph(own, graph.flags, m=graph.m, path=graph.path)

    def _mark(self, indptr: np.ndarray, low: int, high: int) -> int:
        """Set the bits of a stretch; return how many there are."""
        bits = np.packbits(indptr[low + 1 : high + 1] != indptr[low:high], bitorder="little")
        bits = np.concatenate([bits, np.zeros(-len(bits) % 4, np.uint8)]).view(np.uint32)
        self.words[low // 32 : low // 32 + len(bits)] = bits
        return int(np.bitwise_count(bits).sum())

    def _fill(self, indptr: np.ndarray, starts: np.ndarray, place: int, low: int, high: int) -> None:
        """Write the offsets of a stretch, whose first vertex has number ``place``, and what is before each word."""
        words = self.words[low // 32 : -(-high // 32)]
        own = np.bitwise_count(words).astype(np.uint64)
        words |= (np.uint64(place) + np.cumsum(own) - own) << np.uint64(32)
        begins = indptr[low:high]
        found = np.flatnonzero(indptr[low + 1 : high + 1] != begins)  # a tenth of the time that a mask takes
        np.take(begins, found, out=starts[place : place + len(found)], mode="clip")

    @cached_property
    def vertices(self) -> np.ndarray:
        """The vertex of each number: int64."""
        bits = np.unpackbits(self.words.astype(np.uint32).view(np.uint8), bitorder="little")
        return np.flatnonzero(bits)

    def number(self, vertex: int) -> int | None:
        """Return the number of ``vertex``; None: it has no edges."""
        word, bit = int(self.words[vertex // 32]), 1 << int(vertex) % 32  # no int64, which words go beyond
        return (word >> 32) + (word & (bit - 1)).bit_count() if word & bit else None

    def spread(self, values: np.ndarray, rest: np.ndarray | int) -> np.ndarray:
        """Return ``values``, one for each number, as one for each vertex; those without edges get ``rest``."""
        found: np.ndarray = np.empty(self.n, values.dtype)
        found[:] = rest
        found[self.vertices] = values
        return found


def renumbers(graph: Graph) -> bool:
    """Tell whether a run of ``graph`` on a GPU is quicker under numbers of its own, as far as a sample tells."""
    rows = graph.adjacency
    if not isinstance(rows, PlainAdjacency) or graph.in_adjacency is not rows or graph.n >= WIDE_FROM:
        return False
    end = rows.rows_end
    if end < SMALLEST:
        return False
    looks = np.linspace(0, end - 1, min(LOOKS, end)).astype(np.int64)
    empty = int(np.count_nonzero(rows.indptr[looks] == rows.indptr[looks + 1]))
    return empty * EMPTY_SHARE >= len(looks) and rows.m >= EVEN_DEPTH * end * (1 - empty / len(looks))
