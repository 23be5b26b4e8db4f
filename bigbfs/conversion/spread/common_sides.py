"""Rows that ranks of one machine have made on one state: what is left of each side of them, placed part by part.

Out-rows of a directed graph are sorted, with room between the buckets where lines repeated others. Rows of an
undirected graph, and in-rows, are keys by then, dealt to buckets of rows. Ids of either kind follow one another in a
part, which is placed in memory that a core's cache holds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from bigbfs.conversion.sorting.in_rows import move_buckets
from bigbfs.conversion.spread.crew import Crew
from bigbfs.graph.transposing import TASKS_PER_THREAD, Dealt, Loose, place_columns
from bigbfs.graph.views import frozen
from bigbfs.jit.workers import balanced_ranges

PART_BYTES = 2 << 20
"""About what a thread places at once."""


@dataclass(frozen=True)
class Side:
    """Out-rows or in-rows of all vertices, which have yet to be placed.

    Attributes
    ----------
    prefix
        Of the names of its sections.
    rows
        Keys to be put into rows, or rows with room between them.
    indptr
        Zeros that all see: int64, one more than rows.
    """

    prefix: str
    rows: Dealt | Loose
    indptr: np.ndarray

    @property
    def bases(self) -> np.ndarray:
        """How many ids there are in the buckets of rows before each, and in all: int64."""
        return self.rows.bases if isinstance(self.rows, Dealt) else self.rows.before

    @property
    def ids(self) -> np.dtype:
        """The dtype of an id."""
        rows = self.rows.turn if isinstance(self.rows, Dealt) else self.rows
        return rows.indices.dtype

    @cached_property
    def bounds(self) -> np.ndarray:
        """The first row of each bucket, and the number of rows: int64."""
        shift = self.rows.turn.shift if isinstance(self.rows, Dealt) else self.rows.shift
        return np.minimum(np.arange(len(self.bases), dtype=np.int64) << int(shift), len(self.indptr) - 1)

    def place(self, first: int, end: int, indptr: np.ndarray, out: np.ndarray) -> None:
        """Put the ids of the buckets ``first`` to ``end`` into ``out``, where their rows end there into ``indptr``.

        ``indptr`` has an item for each row, and one before.
        """
        bases = self.bases - self.bases[first]
        if isinstance(self.rows, Dealt):
            place_columns(first, end, self.rows.turn, self.rows.starts, self.rows.keys, bases, indptr, out)
            return
        begins, ends = self.rows.begins, self.rows.ends
        move_buckets(first, end, frozen(self.rows.indices), begins[self.bounds], bases, out)
        low, high = self.bounds[[first, end]].tolist()
        np.cumsum(ends[low:high] - begins[low:high], out=indptr[low + 1 : high + 1])


class Part(NamedTuple):
    """The buckets ``first`` to ``end`` of a side."""

    side: Side
    first: int
    end: int

    @property
    def begin(self) -> int:
        """How many ids are before it."""
        return int(self.side.bases[self.first])

    @property
    def length(self) -> int:
        """How many ids it has."""
        return int(self.side.bases[self.end]) - self.begin

    @property
    def rows(self) -> tuple[int, int]:
        """Its first row, and the first behind it."""
        low, high = self.side.bounds[[self.first, self.end]].tolist()
        return low, high


def parts_of(side: Side, members: int) -> list[Part]:
    """Return parts of about as many ids, some for each of so many threads, and small ones."""
    count = max(TASKS_PER_THREAD * members, int(side.bases[-1]) * side.ids.itemsize // PART_BYTES)
    return [Part(side, first, end) for first, end in balanced_ranges(side.bases, count)]


class Placing:
    """Places parts, each in memory of its thread, and hands them on with their ids."""

    def __init__(self, parts: list[Part], use: Callable[[Part, np.ndarray], None]) -> None:
        self._parts, self._use = parts, use
        self._most = max((part.length for part in parts), default=0)
        self._free: list[np.ndarray] = []

    def place(self, number: int) -> None:
        """Place a part; the ends of its rows go to ``indptr`` of its side, as if no ids were before."""
        part = self._parts[number]
        try:
            out = self._free.pop()
        except IndexError:  # every thread has its own by now, or another one was faster
            out = np.empty(self._most, part.side.ids)
        part.side.place(part.first, part.end, part.side.indptr, out)
        self._use(part, out[: part.length])
        self._free.append(out)


def are_equal(loose: Loose, side: Side, crew: Crew, members: int) -> bool:
    """Return whether ``side`` has the rows of ``loose``: seldom must more be looked at than how many ids they have.

    All ranks make this call; they have ``members`` threads. Where the ids of all rows are the same, one after another,
    so are the rows: a vertex occurs in out-rows as often as its in-row is long, and the other way round.
    """
    if not np.array_equal(loose.before, side.bases):
        return False
    found = crew.take(1, np.int64)

    def compare(part: Part, ids: np.ndarray) -> None:
        for bucket in range(part.first, part.end):
            here = ids[side.bases[bucket] - part.begin : side.bases[bucket + 1] - part.begin]
            begin = int(loose.begins[side.bounds[bucket]])
            if not np.array_equal(here, loose.indices[begin : begin + len(here)]):
                found[0] = 1
                return

    parts = parts_of(side, members)
    placing = Placing(parts, compare)
    crew.each(len(parts), lambda i: None if found[0] else placing.place(i))
    return not found[0]
