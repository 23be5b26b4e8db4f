"""The rows of a bucket, sorted one by one: what a graph in memory, whose ids are numbers of vertices, is sorted by.

The keys of a bucket (:mod:`bigbfs.conversion.sorting.buckets`) are dealt to their rows by a counting sort, in a core's
cache. A row of up to 64 values is sorted in registers, without a branch; a longer one by radix. Where a value occurs
more than once, its lines are counted and :mod:`bigbfs.conversion.sorting.rule` says what stays; in most rows none does.

Kernels are serial over a range, release the GIL and may run side by side.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from bigbfs.conversion.numbering.rules import NUMBERED
from bigbfs.conversion.sorting.buckets import Layout, emit
from bigbfs.conversion.sorting.radix import DIGIT, radix_sort
from bigbfs.conversion.sorting.rule import Rule
from bigbfs.graph.transposing import TASKS_PER_THREAD, Csr, Loose
from bigbfs.graph.views import frozen
from bigbfs.jit.njit import njit
from bigbfs.jit.vectors import any_pair, ascending, first_lanes, halved, load_vector, store_vector
from bigbfs.jit.workers import Each, Workers, balanced_ranges

FEW, SOME, MANY = (0,) * 16, (0,) * 32, (0,) * 64
LONG = 1 << 8
"""Values of a row from which on digits of more than 8 bits pay."""
_NARROW, _WIDE = np.empty(0, np.uint32), np.empty(0, np.uint64)


class Rows(NamedTuple):
    """Where rows lie, and their values; a state tuple.

    Attributes
    ----------
    begins, ends
        int64: row r is ``values[begins[r]:ends[r]]``. ``begins`` has one more.
    values
        Ids: those of a bucket begin where its keys do.
    """

    begins: np.ndarray
    ends: np.ndarray
    values: np.ndarray


class Keys(NamedTuple):
    """The keys of all buckets; a state tuple.

    Attributes
    ----------
    starts
        int64: how many keys there are in the buckets before each, and in all.
    pieces
        int64[part, bucket + 1]: those of bucket b are, for every part, ``values[pieces[part, b]:pieces[part, b + 1]]``.
    values
        uint32 or uint64.
    """

    starts: np.ndarray
    pieces: np.ndarray
    values: np.ndarray


@njit(forceinline=True)
def _deal(keys, bucket, rows, places, bits, dealt):
    """Write what the keys have below their row to ``dealt``, row by row; ``places[r]`` becomes the end of row r."""
    down = bits + np.uint64(1)
    mask = (np.uint64(1) << down) - np.uint64(1)
    places[:rows] = 0
    for part in range(len(keys.pieces)):
        for i in range(keys.pieces[part, bucket], keys.pieces[part, bucket + 1]):
            places[keys.values[i] >> down] += 1
    total = 0
    for row in range(rows):
        here = places[row]
        places[row] = total
        total += here
    for part in range(len(keys.pieces)):
        for i in range(keys.pieces[part, bucket], keys.pieces[part, bucket + 1]):
            key = keys.values[i]
            place = places[key >> down]
            places[key >> down] = place + 1
            dealt[place] = key & mask


@njit(forceinline=True)
def in_registers(dealt, at, count, values, place, lanes):
    """Write the values of a short row, ascending; return whether none occurs twice. More is written behind them.

    Where one does, what was dealt is written, ascending, with the directions.
    """
    none = ~dealt.dtype.type(0)
    found = ascending(first_lanes(load_vector(dealt, at, lanes), dealt.dtype.type(count), none))
    made = halved(found)
    alone = not any_pair(made, none >> dealt.dtype.type(1))
    if alone:
        store_vector(values, place, made)
    else:
        store_vector(values, place, found)
    return alone


@njit(cache=True, nogil=True)
def _by_rule(dealt, values, row, layout, rules, rule, no_degrees):
    """Write what stays of a row; return (values, repeated lines, edges given both ways).

    A short row is in ``values``, ascending; a long one in ``dealt``, which is used up.
    """
    ordered = values
    if len(dealt) > len(MANY):
        bits, most = np.int64(layout.value_bits), 8 if len(dealt) < LONG else DIGIT
        passes = (bits + most - 1) // most
        ordered = radix_sort(dealt, values, 1, bits, (bits + passes - 1) // passes)
    high = np.uint64(row) << layout.value_bits
    return emit(ordered, high, layout, rules, rule, no_degrees, values)


@njit(forceinline=True)
def _count_columns(values, count, rows, low, end, wide, columns):
    """Count the values of the rows ``low`` to ``end``, which are together the first ``count`` of ``values``."""
    for i in range(count):
        columns[values[i] >> wide] += 1
    for row in range(low, end):
        i = rows.ends[row]
        while i > rows.begins[row] and rows.values[i - 1] == row:
            columns[np.uint64(row) >> wide] -= 1
            i -= 1


@njit(cache=True, nogil=True)
def sort_rows(first, last, keys, layout, rules, rule, rows, written, columns, dealt):
    """Sort and thin out the buckets ``first`` to ``last``; return (repeated lines, edges given both ways).

    Parameters
    ----------
    keys
        :class:`Keys`.
    rows
        Room for the result; ``values`` may be no memory of the keys.
    written
        int64: gets how many values each bucket has.
    columns
        int64: the values in each bucket of columns are added, but for self-loops, which are the last values of their
        rows. Empty: not wanted.
    dealt
        Without items; its type holds a value, which is not of ones alone, and one bit more.
    """
    n = len(rows.ends)
    bits, wide = layout.value_bits, layout.shift - layout.value_bits
    places = np.empty(1 << np.int64(wide), np.int64)
    values = dealt
    repeats = turns = 0
    for bucket in range(first, last):
        begin, end = keys.starts[bucket], keys.starts[bucket + 1]
        room = end - begin + len(MANY)  # a vector reads and writes more than its row has
        if room > len(dealt):
            dealt, values = np.empty(room, dealt.dtype), np.empty(room, dealt.dtype)
        low = bucket << np.int64(wide)
        height = min(n - low, 1 << np.int64(wide))
        _deal(keys, bucket, height, places, bits, dealt)
        at = count = 0
        for local in range(height):
            row, degree = low + local, places[local] - at
            rows.begins[row] = begin + count
            alone = True
            if degree <= 1:
                values[count] = dealt[at] >> dealt.dtype.type(1)
            elif degree <= len(FEW):
                alone = in_registers(dealt, at, degree, values, count, FEW)
            elif degree <= len(SOME):
                alone = in_registers(dealt, at, degree, values, count, SOME)
            elif degree <= len(MANY):
                alone = in_registers(dealt, at, degree, values, count, MANY)
            if alone and degree <= len(MANY):
                count += degree
            else:
                here, stop = dealt[at : at + degree], count + degree
                stay, more, both = _by_rule(here, values[count:stop], row, layout, rules, rule, rows.ends[:0])
                count += stay
                repeats += more
                turns += both
            at += degree
            rows.ends[row] = begin + count
        written[bucket] = count
        for i in range(count):
            rows.values[begin + i] = values[i]
        if len(columns):
            _count_columns(values, count, rows, low, low + height, wide, columns)
    return repeats, turns


@njit(cache=True, nogil=True)
def move_buckets(first, last, values, starts, places, out):
    """Copy the values of bucket b from ``values[starts[b]]`` on to ``out[places[b]:places[b + 1]]``."""
    for bucket in range(first, last):
        begin, place = starts[bucket], places[bucket]
        for i in range(places[bucket + 1] - place):
            out[place + i] = values[begin + i]


def _zeros(shape: tuple[int, int]) -> np.ndarray:
    return np.zeros(shape, np.int64)


def sorted_rows(
    keys: Keys,
    layout: Layout,
    rule: Rule,
    rows: Rows,
    workers: Each,
    threads: int,
    advance: Callable[[int], object] = int,
    *,
    turn: bool,
    counters: Callable[[tuple[int, int]], np.ndarray] = _zeros,
) -> tuple[Loose, np.ndarray]:
    """Sort all buckets; return the rows, and int64[2]: lines that repeat an earlier one, edges given both ways.

    ``turn``: the columns are counted, for :func:`bigbfs.graph.transposing.transpose` with ``head``. ``counters``
    returns zeros (int64) of a shape, which all ``threads`` see.
    """
    starts = keys.starts
    tasks, buckets = balanced_ranges(starts, TASKS_PER_THREAD * threads), len(starts) - 1
    shift = int(layout.shift - layout.value_bits)
    columns, found = counters((len(tasks), buckets if turn else 0)), counters((len(tasks), 2))
    dealt = _NARROW if layout.value_bits < 31 else _WIDE  # a value of ones alone is none
    written = counters((1, buckets))[0]

    def sort(i: int) -> None:
        first, last = tasks[i]
        found[i] = sort_rows(first, last, keys, layout, NUMBERED, rule, rows, written, columns[i], dealt)
        advance(int(starts[last] - starts[first]))

    workers.each(len(tasks), sort)
    before = np.zeros(buckets + 1, np.int64)
    np.cumsum(written, out=before[1:])
    n = len(rows.ends)
    chunks = [(min(n, first << shift), min(n, last << shift)) for first, last in tasks]
    return Loose(rows.begins, rows.ends, rows.values, before, shift, chunks, columns), found.sum(axis=0)


def compact(rows: Loose, starts: np.ndarray, workers: Workers, threads: int) -> Csr:
    """Return rows that follow one another."""
    indptr = np.zeros(len(rows.ends) + 1, np.int64)
    np.subtract(rows.ends, rows.begins[:-1], out=indptr[1:])
    np.cumsum(indptr, out=indptr)
    total = int(indptr[-1])
    if total == int(starts[-1]):  # nothing went
        return indptr, rows.indices[:total]
    out = np.empty(total, rows.indices.dtype)
    tasks = balanced_ranges(starts, TASKS_PER_THREAD * threads)
    places = (frozen(rows.indices), starts, rows.before)
    workers.each(len(tasks), lambda i: move_buckets(*tasks[i], *places, out))
    return indptr, out
