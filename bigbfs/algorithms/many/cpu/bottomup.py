"""Bottom-up level of many searches: every vertex takes the bits that it lacks from its neighbours.

A neighbour's bits of the levels before are bits of this vertex already, so all that a neighbour has may be taken: no
frontier is kept. A vertex looks in the head table, then in its row, and leaves when no bit is missing that a search
still under way might bring. ``state.now`` is read, ``state.before`` written, by the one thread that has claimed the
vertex; the caller swaps the two.

Source: Then et al., "The more the merrier: efficient multi-source graph traversal", VLDB 2014, section 4.1.
"""

from __future__ import annotations

import numpy as np

from bigbfs.algorithms.many.cpu.collecting import add_planes, collect
from bigbfs.algorithms.many.cpu.state import EDGES, FOUND, LEFT, READ, TALLY, VERTICES
from bigbfs.engines.cpu.bits import ONE, SHIFT, WORD, ZERO, bit_value, is_set
from bigbfs.engines.cpu.rows import degree, glance, seek, step
from bigbfs.jit.atomics import fetch_add
from bigbfs.jit.bits import fetch_soon, population, trailing_zeros
from bigbfs.jit.njit import njit
from bigbfs.jit.team import member, share
from bigbfs.jit.vectors import any_bit, both, either, load_vector, store_vector, without

AHEAD = 24
"""Neighbours, and vertices, before whose turn bits are asked for: a cache line of bits is in no near cache."""

STRETCH = 64
"""Neighbours that are looked for in the bitmap before the bits of any are read (``BUFFER_IDS`` at most)."""

LOOKED = 8
"""Neighbours whose bits are read before it is asked whether any is still missing."""

_AHEAD, _STRETCH, _LOOKED = np.uint64(AHEAD), np.uint64(STRETCH), np.uint64(LOOKED)
_CHUNK = np.uint64(8)
_TALLY = np.uint64(TALLY)
_VERTICES, _EDGES, _LEFT, _READ, _FOUND = (np.uint64(place) for place in (VERTICES, EDGES, LEFT, READ, FOUND))


@njit
def _from_row(rows, u, now, n, want, found, faults, lanes):
    """Return ``found`` with the bits of the neighbours of ``u``, until none of ``want`` is missing; and edges read."""
    words = np.uint64(len(lanes))
    position, v, k = seek(rows, u, ZERO), ZERO, ZERO
    ids = degree(rows, u)
    while k < ids:
        end = min(ids, k + _LOOKED)
        while k < end:
            fetch_soon(now, glance(rows, position, _AHEAD) * words)
            v, position = step(rows, position, k, v)
            k += ONE
            if v >= n:
                fetch_add(faults, 0, ONE)
                continue
            found = either(found, load_vector(now, v * words, lanes))
        if not any_bit(without(want, found)):
            break
    return found, k


@njit
def _from_few(rows, u, now, reached, buffer, n, want, found, faults, lanes):
    """Do as :func:`_from_row` where only neighbours in the bitmap ``reached`` have bits.

    Those of a stretch of the row are listed first, without a branch that depends on the bitmap: whether a neighbour is
    in it no predictor can tell.
    """
    words = np.uint64(len(lanes))
    position, v, k = seek(rows, u, ZERO), ZERO, ZERO
    ids = degree(rows, u)
    while k < ids:
        fill, end = ZERO, min(ids, k + _STRETCH)
        while k < end:
            v, position = step(rows, position, k, v)
            k += ONE
            if v >= n:
                fetch_add(faults, 0, ONE)
                continue
            buffer[fill] = v
            fill += bit_value(reached, v)
        for i in range(fill):
            found = either(found, load_vector(now, np.uint64(buffer[i]) * words, lanes))
        if not any_bit(without(want, found)):
            break
    return found, k


