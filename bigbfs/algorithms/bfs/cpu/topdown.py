"""Top-down level: every vertex of the frontier visits its neighbours; serial for thin levels, parallel for wide ones.

The frontier is a window ``queue[first:last]`` of one array (each vertex enters it once, so n entries suffice) and,
apart, ``hubs``: vertices of more than ``HUB_EDGES`` neighbours, which several threads share block by block so that
one row of a hundred million neighbours keeps all of them busy.

Source: Beamer, Asanovic, Patterson, "Direction-optimizing breadth-first search", SC 2012; queue with thread-local
buffers as in Agarwal et al., "Scalable graph exploration on multicore processors", SC 2010.
"""

from __future__ import annotations

import numpy as np

from bigbfs.algorithms.bfs.cpu.state import BUFFER_IDS
from bigbfs.engines.cpu.bits import ONE, SHIFT, ZERO, bit_of, is_set
from bigbfs.engines.cpu.rows import degree, fetch_place, fetch_row, seek, step
from bigbfs.jit.atomics import fetch_add, fetch_or, load, store
from bigbfs.jit.bits import fetch_soon, trailing_zeros
from bigbfs.jit.njit import njit
from bigbfs.jit.team import member, share

HUB_EDGES = 8192
"""Rows longer than this are cut into pieces of this length (a multiple of BLOCK_IDS)."""

CHUNK_EDGES = 4096
"""Edges that a thread takes from the queue at once, about, and vertices at most."""
CHUNK_VERTICES = 64

TAIL = 0
"""Index in ``tails`` of the queue's end; the hubs' end is ``HUB_TAIL`` (a cache line further)."""
HUB_TAIL = 8

_SOON, _LATER = np.uint64(8), np.uint64(24)
"""Rows before whose turn one is asked for, and what says where it is."""

_HUB = np.uint64(HUB_EDGES)
_BUFFER = np.uint64(BUFFER_IDS)
_TALLY = np.uint64(8)


@njit(nogil=True, cache=True)
def walk(rows, state, first, last, depth, max_depth, max_edges, target):
    """Visit level after level serially while a level has at most ``max_edges`` edges and no hub; the first has none.

    The level in which ``target`` is visited is the last; an id past the last vertex never is.

    Returns first, last, hubs, depth and edges of the frontier where it stopped (first == last and no hubs: all done),
    the edges of all vertices visited on the way, and those of the last level that was gone through (0: of the first).
    """
    queue, hubs, visited, faults = state.queue, state.hubs, state.visited, state.faults
    parents, levels = state.parents, state.levels
    n = np.uint64(len(levels))
    edges, spent = ZERO, ZERO
    all_edges = ZERO
    hub_count = ZERO
    thin = True
    while thin and first < last and depth < max_depth and not is_set(visited, target):
        depth += 1
        edges, spent = ZERO, edges
        tail = last
        for i in range(first, last):
            u = np.uint64(queue[i])
            if i + _SOON < last:
                fetch_row(rows, np.uint64(queue[i + _SOON]))
            position = seek(rows, u, ZERO)
            v = ZERO
            for k in range(degree(rows, u)):
                v, position = step(rows, position, k, v)
                if v >= n:
                    faults[0] += ONE
                elif not is_set(visited, v):
                    visited[v >> SHIFT] |= bit_of(v)
                    parents[v] = u
                    levels[v] = depth
                    count = degree(rows, v)
                    edges += count
                    if count > _HUB:
                        hubs[hub_count] = v
                        hub_count += ONE
                    else:
                        queue[tail] = v
                        tail += ONE
                        fetch_row(rows, v)
        first, last = last, tail
        all_edges += edges
        thin = edges <= max_edges and hub_count == ZERO
    return first, last, hub_count, depth, edges, all_edges, spent


@njit
def _settle(rows, state, found, owners, fill, level):
    """Write what belongs to the ``fill`` vertices ``found`` by this thread and append them; return their edges.

    A pass of its own, because these accesses miss the caches: side by side they overlap, whereas each atomic operation
    of the search would wait for all those before it.
    """
    parents, levels, tails, queue = state.parents, state.levels, state.tails, state.queue
    edges, kept = ZERO, ZERO
    for i in range(fill):
        v = np.uint64(found[i])
        parents[v] = owners[i]
        levels[v] = level
        count = degree(rows, v)
        edges += count
        if count > _HUB:
            state.next_hubs[fetch_add(tails, HUB_TAIL, ONE)] = v
        else:
            found[kept] = v
            kept += ONE
    start = fetch_add(tails, TAIL, kept)
    for i in range(kept):
        queue[start + i] = found[i]
    return edges


@njit
def _cut(rows, hubs, hub_count, pieces):
    """Write the number of the first piece of each hub to ``pieces`` and return how many pieces there are."""
    total = ZERO
    for i in range(hub_count):
        pieces[i] = total
        total += (degree(rows, np.uint64(hubs[i])) + _HUB - ONE) // _HUB
    return total


