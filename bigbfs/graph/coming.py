"""Rows of which the ids are placed while they are written to a file: piece by piece, memory let go behind it.

To touch memory for the first time costs more than to place ids there, and a file takes as much again in the page cache.
So whoever writes the graph of a conversion takes each piece as soon as all of it is there, while the threads place the
next ones, and its memory serves for what comes after.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bigbfs.graph import pages
from bigbfs.graph.adjacency import PlainAdjacency
from bigbfs.graph.transposing import TASKS_PER_THREAD, Loose, deal_columns, place_columns
from bigbfs.jit.workers import Workers

_PART_BYTES = 4 << 20
"""About what a thread places at once."""

Look = Callable[[np.ndarray], Any]
"""Looks at ids; what it returns is for ``Take``."""
Take = Callable[[np.ndarray, Any], object]
"""Takes the next ids; when it returns they are no longer needed."""


@dataclass(frozen=True, eq=False)
class ComingAdjacency(PlainAdjacency):
    """Plain rows that are placed by :meth:`come`: ``indptr`` is there after it, ``indices`` only on the way.

    Attributes
    ----------
    ends
        Ids that there are up to the end of each part.
    place
        Places a part; several threads may do so with different ones.
    forget
        Called when the parts up to ``last`` have been placed, those up to ``first`` before: lets go what they are made
        of.
    threads
        Threads that place.
    """

    ends: list[int]
    place: Callable[[int], object]
    forget: Callable[[int, int], object]
    threads: int

    def come(self, items: int, look: Look, take: Take) -> None:
        """Place all ids, and hand out ``items`` of them at a time; once, since ids that were taken are let go.

        Parameters
        ----------
        items
            They fill whole pages.
        look
            Called for each piece, in any order, by several threads at once.
        take
            Called for one piece after the other, in their order, from any thread, after ``look``.
        """
        handing = _Handing(self, items, look, take)
        with Workers(self.threads) as workers:
            workers.each(len(self.ends), handing.work)
        handing.hand()


class _Handing:
    """Which parts have been placed, and which pieces are complete, have been looked at and taken."""

    def __init__(self, rows: ComingAdjacency, items: int, look: Look, take: Take) -> None:
        self._rows, self._look, self._take = rows, look, take
        self._placed = [False] * len(rows.ends)
        self._pieces = [(first, min(first + items, rows.m)) for first in range(0, rows.m, items)]
        self._seen: dict[int, Any] = {}
        self._parts = self._complete = self._taken = 0
        self._counting, self._taking = threading.Lock(), threading.Lock()

    def work(self, part: int) -> None:
        """Place a part; look at what is complete with it, and hand that out."""
        self._rows.place(part)
        parts, pieces = self._completed(part)
        if parts:
            self._rows.forget(parts.start, parts.stop)
        for number in pieces:
            first, last = self._pieces[number]
            self._seen[number] = self._look(self._rows.indices[first:last])
        self.hand()

    def _completed(self, part: int) -> tuple[range, range]:
        """Return the parts that are there now, with all before them, and the numbers of the pieces they complete."""
        with self._counting:
            self._placed[part] = True
            parts = self._parts
            while self._parts < len(self._placed) and self._placed[self._parts]:
                self._parts += 1
            there = self._rows.ends[self._parts - 1] if self._parts else 0
            before = self._complete
            while self._complete < len(self._pieces) and self._pieces[self._complete][1] <= there:
                self._complete += 1
            return range(parts, self._parts), range(before, self._complete)

    def hand(self) -> None:
        """Hand out what has been looked at, unless another thread does: that one looks again when it has let go."""
        while self._taken in self._seen and self._taking.acquire(blocking=False):
            try:
                while self._taken in self._seen:
                    first, last = self._pieces[self._taken]
                    self._take(self._rows.indices[first:last], self._seen.pop(self._taken))
                    pages.let_go(self._rows.indices, first, last)
                    self._taken += 1
            finally:
                self._taking.release()


def coming_rows(
    rows: Loose, threads: int, spare: np.ndarray, advance: Callable[[int], object] | None = None
) -> ComingAdjacency:
    """Return what :func:`bigbfs.graph.transposing.transpose` makes of loose rows, with ``head``, its ids yet to come.

    ``advance`` is told of the edges that are dealt.
    """
    dealt = deal_columns(rows, threads, head=True, spare=spare, advance=advance)
    dtype, total = rows.indices.dtype, int(dealt.bases[-1])
    indptr = np.zeros(len(rows.ends) + 1, np.int64)
    indices = pages.empty(total, dtype)
    tasks = dealt.tasks(max(threads * TASKS_PER_THREAD, indices.nbytes // _PART_BYTES), indptr, indices)
    ends = [int(dealt.bases[last]) for _, last, *_ in tasks]
    buckets = [0, *(last for _, last, *_ in tasks)]
    cuts = [(int(dealt.starts[at]), int(rows.begins[min(at << rows.shift, len(rows.ends))])) for at in buckets]

    def forget(first: int, last: int) -> None:
        for array, low, high in zip((dealt.keys, rows.indices), cuts[first], cuts[last], strict=True):
            pages.let_go(array, low, high)

    def place(part: int) -> None:
        place_columns(*tasks[part])

    return ComingAdjacency(indptr.view(np.uint64), indices, ends, place, forget, threads)
