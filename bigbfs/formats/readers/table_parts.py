"""The parts of a table, straight to their places among the edges: several at once, where each declares its rows.

A part is read in batches that stay in a core's cache until they are copied. So memory is touched once, for the edges,
and nothing waits for the part before it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import accumulate

import numpy as np

from bigbfs.formats.readers.edge_buffer import EdgeBuffer
from bigbfs.formats.tables.files import Batch, TableFile
from bigbfs.formats.tables.integers import ids_of


def both_sides(batch: Batch, table: TableFile) -> tuple[np.ndarray, np.ndarray]:
    """Return the ids of a batch: sources and targets, unsigned, of any width.

    Raises
    ------
    InputError
        A value is no vertex id; with its place.
    """
    first, second = (ids_of(side, lambda i: table.place(batch, i)) for side in (batch.first, batch.second))
    return first, second


def any_wide(*sides: np.ndarray) -> bool:
    """Tell whether an id does not fit 32 bits."""
    return any(side.itemsize == 8 and int(side.max(initial=0)) >= 2**32 for side in sides)


def place_parts(table: TableFile, edges: EdgeBuffer, threads: int, tell: Callable[[int], object]) -> None:
    """Read all parts of ``table``, which knows their rows, into ``edges``, which is empty.

    ``tell`` is called with the edges that have come, by one thread at a time.

    Raises
    ------
    InputError
        Of the first part that is damaged, or holds what is no vertex id.
    DoesNotFitError
        The edges take more memory than they may.
    """
    rows = table.part_rows
    assert rows is not None and edges.size == 0
    edges.reserve(sum(rows))
    edges.keep(sum(rows))
    left: Sequence[int] = range(len(rows))
    while left:
        left = _Placing(table, edges, tell).run(left, threads)
        if left:  # ids of 2^32 or more: what has come stays
            edges.widen()


class _Placing:
    """One pass over parts, into arrays that stay where they are."""

    def __init__(self, table: TableFile, edges: EdgeBuffer, tell: Callable[[int], object]) -> None:
        self._table, self._tell = table, tell
        self._narrow = edges.dtype == np.uint32
        self._first, self._second = edges.arrays()
        self._starts = list(accumulate(table.part_rows or (), initial=0))
        self._stopped, self._telling = threading.Event(), threading.Lock()

    def run(self, parts: Sequence[int], threads: int) -> list[int]:
        """Place ``parts``; return those that are to be read again, into wider arrays."""
        again: list[int] = []
        with ThreadPoolExecutor(threads, "bigbfs-parts") as pool:
            try:
                tasks = [(part, pool.submit(self._place, part)) for part in parts]
                for part, task in tasks:
                    if again:  # what this one says counts when those before it have been read
                        task.exception()
                    if again or not task.result():
                        again.append(part)
            finally:
                self._stopped.set()
                pool.shutdown(wait=False, cancel_futures=True)
        return again

    def _place(self, part: int) -> bool:
        """Place one part; False: it does not fit, or another has not."""
        table, at, end = self._table, *self._starts[part : part + 2]
        for batch in table.part(part):
            if self._stopped.is_set():
                return False
            first, second = both_sides(batch, table)
            if at + len(first) > end:
                raise table.other_rows(part)
            if self._narrow and any_wide(first, second):
                self._stopped.set()
                return False
            self._first[at : at + len(first)], self._second[at : at + len(first)] = first, second
            at += len(first)
            with self._telling:
                self._tell(len(first))
        if at != end:
            raise table.other_rows(part)
        return True
