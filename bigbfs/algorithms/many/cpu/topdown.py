"""Top-down level of many searches: every vertex of the frontier hands its new bits to its neighbours.

``state.now`` takes them by atomic ``or``, and tells which of them are new: an entry mostly has bits in a few words, and
the line of ``state.now`` is the only one that an edge asks for. A second pass, over the vertices that were given any,
makes ``state.before`` equal to it and puts what was new beside the queue. Thin levels run serially, many in one call.
Rows of hubs are shared piece by piece.

Source: Then et al., "The more the merrier: efficient multi-source graph traversal", VLDB 2014.
"""

from __future__ import annotations

import numpy as np

from bigbfs.algorithms.many.cpu.collecting import add_planes, close_level, collect
from bigbfs.algorithms.many.cpu.state import EDGES, FOUND, HUBS, READ, TALLY
from bigbfs.engines.cpu.bits import ONE, SHIFT, ZERO
from bigbfs.engines.cpu.rows import degree, glance, seek, step
from bigbfs.jit.atomics import fetch_add, fetch_or, load
from bigbfs.jit.bits import fetch_soon, population, trailing_zeros
from bigbfs.jit.njit import njit
from bigbfs.jit.team import member, share
from bigbfs.jit.vectors import any_bit, either, load_vector, store_vector, without

PIECE = 8192
"""Neighbours of a hub that a thread takes at once (a multiple of BLOCK_IDS)."""

BUFFER_IDS = 512
"""Vertices that a thread finds before it appends them."""

TAIL = 8
"""Place in ``state.claim`` of the end of a queue, a cache line from the work given out."""

AHEAD = 16
"""Neighbours before whose turn bits are asked for."""

_AHEAD = np.uint64(AHEAD)
_BUFFER = np.uint64(BUFFER_IDS)
_CHUNK = np.uint64(16)
_PIECE = np.uint64(PIECE)
_SETTLE = np.uint64(64)
_WORDS = np.uint64(8)
_FOUR = np.uint64(4)
_TALLY = np.uint64(TALLY)
_EDGES, _READ, _FOUND, _HUBS = (np.uint64(place) for place in (EDGES, READ, FOUND, HUBS))
_GIVEN = np.uint8(1)


@njit(nogil=True, cache=True)
def walk(rows, state, sink, count, level, last, most_edges, lanes):
    """Run level after level serially, while one has at most ``most_edges`` edges and is before ``last``.

    Returns vertices in the frontier and edges in their rows, the level reached, and edges read. The frontier is in
    ``state.queue`` if an even number of levels ran, else in ``next_queue``.
    """
    words, n = np.uint64(len(lanes)), np.uint64(len(state.queued))
    now, before, bits, queued, faults = state.now, state.before, state.bits, state.queued, state.faults
    queue, next_queue = state.queue, state.next_queue
    edges, read, pairs = ZERO, ZERO, ZERO
    while count != ZERO and edges <= most_edges and level < last:
        tail = ZERO
        for i in range(count):
            u = np.uint64(queue[i])
            mine = load_vector(bits, i * words, lanes)
            position, v = seek(rows, u, ZERO), ZERO
            read += degree(rows, u)
            for k in range(degree(rows, u)):
                v, position = step(rows, position, k, v)
                if v >= n:
                    faults[0] += ONE
                elif any_bit(without(mine, load_vector(before, v * words, lanes))):
                    store_vector(now, v * words, either(load_vector(now, v * words, lanes), mine))
                    if queued[v] == 0:
                        queued[v] = _GIVEN
                        next_queue[tail] = v
                        tail += ONE
        level += 1
        count, edges, fill, pairs = tail, ZERO, ZERO, ZERO
        queue, next_queue = next_queue, queue
        for i in range(count):
            v = np.uint64(queue[i])
            new = _settle(now, before, bits, queued, i, v, lanes)
            found, fill = collect(sink, new, v, level, ZERO, fill, lanes)
            pairs += found
            edges += degree(rows, v)
        if sink.columns.size:
            add_planes(sink, ZERO, lanes)
        close_level(sink, level, pairs, lanes, 1)
    return count, edges, level, read


