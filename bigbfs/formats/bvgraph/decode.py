"""Rows of a BVGraph, a piece at a time: copied runs, intervals and residuals, merged in ascending order.

Rows are decoded as they stand in the file, one after another into one array, where those that come later find the rows
that they refer to. What :mod:`bigbfs.formats.bvgraph.scan` has looked at is not looked at again: counts are sound here;
what a neighbour is, and that no two are the same, is seen here alone.

Ids move in vectors: runs are short, and a vector that holds more than is left of one costs less than a loop that ends
in time. What is written too much is overwritten by what comes next, so that every array has room for a vector more.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bigbfs.formats.bvgraph.codes import opened, read_rarely, signed
from bigbfs.formats.bvgraph.scan import GOOD, ORDER, POSITION, RANGE, STATUS, VALUE, VERTEX, fail
from bigbfs.jit.borrowed import borrowed
from bigbfs.jit.njit import njit
from bigbfs.jit.vectors import first_not_below, load_vector, store_vector

LANES = (0,) * 16
"""As many as a vector has ids."""

_at = np.uint64
"""Makes an index of what is never negative: no wrap-around is compiled in."""


class Scratch(NamedTuple):
    """Room for a piece; a state tuple of kernels.

    Attributes
    ----------
    ids
        Rows, one after another, those that are needed first.
    copied, others
        Ids of one row: what is copied; the residuals and intervals.
    starts
        int64: where each row is in ``ids``, and where the last one ends.
    bits
        int64: where each row begins in the file.
    loops
        int64 (rows, 2): row and place of the self-loops.
    """

    ids: np.ndarray
    copied: np.ndarray
    others: np.ndarray
    starts: np.ndarray
    bits: np.ndarray
    loops: np.ndarray


@njit(cache=True, nogil=True, forceinline=True)
def _borrowed(scratch):
    """Return the scratch without a count of references."""
    ids, copied, others = borrowed(scratch.ids), borrowed(scratch.copied), borrowed(scratch.others)
    return Scratch(ids, copied, others, borrowed(scratch.starts), borrowed(scratch.bits), borrowed(scratch.loops))


@njit(cache=True, nogil=True, forceinline=True)
def _copy(source, start, count, target, place):
    """Copy ``count`` ids."""
    i = np.int64(0)
    while i < count:
        store_vector(target, place + i, load_vector(source, start + i, LANES))
        i += len(LANES)


@njit(cache=True, nogil=True, forceinline=True)
def _copy_runs(numbers, at, count, copied, ids, start, target, place):
    """Copy every other run of the row that begins at ``ids[start]``, the rest after an even number of them.

    ``copied`` is how many ids these are.
    """
    end = place + copied
    for i in range(0, count, 2):
        length = numbers[_at(at + i)]
        _copy(ids, start, length, target, place)
        place += length
        start += length + (numbers[_at(at + i + 1)] if i + 1 < count else 0)
    if count & 1 == 0:
        _copy(ids, start, end - place, target, place)


@njit(cache=True, nogil=True, forceinline=True)
def _merge(copied, count, others, other_count, target, place):
    """Merge ascending ids to ``target[place:]``: the others, which are few, into what is copied."""
    for k in range(len(LANES)):
        copied[_at(count + k)] = ~copied.dtype.type(0)
    i = np.int64(0)
    for k in range(other_count):
        other = others[_at(k)]
        while True:
            ids = load_vector(copied, i, LANES)
            store_vector(target, place, ids)
            below = first_not_below(ids, other)
            i += below
            place += below
            if below < len(LANES):
                break
        target[_at(place)] = other
        place += 1
    _copy(copied, i, count - i, target, place)


@njit(cache=True, nogil=True, forceinline=True)
def _residuals(n, x, numbers, at, count, target, place):
    """Write ``count`` residuals to ``target[place:]``; return how many are vertices, and what the next one would be."""
    if count == 0:
        return count, np.int64(0)
    value = x + signed(numbers[_at(at)])
    for i in range(1, count):
        if _at(value) >= _at(n):
            return i - 1, value
        target[_at(place)] = value
        place += 1
        value += numbers[_at(at + i)] + 1
    if _at(value) >= _at(n):
        return count - 1, value
    target[_at(place)] = value
    return count, np.int64(0)


@njit(cache=True, nogil=True)
def _with_intervals(shape, x, numbers, at, intervals, count, target, place):
    """Write the ``count`` ids of intervals and residuals to ``target[place:]``.

    Returns (numbers of intervals and residuals that are sound, what the next id would be, how many there are).
    """
    end = total = np.int64(0)
    for k in range(intervals):
        first = numbers[at + 2 * k]
        start = x + signed(first) if k == 0 else end + first + 1
        end = start + numbers[at + 2 * k + 1] + shape.shortest
        if start < 0 or end > shape.n:
            return 2 * k + 1, start if start < 0 else end - 1, np.int64(0)
        total += end - start
    behind = at + 2 * intervals
    residuals = count - total
    # at the end of their room, where the ids never overtake them
    aside = place + total
    sound, wrong = _residuals(shape.n, x, numbers, behind, residuals, target, aside)
    if sound < residuals:
        return 2 * intervals + sound, wrong, np.int64(0)
    i = end = np.int64(0)
    for k in range(intervals):
        first = numbers[at + 2 * k]
        start = x + signed(first) if k == 0 else end + first + 1
        end = start + numbers[at + 2 * k + 1] + shape.shortest
        while i < residuals and target[_at(aside + i)] < start:
            target[_at(place)] = target[_at(aside + i)]
            i += 1
            place += 1
        for value in range(start, end):
            target[_at(place)] = value
            place += 1
    return 2 * intervals + residuals, np.int64(0), 2 * intervals + residuals


@njit(cache=True, nogil=True)
def _bit_behind(data, shape, position, back, runs, others):
    """Return the bit behind so many numbers of a row: one that refers back and copies runs, or not, and others."""
    seen, left, byte = opened(data, position)
    _, seen, left, byte = read_rarely(data, seen, left, byte, shape.outdegree)
    if shape.window > 0:
        _, seen, left, byte = read_rarely(data, seen, left, byte, shape.reference)
    if back > 0:
        _, seen, left, byte = read_rarely(data, seen, left, byte, shape.block_count)
    for _ in range(runs):
        _, seen, left, byte = read_rarely(data, seen, left, byte, shape.block)
    intervals = np.int64(0)
    if shape.shortest > 0:
        intervals, seen, left, byte = read_rarely(data, seen, left, byte, shape.interval)
    for i in range(others):
        code = shape.interval if i < 2 * intervals else shape.residual
        _, seen, left, byte = read_rarely(data, seen, left, byte, code)
    return 8 * byte - left


@njit(cache=True, nogil=True, forceinline=True)
def _put_row(data, shape, x, base, numbers, at, scratch, place, state):
    """Decode row ``x``, whose numbers begin at ``at``, to ``scratch.ids[place:]``.

    Returns where the numbers of the next row begin, or -1 where this one is not sound.
    """
    row = x - base
    ids, starts = scratch.ids, scratch.starts
    degree = numbers[_at(at + 1)]
    scratch.bits[_at(row)] = numbers[_at(at)]
    starts[_at(row)], starts[_at(row + 1)] = place, place + degree
    at += 2
    if degree == 0:
        return at
    back = count = copied = intervals = np.int64(0)
    if shape.window > 0:
        back = numbers[_at(at)]
        at += 1
    others = degree
    if back > 0:
        count, copied = numbers[_at(at)], numbers[_at(at + 1)]
        others -= copied
        target, first = (ids, place) if others == 0 else (scratch.copied, np.int64(0))
        _copy_runs(numbers, at + 2, count, copied, ids, starts[_at(row - back)], target, first)
        at += 2 + count
    if others == 0:
        return at
    target, first = (ids, place) if copied == 0 else (scratch.others, np.int64(0))
    if shape.shortest > 0:
        intervals = numbers[_at(at)]
        at += 1
    if intervals == 0:
        sound, wrong = _residuals(shape.n, x, numbers, at, others, target, first)
        at += others
    else:
        sound, wrong, used = _with_intervals(shape, x, numbers, at, intervals, others, target, first)
        at += used
    if wrong != 0:
        state[VERTEX], state[STATUS], state[VALUE] = x, RANGE, wrong
        state[POSITION] = _bit_behind(data, shape, scratch.bits[_at(row)], back, count, sound + 1)
        return np.int64(-1)
    if copied > 0:
        _merge(scratch.copied, copied, scratch.others, others, ids, place)
    return at


@njit(cache=True, nogil=True)
def _falls(ids, start, stop):
    """Count the ids that are not greater than the one before them."""
    falls = np.int64(0)
    for i in range(start + 1, stop):
        falls += np.int64(ids[_at(i)] <= ids[_at(i - 1)])
    return falls


@njit(cache=True, nogil=True)
def _look_over(base, rows, scratch, state):
    """Find the self-loops and, if there is one, a row that does not ascend; return how many self-loops there are."""
    ids, starts, loops = scratch.ids, scratch.starts, scratch.loops
    count = between = np.int64(0)
    for row in range(rows):
        start, stop = starts[_at(row)], starts[_at(row + 1)]
        between += np.int64(0 < start < stop and ids[_at(start)] <= ids[_at(start - 1)])
        place = start
        x = base + row
        while place < stop:
            below = first_not_below(load_vector(ids, place, LANES), ids.dtype.type(x))
            place += below
            if below < len(LANES):
                break
        loops[_at(count), 0], loops[_at(count), 1] = row, place
        count += np.int64(place < stop and np.int64(ids[_at(place)]) == x)
    if _falls(ids, 0, starts[_at(rows)]) != between:
        for row in range(rows):
            if _falls(ids, starts[row], starts[row + 1]):
                fail(state, base + row, scratch.bits[row], ORDER, 0)
                break
    return count


@njit(cache=True, nogil=True)
def decode(data, shape, needs, first, last, numbers, scratch, state):
    """Decode the rows ``first`` to ``last - 1``, behind what they need, to ``scratch``.

    Parameters
    ----------
    needs
        int64 (needs, 2): the rows before ``first`` that are decoded for the sake of these, ascending.
    numbers
        int64: those of the needs, then those of the rows.
    state
        ``STATUS`` says whether something is wrong.

    Returns
    -------
    How many self-loops there are.
    """
    base = needs[0, 0] if len(needs) else first
    data, needs, numbers, state, scratch = (
        borrowed(data),
        borrowed(needs),
        borrowed(numbers),
        borrowed(state),
        _borrowed(scratch),
    )
    at = place = np.int64(0)
    for i in range(len(needs)):
        x = needs[i, 0]
        at = _put_row(data, shape, x, base, numbers, at, scratch, place, state)
        if at < 0:
            return np.int64(0)
        place = scratch.starts[x - base + 1]
        until = needs[i + 1, 0] if i + 1 < len(needs) else first
        for row in range(x - base + 1, until - base):
            scratch.starts[row + 1] = place
    for x in range(first, last):
        at = _put_row(data, shape, x, base, numbers, at, scratch, place, state)
        if at < 0:
            return np.int64(0)
        place = scratch.starts[_at(x - base + 1)]
    state[STATUS] = GOOD
    return _look_over(base, last - base, scratch, state)


@njit(cache=True, nogil=True)
def take_rows(scratch, skipped, loops, keep_loops, out, degrees):
    """Copy the rows from the row ``skipped`` on to ``out``, without their self-loops unless these are kept.

    Parameters
    ----------
    loops
        How many self-loops ``scratch`` has.
    degrees
        int64 (rows,), to be filled.

    Returns
    -------
    (ids that are left, self-loops).
    """
    starts, ids, out = borrowed(scratch.starts), borrowed(scratch.ids), borrowed(out)
    for row in range(len(degrees)):
        degrees[row] = starts[_at(skipped + row + 1)] - starts[_at(skipped + row)]
    begin, place, found = starts[skipped], np.int64(0), np.int64(0)
    places = scratch.loops
    for i in range(loops):
        row, loop = places[_at(i), 0], places[_at(i), 1]
        if row < skipped:
            continue
        found += 1
        if not keep_loops:
            degrees[_at(row - skipped)] -= 1
            _copy(ids, begin, loop - begin, out, place)
            place += loop - begin
            begin = loop + 1
    _copy(ids, begin, starts[skipped + len(degrees)] - begin, out, place)
    return place + starts[skipped + len(degrees)] - begin, found
