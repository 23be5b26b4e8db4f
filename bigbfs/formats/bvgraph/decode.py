"""Rows of a BVGraph, from one cut to the next: copied runs, intervals and residuals, merged in ascending order.

Rows are decoded as they stand in the file, one after another into one array, where those that come later find the rows
that they refer to. What :mod:`bigbfs.formats.bvgraph.scan` has looked at is not looked at again: counts and codes are
sound here; what a neighbour is, and that no two are the same, is seen here alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bigbfs.formats.bvgraph.codes import SURE, look, read_number, read_rarely, signed
from bigbfs.formats.bvgraph.scan import COUNT, GOOD, ORDER, POSITION, RANGE, STATUS, VERTEX, fail
from bigbfs.jit.njit import njit

_at = np.uint64
"""Makes an index of what is never negative: no wrap-around is compiled in."""


class Scratch(NamedTuple):
    """Room for the parts of one row; a state tuple of kernels.

    Attributes
    ----------
    blocks
        int64: lengths of the runs that are copied and left out, in turn; later the intervals, start and end.
    copied, residuals, others
        Ids: what is copied; the residuals; these and the intervals.
    """

    blocks: np.ndarray
    copied: np.ndarray
    residuals: np.ndarray
    others: np.ndarray


@njit(cache=True, nogil=True)
def _copy_runs(out, start, stop, blocks, count, target, place):
    """Copy every other run of ``out[start:stop]``, the rest after an even number of them, to ``target[place:]``."""
    for i in range(0, count + 1, 2):
        length = blocks[_at(i)] if i < count else stop - start
        for k in range(length):
            target[_at(place + k)] = out[_at(start + k)]
        place += length
        start += length + (blocks[_at(i + 1)] if i + 1 < count else 0)


@njit(cache=True, nogil=True)
def _merge(one, ones, other, others, out, place):
    """Merge ascending ids to ``out[place:]``; without a branch on which is less, which nobody can foresee."""
    i = j = np.int64(0)
    while i < ones and j < others:
        first, second = one[_at(i)], other[_at(j)]
        less = first < second
        out[_at(place)] = first if less else second
        i += np.int64(less)
        j += np.int64(not less)
        place += 1
    for k in range(i, ones):
        out[_at(place)] = one[_at(k)]
        place += 1
    for k in range(j, others):
        out[_at(place)] = other[_at(k)]
        place += 1


@njit(cache=True, nogil=True)
def _residuals(data, shape, x, count, target, place, seen, left, position):
    """Write ``count`` residuals to ``target[place:]``; return the first that is no vertex (or 0), and where we are."""
    wrong = value = np.int64(0)
    for i in range(count):
        number, seen, left, position = read_number(data, seen, left, position, shape.residual)
        value = x + signed(number) if i == 0 else value + number + 1
        if value < 0 or value >= shape.n:
            wrong = value
            break
        target[_at(place + i)] = value
    return wrong, seen, left, position


@njit(cache=True, nogil=True)
def _intervals(data, shape, x, count, bounds, seen, left, position):
    """Write start and end of ``count`` intervals to ``bounds``; return (ids in them, one that is no vertex or 0)."""
    wrong = end = total = np.int64(0)
    for i in range(count):
        number, seen, left, position = read_rarely(data, seen, left, position, shape.interval)
        length, seen, left, position = read_rarely(data, seen, left, position, shape.interval)
        start = x + signed(number) if i == 0 else end + number + 1
        end = start + length + shape.shortest
        if start < 0 or end > shape.n:
            wrong = start if start < 0 else end - 1
            break
        bounds[_at(2 * i)], bounds[_at(2 * i + 1)] = start, end
        total += end - start
    return total, wrong, seen, left, position


@njit(cache=True, nogil=True)
def _with_intervals(bounds, count, residuals, left, target, place):
    """Merge ``count`` intervals and ``left`` residuals to ``target[place:]``."""
    i = np.int64(0)
    for k in range(count):
        start, end = bounds[2 * k], bounds[2 * k + 1]
        while i < left and residuals[i] < start:
            target[place] = residuals[i]
            i += 1
            place += 1
        for value in range(start, end):
            target[place] = value
            place += 1
    while i < left:
        target[place] = residuals[i]
        i += 1
        place += 1


@njit(cache=True, nogil=True)
def _others(data, shape, x, count, target, place, scratch, seen, left, position):
    """Write the ``count`` ids of row ``x`` that are not copied to ``target[place:]``; return as :func:`_residuals`."""
    intervals = wrong = np.int64(0)
    if shape.shortest > 0:
        intervals, seen, left, position = read_rarely(data, seen, left, position, shape.interval)
    if intervals == 0:
        return _residuals(data, shape, x, count, target, place, seen, left, position)
    blocks, residuals = scratch.blocks, scratch.residuals
    total, wrong, seen, left, position = _intervals(data, shape, x, intervals, blocks, seen, left, position)
    if wrong == 0:
        rest = count - total
        wrong, seen, left, position = _residuals(data, shape, x, rest, residuals, 0, seen, left, position)
        if wrong == 0:
            _with_intervals(blocks, intervals, residuals, rest, target, place)
    return wrong, seen, left, position


@njit(cache=True, nogil=True)
def _runs(data, shape, stop, blocks, seen, left, position):
    """Read the runs of a row of ``stop`` ids to ``blocks``; return how many, and how many ids they copy."""
    count, seen, left, position = read_number(data, seen, left, position, shape.block_count)
    total = copied = np.int64(0)
    for i in range(count):
        length, seen, left, position = read_number(data, seen, left, position, shape.block)
        length += np.int64(i > 0)
        blocks[_at(i)] = length
        total += length
        copied += length if i & 1 == 0 else 0
    if count & 1 == 0:
        copied += stop - total
    return count, copied, seen, left, position


@njit(cache=True, nogil=True)
def _read_row(data, shape, x, base, bounds, out, scratch, state, seen, left):
    """Decode row ``x`` behind the last one in ``out``, and say in ``bounds`` where it is; return what is sure (or -1).

    ``state`` has the bit where it begins, and the ids in ``out``.
    """
    position, place = state[POSITION], state[COUNT]
    degree, seen, left, position = read_number(data, seen, left, position, shape.outdegree)
    bounds[x - base, 0], bounds[x - base, 1] = place, place + degree
    copied = back = wrong = np.int64(0)
    if degree > 0 and shape.window > 0:
        back, seen, left, position = read_number(data, seen, left, position, shape.reference)
    if back > 0:
        blocks = scratch.blocks
        start, stop = bounds[x - back - base, 0], bounds[x - back - base, 1]
        count, copied, seen, left, position = _runs(data, shape, stop - start, blocks, seen, left, position)
        if copied == degree:
            _copy_runs(out, start, stop, blocks, count, out, place)
        elif copied > 0:
            _copy_runs(out, start, stop, blocks, count, scratch.copied, 0)
    others = degree - copied
    if others > 0:
        target, first = (out, place) if copied == 0 else (scratch.others, 0)
        wrong, seen, left, position = _others(data, shape, x, others, target, first, scratch, seen, left, position)
        if wrong != 0:
            return fail(state, x, position, RANGE, wrong)
        if copied > 0:
            _merge(scratch.copied, copied, scratch.others, others, out, place)
        falls = np.int64(0)
        for i in range(place + 1, place + degree):
            falls += np.int64(out[_at(i)] <= out[_at(i - 1)])
        if falls:
            return fail(state, x, state[POSITION], ORDER, falls)
    state[POSITION], state[COUNT] = position, place + degree
    return seen, left


@njit(cache=True, nogil=True)
def decode(data, shape, needs, first, last, position, out, bounds, scratch, state):
    """Decode the rows ``first`` to ``last - 1``, which begin at bit ``position``, behind what they need.

    Parameters
    ----------
    needs
        int64 (needs, 2): vertex and bit of the rows before ``first`` that are decoded for the sake of these.
    out
        Ids, to be filled: the needs, then the rows.
    bounds
        int64 (rows, 2), to be filled: where each row is in ``out``, from the first of the needs on.
    state
        ``STATUS`` says whether something is wrong; ``COUNT`` is the ids in ``out``.
    """
    base = needs[0, 0] if len(needs) else first
    state[COUNT] = 0
    for i in range(len(needs)):
        state[POSITION] = needs[i, 1]
        seen, left = look(data, state[POSITION]), SURE
        seen, left = _read_row(data, shape, needs[i, 0], base, bounds, out, scratch, state, seen, left)
        if left < 0:
            return
    state[POSITION] = position
    seen, left = look(data, position), SURE
    for x in range(first, last):
        seen, left = _read_row(data, shape, x, base, bounds, out, scratch, state, seen, left)
        if left < 0:
            return
    state[VERTEX], state[STATUS] = last, GOOD


@njit(cache=True, nogil=True)
def take_rows(out, bounds, first, keep_loops, degrees):
    """Move the rows to the beginning of ``out``, without self-loops unless they are kept.

    Parameters
    ----------
    bounds
        int64 (rows, 2): where each row is.
    first
        Vertex of the first row.
    degrees
        int64 (rows,), to be filled.

    Returns
    -------
    (ids that are left, self-loops).
    """
    place = loops = np.int64(0)
    for row in range(len(bounds)):
        start, stop = bounds[row]
        low, high = start, stop
        while low < high:
            middle = (low + high) >> 1
            if out[middle] < first + row:
                low = middle + 1
            else:
                high = middle
        loop = low < stop and out[low] == first + row
        loops += np.int64(loop)
        kept = place
        if loop and not keep_loops:
            for i in range(start, low):
                out[place] = out[i]
                place += 1
            start = low + 1
        if place == start:
            place = stop
        else:
            for i in range(start, stop):
                out[place] = out[i]
                place += 1
        degrees[row] = place - kept
    return place, loops