@njit
def _settle(now, before, bits, queued, i, v, lanes):
    """Make ``v``, entry ``i`` of the queue, ready for the next level; return its new bits."""
    words = np.uint64(len(lanes))
    after = load_vector(now, v * words, lanes)
    new = without(after, load_vector(before, v * words, lanes))
    store_vector(bits, i * words, new)
    store_vector(before, v * words, after)
    queued[v] = 0
    return new


@njit
def _append(queue, claim, buffer, fill):
    """Append the first ``fill`` of ``buffer`` to the queue."""
    start = fetch_add(claim, TAIL, fill)
    for i in range(fill):
        queue[start + i] = buffer[i]


@njit
def _span(bits, first, words):
    """Return the first word with a bit of ``words`` from ``first`` on, and that behind the last, counted from there."""
    begin, end = words, ZERO
    for w in range(words):
        if bits[first + w] != 0:
            begin, end = min(begin, w), w + ONE
    return begin, end


@njit
def _give(now, bits, mine, theirs, begin, end):
    """Set bits at ``theirs`` as at ``mine``, words ``begin`` to ``end``, as others do; return whether one is new."""
    given = False
    for w in range(begin, end):
        new = bits[mine + w] & ~load(now, theirs + w)
        if new != 0:
            given |= fetch_or(now, theirs + w, new) & new != new
    return given


@njit
def _is_first(queued, v):
    """Note that ``v`` is going to be in the queue; return whether nobody has noted it before."""
    return load(queued, v) != _GIVEN and fetch_or(queued, v, _GIVEN) != _GIVEN


@njit(nogil=True, cache=True)
def push(team, rows, state, count, entries, skips, lanes):
    """Hand over the bits of the ``count`` entries of the queue; who was given any is in ``next_queue``.

    Of a row longer than ``PIECE`` only the first piece is read, and then those that ``entries`` (places in the queue)
    and ``skips`` (neighbours before the piece) name. ``state.claim[TAIL]`` is the end of ``next_queue`` afterwards.
    """
    state.claim[0], state.claim[TAIL] = ZERO, ZERO
    state.tallies[:] = ZERO
    claims = np.uint64(len(entries)) + (count + _CHUNK - ONE) // _CHUNK
    share(team, claims, _push, (rows, state, count, entries, skips, claims, lanes))


@member
def _push(rows, state, count, entries, skips, claims, lanes, t):
    """Take entries and pieces for :func:`push` until there are no more."""
    words, n, pieces = np.uint64(len(lanes)), np.uint64(len(state.queued)), np.uint64(len(entries))
    now, bits, queued, tallies = state.now, state.bits, state.queued, state.tallies
    queue, next_queue, claim, faults, buffers = state.queue, state.next_queue, state.claim, state.faults, state.buffers
    buffer, fill, read = buffers[t], ZERO, ZERO
    while True:
        mine = fetch_add(claim, 0, ONE)
        if mine >= claims:
            break
        begin, end, skip = ZERO, ONE, ZERO
        if mine < pieces:
            begin, skip = entries[mine], skips[mine]
            end = begin + ONE
        else:
            begin = (mine - pieces) * _CHUNK
            end = min(count, begin + _CHUNK)
        for i in range(begin, end):
            u = np.uint64(queue[i])
            first, last = _span(bits, i * words, words)
            position, v = seek(rows, u, skip), ZERO
            stop = min(degree(rows, u), skip + _PIECE)
            read += stop - skip
            for k in range(skip, stop):
                fetch_soon(now, glance(rows, position, _AHEAD) * words)
                v, position = step(rows, position, k, v)
                if v >= n:
                    fetch_add(faults, 0, ONE)
                elif _give(now, bits, i * words, v * words, first, last) and _is_first(queued, v):
                    buffer[fill] = v
                    fill += ONE
                    if fill == _BUFFER:
                        _append(next_queue, claim, buffer, fill)
                        fill = ZERO
    _append(next_queue, claim, buffer, fill)
    tallies[t * _TALLY + _READ] = read


