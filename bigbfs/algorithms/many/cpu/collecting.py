"""What is collected while many searches run, since nobody stores their levels: counts, sums, last levels, witnesses.

What is wanted is a matter of which arrays of the sink have items: those that nobody wants have none. A thread writes
to places of its own and to those of the vertices that it has claimed; ``close_level`` adds up.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bigbfs.engines.cpu.bits import ONE, ZERO
from bigbfs.jit.bits import leading_zeros, trailing_zeros
from bigbfs.jit.njit import njit
from bigbfs.jit.vectors import any_bit, both, count_bits, either, load_vector, one_of, store_vector, without

PLANES = 8
"""Bit planes in which a thread counts for each source: 255 vertices before it must add them up."""

LAGS = 3
"""Levels that a source may be behind others (:mod:`bigbfs.algorithms.many.cpu.waiting`)."""

LINE = 8
"""Items of ``behind`` for each thread, of its own cache line: ``LAGS`` at least."""
LENGTHS = 64
"""Bits that an id can have, and none."""
_LINE = np.uint64(LINE)
_LENGTHS = np.uint64(LENGTHS)
_ID_BITS = np.uint64(64)
_PLANES = np.uint64(PLANES)
_MOST = np.uint64(2**PLANES - 1)
_BITS = np.uint64(8)


class Sink(NamedTuple):
    """See the module; T threads, K words of all in all W bits.

    Attributes
    ----------
    alive
        Words, (T * K): sources that have reached a vertex in this level.
    active
        Words, (K,): sources that reached one in the last level.
    scratch
        Words, (T * K).
    witness
        int64, (T * W): a vertex that the source has reached in this level.
    ids, lowest
        uint64, (n,): original ids, or empty where they ascend as vertices do; and the smallest.
    near
        Words, (T * LENGTHS * K), where of several witnesses that of the smallest id is wanted; else empty. For each
        length the sources whose witness has an id (above the lowest) of so many bits or more, or that have none: who
        is in none of them has found a smaller one, which one look tells for all sources of a word.
    best, least
        uint64, (T * W), (W,): the id of ``witness``, and of ``far``, above the lowest.
    depth, far
        int64, (W,): of each source the last level, and a vertex in it.
    found
        int64: pairs of source and vertex found in each level.
    columns
        int64, (levels * W) or empty: for each level and source the vertices found.
    counts, planes
        int64 (T * W), words (T * PLANES * K): where a thread counts for ``columns``.
    reach, farness
        int64, (n,) or empty: for each vertex the sources that have reached it from elsewhere, the sum of distances.
    harmonic
        float64, (n,) or empty: the sum of the reciprocals of these distances.
    levels
        int32, (n * W) or empty: level of each vertex for each source, -1 unreached.
    lag
        int64, (W,): how many levels each source is behind.
    late
        Words, (L * K): for each j the sources that are more than j levels behind; empty where nobody is.
    behind
        int64, (T * LINE): pairs found by these in this level.
    """

    alive: np.ndarray
    active: np.ndarray
    scratch: np.ndarray
    witness: np.ndarray
    ids: np.ndarray
    lowest: np.uint64
    near: np.ndarray
    best: np.ndarray
    least: np.ndarray
    depth: np.ndarray
    far: np.ndarray
    found: np.ndarray
    columns: np.ndarray
    counts: np.ndarray
    planes: np.ndarray
    reach: np.ndarray
    farness: np.ndarray
    harmonic: np.ndarray
    levels: np.ndarray
    lag: np.ndarray
    late: np.ndarray
    behind: np.ndarray


@njit
def _mark(target, value, first, scratch, at, bits, lanes):
    """Set ``target[first + bit]`` to ``value`` for every bit of the vector ``bits``."""
    size = np.uint64(scratch.itemsize) * _BITS
    store_vector(scratch, at, bits)
    for w in range(np.uint64(len(lanes))):
        word = np.uint64(scratch[at + w])
        while word != ZERO:
            target[first + w * size + trailing_zeros(word)] = value
            word &= word - ONE


@njit
def _note_nearer(sink, better, key, bits, v, t, lanes):
    """Make ``v``, whose id is ``key`` above the lowest and has so many ``bits``, the witness of those of ``better``
    that have none, or one of a larger id."""
    words = np.uint64(len(lanes))
    scratch, alive, near, best, witness = sink.scratch, sink.alive, sink.near, sink.best, sink.witness
    size, at = np.uint64(scratch.itemsize) * _BITS, t * words
    width = words * size
    store_vector(scratch, at, better)
    for w in range(words):
        word = np.uint64(scratch[at + w])
        while word != ZERO:
            b = trailing_zeros(word)
            word &= word - ONE
            place, one = t * width + w * size + b, alive.dtype.type(1) << alive.dtype.type(b)
            none = alive[at + w] & one == 0
            if not none and best[place] <= key:
                continue
            longest = _LENGTHS if none else _ID_BITS - leading_zeros(best[place]) + ONE
            for length in range(bits + ONE, longest):
                near[(t * _LENGTHS + length) * words + w] &= ~one
            best[place], witness[place] = key, np.int64(v)
            alive[at + w] |= one


@njit
def _mark_levels(sink, level, first, at, bits, lanes):
    """Set the level of a vertex for every source of the vector ``bits``: that of the batch, less its lag."""
    levels, scratch, lag = sink.levels, sink.scratch, sink.lag
    size = np.uint64(scratch.itemsize) * _BITS
    store_vector(scratch, at, bits)
    for w in range(np.uint64(len(lanes))):
        word = np.uint64(scratch[at + w])
        while word != ZERO:
            bit = w * size + trailing_zeros(word)
            levels[first + bit] = level - lag[bit]
            word &= word - ONE


@njit
def _add_late(sink, new, found, v, level, t, lanes):
    """Count the pairs of late sources among ``found``; add to the sums of ``v`` what each class of sources brings."""
    words = np.uint64(len(lanes))
    distances, weight, rest, steps = np.int64(0), 0.0, np.int64(found), np.int64(level)
    for j in range(np.uint64(sink.late.size) // words):
        some = np.int64(count_bits(both(new, load_vector(sink.late, j * words, lanes))))
        if some == 0:
            break
        sink.behind[t * _LINE + j] += some
        if rest != some:
            distances += (rest - some) * steps
            weight += np.float64(rest - some) / np.float64(steps)
        rest, steps = some, steps - 1
    if sink.reach.size:
        sink.reach[v] += np.int64(found)
        sink.farness[v] += distances + rest * steps
    if sink.harmonic.size:
        sink.harmonic[v] += weight + np.float64(rest) / np.float64(steps)


@njit
def _count(planes, new, t, lanes):
    """Add a vertex to the bit planes of thread ``t``."""
    words = np.uint64(len(lanes))
    at = t * _PLANES * words
    carry = new
    while any_bit(carry):
        plane = load_vector(planes, at, lanes)
        store_vector(planes, at, one_of(plane, carry))
        carry = both(plane, carry)
        at += words


@njit
def add_planes(sink, t, lanes):
    """Add what the bit planes of thread ``t`` hold to its counts, and empty them."""
    words = np.uint64(len(lanes))
    planes, counts = sink.planes, sink.counts
    size = np.uint64(planes.itemsize) * _BITS
    for p in range(_PLANES):
        for w in range(words):
            at = (t * _PLANES + p) * words + w
            word = np.uint64(planes[at])
            planes[at] = 0
            while word != ZERO:
                counts[(t * words + w) * size + trailing_zeros(word)] += np.int64(1) << np.int64(p)
                word &= word - ONE


@njit(forceinline=True)
def collect(sink, new, v, level, t, fill, lanes):
    """Note that the sources of ``new`` have reached ``v`` in ``level``, for thread ``t``.

    Returns pairs found, and how many vertices the bit planes hold (``fill`` before). It is part of who calls it: a
    sink is a hundred words of arguments, which take longer to hand over than a vertex to note.
    """
    words = np.uint64(len(lanes))
    width = words * np.uint64(sink.alive.itemsize) * _BITS
    at = t * words
    found = count_bits(new)
    alive = load_vector(sink.alive, at, lanes)
    fresh = without(new, alive)
    if sink.near.size:
        key = np.uint64(v) if sink.ids.size == 0 else sink.ids[v] - sink.lowest
        bits = _ID_BITS - leading_zeros(key)
        better = both(new, load_vector(sink.near, (t * _LENGTHS + bits) * words, lanes))
        if any_bit(better):
            _note_nearer(sink, better, key, bits, v, t, lanes)
    elif any_bit(fresh):
        store_vector(sink.alive, at, either(alive, fresh))
        _mark(sink.witness, np.int64(v), t * width, sink.scratch, at, fresh, lanes)
    if sink.levels.size:
        _mark_levels(sink, np.int64(level), v * width, at, new, lanes)
    if sink.late.size:
        _add_late(sink, new, found, v, level, t, lanes)
    else:
        if sink.reach.size:
            sink.reach[v] += np.int64(found)
            sink.farness[v] += np.int64(found) * np.int64(level)
        if sink.harmonic.size:
            sink.harmonic[v] += np.float64(found) / np.float64(level)
    if sink.columns.size:
        _count(sink.planes, new, t, lanes)
        fill += ONE
        if fill == _MOST:
            add_planes(sink, t, lanes)
            fill = ZERO
    return found, fill


@njit(nogil=True, cache=True)
def close_level(sink, level, pairs, lanes, threads):
    """Add up what ``threads`` threads found in ``level``, ``pairs`` in all; its sources are ``active`` then."""
    words = np.uint64(len(lanes))
    size = np.uint64(sink.alive.itemsize) * _BITS
    width = words * size
    by_level = np.uint64(sink.columns.size) > width  # totals have no levels
    own = np.int64(pairs)  # of those that are not behind
    for j in range(np.uint64(sink.late.size) // words):
        some = np.int64(0)
        for t in range(np.uint64(threads)):
            some += sink.behind[t * _LINE + j]
            sink.behind[t * _LINE + j] = 0
        sink.found[np.int64(level) - np.int64(j)] += own - some
        own = some
    sink.found[np.int64(level) - np.int64(np.uint64(sink.late.size) // words)] += own
    for w in range(words):
        sink.active[w] = 0
    for t in range(np.uint64(threads)):
        for w in range(words):
            word, known = np.uint64(sink.alive[t * words + w]), np.uint64(sink.active[w])
            if word == ZERO:
                continue
            sink.active[w] |= sink.alive[t * words + w]
            sink.alive[t * words + w] = 0
            if sink.near.size:
                for length in range(_LENGTHS):
                    sink.near[(t * _LENGTHS + length) * words + w] = ~sink.near.dtype.type(0)
            while word != ZERO:
                b = trailing_zeros(word)
                bit = w * size + b
                word &= word - ONE
                if sink.near.size:
                    if (known >> b) & ONE != ZERO and sink.least[bit] <= sink.best[t * width + bit]:
                        continue  # what another thread has found is nearer
                    sink.least[bit] = sink.best[t * width + bit]
                sink.depth[bit] = np.int64(level) - sink.lag[bit]
                sink.far[bit] = sink.witness[t * width + bit]
        if sink.columns.size:
            for bit in range(width):
                row = np.uint64(np.int64(level) - sink.lag[bit]) if by_level else ZERO
                sink.columns[row * width + bit] += sink.counts[t * width + bit]
                sink.counts[t * width + bit] = 0
