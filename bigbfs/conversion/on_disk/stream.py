"""Takes what a reader finds, block by block, and spills it: an edge buffer that never grows."""

from __future__ import annotations

import numpy as np

from bigbfs.conversion.numbering.ids import set_bits
from bigbfs.conversion.on_disk import kernels
from bigbfs.conversion.on_disk.spill import Writer
from bigbfs.formats.readers.edge_buffer import EdgeBuffer
from bigbfs.graph.edges import EdgeList
from bigbfs.graph.views import frozen
from bigbfs.jit.workers import Workers, ranges

SLICE = 1 << 20
"""Lines spilled at once where all of them are in memory."""
ALONE = -1
"""The group of ids that exist without a line: they go to a stream that only the labels are made of."""


class Intake:
    """Counts lines and marks ids as they go to the spill; shared by the inputs of one conversion.

    Attributes
    ----------
    lines, self_loops
        Lines so far, and how many of them lead from a vertex to itself.
    largest
        Largest id so far; -1 before the first.
    present
        Table of the ids that exist (see ``kernels``); empty where it would have grown beyond ``present_bytes``.
    """

    def __init__(self, writer: Writer, workers: Workers, threads: int, largest: int, present_bytes: int) -> None:
        self._writer, self._workers, self._threads = writer, workers, threads
        self._most = present_bytes // 16
        self.lines = self.self_loops = 0
        self.largest = -1
        words = max(largest // 64 + 2, 1 << 10)
        self.present = np.zeros(2 * words if words <= self._most else 0, np.uint64)

    def take(self, src: np.ndarray, dst: np.ndarray, *, group: int = 0) -> None:
        """Spill lines ``src[i] -> dst[i]`` (uint32 or uint64)."""
        self.lines += len(src)
        self.self_loops += self._count(src, dst, group)

    def _count(self, src: np.ndarray, dst: np.ndarray, group: int) -> int:
        """Count and spill lines, or ids of vertices without a line; return the self-loops."""
        chunks = ranges(len(src), 2 * self._threads)
        if not chunks:
            return 0
        src, dst = frozen(src), frozen(dst)
        places = self._writer.map
        parts = frozen(places.parts)
        while True:
            counts = np.zeros((len(chunks), 2, places.count), np.int64)
            found: list[tuple[int, int]] = [(0, 0)] * len(chunks)

            def count(i: int) -> None:
                found[i] = kernels.count_ends(src, dst, *chunks[i], places.shift, parts, counts[i], self.present)

            self._workers.each(len(chunks), count)
            self.largest = max(self.largest, *(int(largest) for _, largest in found))
            if not len(self.present) or self.largest < 32 * len(self.present):
                break
            self._grow(self.largest)
        if group == ALONE:
            self._writer.add(src, dst, counts[:, 0], "alone")
        else:
            self._writer.add(src, dst, counts[:, 0], "out", group=group)
            self._writer.add(dst, src, counts[:, 1], "in", group=group)
        return sum(int(loops) for loops, _ in found)

    def take_list(self, edges: EdgeList, group: int) -> None:
        """Spill what a reader returned in memory, and forget it there."""
        for first in range(0, len(edges.src), SLICE):
            self.take(edges.src[first : first + SLICE], edges.dst[first : first + SLICE], group=group)
        edges.src = edges.dst = np.empty(0, edges.src.dtype)
        if edges.isolated is not None:
            ids, edges.isolated = edges.isolated, None
            for first in range(0, len(ids), SLICE):
                self._count(ids[first : first + SLICE], ids[first : first + SLICE], ALONE)

    def declare(self, spans: list[tuple[int, int]]) -> bool:
        """Mark the ids of ranges (first, end); return whether there is a table of all ids."""
        for first, end in spans:
            if len(self.present) and end > 32 * len(self.present):
                self._grow(end)
            if len(self.present):
                marks = np.zeros(len(self.present) // 2, np.uint64)
                set_bits(marks, first, end)
                self.present[::2] |= marks
        return len(self.present) > 0

    def _grow(self, largest: int) -> None:
        """Make room for the id ``largest``, or give the table up."""
        words = max(largest // 64 + 2, len(self.present))
        if largest // 64 + 2 > self._most:
            self.present = np.empty(0, np.uint64)
            return
        larger = np.zeros(2 * min(words, self._most), np.uint64)
        larger[: len(self.present)] = self.present
        self.present = larger


class EdgeStream(EdgeBuffer):
    """An edge buffer whose content is spilled as soon as it is kept; see :class:`EdgeBuffer`.

    ``size`` counts all edges that were kept.
    """

    def __init__(self, name: str, intake: Intake, *, group: int = 0) -> None:
        super().__init__(name)
        self._intake, self._group = intake, group
        self._ends = [np.empty(0, self.dtype), np.empty(0, self.dtype)]

    def space(self, count: int) -> tuple[np.ndarray, np.ndarray]:
        """Return writable (sources, targets) of ``count`` entries; what was kept before is on disk already.

        A new array where the old one is too small, not a larger map: a kernel that was just compiled may still refer to
        the old one, and then no map can be resized.
        """
        if len(self._ends[0]) < count:
            self._ends = [np.empty(count * 5 // 4, self.dtype) for _ in self._ends]
        return self._ends[0][:count], self._ends[1][:count]

    def reserve(self, count: int) -> None:
        """Do nothing: what is kept goes to disk."""

    def keep(self, count: int) -> None:
        """Spill the first ``count`` entries of the last space."""
        sources, targets = self.space(count)
        self._intake.take(sources, targets, group=self._group)
        self.size += count

    def widen(self) -> None:
        """Turn the ids into uint64."""
        self.dtype = np.dtype(np.uint64)
        self._ends = [np.empty(0, self.dtype), np.empty(0, self.dtype)]

    def arrays(self) -> tuple[np.ndarray, np.ndarray]:
        """Return two empty arrays: the edges are on disk."""
        return np.empty(0, self.dtype), np.empty(0, self.dtype)
