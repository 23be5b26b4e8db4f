"""The levels of a rank, as kernels: expand own rows top-down, or look for parents of own vertices bottom-up.

Kernels are serial and work on a stretch, so that a rank's threads can share them. Top-down, a neighbour whose bit in
``visited`` is not set is claimed: the bit is set, so each is claimed once by a rank in a whole search, whoever owns it.
Bottom-up is that of :mod:`bigbfs.algorithms.bfs.cpu.bottomup`, on own words: what is visited before the level, is in
the frontier if it has an unvisited neighbour. So ``visited`` must be exact then, and what is found goes to ``new``.
"""

from __future__ import annotations

import numpy as np

from bigbfs.engines.cpu.bits import ONE, SHIFT, ZERO, bit_of, bit_value, is_set
from bigbfs.engines.cpu.rows import NOBODY, degree, seek, step
from bigbfs.jit.atomics import fetch_or, load
from bigbfs.jit.bits import population, trailing_zeros
from bigbfs.jit.njit import njit


@njit(nogil=True, cache=True)
def expand(rows, part, queue, begin, end, skip, most, visited, claims, owners, count):
    """Claim the neighbours of ``queue[begin:end]``, of each row those from ``skip`` on, ``most`` at most.

    ``claims`` and ``owners`` (the vertex from which) are filled from ``count`` on; returns where they end, and the ids
    met that are no vertices.
    """
    faults = ZERO
    for i in range(begin, end):
        u = np.uint64(queue[i])
        position = seek(rows, u, skip)
        v = ZERO
        for k in range(skip, min(degree(rows, u), skip + most)):
            v, position = step(rows, position, k, v)
            if v >= part.n:
                faults += ONE
                continue
            bit = bit_of(v)
            if load(visited, v >> SHIFT) & bit == ZERO and fetch_or(visited, v >> SHIFT, bit) & bit == ZERO:
                claims[count] = v
                owners[count] = u
                count += ONE
    return count, faults


@njit
def _parent_in_row(rows, u, visited, n):
    """Return the first visited neighbour of ``u``, or NOBODY, and the ids met that are no vertices."""
    position = seek(rows, u, ZERO)
    v, faults = ZERO, ZERO
    for k in range(degree(rows, u)):
        v, position = step(rows, position, k, v)
        if v >= n:
            faults += ONE
        elif is_set(visited, v):
            return v, faults
    return NOBODY, faults


@njit
def _try_heads(heads, visited, levels, parents, base, todo, level):
    """Give a parent to vertices of ``todo``, a word of local vertices from ``base`` on; return those without one."""
    for j in range(np.uint64(len(heads))):
        missed = ZERO
        while todo != ZERO:
            b = trailing_zeros(todo)
            todo &= todo - ONE
            v = np.uint64(heads[j, base + b])
            # Written either way, without a branch: until it is visited these mean nothing.
            parents[base + b] = v
            levels[base + b] = level
            missed |= (bit_value(visited, v) ^ ONE) << b
        todo = missed
    return todo


@njit(nogil=True, cache=True)
def pull_heads(part, own, level, first, last):
    """Look in the heads alone, as far as ``visited`` is known; what has a parent is set in ``new``."""
    for i in range(first, last):
        todo = ~own.visited[part.first + i * part.stride]
        own.new[i] = todo ^ _try_heads(own.heads, own.visited, own.levels, own.parents, i << SHIFT, todo, level)


@njit(nogil=True, cache=True)
def pull(rows, part, own, level, first, last, tallies):
    """Give ``level`` and a parent to own vertices with a visited neighbour, but those in ``new``; set them there.

    ``tallies`` receives the vertices found, those left, the edges in the rows left, and the ids that are no vertices.
    """
    heads, visited, parents, levels = own.heads, own.visited, own.parents, own.levels
    found, left, left_edges, faults = ZERO, ZERO, ZERO, ZERO
    for i in range(first, last):
        before = visited[part.first + i * part.stride]
        tried = ~before & ~own.new[i]
        base = i << SHIFT
        todo = _try_heads(heads, visited, levels, parents, base, tried, level)
        new = own.new[i] | (tried ^ todo)
        done = todo & own.short[i]
        todo ^= done
        left += population(done)
        while done != ZERO:
            b = trailing_zeros(done)
            done &= done - ONE
            for j in range(np.uint64(len(heads))):
                left_edges += ONE if heads[j, base + b] < part.n else ZERO
        while todo != ZERO:
            b = trailing_zeros(todo)
            todo &= todo - ONE
            u = ((part.first + i * part.stride) << SHIFT) + b
            v, bad = _parent_in_row(rows, u, visited, part.n)
            faults += bad
            if v != NOBODY:
                new |= ONE << b
                parents[base + b] = v
                levels[base + b] = level
            else:
                left += ONE
                left_edges += degree(rows, u)
        own.new[i] = new
        found += population(new)
    tallies[0], tallies[1], tallies[2], tallies[3] = found, left, left_edges, faults


@njit(nogil=True, cache=True)
def gather(rows, part, own, fill):
    """Append the vertices in ``new`` to the queue, ending at ``fill``; return its end and the edges in their rows."""
    edges = ZERO
    for i in range(part.words):
        todo = own.new[i]
        while todo != ZERO:
            v = ((part.first + i * part.stride) << SHIFT) + trailing_zeros(todo)
            todo &= todo - ONE
            own.queue[fill] = v
            fill += ONE
            edges += degree(rows, v)
    return fill, edges


@njit(nogil=True, cache=True)
def clear_unvisited(part, own, nobody):
    """Give level -1 and parent ``nobody`` to every own vertex whose bit is not set."""
    for i in range(part.words):
        todo = ~own.visited[part.first + i * part.stride]
        base = i << SHIFT
        while todo != ZERO:
            local = base + trailing_zeros(todo)
            todo &= todo - ONE
            own.levels[local] = -1
            own.parents[local] = nobody
