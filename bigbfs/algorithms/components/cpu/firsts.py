"""Rounds of components that ask for no heads, as kernels: every vertex under the first id of its row, then all edges.

A vertex goes under the first id of its row where that is smaller. No cycle can close, so the root is the smallest
vertex of its tree, and what is hung are the labels themselves (:mod:`.forest`). Where ids follow how a graph grew or
was laid out (a tree in order of growth, a lattice, a crawl) hardly any vertex lacks a smaller neighbour, and the forest
is one tree for each component, or nearly. Heads do not see that: the strongest neighbours in such a tree make many
small trees.

Source: the first of the neighbour rounds of Afforest (:mod:`.labels`).
"""

from __future__ import annotations

import numpy as np

from bigbfs.algorithms.components.cpu.forest import FAULTS, MERGED, READ, WORDS, link
from bigbfs.engines.cpu.bits import ONE, WORD, ZERO
from bigbfs.engines.cpu.row_ends import is_before, row_stop
from bigbfs.engines.cpu.rows import degree, seek, step
from bigbfs.jit.atomics import fetch_add, load, store
from bigbfs.jit.bits import fetch_soon
from bigbfs.jit.njit import njit
from bigbfs.jit.team import member, pieces_of, share, take

_PIECE = WORDS * WORD
PAIRS = 256
"""Edges that a thread finds before it links them."""

_PAIRS = np.uint64(PAIRS)


@njit
def _above(rows, v):
    """Return the first id of the row of ``v`` where that is smaller, else ``v``; and whether there is any."""
    if degree(rows, v) == ZERO:
        return v, ZERO
    return min(v, step(rows, seek(rows, v, ZERO), ZERO, ZERO)[0]), ONE


@njit(nogil=True, cache=True)
def look(rows, vertices):
    """Return how many of ``vertices`` (int64) have no smaller first id in their row, and the ids in their rows."""
    roots, ids = ZERO, ZERO
    for vertex in vertices:
        v = np.uint64(vertex)
        roots += ONE if _above(rows, v)[0] == v else ZERO
        ids += degree(rows, v)
    return roots, ids


@njit(nogil=True, cache=True)
def hang(team, rows, labels, claim, counts):
    """Label every vertex with the first id of its row where that is smaller, else with itself."""
    share(team, pieces_of(np.uint64(labels.size), _PIECE), _hang, (rows, labels, claim, counts))


@member
def _hang(rows, labels, claim, counts, t):
    """Take vertices for :func:`hang` until there are no more.

    Within what is taken at once a vertex goes under what its upper one lies under already: a chain along the ids is
    left with a step for each piece.
    """
    n, pieces = np.uint64(labels.size), pieces_of(np.uint64(labels.size), _PIECE)
    read = ZERO
    while True:
        first = take(claim, pieces, t) * _PIECE
        if first >= n:
            break
        for v in range(first, min(n, first + _PIECE)):
            above, ids = _above(rows, v)
            read += ids
            if first <= above and above < v:
                above = np.uint64(load(labels, above))
            store(labels, v, above)
    fetch_add(counts, READ, read)


@njit(nogil=True, cache=True)
def link_smaller(team, rows, ascending, labels, buffers, claim, counts):
    """Link every vertex to all smaller ids of its row but the first, which :func:`hang` has seen.

    After both every edge has been seen, where it is stored with both of its ends. ``ascending``: rows surely are, and
    need not be read on from the first id that is not smaller. ``buffers``: id (threads, 2, PAIRS).
    """
    given = (rows, ascending, labels, buffers, claim, counts)
    share(team, pieces_of(np.uint64(labels.size), _PIECE), _link_smaller, given)


@member
def _link_smaller(rows, ascending, labels, buffers, claim, counts, t):
    """Take vertices for :func:`link_smaller` until there are no more.

    What is to be linked is put off, and its labels asked for: ids without an order lie in no cache.
    """
    n, pieces = np.uint64(labels.size), pieces_of(np.uint64(labels.size), _PIECE)
    left, right = buffers[t, 0], buffers[t, 1]
    read, merged, fill = ZERO, ZERO, ZERO
    while True:
        first = take(claim, pieces, t) * _PIECE
        if first >= n:
            break
        for u in range(first, min(n, first + _PIECE)):
            position, stop = seek(rows, u, ZERO), row_stop(rows, u)
            v, k = ZERO, ZERO
            while is_before(rows, position, k, stop):
                v, position = step(rows, position, k, v)
                k += ONE
                if v >= u:
                    if v >= n:
                        fetch_add(counts, FAULTS, ONE)
                    if ascending:
                        break
                elif k > ONE:
                    fetch_soon(labels, v)
                    left[fill], right[fill] = u, v
                    fill += ONE
                    if fill == _PAIRS:
                        merged += _link_pairs(labels, left, right, fill)
                        fill = ZERO
            read += k
    merged += _link_pairs(labels, left, right, fill)
    fetch_add(counts, READ, read)
    fetch_add(counts, MERGED, merged)


@njit
def _link_pairs(labels, left, right, fill):
    """Link ``left[i]`` to ``right[i]`` for all i below ``fill``; return hooks."""
    merged = ZERO
    for i in range(fill):
        left[i], right[i] = load(labels, np.uint64(left[i])), load(labels, np.uint64(right[i]))
        fetch_soon(labels, np.uint64(right[i]))
    for i in range(fill):
        merged += link(labels, np.uint64(left[i]), np.uint64(right[i]))
    return merged