@njit(nogil=True, cache=True)
def pull(team, rows, out_rows, state, sink, reached, level, lanes):
    """Bring ``level`` to every vertex that lacks a bit; ``rows`` are those of in-neighbours.

    A vertex that had before the level all bits that it may get is ``done``, and skipped from then on. ``reached`` is
    the bitmap of the vertices that have a bit, where few have any; else it is empty.
    """
    state.claim[0] = ZERO
    state.tallies[:] = ZERO
    share(team, np.uint64(len(state.done)) // _CHUNK + ONE, _pull, (rows, out_rows, state, sink, reached, level, lanes))


@member
def _pull(rows, out_rows, state, sink, reached, level, lanes, t):
    """Take words of the bitmap for :func:`pull` until there are no more."""
    words, n = np.uint64(len(lanes)), np.uint64(len(state.queued))
    now, before, done, heads, short = state.now, state.before, state.done, state.heads, state.short
    claim, tallies, faults = state.claim, state.tallies, state.faults
    live_bits = sink.active
    blocks = np.uint64(len(done)) - ONE
    vertices, edges, left, read, pairs, fill = ZERO, ZERO, ZERO, ZERO, ZERO, ZERO
    buffer, few, last = state.buffers[t], reached.size != 0, n - ONE
    active = load_vector(live_bits, ZERO, lanes)
    while True:
        first = fetch_add(claim, 0, _CHUNK)
        if first >= blocks:
            break
        for block in range(first, min(blocks, first + _CHUNK)):
            todo, complete = ~done[block], ZERO
            while todo != ZERO:
                b = trailing_zeros(todo)
                todo &= todo - ONE
                u = (block << SHIFT) + b
                have = load_vector(now, u * words, lanes)
                want = without(active, have)
                if not any_bit(want):
                    store_vector(before, u * words, have)
                    complete |= ONE << b  # a search that has found nothing in a level never finds anything again
                    continue
                later = min(u + _AHEAD, last)
                fetch_soon(now, np.uint64(heads[0, later]) * words)
                fetch_soon(now, np.uint64(heads[1, later]) * words)
                found = load_vector(now, np.uint64(heads[0, u]) * words, lanes)
                found = either(found, load_vector(now, np.uint64(heads[1, u]) * words, lanes))
                if any_bit(without(want, found)) and not is_set(short, u):
                    if few:
                        found, looked = _from_few(rows, u, now, reached, buffer, n, want, found, faults, lanes)
                    else:
                        found, looked = _from_row(rows, u, now, n, want, found, faults, lanes)
                    read += looked
                new = both(want, found)
                store_vector(before, u * words, either(have, new))
                if any_bit(new):
                    pair, fill = collect(sink, new, u, level, t, fill, lanes)
                    pairs += pair
                    vertices += ONE
                    edges += degree(out_rows, u)
                left += degree(rows, u)
            done[block] |= complete
    if sink.columns.size:
        add_planes(sink, t, lanes)
    mine = t * _TALLY
    tallies[mine + _VERTICES] = vertices
    tallies[mine + _EDGES] = edges
    tallies[mine + _LEFT] = left
    tallies[mine + _READ] = read
    tallies[mine + _FOUND] = pairs


@njit(nogil=True, cache=True)
def mark_reached(team, state, reached, lanes):
    """Set in the bitmap ``reached`` the vertices that have a bit; ``state.tallies`` has how many for each thread."""
    state.claim[0] = ZERO
    state.tallies[:] = ZERO
    share(team, np.uint64(len(reached)) // _CHUNK + ONE, _mark_reached, (state, reached, lanes))


@member
def _mark_reached(state, reached, lanes, t):
    """Take words of the bitmap for :func:`mark_reached` until there are no more."""
    words, now, claim = np.uint64(len(lanes)), state.now, state.claim
    blocks, count = np.uint64(len(reached)), ZERO
    while True:
        first = fetch_add(claim, 0, _CHUNK)
        if first >= blocks:
            break
        for block in range(first, min(blocks, first + _CHUNK)):
            some = ZERO
            for b in range(WORD):
                if any_bit(load_vector(now, ((block << SHIFT) + b) * words, lanes)):
                    some |= ONE << b
            reached[block] = some
            count += population(some)
    state.tallies[t * _TALLY] = count


@njit(nogil=True, cache=True)
def clear(team, state, count, lanes):
    """Take all bits from the first ``count`` vertices."""
    state.claim[0] = ZERO
    share(team, count // (_CHUNK * WORD) + ONE, _clear, (state, count, lanes))


@member
def _clear(state, count, lanes, t):
    """Take words of vertices for :func:`clear` until there are no more."""
    words, now, before, claim = np.uint64(len(lanes)), state.now, state.before, state.claim
    items = count * words
    size = words * WORD * _CHUNK
    while True:
        first = fetch_add(claim, 0, size)
        if first >= items:
            break
        for i in range(first, min(items, first + size)):
            now[i] = 0
            before[i] = 0
