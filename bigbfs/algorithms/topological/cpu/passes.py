"""Kahn's algorithm as compiled kernels: in-degrees, serial rounds, parallel rounds.

``left`` (id dtype, one per vertex) is the edges into a vertex that no round has taken off yet. All rounds are one
``queue``, each a window of it: a vertex enters once, so n entries suffice. In a parallel round threads share ``left``
and the queue's end by the atomics of :mod:`bigbfs.jit.atomics` only; of the threads that take edges off a vertex
exactly one sees the last of them. Vertices of more than ``HUB_EDGES`` neighbours are listed in ``hubs`` too, and
threads share their rows piece by piece.

``counts`` (uint64) is what a pass adds to: see ``FAULTS`` and its neighbours.
"""

from __future__ import annotations

import numpy as np

from bigbfs.engines.cpu.bits import ONE, ZERO
from bigbfs.engines.cpu.rows import degree, seek, step
from bigbfs.jit.atomics import fetch_add
from bigbfs.jit.njit import njit
from bigbfs.jit.team import member, share

HUB_EDGES = 8192
"""Rows longer than this are cut into pieces of this length (a multiple of BLOCK_IDS)."""

BUFFER_IDS = 1024
"""Vertices that a thread frees before it appends them."""

FAULTS, CLAIM, TAIL, EDGES, HUBS = (8 * place for place in range(5))
"""Places in ``counts``, a cache line each: ids that are no vertices, work given out, end of the queue, edges and hubs
of the vertices appended."""

COUNTS = 40

_HUB = np.uint64(HUB_EDGES)
_BUFFER = np.uint64(BUFFER_IDS)
_CHUNK = np.uint64(64)
_VERTICES = np.uint64(1 << 17)


