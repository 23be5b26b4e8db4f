"""One bucket of rows, sorted by itself: for whoever makes rows a part at a time, and knows how many edges there are.

Every edge is stored once, however often it is given. In a bucket of ``height`` rows a key (uint64) is

    row in the bucket << (bits + 1) | value << 1 | backward

Keys of the row ``height``, which there is not, are left out.
Where values that are given more than once matter, the lines beyond the first are counted in ``more``. Kernels are
serial, release the GIL and may run side by side with different buckets.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bigbfs.conversion.sorting.in_rows import FEW, LONG, MANY, SOME, in_registers
from bigbfs.conversion.sorting.radix import DIGIT, radix_sort
from bigbfs.jit.atomics import fetch_add
from bigbfs.jit.bits import fetch_soon
from bigbfs.jit.njit import njit

SPARE = len(MANY)
"""Items of room beyond the keys of a bucket: a vector reads and writes more than its row has."""
_AHEAD = 16
_ONE = np.uint64(1)


class Room(NamedTuple):
    """Where a bucket is sorted; a state tuple.

    Attributes
    ----------
    ends
        int64, one for each row and more than that: row r is then ``values[ends[r - 1]:ends[r]]``, the first from 0 on.
    dealt, values
        Room for the keys of the bucket and ``SPARE`` items. ``dealt`` holds a value, which is not of ones alone, and
        one bit more.
    """

    ends: np.ndarray
    dealt: np.ndarray
    values: np.ndarray


class Tally(NamedTuple):
    """What is counted of rows and of values, by vertex (int64); a state tuple. Empty: not wanted.

    Attributes
    ----------
    rows, columns
        Different values of a row, and rows of a value. The same array: edges are stored both ways.
    more_rows, more_columns
        Lines that repeat an edge, in either direction, by both of its ends.
    """

    rows: np.ndarray
    columns: np.ndarray
    more_rows: np.ndarray
    more_columns: np.ndarray


def room_for(rows: int, keys: int, bits: int) -> Room:
    """Return room for a bucket of so many rows and keys; ``bits``: of a value."""
    kind = np.dtype(np.uint32 if bits < 31 else np.uint64)
    return Room(np.empty(rows + 1, np.int64), np.empty(keys + SPARE, kind), np.empty(keys + SPARE, kind))


@njit(forceinline=True)
def _deal(keys, height, bits, room):
    """Write what the keys have below their row to ``dealt``, row by row, and the ends of the rows there."""
    ends, dealt = room.ends, room.dealt
    down = bits + _ONE
    mask = (_ONE << down) - _ONE
    ends[: height + 1] = 0
    for i in range(len(keys)):
        ends[keys[i] >> down] += 1
    total = 0
    for row in range(height + 1):
        here = ends[row]
        ends[row] = total
        total += here
    for i in range(len(keys)):
        key = keys[i]
        place = ends[key >> down]
        ends[key >> down] = place + 1
        dealt[place] = key & mask


@njit(cache=True, nogil=True)
def _thin(ordered, out, row, tally):
    """Write the ascending values to ``out``, each once; return (values, lines that repeat one in their direction).

    ``out`` may be the memory of ``ordered``.
    """
    count = repeats = i = 0
    one = ordered.dtype.type(1)
    while i < len(ordered):
        value, start, backward = ordered[i] >> one, i, 0
        while i < len(ordered) and ordered[i] >> one == value:
            backward += np.int64(ordered[i] & one)
            i += 1
        times = i - start
        out[count] = value
        count += 1
        if times > 1:
            repeats += max(times - backward - 1, 0) + max(backward - 1, 0)
            if len(tally.more_rows):
                fetch_add(tally.more_rows, row, np.int64(times - 1))
            if len(tally.more_columns):
                fetch_add(tally.more_columns, np.int64(value), np.int64(times - 1))
    return count, repeats


@njit(cache=True, nogil=True)
def _long_row(dealt, values, bits, row, tally):
    """Do what :func:`_thin` does with a row that is not in order, and is used up."""
    wide, most = np.int64(bits), 8 if len(dealt) < LONG else DIGIT
    passes = (wide + most - 1) // most
    ordered = radix_sort(dealt, values, 1, wide, (wide + passes - 1) // passes)
    return _thin(ordered, values, row, tally)


@njit(cache=True, nogil=True)
def sort_bucket(keys, low, height, bits, room, tally):
    """Sort the rows ``low`` to ``low + height - 1``; return (values, lines that repeat one in their direction, keys).

    The values of all rows are then in ``room.values``, where each ends in ``room.ends``.
    """
    ends, dealt, values = room.ends, room.dealt, room.values
    _deal(keys, height, bits, room)
    at = count = repeats = 0
    for local in range(height):
        degree = ends[local] - at
        alone = True
        if degree <= 1:
            values[count] = dealt[at] >> dealt.dtype.type(1)
        elif degree <= len(FEW):
            alone = in_registers(dealt, at, degree, values, count, FEW)
        elif degree <= len(SOME):
            alone = in_registers(dealt, at, degree, values, count, SOME)
        elif degree <= len(MANY):
            alone = in_registers(dealt, at, degree, values, count, MANY)
        if degree > len(MANY):
            stay, more = _long_row(dealt[at : at + degree], values[count : count + degree], bits, low + local, tally)
            count += stay
            repeats += more
        elif alone:
            count += degree
        else:
            here = values[count : count + degree]
            stay, more = _thin(here, here, low + local, tally)
            count += stay
            repeats += more
        at += degree
        ends[local] = count
    return count, repeats, at


@njit(cache=True, nogil=True)
def count_ends(low, height, count, room, tally):
    """Add what :func:`sort_bucket` left to the ``tally``."""
    ends, values, columns = room.ends, room.values, tally.columns
    before = np.int64(0)
    for local in range(height):
        if ends[local] > before:
            fetch_add(tally.rows, low + local, ends[local] - before)
        before = ends[local]
    if len(columns):
        for i in range(count):
            if i + _AHEAD < count:
                fetch_soon(columns, np.int64(values[i + _AHEAD]))
            fetch_add(columns, np.int64(values[i]), np.int64(1))
