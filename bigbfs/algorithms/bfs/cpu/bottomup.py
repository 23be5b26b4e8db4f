"""Bottom-up level: every vertex not yet visited looks for a visited neighbour, in the head table, then in its row.

No frontier is kept: a neighbour that was visited before this level is in the frontier, because had it been visited any
earlier, so would have been its neighbours. Hence one bitmap ``visited`` to look in, a second one to write, and their
difference is the next frontier. Words are claimed in chunks; each word, and the levels and parents of its vertices, are
written by the one thread that claimed it, so nothing here races.

Isolated vertices are marked visited from the start and never looked at; no row holds them, so nobody takes them for a
parent.

Source: Beamer, Asanovic, Patterson, "Direction-optimizing breadth-first search", SC 2012.
"""

from __future__ import annotations

import numpy as np

from bigbfs.algorithms.bfs.cpu.state import BUFFER_IDS
from bigbfs.engines.cpu.bits import ONE, SHIFT, ZERO, bit_of, bit_value, is_set
from bigbfs.engines.cpu.rows import NOBODY, degree, fetch_place, fetch_row, seek, step
from bigbfs.jit.atomics import fetch_add
from bigbfs.jit.bits import population, trailing_zeros
from bigbfs.jit.njit import njit
from bigbfs.jit.team import member, share

AHEAD = 16
"""Rows before whose turn one is asked for: most lie in no near cache, since few vertices need theirs."""

_AHEAD = np.uint64(AHEAD)
_FULL = np.uint64(BUFFER_IDS - 64)
_CHUNK = np.uint64(64)
_CLEARED = np.uint64(1024)
_TALLY = np.uint64(8)
_TWO = np.uint64(2)


@njit
def _parent_in_row(rows, u, visited, n, faults):
    """Return the first visited neighbour of ``u``, or NOBODY."""
    position = seek(rows, u, ZERO)
    v = ZERO
    for k in range(degree(rows, u)):
        v, position = step(rows, position, k, v)
        if v >= n:
            fetch_add(faults, 0, ONE)
        elif is_set(visited, v):
            return v
    return NOBODY


@njit
def _look(rows, state, waiting, fill, level):
    """Look for a parent in the rows of the first ``fill`` vertices ``waiting``: all of words that this thread claimed.

    Returns how many have one, and the edges in the rows of the others.
    """
    visited, visited_next, parents, levels = state.visited, state.before, state.parents, state.levels
    n, found, left_edges = np.uint64(len(levels)), ZERO, ZERO
    for i in range(fill):
        if i + _AHEAD < fill:
            fetch_row(rows, np.uint64(waiting[i + _AHEAD]))
        u = np.uint64(waiting[i])
        v = _parent_in_row(rows, u, visited, n, state.faults)
        if v != NOBODY:
            visited_next[u >> SHIFT] |= bit_of(u)
            parents[u] = v
            levels[u] = level
            found += ONE
        else:
            left_edges += degree(rows, u)
    return found, left_edges


@njit(nogil=True, cache=True)
def pull(team, rows, state, level):
    """Give ``level`` and a parent to every vertex with a visited neighbour, and mark it in ``state.before``.

    ``state.claim`` is 0 at first; ``state.tallies`` receives the vertices found, those left, and the edges in the rows
    left.
    """
    state.tallies[:] = ZERO
    share(team, np.uint64(len(state.visited)) // _CHUNK + ONE, _pull, (rows, state, level))


@member
def _pull(rows, state, level, t):
    """Take chunks of words for :func:`pull` until there are no more."""
    heads, short, visited, visited_next = state.heads, state.short, state.visited, state.before
    parents, levels = state.parents, state.levels
    claim, tallies, waiting, fill = state.claim, state.tallies, state.buffers[t, 0], ZERO
    words = np.uint64(len(visited)) - ONE
    n = np.uint64(len(levels))
    found, left, left_edges = ZERO, ZERO, ZERO
    while True:
        first = fetch_add(claim, 0, _CHUNK)
        if first >= words:
            break
        for w in range(first, min(words, first + _CHUNK)):
            before = visited[w]
            todo = ~before
            new = ZERO
            base = w << SHIFT
            for j in range(np.uint64(len(heads))):
                missed = ZERO
                tried = todo
                while todo != ZERO:
                    b = trailing_zeros(todo)
                    todo &= todo - ONE
                    v = np.uint64(heads[j, base + b])
                    # Written either way, without a branch: until it is visited these mean nothing.
                    parents[base + b] = v
                    levels[base + b] = level
                    missed |= (bit_value(visited, v) ^ ONE) << b
                new |= tried ^ missed
                todo = missed
            done = todo & short[w]
            todo ^= done
            left += population(done)
            while done != ZERO:
                b = trailing_zeros(done)
                done &= done - ONE
                for j in range(np.uint64(len(heads))):
                    left_edges += ONE if heads[j, base + b] < n else ZERO
            visited_next[w] = before | new
            found += population(new)
            while todo != ZERO:
                waiting[fill] = base + trailing_zeros(todo)
                fetch_place(rows, np.uint64(waiting[fill]))
                todo &= todo - ONE
                fill += ONE
            if fill > _FULL:
                new, unread = _look(rows, state, waiting, fill, level)
                found += new
                left += fill - new
                left_edges += unread
                fill = ZERO
    new, unread = _look(rows, state, waiting, fill, level)
    mine = t * _TALLY
    tallies[mine] = found + new
    tallies[mine + ONE] = left + fill - new
    tallies[mine + _TWO] = left_edges + unread


@njit(nogil=True, cache=True)
def clear_unvisited(team, state, nobody):
    """Give level -1 and parent ``nobody`` to every vertex whose bit is not set; ``state.claim`` is 0 at first."""
    share(team, np.uint64(len(state.visited)) // _CLEARED + ONE, _clear, (state, nobody))


@member
def _clear(state, nobody, t):
    """Take chunks of words for :func:`clear_unvisited` until there are no more."""
    visited, parents, levels, claim = state.visited, state.parents, state.levels, state.claim
    words = np.uint64(len(visited)) - ONE
    while True:
        first = fetch_add(claim, 0, _CLEARED)
        if first >= words:
            break
        for w in range(first, min(words, first + _CLEARED)):
            todo = ~visited[w]
            base = w << SHIFT
            while todo != ZERO:
                v = base + trailing_zeros(todo)
                todo &= todo - ONE
                levels[v] = -1
                parents[v] = nobody