@njit(nogil=True, cache=True)
def take_lengths(team, in_rows, left, counts):
    """Set ``left`` to the lengths of the rows of in-neighbours."""
    counts[CLAIM] = ZERO
    share(team, np.uint64(left.size) // _VERTICES + ONE, _take_lengths, (in_rows, left, counts))


@member
def _take_lengths(in_rows, left, counts, t):
    """Take vertices for :func:`take_lengths` until there are no more."""
    n = np.uint64(left.size)
    while True:
        first = fetch_add(counts, CLAIM, _VERTICES)
        if first >= n:
            break
        for v in range(first, min(n, first + _VERTICES)):
            left[v] = degree(in_rows, v)


@njit(nogil=True, cache=True)
def add_up(team, parts, left, counts):
    """Set ``left`` to the sum of ``parts`` (threads, n)."""
    counts[CLAIM] = ZERO
    share(team, np.uint64(left.size) // _VERTICES + ONE, _add_up, (parts, left, counts))


@member
def _add_up(parts, left, counts, t):
    """Take vertices for :func:`add_up` until there are no more."""
    n = np.uint64(left.size)
    while True:
        first = fetch_add(counts, CLAIM, _VERTICES)
        if first >= n:
            break
        for v in range(first, min(n, first + _VERTICES)):
            total = parts[0, v]
            for part in range(1, parts.shape[0]):
                total += parts[part, v]
            left[v] = total


@njit
def _claimed(rows, claim, pieces, hubs, hub_count, first, last):
    """Return first, last + 1 and the first neighbour of a claim: a piece of a hub, or places ``first`` to ``last`` - 1
    of a list in chunks; and the hub, where it is one."""
    piece_count = pieces[hub_count]
    if claim >= piece_count:
        begin = first + (claim - piece_count) * _CHUNK
        return begin, min(last, begin + _CHUNK), ZERO, ZERO
    low, high = ZERO, hub_count
    while high - low > ONE:
        middle = (low + high) >> ONE
        if pieces[middle] <= claim:
            low = middle
        else:
            high = middle
    return ZERO, ONE, (claim - pieces[low]) * _HUB, np.uint64(hubs[low])


@njit(nogil=True, cache=True)
def cut(rows, hubs, hub_count, pieces):
    """Write the number of the first piece of each hub to ``pieces``, and behind them how many there are."""
    pieces[0] = ZERO
    for i in range(hub_count):
        pieces[i + ONE] = pieces[i] + (degree(rows, np.uint64(hubs[i])) + _HUB - ONE) // _HUB


@njit(nogil=True, cache=True)
def list_hubs(rows, hubs):
    """List the vertices of more than ``HUB_EDGES`` neighbours; return how many there are."""
    count = ZERO
    for u in range(np.uint64(len(rows.indptr) - 1)):
        if degree(rows, u) > _HUB:
            hubs[count] = u
            count += ONE
    return count


@njit(nogil=True, cache=True)
def count_edges(team, rows, hubs, hub_count, pieces, parts, counts, alone):
    """Add the edges into each vertex to ``parts`` (threads, n): with ``alone`` each thread to its own, else all to
    the only one."""
    counts[CLAIM] = ZERO
    claims = pieces[hub_count] + (np.uint64(parts.shape[1]) + _CHUNK - ONE) // _CHUNK
    share(team, claims, _count_edges, (rows, hubs, hub_count, pieces, parts, counts, alone, claims))


@member
def _count_edges(rows, hubs, hub_count, pieces, parts, counts, alone, claims, t):
    """Take vertices and pieces of hubs for :func:`count_edges` until there are no more."""
    n = np.uint64(parts.shape[1])
    part = parts[t if alone else ZERO]
    one = part.dtype.type(1)
    while True:
        claim = fetch_add(counts, CLAIM, ONE)
        if claim >= claims:
            break
        begin, end, skip, hub = _claimed(rows, claim, pieces, hubs, hub_count, ZERO, n)
        is_piece = claim < pieces[hub_count]
        for i in range(begin, end):
            u = hub if is_piece else i
            ids = degree(rows, u)
            if not is_piece and ids > _HUB:
                continue
            position, v = seek(rows, u, skip), ZERO
            for k in range(skip, min(ids, skip + _HUB)):
                v, position = step(rows, position, k, v)
                if v >= n:
                    fetch_add(counts, FAULTS, ONE)
                elif alone:
                    part[v] += one
                else:
                    fetch_add(part, v, one)


@njit(nogil=True, cache=True)
def begin_with(rows, left, queue, rounds, hubs, counts):
    """Put the vertices that no edge leads to into the queue, as round 0; all others have none."""
    tail, edges, hub_count = ZERO, ZERO, ZERO
    for v in range(np.uint64(left.size)):
        rounds[v] = -1
        if left[v] == 0:
            rounds[v] = 0
            queue[tail] = v
            tail += ONE
            ids = degree(rows, v)
            edges += ids
            if ids > _HUB:
                hubs[hub_count] = v
                hub_count += ONE
    counts[TAIL], counts[EDGES], counts[HUBS] = tail, edges, hub_count


@njit(nogil=True, cache=True)
def walk(rows, left, queue, rounds, first, last, number, most_edges, hubs, counts):
    """Run round after round serially, from ``number`` on, while a round has at most ``most_edges`` edges.

    Returns first, last and number of the round where it stopped (first == last: all done).
    """
    n = np.uint64(left.size)
    edges = ZERO
    while first < last and edges <= most_edges:
        number += 1
        tail, edges, hub_count = last, ZERO, ZERO
        for i in range(first, last):
            u = np.uint64(queue[i])
            position, v = seek(rows, u, ZERO), ZERO
            for k in range(degree(rows, u)):
                v, position = step(rows, position, k, v)
                if v >= n:
                    counts[FAULTS] += ONE
                    continue
                left[v] -= left.dtype.type(1)
                if left[v] == 0 and tail < n:
                    rounds[v] = number
                    queue[tail] = v
                    tail += ONE
                    ids = degree(rows, v)
                    edges += ids
                    if ids > _HUB:
                        hubs[hub_count] = v
                        hub_count += ONE
        first, last = last, tail
        counts[TAIL], counts[EDGES], counts[HUBS] = tail, edges, hub_count
    return first, last, number


@njit
def _append(rows, freed, fill, queue, rounds, number, hubs, counts):
    """Append the ``fill`` vertices ``freed`` by this thread to the queue, as a part of round ``number``.

    A pass of its own, because these accesses miss the caches: side by side they overlap, whereas each atomic operation
    of the search for them would wait for all those before it.
    """
    edges = ZERO
    start = fetch_add(counts, TAIL, fill)
    for i in range(fill):
        v = np.uint64(freed[i])
        if start + i >= np.uint64(queue.size):
            break
        queue[start + i] = v
        rounds[v] = number
        ids = degree(rows, v)
        edges += ids
        if ids > _HUB:
            hubs[fetch_add(counts, HUBS, ONE)] = v
    if edges != ZERO:
        fetch_add(counts, EDGES, edges)


@njit(nogil=True, cache=True)
def run_round(
    team, rows, left, queue, rounds, first, last, number, hubs, hub_count, pieces, next_hubs, buffers, counts
):
    """Take off the edges of the vertices ``queue[first:last]``; append who has lost the last, as round ``number``."""
    counts[CLAIM], counts[TAIL], counts[EDGES], counts[HUBS] = ZERO, last, ZERO, ZERO
    claims = pieces[hub_count] + (last - first + _CHUNK - ONE) // _CHUNK
    state = left, queue, rounds, first, last, number, hubs, hub_count, pieces, next_hubs, buffers, counts
    share(team, claims, _run_some, (rows, state, claims))


@member
def _run_some(rows, state, claims, t):
    """Take vertices and pieces of hubs for :func:`run_round` until there are no more."""
    left, queue, rounds, first, last, number, hubs, hub_count, pieces, next_hubs, buffers, counts = state
    n = np.uint64(left.size)
    one, none = left.dtype.type(1), left.dtype.type(0)
    freed, fill = buffers[t], ZERO
    while True:
        claim = fetch_add(counts, CLAIM, ONE)
        if claim >= claims:
            break
        begin, end, skip, hub = _claimed(rows, claim, pieces, hubs, hub_count, first, last)
        is_piece = claim < pieces[hub_count]
        for i in range(begin, end):
            u = hub if is_piece else np.uint64(queue[i])
            ids = degree(rows, u)
            if not is_piece and ids > _HUB:
                continue
            position, v = seek(rows, u, skip), ZERO
            for k in range(skip, min(ids, skip + _HUB)):
                v, position = step(rows, position, k, v)
                if v >= n:
                    fetch_add(counts, FAULTS, ONE)
                elif fetch_add(left, v, none - one) == one:
                    freed[fill] = v
                    fill += ONE
                    if fill == _BUFFER:
                        _append(rows, freed, fill, queue, rounds, number, next_hubs, counts)
                        fill = ZERO
    _append(rows, freed, fill, queue, rounds, number, next_hubs, counts)