@njit(nogil=True, cache=True)
def settle(team, rows, state, sink, count, level, lanes):
    """Make the ``count`` entries of the queue ready for the next level, and collect what is new."""
    state.claim[0] = ZERO
    state.tallies[:] = ZERO
    share(team, count // (_SETTLE * _FOUR) + ONE, _settle_some, (rows, state, sink, count, level, lanes))


@member
def _settle_some(rows, state, sink, count, level, lanes, t):
    """Take entries for :func:`settle` until there are no more."""
    now, before, bits, queued = state.now, state.before, state.bits, state.queued
    queue, claim, tallies = state.queue, state.claim, state.tallies
    edges, pairs, hubs, fill = ZERO, ZERO, ZERO, ZERO
    while True:
        first = fetch_add(claim, 0, _SETTLE)
        if first >= count:
            break
        for i in range(first, min(count, first + _SETTLE)):
            v = np.uint64(queue[i])
            new = _settle(now, before, bits, queued, i, v, lanes)
            found, fill = collect(sink, new, v, level, t, fill, lanes)
            ids = degree(rows, v)
            pairs += found
            edges += ids
            hubs += ONE if ids > _PIECE else ZERO
    if sink.columns.size:
        add_planes(sink, t, lanes)
    mine = t * _TALLY
    tallies[mine + _EDGES] = edges
    tallies[mine + _FOUND] = pairs
    tallies[mine + _HUBS] = hubs


@njit(nogil=True, cache=True)
def gather(team, rows, state, lanes):
    """Queue the vertices for which ``now`` and ``before`` differ, with the difference, and make them equal.

    ``state.claim[TAIL]`` is the number of them afterwards. What is new was collected when it was found.
    """
    state.claim[0], state.claim[TAIL] = ZERO, ZERO
    state.tallies[:] = ZERO
    share(team, np.uint64(len(state.queued)) // (_SETTLE * _SETTLE) + ONE, _gather, (rows, state, lanes))


@member
def _gather(rows, state, lanes, t):
    """Take words of vertices for :func:`gather` until there are no more."""
    words, done, queue = np.uint64(len(lanes)), state.done, state.queue
    now, before, bits, claim = state.now, state.before, state.bits, state.claim
    blocks, edges, hubs = np.uint64(len(done)) - ONE, ZERO, ZERO
    while True:
        begin = fetch_add(claim, 0, _WORDS)
        if begin >= blocks:
            break
        for block in range(begin, min(blocks, begin + _WORDS)):
            first, moved = block << SHIFT, _moved(now, before, block, ~done[block], lanes)
            if moved == ZERO:
                continue
            i = fetch_add(claim, TAIL, population(moved))  # once for 64 vertices: threads share the line of the tail
            while moved != ZERO:
                v = first + trailing_zeros(moved)
                moved &= moved - ONE
                after = load_vector(now, v * words, lanes)
                queue[i] = v
                store_vector(bits, i * words, without(after, load_vector(before, v * words, lanes)))
                store_vector(before, v * words, after)
                i += ONE
                ids = degree(rows, v)
                edges += ids
                hubs += ONE if ids > _PIECE else ZERO
    mine = t * _TALLY
    tallies = state.tallies
    tallies[mine + _EDGES] = edges
    tallies[mine + _HUBS] = hubs


@njit
def _moved(now, before, block, todo, lanes):
    """Return which vertices of a word of them, among ``todo``, have bits ``now`` that they had not ``before``."""
    words, moved = np.uint64(len(lanes)), ZERO
    while todo != ZERO:
        b = trailing_zeros(todo)
        todo &= todo - ONE
        at = ((block << SHIFT) + b) * words
        if any_bit(without(load_vector(now, at, lanes), load_vector(before, at, lanes))):
            moved |= ONE << b
    return moved
