"""Rows of an adjacency in other numbers, gathered into a buffer by all threads.

A row is read where it lies, renumbered and sorted by itself. Where the rows do not fit in the memory that may be used,
they are taken in the order in which they lie in the file, and what was read is let go.
"""

from __future__ import annotations

import mmap
from dataclasses import dataclass
from typing import Any

import numpy as np

from bigbfs.errors import FormatError
from bigbfs.formats.container import moved_kernels as kernels
from bigbfs.graph.adjacency import Adjacency, PlainAdjacency
from bigbfs.graph.views import frozen, signed
from bigbfs.jit.workers import Workers, balanced_ranges, ranges

_TASKS = 8
"""Pieces of a buffer for each thread."""
_AT_ONCE = 1 << 16
"""Rows whose lengths are looked up at once."""


@dataclass(frozen=True)
class Moved:
    """Vertices in other numbers.

    Attributes
    ----------
    rows
        Ids of the old graph, shape (k,): new vertex i was ``rows[i]``.
    numbers
        Ids of the new graph, shape (n,): the inverse; anything for those that are not in the new graph.
    """

    rows: np.ndarray
    numbers: np.ndarray


class Gatherer:
    """The rows of one adjacency in other numbers.

    Parameters
    ----------
    adjacency
        The old rows, whose offsets are right.
    name
        What errors call it.
    released
        Bytes of old rows after which those that were read are let go; None: never.

    Attributes
    ----------
    ptr
        int64, shape (k + 1,): offsets of the new rows.
    ids
        Dtype of a new id.
    """

    def __init__(
        self, adjacency: Adjacency, moved: Moved, workers: Workers, threads: int, name: str, released: int | None = None
    ) -> None:
        self._old, self._moved, self._name = adjacency, moved, name
        self._workers, self._threads, self._released = workers, threads, released
        self.ptr = np.zeros(len(moved.rows) + 1, np.int64)
        parts = ranges(len(moved.rows), len(moved.rows) // _AT_ONCE + 1) if len(moved.rows) else []
        offsets = signed(adjacency.indptr)
        plain = isinstance(adjacency, PlainAdjacency)  # then no array of all lengths is made
        degrees = offsets if plain else adjacency.degrees()

        def take(i: int) -> None:
            first, last = parts[i]
            rows, into = moved.rows[first:last], self.ptr[1 + first : 1 + last]
            if plain:
                np.subtract(offsets[1:][rows], offsets[:-1][rows], out=into)
            else:
                np.take(degrees, rows, out=into, mode="clip")

        workers.each(len(parts), take)
        np.cumsum(self.ptr, out=self.ptr)
        self.ids = moved.numbers.dtype
        self._arrays = [frozen(np.asarray(array)) for array in adjacency.arrays().values()]

    def gather(self, first: int, last: int, out: np.ndarray) -> None:
        """Write the new rows ``first`` to ``last - 1`` to ``out``.

        Raises
        ------
        FormatError
            An old row holds an id that is no vertex, or does not ascend.
        """
        base = int(self.ptr[first])
        moved, none = self._moved, np.empty(0, np.int64)
        if self._released is None:
            offsets = self.ptr[first : last + 1]
            parts = balanced_ranges(offsets, self._threads * _TASKS) if last > first else []
            self._run([(first + a, first + b) for a, b in parts], none, base, out)
            return
        turn = first + np.argsort(moved.rows[first:last])
        work = np.zeros(len(turn) + 1, np.int64)
        np.cumsum(self.ptr[turn + 1] - self.ptr[turn], out=work[1:])
        for a, b in balanced_ranges(work, max(1, int(work[-1]) * self.ids.itemsize // self._released)):
            inside = [(a + c, a + d) for c, d in balanced_ranges(work[a : b + 1], self._threads)]
            self._run(inside, turn, base, out)
            self._let_go()

    def _run(self, parts: list[tuple[int, int]], turn: np.ndarray, base: int, out: np.ndarray) -> None:
        shared = (frozen(self._moved.rows), frozen(self._moved.numbers), frozen(self.ptr), base)
        seen = frozen(turn)
        bad = []
        rows: tuple[Any, ...]
        if isinstance(self._old, PlainAdjacency):
            indptr, indices = self._arrays
            kernel, rows = kernels.gather_plain, (signed(indptr), indices)
        else:
            indptr, _, blob, hubs, hub_ptr, block_ptr = self._arrays
            wide = frozen(hubs.astype(np.int64))
            kernel, rows = kernels.gather_varint, (signed(indptr), blob, wide, signed(hub_ptr), signed(block_ptr))

        def work(i: int) -> None:
            row = kernel(seen, *parts[i], *shared, *rows, out)
            if row >= 0:
                bad.append(row)

        self._workers.each(len(parts), work)
        if bad:
            self._refuse()

    def _refuse(self) -> None:
        """Say what is wrong; a kernel has seen that something is."""
        from bigbfs.graph import rows

        rows.require_ids(self._old, self._name)
        raise FormatError(f"{self._name}: changed while it was read; convert the graph again")

    def _let_go(self) -> None:
        """Give the pages of the file that were read back to the system, which may keep them as cache."""
        for array in self._arrays:
            owner: Any = array
            while isinstance(owner, np.ndarray) and owner.base is not None:
                owner = owner.base
            if isinstance(owner, memoryview):
                owner = owner.obj
            if isinstance(owner, mmap.mmap):
                owner.madvise(mmap.MADV_DONTNEED)
                return

    def cuts(self, most: int) -> list[tuple[int, int]]:
        """Cut the new rows into runs of at most ``most`` ids, a longer row alone."""
        found, first, rows = [], 0, len(self.ptr) - 1
        while first < rows:
            last = int(np.searchsorted(self.ptr, self.ptr[first] + most, side="right")) - 1
            last = min(max(last, first + 1), rows)
            found.append((first, last))
            first = last
        return found

    def whole(self) -> PlainAdjacency:
        """Return all new rows in memory."""
        out = np.empty(int(self.ptr[-1]), self.ids)
        self.gather(0, len(self.ptr) - 1, out)
        return PlainAdjacency(self.ptr.view(np.uint64), out)
