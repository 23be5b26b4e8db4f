"""The scan: codes become numbers, and rows are found from which decoding can start; no neighbour is decoded.

A row says how many neighbours it has, which earlier row it refers to, and which runs of that row it copies; what is
left are intervals and residuals. Where a row ends is known once all of them are read, so that codes can only be read
one after another. They are read once, here; what is to be made of them (:mod:`bigbfs.formats.bvgraph.decode`) is left
to other threads, a piece to each. A piece begins at a *cut*: rows from there on can be decoded apart from all before,
but for a few *needs*: the rows of the window before it, and those that they refer to in turn.

The numbers of a row, int64: its bit, its degree; if that is not 0 and there is a window, how far it refers back; if it
does, how many runs, how many neighbours they copy in all, the length of each run; if there are others and intervals in
this graph, how many intervals, of each its start and length as they are coded; the residuals as they are coded.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bigbfs.formats.bvgraph.codes import fill, opened, read_number, read_rarely
from bigbfs.jit.borrowed import borrowed
from bigbfs.jit.njit import njit

GOOD, CUT_SHORT, DEGREE, ARCS, REFERENCE, BLOCKS, INTERVALS, RANGE, ORDER, FULL = range(10)
"""What may be wrong with a row; ``FULL``: nothing, but its numbers need more room."""

VERTEX, POSITION, COUNT, STATUS, VALUE, LARGEST, NEEDS, NUMBERS, ARCS_HERE, NEED_NUMBERS, NEED_ARCS = range(11)
"""Items of the state (int64) of scanning and decoding: the vertex, its bit, arcs of all rows so far, what is wrong, the
number that is wrong; of the piece under way the largest degree, how many needs it has, its numbers and arcs, and which
of these are the needs'."""
ITEMS = 11

FIXED = 5
"""Numbers of a row, at most, beside runs, intervals and residuals; one more comes before the latter."""

_ROWS_BETWEEN_TRIES = 16
_NO_END = 1 << 60


class Shape(NamedTuple):
    """What the properties say; a state tuple of kernels.

    Attributes
    ----------
    bits
        Bits of the file.
    n, m
        Vertices and arcs.
    window
        How many rows back a row may refer; 0: none does.
    shortest
        Neighbours in the shortest interval; 0: there are no intervals.
    outdegree, reference, block_count, block, interval, residual
        Codes, as :func:`bigbfs.formats.bvgraph.codes.packed` makes them.
    """

    bits: int
    n: int
    m: int
    window: int
    shortest: int
    outdegree: int
    reference: int
    block_count: int
    block: int
    interval: int
    residual: int


class Ring(NamedTuple):
    """The last rows, as many as a power of two; a state tuple of kernels.

    Attributes
    ----------
    bits, degrees, backs
        int64, by the vertex modulo their length: where a row begins, its degree, how far it refers back.
    wanted
        uint8: room for :func:`_find_needs`.
    """

    bits: np.ndarray
    degrees: np.ndarray
    backs: np.ndarray
    wanted: np.ndarray


@njit(cache=True, nogil=True)
def fail(state, vertex, position, status, value):
    """Note what is wrong; return what no row has as its degree."""
    state[VERTEX], state[POSITION], state[STATUS], state[VALUE] = vertex, position, status, value
    return np.int64(-1)


@njit(cache=True, nogil=True, forceinline=True)
def _take_runs(data, shape, there, numbers, place, seen, left, byte):
    """Read the runs that a row copies of one of ``there`` neighbours; return how many it copies, or -1.

    With it the number that is wrong, and where the scan stands.
    """
    blocks, seen, left, byte = read_number(data, seen, left, byte, shape.block_count)
    copied = total = np.int64(0)
    wrong = blocks if blocks < 0 or blocks > there + 1 else np.int64(0)
    begin, last = place, len(numbers) - 1
    place += 2
    for i in range(0 if wrong else blocks):
        seen, left, byte = fill(data, seen, left, byte)
        length, seen, left, byte = read_number(data, seen, left, byte, shape.block)
        if length < 0 or length > there:
            wrong = length
            break
        length += np.int64(i > 0)
        numbers[np.uint64(min(place, last))] = length
        place += 1
        total += length
        copied += length if i & 1 == 0 else 0
    if blocks & 1 == 0:
        copied += there - total
    if wrong == 0 and total > there:
        wrong = total
    numbers[begin], numbers[begin + 1] = blocks, copied
    return np.int64(-1) if wrong else copied, wrong, place, seen, left, byte


