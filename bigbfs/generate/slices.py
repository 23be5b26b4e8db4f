"""Rows of a generated graph, made a slice at a time: as many rows as memory holds the edges of.

Edges are drawn from their numbers, so they can be drawn again: for each slice all are drawn, and those in its rows are
kept, as keys in buckets, each of which is sorted by itself. So no list of all edges is ever there, and what is held is
a slice, and a few numbers of each vertex.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from bigbfs.conversion.sorting.one_bucket import SPARE, Room, Tally, room_for, sort_bucket
from bigbfs.generate import slice_kernels as kernels
from bigbfs.generate.arrays import Drawn
from bigbfs.generate.slice_kernels import CLAIM, ELSEWHERE, LINE, Slice, Staged, Units
from bigbfs.graph import pages
from bigbfs.graph.adjacency import id_dtype
from bigbfs.graph.transposing import bits_of
from bigbfs.graph.views import frozen
from bigbfs.jit.workers import Workers
from bigbfs.report.progress import Progress

STRETCH = 1 << 18
"""Edges that a thread draws at once: milliseconds of work, in which it asks for the interpreter's lock a few times."""
BUCKETS = 1 << 12
"""Buckets aimed at: a line of each stays in a core's cache."""
KEYS = 1 << 17
"""Keys below which a bucket is not worth being made smaller."""
ROWS = 1 << 20
"""Rows of a bucket at most, unless its unit has more: keys keep within 64 bits."""
LINEAR_BITS, GROWING_BITS = 16, 12
"""Of a unit's number: units of the same length, and units that grow."""

Use = Callable[[np.ndarray, np.ndarray, Any], object]
"""Takes sources and targets of some edges, and what its thread has for itself."""


