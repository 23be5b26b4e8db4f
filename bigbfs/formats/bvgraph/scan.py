"""The fast scan: where rows begin from which decoding can start, found without decoding a single neighbour.

A row says how many neighbours it has, which earlier row it refers to, and which runs of that row it copies; what is
left are intervals and residuals. To find the end of a row it is enough to count them. A *cut* is a row from which on
rows can be decoded apart from all before, but for a few *needs*: the rows of the window before it, and those that they
refer to in turn.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bigbfs.formats.bvgraph.codes import SURE, look, read_number, read_rarely
from bigbfs.jit.njit import njit

GOOD, CUT_SHORT, DEGREE, ARCS, REFERENCE, BLOCKS, INTERVALS, RANGE, ORDER = range(9)
"""What may be wrong with a row."""

VERTEX, POSITION, COUNT, STATUS, CUTS, NEEDS, VALUE, LARGEST = range(8)
"""Items of the state (int64) of scanning and decoding: the vertex, its bit, arcs so far, what is wrong, cuts and needs
so far, the number that is wrong, and the largest degree since the last cut."""

CUT_VERTEX, CUT_BIT, CUT_ARCS, CUT_NEEDS, CUT_NEED_ARCS, CUT_LARGEST = range(6)
"""Items of a cut (int64): its vertex, its bit, arcs before it, the first of its needs and the arcs of all of them, and
the largest degree from the cut before to here."""


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
    """

    bits: np.ndarray
    degrees: np.ndarray
    backs: np.ndarray


@njit(cache=True, nogil=True)
def fail(state, vertex, position, status, value):
    """Note what is wrong; return what nobody has seen."""
    state[VERTEX], state[POSITION], state[STATUS], state[VALUE] = vertex, position, status, value
    return np.uint64(0), np.int64(-1)


@njit(cache=True, nogil=True)
def _skip_runs(data, shape, there, seen, left, position):
    """Skip the runs that a row copies of one of ``there`` neighbours; return how many it copies, or -1.

    With it the number that is wrong, and where the scan stands.
    """
    blocks, seen, left, position = read_number(data, seen, left, position, shape.block_count)
    copied = total = np.int64(0)
    wrong = blocks if blocks < 0 or blocks > there + 1 else np.int64(0)
    for i in range(0 if wrong else blocks):
        length, seen, left, position = read_number(data, seen, left, position, shape.block)
        if length < 0 or length > there:
            wrong = length
            break
        length += np.int64(i > 0)
        total += length
        copied += length if i & 1 == 0 else 0
    if blocks & 1 == 0:
        copied += there - total
    if wrong == 0 and total > there:
        wrong = total
    return np.int64(-1) if wrong else copied, wrong, seen, left, position


@njit(cache=True, nogil=True)
def _skip_intervals(data, shape, ids, seen, left, position):
    """Skip the intervals of a row that has ``ids`` neighbours to come; return how many are residuals, or -1.

    With it the number that is wrong, and where the scan stands.
    """
    intervals, seen, left, position = read_rarely(data, seen, left, position, shape.interval)
    wrong = intervals if intervals < 0 or intervals > ids // shape.shortest else np.int64(0)
    for _ in range(0 if wrong else intervals):
        first, seen, left, position = read_rarely(data, seen, left, position, shape.interval)
        length, seen, left, position = read_rarely(data, seen, left, position, shape.interval)
        if first < 0 or length < 0 or length + shape.shortest > ids:
            wrong = min(first, length) if min(first, length) < 0 else length + shape.shortest
            break
        ids -= length + shape.shortest
    return np.int64(-1) if wrong else ids, wrong, seen, left, position


