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

from bigbfs.engines.cpu.bits import ONE, SHIFT, ZERO, bit_value, is_set
from bigbfs.engines.cpu.rows import NOBODY, degree, seek, step
from bigbfs.jit.atomics import fetch_add
from bigbfs.jit.bits import population, trailing_zeros
from bigbfs.jit.njit import njit
from bigbfs.jit.team import member, share

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


@njit(nogil=True, cache=True)
def pull(team, rows, state, level):
    """Give ``level`` and a parent to every vertex with a visited neighbour, and mark it in ``state.before``.

    ``state.tallies`` receives the vertices found, those left, and the edges in the rows left.
    """
    state.claim[0] = ZERO
    state.tallies[:] = ZERO
    share(team, np.uint64(len(state.visited)) // _CHUNK + ONE, _pull, (rows, state, level))


@member
def _pull(rows, state, level, t):
    """Take chunks of words for :func:`pull` until there are no more."""
    heads, short, visited, visited_next = state.heads, state.short, state.visited, state.before
    parents, levels = state.parents, state.levels
    claim, tallies, faults = state.claim, state.tallies, state.faults
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
            while todo != ZERO:
                b = trailing_zeros(todo)
                todo &= todo - ONE
                v = _parent_in_row(rows, base + b, visited, n, faults)
                if v != NOBODY:
                    new |= ONE << b
                    parents[base + b] = v
                    levels[base + b] = level
                else:
                    left += ONE
                    left_edges += degree(rows, base + b)
            visited_next[w] = before | new
            found += population(new)
    mine = t * _TALLY
    tallies[mine] = found
    tallies[mine + ONE] = left
    tallies[mine + _TWO] = left_edges


@njit(nogil=True, cache=True)
def clear_unvisited(team, state, nobody):
    """Give level -1 and parent ``nobody`` to every vertex whose bit is not set."""
    state.claim[0] = ZERO
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
