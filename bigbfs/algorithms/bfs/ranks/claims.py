"""What a top-down level claims, in rounds: a few rows at a time for each thread, in buffers that do not grow.

A level may lead to nearly every vertex, and each thread would need room for all of them. So the window of the queue is
cut into pieces of about :data:`PIECE` edges, whole rows or part of a long one; a round is a piece for each thread, and
what it claimed is settled and written down for its owners before the next one begins.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from bigbfs.algorithms.bfs.ranks import levels
from bigbfs.algorithms.bfs.ranks.state import Own
from bigbfs.engines.cpu.ranked_memory import CLAIMS
from bigbfs.engines.cpu.rows import Rows, row_lengths
from bigbfs.engines.ranks.partition import Part
from bigbfs.graph.adjacency import BLOCK_IDS
from bigbfs.jit.workers import Workers

PIECE = CLAIMS
"""Edges of a piece: the claims of two fit the cache of a core."""

LEAST = 4096
"""Edges that one thread is over with before others have woken up."""

SHARES = 4
"""Pieces for each thread of several, at least: rows differ."""

Lot = tuple[np.ndarray, np.ndarray, np.uint64]
"""Vertices claimed, the vertices from which, and how many."""

_ZERO = np.uint64(0)
_ALL = np.uint64(2**63 - 1)


class Claims:
    """The claims of one rank.

    Parameters
    ----------
    rows, part, own
        Out-rows, what the rank owns, its state.
    workers, threads
        The rank's threads, and how many.

    Attributes
    ----------
    faults
        Ids met that are no vertices, in the last level.
    """

    def __init__(self, rows: Rows, part: Part, own: Own, workers: Workers, threads: int) -> None:
        self._rows, self._part, self._own, self._workers, self._threads = rows, part, own, workers, threads
        self._buffers = np.empty((threads, 2, 0), own.queue.dtype)
        self.faults = 0

    @property
    def nbytes(self) -> int:
        """Bytes of the buffers."""
        return self._buffers.nbytes

    def rounds(self, first: int, last: int) -> Iterator[list[Lot]]:
        """Claim what ``queue[first:last]`` leads to: yield the lots of each round, which are valid until the next."""
        self.faults = 0
        if first == last:
            return
        lengths = row_lengths(self._rows, self._own.queue[first:last])
        total = int(lengths.sum())
        size = PIECE
        if self._threads > 1:
            size = min(size, max(LEAST, total // (SHARES * self._threads)))
        pieces = list(cut(lengths, size))
        most = min(most_of(size), total)
        if self._buffers.shape[2] < most:
            self._buffers = np.empty((self._threads, 2, most), self._buffers.dtype)
        for start in range(0, len(pieces), self._threads):
            yield self._round(first, pieces[start : start + self._threads], most_of(size))

    def _round(self, first: int, pieces: list[tuple[int, int, int]], part_of_row: int) -> list[Lot]:
        counts, faults = [_ZERO] * len(pieces), [0] * len(pieces)

        def one(i: int) -> None:
            begin, end, skip = pieces[i]
            window = (np.uint64(first + begin), np.uint64(first + end), np.uint64(max(0, skip)))
            most = _ALL if skip < 0 else np.uint64(part_of_row)
            claims, owners = self._buffers[i]
            counts[i], faults[i] = levels.expand(
                self._rows, self._part, self._own.queue, *window, most, self._own.visited, claims, owners, _ZERO
            )

        self._workers.each(len(pieces), one)
        self.faults += int(sum(faults))
        return [(*self._buffers[i], np.uint64(counts[i])) for i in range(len(pieces))]


def most_of(size: int) -> int:
    """Return the edges that a piece has at most: of one row whole blocks, within which varints cannot be entered."""
    return max(1, 2 * size // BLOCK_IDS) * BLOCK_IDS


def cut(lengths: np.ndarray, size: int) -> Iterator[tuple[int, int, int]]:
    """Yield pieces (begin, end, skip) of rows of these ``lengths`` (int64), each of ``most_of(size)`` edges at most.

    ``skip`` below 0: whole rows; else so many edges, or what is left, of one row from ``skip`` on.
    """
    before = np.cumsum(lengths) - lengths
    most = most_of(size)
    long = lengths > most // 2
    block = before // (most // 2)
    starts = np.flatnonzero((block[1:] != block[:-1]) | long[1:] | long[:-1]) + 1
    for begin, end in pairwise([0, *starts.tolist(), len(lengths)]):
        if long[begin]:
            for skip in range(0, int(lengths[begin]), most):
                yield begin, end, skip
        else:
            yield begin, end, -1