@njit(cache=True, nogil=True)
def _take_intervals(data, shape, ids, intervals, numbers, place, seen, left, byte):
    """Read the intervals of a row that has ``ids`` neighbours to come; return how many are residuals, or -1.

    With it the number that is wrong, and where the scan stands.
    """
    wrong = intervals if intervals < 0 or intervals > ids // shape.shortest else np.int64(0)
    last = len(numbers) - 1
    for _ in range(0 if wrong else intervals):
        first, seen, left, byte = read_rarely(data, seen, left, byte, shape.interval)
        length, seen, left, byte = read_rarely(data, seen, left, byte, shape.interval)
        if first < 0 or length < 0 or length + shape.shortest > ids:
            wrong = min(first, length) if min(first, length) < 0 else length + shape.shortest
            break
        ids -= length + shape.shortest
        numbers[min(place, last)], numbers[min(place + 1, last)] = first, length
        place += 2
    return np.int64(-1) if wrong else ids, wrong, place, seen, left, byte


@njit(cache=True, nogil=True, forceinline=True)
def _take_row(data, shape, x, most, state, bits, degrees, backs, numbers, place, seen, left, byte):
    """Read the numbers of row ``x`` to ``numbers[place:]`` and enter the row in the ring, of which three arrays come.

    Returns (its degree, at most ``most``, or -1 where it is not sound; where the next row's numbers go; the register).
    Numbers for which there is no room are left out.
    """
    here = np.uint64(x & (len(degrees) - 1))
    begin = 8 * byte - left
    degree, seen, left, byte = read_number(data, seen, left, byte, shape.outdegree)
    bits[here], degrees[here], backs[here] = begin, degree, 0
    if degree < 0 or degree > most:
        status = CUT_SHORT if degree < 0 else DEGREE if degree > shape.n else ARCS
        return fail(state, x, begin, status, degree), place, seen, left, byte
    numbers[np.uint64(place)], numbers[np.uint64(place + 1)] = begin, degree
    place += 2
    ids = degree
    if degree > 0 and shape.window > 0:
        before = 8 * byte - left
        back, seen, left, byte = read_number(data, seen, left, byte, shape.reference)
        if back < 0 or back > min(shape.window, x):
            return fail(state, x, before, CUT_SHORT if back < 0 else REFERENCE, back), place, seen, left, byte
        backs[here] = back
        numbers[np.uint64(place)] = back
        place += 1
        if back > 0:
            before = 8 * byte - left
            there = degrees[np.uint64((x - back) & (len(degrees) - 1))]
            copied, wrong, place, seen, left, byte = _take_runs(data, shape, there, numbers, place, seen, left, byte)
            if copied < 0 or copied > ids:
                status, wrong = CUT_SHORT if wrong < 0 else BLOCKS, copied if wrong == 0 else wrong
                return fail(state, x, before, status, wrong), place, seen, left, byte
            ids -= copied
    last = len(numbers) - 1
    if ids > 0 and shape.shortest > 0:
        before = 8 * byte - left
        seen, left, byte = fill(data, seen, left, byte)
        intervals, seen, left, byte = read_number(data, seen, left, byte, shape.interval)
        numbers[np.uint64(min(place, last))] = intervals
        place += 1
        if intervals != 0:
            ids, wrong, place, seen, left, byte = _take_intervals(
                data, shape, ids, intervals, numbers, place, seen, left, byte
            )
            if ids < 0:
                return fail(state, x, before, CUT_SHORT if wrong < 0 else INTERVALS, wrong), place, seen, left, byte
    lowest = np.int64(0)
    for _ in range(ids):
        seen, left, byte = fill(data, seen, left, byte)
        residual, seen, left, byte = read_number(data, seen, left, byte, shape.residual)
        numbers[np.uint64(min(place, last))] = residual
        place += 1
        lowest = min(lowest, residual)
        if 8 * byte - left > shape.bits:
            break
    if lowest < 0 or 8 * byte - left > shape.bits:
        return fail(state, x, 8 * byte - left, CUT_SHORT, 0), place, seen, left, byte
    seen, left, byte = fill(data, seen, left, byte)
    return degree, place, seen, left, byte


@njit(cache=True, nogil=True)
def _find_needs(shape, x, ring, most, needs):
    """Write vertex and bit of the rows that those from ``x`` on may need to ``needs``, ascending.

    Returns how many, or -1 where they reach back further than the ring, or hold more than ``most`` arcs.
    """
    mask = len(ring.bits) - 1
    wanted = ring.wanted
    oldest = max(0, x - len(ring.bits) + 1)
    low = max(0, x - shape.window)
    if low < oldest:
        return np.int64(-1)
    wanted[:] = 0
    for v in range(low, x):
        wanted[v & mask] = 1
    v = x - 1
    while v >= low:
        back = ring.backs[v & mask]
        if wanted[v & mask] and back > 0:
            if v - back < oldest:
                return np.int64(-1)
            wanted[(v - back) & mask] = 1
            low = min(low, v - back)
        v -= 1
    count = arcs = np.int64(0)
    for v in range(low, x):
        if wanted[v & mask]:
            needs[count, 0], needs[count, 1] = v, ring.bits[v & mask]
            count += 1
            arcs += ring.degrees[v & mask]
    return count if arcs <= most else np.int64(-1)