class Draws:
    """All edges, stretch by stretch, drawn by all threads as often as they are wanted.

    Parameters
    ----------
    numbers
        The number that each vertex gets; None: its own.
    """

    def __init__(
        self, drawn: Drawn, workers: Workers, threads: int, told: Progress, numbers: np.ndarray | None = None
    ) -> None:
        self.drawn, self.threads, self.workers, self.told = drawn, threads, workers, told
        self._numbers = None if numbers is None else frozen(numbers)

    def each(self, use: Use, rooms: list[Any]) -> None:
        """Call ``use`` with the edges of all stretches, several at once, each with one of the ``rooms``."""
        edges, kind = self.drawn.edges, id_dtype(self.drawn.n)
        free = deque((np.empty((2, min(STRETCH, edges)), kind), room) for room in rooms)

        def work(number: int) -> None:
            pairs, room = free.pop()
            first, last = number * STRETCH, min((number + 1) * STRETCH, edges)
            src, dst = pairs[0, : last - first], pairs[1, : last - first]
            self.drawn.draw(first, last, src, dst)
            if self._numbers is not None:
                kernels.rename(src, self._numbers)
                kernels.rename(dst, self._numbers)
            use(src, dst, room)
            free.append((pairs, room))
            self.told.advance(last - first)

        self.workers.each(-(-edges // STRETCH), work)


def linear_units(n: int) -> Units:
    """Return units of the same length."""
    return Units(np.uint64(max(0, bits_of(n) - LINEAR_BITS)), np.uint64(LINEAR_BITS))


def growing_units() -> Units:
    """Return units that grow: the first rows, which are the longest, are units of their own."""
    return Units(np.uint64(0), np.uint64(GROWING_BITS))


def unit_rows(n: int, units: Units) -> np.ndarray:
    """Return the first row of each unit, and n: int64. Of the numbers of units that grow some mean none."""
    down, fine = int(units.down), int(units.fine)
    up = ((n - 1) >> down >> fine).bit_length()
    number = np.arange((up << fine) + ((n - 1) >> down >> up) + 2, dtype=np.int64)
    up_of = number >> fine
    place = number & ((1 << fine) - 1)
    np.maximum(place, np.where(up_of > 0, 1 << (fine - 1), 0), out=place)
    rows: np.ndarray = np.minimum(place << up_of << down, n)
    rows[-1] = n
    return rows


@dataclass(frozen=True)
class Part:
    """The buckets of one slice.

    Attributes
    ----------
    units
        int64, shape (buckets + 1,): the first unit of each, and the one behind the last.
    rows
        int64, of the same shape: the first row of each.
    counts
        int64, shape (buckets,): keys.
    """

    units: np.ndarray
    rows: np.ndarray
    counts: np.ndarray

    def starts(self, threads: int) -> np.ndarray:
        """Return the first place of each bucket, and how many there are (int64): each thread may leave some unused."""
        starts = np.zeros(len(self.counts) + 1, np.int64)
        np.cumsum((-(-self.counts // CLAIM) + threads) * CLAIM, out=starts[1:])
        return starts


def cut(keys: np.ndarray, rows: np.ndarray, room: int) -> list[Part]:
    """Cut units into as few slices as there must be, and those into buckets.

    Parameters
    ----------
    keys
        int64, shape (units,): the keys of each.
    rows
        See :func:`unit_rows`.
    room
        Keys of a slice; one unit may have more.
    """
    before = np.zeros(len(keys) + 1, np.int64)
    np.cumsum(keys, out=before[1:])
    found = []
    for first, last in pairwise(_even_runs(before, rows, max(1, room))):
        if rows[first] == rows[last]:  # numbers of units that mean none
            continue
        most = max(KEYS, -(-int(before[last] - before[first]) // BUCKETS))
        units = np.array(_runs(before, rows, first, last, most, ROWS), np.int64)
        found.append(Part(units, rows[units], np.diff(before[units])))
    return found


def _even_runs(before: np.ndarray, rows: np.ndarray, most: int) -> list[int]:
    """Cut all units into as few runs of at most so many keys as there must be, of about the same length."""
    whole = (before, rows, 0, len(before) - 1)
    runs = _runs(*whole, most, int(rows[-1]))
    even = -(-int(before[-1]) // (len(runs) - 1)) + int(np.diff(before).max())
    alike = _runs(*whole, min(most, even), int(rows[-1]))
    return alike if len(alike) == len(runs) else runs


def _runs(before: np.ndarray, rows: np.ndarray, first: int, last: int, most: int, most_rows: int) -> list[int]:
    """Cut units into runs of at most so many keys and rows, a larger unit alone."""
    cuts = [first]
    while (here := cuts[-1]) < last:
        by_keys, by_rows = (
            int(np.searchsorted(array, array[here] + limit, side="right")) - 1
            for array, limit in ((before, most), (rows, most_rows))
        )
        cuts.append(min(max(min(by_keys, by_rows), here + 1), last))
    return cuts


def _staged(buckets: int) -> Staged:
    """Return room for the keys of a thread that wait."""
    return Staged(np.empty(LINE * buckets, np.uint64), np.zeros(buckets, np.int64), np.zeros(buckets, np.int64))


class Sorter:
    """Fetches the keys of slices, one slice after another, and sorts their buckets."""

    def __init__(self, draws: Draws, way: int, units: Units, parts: list[Part]) -> None:
        self._draws, self._way, self._units = draws, way, units
        self._bits = np.uint64(bits_of(draws.drawn.n))
        most = max(int(part.starts(draws.threads)[-1]) for part in parts)
        self._keys = pages.empty(most, np.uint64)
        self._units_in_all = int(parts[-1].units[-1])
        self._rooms: deque[Room] = deque()
        self._kept = 2 * max(KEYS, most // BUCKETS)  # a longer row is alone: nobody else needs its room
        self._part: Part | None = None
        self._starts = self._ends = np.zeros(0, np.int64)

    def load(self, part: Part) -> None:
        """Draw the edges of a slice; those of the one before are gone."""
        table = np.full(self._units_in_all, ELSEWHERE, np.uint16)
        table[part.units[0] : part.units[-1]] = np.repeat(np.arange(len(part.counts)), np.diff(part.units))
        self._part, self._starts = part, part.starts(self._draws.threads)
        self._ends = self._starts[:-1].copy()
        pads = np.diff(part.rows).astype(np.uint64) << (self._bits + np.uint64(1))
        some = Slice(self._units, table, part.rows[:-1].astype(np.uint64), self._bits, pads, self._ends, self._keys)
        rooms = [_staged(len(part.counts)) for _ in range(self._draws.threads)]

        def use(src: np.ndarray, dst: np.ndarray, room: Staged) -> None:
            kernels.scatter_edges(src, dst, self._way, some, room)

        self._draws.each(use, rooms)
        for room in rooms:
            kernels.write_rest(some, room)

    def sort(self, bucket: int, tally: Tally, use: Callable[[int, int, int, Room], object]) -> int:
        """Sort a bucket and call ``use(first row, rows, values, room)``; return the lines that repeat one before."""
        part = self._part
        assert part is not None
        begin, end = int(self._starts[bucket]), int(self._ends[bucket])
        low, height = int(part.rows[bucket]), int(part.rows[bucket + 1] - part.rows[bucket])
        room = self._room(height, end - begin)
        stay, repeats, count = sort_bucket(self._keys[begin:end], low, height, self._bits, room, tally)
        assert count == part.counts[bucket]
        use(low, height, int(stay), room)
        if len(room.values) <= self._kept:
            self._rooms.append(room)
        return int(repeats)

    def _room(self, rows: int, keys: int) -> Room:
        """Return room for a bucket, that of one before if it is large enough."""
        try:
            room = self._rooms.pop()
        except IndexError:
            return room_for(rows, keys, int(self._bits))
        if len(room.ends) > rows and len(room.values) >= keys + SPARE:
            return room
        rows, keys = max(rows, len(room.ends)), max(keys, len(room.values) - SPARE)
        del room  # before the next one is there
        return room_for(rows, keys, int(self._bits))


class SlicedRows:
    """Rows in order, for whoever writes them: see :class:`bigbfs.formats.container.moved.InOrder`.

    Parameters
    ----------
    ptr
        int64: their offsets.
    parts
        The slices.
    said
        Called with the number of a slice, from 1 on, and how many there are, before it is drawn, and with the edges in
        it when it is there.
    """

    def __init__(
        self,
        draws: Draws,
        way: int,
        units: Units,
        ptr: np.ndarray,
        parts: list[Part],
        said: Callable[[int, int, int | None], object],
    ) -> None:
        self.ptr, self.ids = ptr, id_dtype(draws.drawn.n)
        self._draws, self._parts, self._said = draws, parts, said
        self._sorter = Sorter(draws, way, units, parts)
        self._loaded = -1

    def cuts(self, most: int) -> list[tuple[int, int]]:
        """Cut the rows into runs of whole buckets of a slice, of at most ``most`` ids where a bucket has not more."""
        found = []
        for part in self._parts:
            ends, first = self.ptr[part.rows], 0
            while first < len(part.counts):
                last = int(np.searchsorted(ends, ends[first] + most, side="right")) - 1
                last = min(max(last, first + 1), len(part.counts))
                if part.rows[first] < part.rows[last]:
                    found.append((int(part.rows[first]), int(part.rows[last])))
                first = last
        return found

    def gather(self, first: int, last: int, out: np.ndarray) -> None:
        """Write the rows of one of the ``cuts`` to ``out``; they are asked for one after another."""
        number = int(np.searchsorted([int(part.rows[-1]) for part in self._parts], first, side="right"))
        part = self._parts[number]
        if number != self._loaded:
            self._said(number + 1, len(self._parts), None)
            self._sorter.load(part)
            self._loaded = number
            self._said(number + 1, len(self._parts), int(self.ptr[part.rows[-1]] - self.ptr[part.rows[0]]))
        low, high = (int(np.searchsorted(part.rows, row)) for row in (first, last))
        none = np.zeros(0, np.int64)
        nothing = Tally(none, none, none, none)
        base = int(self.ptr[first])

        def put(row: int, height: int, count: int, room: Room) -> None:
            place = int(self.ptr[row]) - base
            assert int(self.ptr[row + height]) - base == place + count
            out[place : place + count] = room.values[:count]

        self._draws.workers.each(high - low, lambda i: self._sorter.sort(low + i, nothing, put))