@njit(cache=True, nogil=True)
def _skip_row(data, shape, state, ring, seen, left):
    """Find the end of the next row and enter the row in the ring; return what is sure there (-1: it is not sound)."""
    x, position = state[VERTEX], state[POSITION]
    here = x & (len(ring.degrees) - 1)
    degree, seen, left, position = read_number(data, seen, left, position, shape.outdegree)
    ring.bits[here], ring.degrees[here], ring.backs[here] = state[POSITION], degree, 0
    if degree < 0 or degree > min(shape.n, shape.m - state[COUNT]):
        return fail(
            state, x, state[POSITION], CUT_SHORT if degree < 0 else DEGREE if degree > shape.n else ARCS, degree
        )
    ids = degree
    before = position
    if degree > 0 and shape.window > 0:
        back, seen, left, position = read_number(data, seen, left, position, shape.reference)
        if back < 0 or back > min(shape.window, x):
            return fail(state, x, before, CUT_SHORT if back < 0 else REFERENCE, back)
        ring.backs[here] = back
        if back > 0:
            before = position
            there = ring.degrees[(x - back) & (len(ring.degrees) - 1)]
            copied, wrong, seen, left, position = _skip_runs(data, shape, there, seen, left, position)
            if copied < 0 or copied > ids:
                return fail(state, x, before, CUT_SHORT if wrong < 0 else BLOCKS, copied if wrong == 0 else wrong)
            ids -= copied
    if ids > 0 and shape.shortest > 0:
        before = position
        ids, wrong, seen, left, position = _skip_intervals(data, shape, ids, seen, left, position)
        if ids < 0:
            return fail(state, x, before, CUT_SHORT if wrong < 0 else INTERVALS, wrong)
    lowest = np.int64(0)
    for _ in range(ids):
        residual, seen, left, position = read_number(data, seen, left, position, shape.residual)
        lowest = min(lowest, residual)
        if position > shape.bits:
            break
    if lowest < 0 or position > shape.bits:
        return fail(state, x, position, CUT_SHORT, 0)
    state[VERTEX], state[POSITION] = x + 1, position
    state[COUNT] += degree
    state[LARGEST] = max(state[LARGEST], degree)
    return seen, left


@njit(cache=True, nogil=True)
def _find_needs(shape, x, ring, most, wanted, needs, place):
    """Write vertex and bit of the rows that those from ``x`` on may need to ``needs[place:]``, ascending.

    Returns (how many, their arcs), or -1 where they reach back further than the ring, or hold more than ``most`` arcs.
    """
    mask = len(ring.bits) - 1
    oldest = max(0, x - len(ring.bits) + 1)
    first = max(0, x - shape.window)
    if first < oldest or len(needs) - place < len(ring.bits):
        return np.int64(-1), np.int64(0)
    wanted[:] = 0
    for v in range(first, x):
        wanted[v & mask] = 1
    low = first
    v = x - 1
    while v >= low:
        back = ring.backs[v & mask]
        if wanted[v & mask] and back > 0:
            if v - back < oldest:
                return np.int64(-1), np.int64(0)
            wanted[(v - back) & mask] = 1
            low = min(low, v - back)
        v -= 1
    count = arcs = np.int64(0)
    for v in range(low, x):
        if wanted[v & mask]:
            needs[place + count, 0], needs[place + count, 1] = v, ring.bits[v & mask]
            count += 1
            arcs += ring.degrees[v & mask]
    return (count, arcs) if arcs <= most else (np.int64(-1), np.int64(0))


@njit(cache=True, nogil=True)
def scan(data, shape, state, ring, arcs_of_chunk, cuts, needs):
    """Go on to the end of the graph, or until ``cuts`` or ``needs`` are full.

    Parameters
    ----------
    state
        Where the scan stands; ``STATUS`` says whether something is wrong there. ``COUNT`` is the arcs of all rows so
        far, ``CUTS`` and ``NEEDS`` those of this call, which begin at 0.
    ring
        The last rows.
    arcs_of_chunk
        Arcs from one cut to the next, at least.
    cuts, needs
        int64 (cuts, 6) and (needs, 2), to be filled.
    """
    wanted = np.zeros(len(ring.bits), np.uint8)
    state[CUTS] = state[NEEDS] = 0
    last = state[COUNT]
    tried = np.int64(0)
    seen, left = look(data, state[POSITION]), SURE
    while state[VERTEX] < shape.n:
        x = state[VERTEX]
        if state[COUNT] - last >= arcs_of_chunk or (state[COUNT] == 0 and x == 0):
            # rows that refer back without end are decoded in one piece: a try at every row would cost too much
            found, arcs = np.int64(-1), np.int64(0)
            if tried == 0:
                found, arcs = _find_needs(shape, x, ring, arcs_of_chunk, wanted, needs, state[NEEDS])
                tried = 16
            tried -= 1
            if found >= 0:
                cut = cuts[state[CUTS]]
                cut[CUT_VERTEX], cut[CUT_BIT], cut[CUT_ARCS] = x, state[POSITION], state[COUNT]
                cut[CUT_NEEDS], cut[CUT_NEED_ARCS], cut[CUT_LARGEST] = state[NEEDS], arcs, state[LARGEST]
                state[CUTS] += 1
                state[NEEDS] += found
                state[LARGEST] = 0
                for i in range(found):
                    degree = ring.degrees[needs[state[NEEDS] - 1 - i, 0] & (len(ring.bits) - 1)]
                    state[LARGEST] = max(state[LARGEST], degree)
                last = state[COUNT]
                tried = 0
                if state[CUTS] == len(cuts) or len(needs) - state[NEEDS] < len(ring.bits):
                    return
        seen, left = _skip_row(data, shape, state, ring, seen, left)
        if left < 0:
            return