@njit(cache=True, nogil=True)
def _take_rows(data, shape, first, last, most, state, ring, numbers, arcs_end, numbers_end):
    """Read rows from ``first`` to ``last - 1``, which begin at the state's bit, until the piece is long enough.

    Returns the vertex after the last of them; what is wrong, or that there is no room, is in the state.

    Parameters
    ----------
    most
        Arcs that they may have.
    arcs_end, numbers_end
        Arcs and numbers of which one is enough for a piece.
    """
    place, arcs, largest, position, x = state[NUMBERS], state[ARCS_HERE], state[LARGEST], state[POSITION], first
    most += arcs
    data, state, numbers = borrowed(data), borrowed(state), borrowed(numbers)
    bits, degrees, backs = borrowed(ring.bits), borrowed(ring.degrees), borrowed(ring.backs)
    seen, left, byte = opened(data, position)
    state[STATUS] = GOOD
    while x < last and arcs < arcs_end and place < numbers_end:
        if place + FIXED + 1 > len(numbers):
            state[STATUS], state[VALUE] = FULL, place + FIXED + 1
            break
        bound = min(shape.n, most - arcs)
        degree, behind, seen, left, byte = _take_row(
            data, shape, x, bound, state, bits, degrees, backs, numbers, place, seen, left, byte
        )
        if degree < 0:
            return x
        if behind > len(numbers):
            state[STATUS], state[VALUE] = FULL, behind
            break
        place, position = behind, 8 * byte - left
        arcs += degree
        largest = max(largest, degree)
        x += 1
    state[NUMBERS], state[ARCS_HERE], state[LARGEST], state[POSITION] = place, arcs, largest, position
    return x


@njit(cache=True, nogil=True)
def _begin(data, shape, state, ring, needs, numbers):
    """Begin a piece with the numbers of its needs."""
    position, no_end = state[POSITION], np.int64(_NO_END)
    state[ARCS_HERE] = state[LARGEST] = 0
    for i in range(state[NEEDS]):
        state[POSITION] = needs[i, 1]
        _take_rows(data, shape, needs[i, 0], needs[i, 0] + 1, shape.n, state, ring, numbers, no_end, no_end)
        if state[STATUS] == FULL:
            state[NUMBERS] = 0
            break
    state[POSITION], state[NEED_NUMBERS], state[NEED_ARCS] = position, state[NUMBERS], state[ARCS_HERE]


@njit(cache=True, nogil=True)
def scan(data, shape, state, ring, arcs_of_piece, needs, next_needs, numbers):
    """Go on to the end of a piece, or until there is no room for its numbers.

    Parameters
    ----------
    state
        Where the scan stands; ``STATUS`` says whether something is wrong there, or that ``numbers`` have to hold
        ``VALUE`` items or more. ``NUMBERS`` is 0 for a new piece.
    ring
        The last rows.
    arcs_of_piece
        Arcs from one cut to the next, at least; twice as many numbers will do as well.
    needs, next_needs
        int64, (rows of the ring, 2): vertex and bit of the needs of this piece, and of the next one, to be filled.
    numbers
        int64, to be filled: the numbers of the needs and of the piece, row after row.

    Returns
    -------
    How many needs the next piece has.
    """
    if state[NUMBERS] == 0:
        _begin(data, shape, state, ring, needs, numbers)
        if state[STATUS] != GOOD:
            return np.int64(0)
    arcs_end, numbers_end = state[NEED_ARCS] + arcs_of_piece, state[NEED_NUMBERS] + 2 * arcs_of_piece
    last = np.int64(shape.n)
    while True:
        arcs = state[ARCS_HERE]
        x = _take_rows(
            data, shape, state[VERTEX], last, shape.m - state[COUNT], state, ring, numbers, arcs_end, numbers_end
        )
        if state[STATUS] != GOOD and state[STATUS] != FULL:
            return np.int64(0)
        state[VERTEX] = x
        state[COUNT] += state[ARCS_HERE] - arcs
        if state[STATUS] == FULL or x == shape.n:
            return np.int64(0)
        found = _find_needs(shape, x, ring, arcs_of_piece, next_needs)
        if found >= 0:
            return found
        # rows that refer back without end are decoded in one piece: a try at every row would cost too much
        last = min(np.int64(shape.n), x + _ROWS_BETWEEN_TRIES)
        arcs_end = numbers_end = np.int64(_NO_END)