@njit
def _owner(pieces, hub_count, piece):
    """Return the number of the hub that ``piece`` belongs to: the last whose first piece is not after it."""
    low, high = ZERO, hub_count
    while high - low > ONE:
        middle = (low + high) >> ONE
        if pieces[middle] <= piece:
            low = middle
        else:
            high = middle
    return low


@njit
def _claims(visited, v, alone):
    """Mark ``v`` as visited; return whether it was not before, and so is the caller's.

    Two threads that meet the same vertex are told apart by ``fetch_or``: one of them sees the bit unset. The
    plain-looking test before it is an atomic load that can only be out of date by missing a bit, and then ``fetch_or``
    decides. It waits for all stores before it, which nobody has to who is ``alone``.
    """
    word, bit = v >> SHIFT, bit_of(v)
    before = load(visited, word)
    if before & bit != ZERO:
        return False
    if alone:
        store(visited, word, before | bit)
        return True
    return fetch_or(visited, word, bit) & bit == ZERO


@njit(nogil=True, cache=True)
def expand(team, rows, state, first, last, hub_count, level, chunk, alone):
    """Give ``level`` and a parent to every unvisited neighbour of the frontier; append it to queue or ``next_hubs``.

    ``state.tails`` holds where to append and receives where that ended; ``state.tallies`` receives the degrees of what
    was appended.

    Threads take ``chunk`` vertices of the queue at once, or a piece of a hub; ``alone``: the team is of one, and nobody
    else works on the state. ``state.claim`` is 0 at first.
    """
    state.tallies[:] = ZERO
    piece_count = _cut(rows, state.hubs, hub_count, state.pieces)
    chunks = piece_count + (last - first + chunk - ONE) // chunk
    given = (rows, state, first, last, hub_count, piece_count, chunk, chunks, level, alone)
    share(team, chunks, _expand, given)


@member
def _expand(rows, state, first, last, hub_count, piece_count, size, chunks, level, alone, t):
    """Take chunks of the queue and pieces of hubs for :func:`expand` until there are no more."""
    queue, hubs, pieces, visited = state.queue, state.hubs, state.pieces, state.visited
    buffers, claim, tallies, faults = state.buffers, state.claim, state.tallies, state.faults
    n = np.uint64(len(state.levels))
    found, owners = buffers[t, 0], buffers[t, 1]
    fill = ZERO
    sum_edges = ZERO
    while True:
        chunk = fetch_add(claim, 0, ONE)
        if chunk >= chunks:
            break
        is_piece = chunk < piece_count
        begin, end, skip, u = ZERO, ONE, ZERO, ZERO
        if is_piece:
            h = _owner(pieces, hub_count, chunk)
            u = np.uint64(hubs[h])
            skip = (chunk - pieces[h]) * _HUB
        else:
            begin = first + (chunk - piece_count) * size
            end = min(last, begin + size)
        for i in range(begin, end):
            if not is_piece:
                u = np.uint64(queue[i])
                if i + _SOON < last:
                    fetch_row(rows, np.uint64(queue[i + _SOON]))
                if i + _LATER < last:
                    fetch_place(rows, np.uint64(queue[i + _LATER]))
            position = seek(rows, u, skip)
            v = ZERO
            for k in range(skip, min(degree(rows, u), skip + _HUB)):
                v, position = step(rows, position, k, v)
                if v >= n:
                    fetch_add(faults, 0, ONE)
                    continue
                if _claims(visited, v, alone):
                    found[fill] = v
                    owners[fill] = u
                    fill += ONE
                    if fill == _BUFFER:
                        sum_edges += _settle(rows, state, found, owners, fill, level)
                        fill = ZERO
    sum_edges += _settle(rows, state, found, owners, fill, level)
    tallies[t * _TALLY] = sum_edges


@njit(nogil=True, cache=True)
def gather(rows, state, fill):
    """Append what is in ``state.visited`` and not in ``state.before`` to the queue, ending at ``fill``, and to hubs.

    Serial: the frontier is small when a search turns top-down. Returns the queue's end, the hubs, and the edges.
    """
    visited, before, queue, hubs = state.visited, state.before, state.queue, state.hubs
    hub_count, edges = ZERO, ZERO
    for w in range(np.uint64(len(visited))):
        todo = visited[w] & ~before[w]
        while todo != ZERO:
            v = (w << SHIFT) + trailing_zeros(todo)
            todo &= todo - ONE
            count = degree(rows, v)
            edges += count
            if count > _HUB:
                hubs[hub_count] = v
                hub_count += ONE
            else:
                queue[fill] = v
                fill += ONE
    return fill, hub_count, edges


@njit(nogil=True, cache=True)
def tally(rows, state, first, last, level, sizes, edges):
    """Count the vertices of each level, from ``level`` on, in the window of the queue, and the edges in their rows."""
    queue, levels = state.queue, state.levels
    for i in range(first, last):
        if i + _LATER < last:
            fetch_place(rows, np.uint64(queue[i + _LATER]))
            fetch_soon(levels, np.uint64(queue[i + _LATER]))
        v = np.uint64(queue[i])
        at = np.uint64(levels[v] - level)
        sizes[at] += ONE
        edges[at] += degree(rows, v)
