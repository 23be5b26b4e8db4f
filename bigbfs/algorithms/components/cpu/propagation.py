"""Label propagation: every vertex whose label got smaller hands it to its neighbours, until none does.

The simplest parallel algorithm, and as many passes as the component is wide: a point of reference. ``labels`` (id
dtype, one per vertex) starts as the vertex itself and only gets smaller, by atomic minima. A vertex is active after its
label got smaller; then its row is read again. An edge is worked on in both directions, but only an active end sees it,
so where a directed graph does not store in-neighbours every row is read in every pass.

Source: Min et al., EMOGI, VLDB'20.
"""

from __future__ import annotations

import numpy as np

from bigbfs.algorithms.components.cpu.forest import FAULTS, MERGED, READ
from bigbfs.engines.cpu.bits import ONE, SHIFT, ZERO, bit_of
from bigbfs.engines.cpu.rows import degree, seek, step
from bigbfs.jit.atomics import fetch_add, fetch_min, fetch_or, load
from bigbfs.jit.bits import trailing_zeros
from bigbfs.jit.njit import njit
from bigbfs.jit.team import member, share

_WORDS = np.uint64(64)


@njit(nogil=True, cache=True)
def spread(team, rows, active, following, labels, claim, counts):
    """Hand the labels of the vertices in ``active`` to their neighbours and back; who got one is in ``following``.

    ``active`` and ``following`` are bitmaps; ``counts[MERGED]`` grows by the labels that got smaller.
    """
    claim[0] = ZERO
    share(team, np.uint64(active.size) // _WORDS + ONE, _spread, (rows, active, following, labels, claim, counts))


@member
def _spread(rows, active, following, labels, claim, counts, t):
    """Take words of the bitmap for :func:`spread` until there are no more."""
    words = np.uint64(active.size)
    while True:
        first = fetch_add(claim, 0, _WORDS)
        if first >= words:
            break
        read, lowered = ZERO, ZERO
        for w in range(first, min(words, first + _WORDS)):
            todo = active[w]
            while todo != ZERO:
                u = (w << SHIFT) + trailing_zeros(todo)
                todo &= todo - ONE
                read += degree(rows, u)
                lowered += _spread_row(rows, u, following, labels, counts)
        if read != ZERO:
            fetch_add(counts, READ, read)
            fetch_add(counts, MERGED, lowered)


@njit
def _spread_row(rows, u, following, labels, counts):
    """Bring ``u`` and its neighbours to the smaller of their labels; return how many labels changed."""
    n = np.uint64(labels.size)
    position = seek(rows, u, ZERO)
    v, lowered = ZERO, ZERO
    for k in range(degree(rows, u)):
        v, position = step(rows, position, k, v)
        if v >= n:
            fetch_add(counts, FAULTS, ONE)
            continue
        own, its = np.uint64(load(labels, u)), np.uint64(load(labels, v))
        if own < its:
            lowered += _lower(labels, v, own, following)
        elif its < own:
            lowered += _lower(labels, u, its, following)
    return lowered


@njit
def _lower(labels, v, label, following):
    """Give ``v`` the ``label`` if it is smaller than its own; return whether it was (0 or 1, uint64)."""
    if np.uint64(fetch_min(labels, v, label)) <= label:
        return ZERO
    fetch_or(following, v >> SHIFT, bit_of(v))
    return ONE
