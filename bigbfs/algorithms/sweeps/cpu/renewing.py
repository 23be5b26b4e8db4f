"""One pass over the vertices after a search: bounds of eccentricities renewed, open vertices counted and listed.

See :mod:`bigbfs.algorithms.sweeps.options`; the kernel for GPUs, ``gpu/sweeps.cu``, counts the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from bigbfs.algorithms.sweeps.options import FAR, KEPT, LISTED, PLACES, VERTEX_BITS
from bigbfs.engines.cpu.bits import ONE, ZERO
from bigbfs.engines.cpu.rows import Rows, degree, row_count
from bigbfs.jit.atomics import fetch_add, load
from bigbfs.jit.njit import Alike, njit
from bigbfs.jit.team import member, share

LIST = 8
"""Index in ``claim`` of the number of listed vertices."""

_CHUNK = np.uint64(1024)
_SHIFT = np.uint64(VERTEX_BITS)
_LISTED = np.uint64(LISTED)
_EIGHT, _BYTE = np.uint64(8), np.uint64(255)
_MOST, _WIDE, _FAR = np.int32(2**31 - 1), np.int32(2**16 - 1), np.int32(FAR)
_NONE, _OUTSIDE = np.int32(0), np.int32(-1)
_KEPT = np.int64(KEPT)
_AT_REACHED, _AT_OPEN, _AT_LISTED, _AT_FAR, _AT_CENTRAL, _AT_RADIUS, _AT_CEILING, _AT_LEFT, _AT_NEXT, _AT_TOP = (
    PLACES.values()
)
_SUMS = [_AT_REACHED, _AT_OPEN, _AT_LISTED, *range(_AT_LEFT, _AT_LEFT + KEPT)]
"""What adds up over threads; of the rest the largest counts."""


class Ask(NamedTuple):
    """What a search was: its depth, the longest distance known, where its levels are kept (-1: nowhere), a bit for each
    source kept (this one too), whether it is the first, and whether a central vertex is looked for."""

    depth: np.int32
    longest: np.int32
    keep: np.int64
    kept: np.int64
    anew: np.bool_
    central: np.bool_


class Known(NamedTuple):
    """What is known of all vertices.

    Attributes
    ----------
    team
        Of threads.
    lower, upper
        int32, (n,): bounds; an upper one of -1: of another component.
    kept
        uint16, (KEPT, n): distances from the sources kept.
    listed
        uint64, (LISTED,): open vertices, in any order.
    claim, tallies
        Work taken and vertices listed; what each thread counts: uint64, (2 * LIST,) and (threads, WORDS).
    """

    team: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    kept: np.ndarray
    listed: np.ndarray
    claim: np.ndarray
    tallies: np.ndarray


def hub_of(rows: Rows) -> tuple[int, int]:
    """Return the vertex of most neighbours, and how many vertices have any."""
    return _hub(rows, np.uint64(row_count(rows)))


@njit(cache=True, nogil=True)
def _hub(rows, n):
    return hub_among(rows, n)


@njit
def hub_among(rows, n):
    """Return the vertex of most neighbours of the first ``n``, and how many have any."""
    hub, most, linked = ZERO, ZERO, ZERO
    for u in range(n):
        count = degree(rows, u)
        if count > most:
            hub, most = u, count
        if count != ZERO:
            linked += ONE
    return hub, linked


def prepared() -> Callable[..., None]:
    """Return the kernel of :func:`renew` for one graph, whose arguments are always of the same kinds."""
    return Alike(_renew)


def renew(
    known: Known, levels: np.ndarray, ranks: np.ndarray, ask: Ask, kernel: Callable[..., None] | None = None
) -> np.ndarray:
    """Renew the bounds by ``levels``, int32 (n,), of a search, and return the record.

    ``ranks``, uint8: grows with the degree. ``kernel``: from :func:`prepared`.
    """
    known.claim[:] = 0
    known.tallies[:] = 0
    (kernel or _renew)(known.team, known, levels, ranks, ask)
    record: np.ndarray = known.tallies.max(axis=0)
    record[_SUMS] = known.tallies[:, _SUMS].sum(axis=0)
    return record


@njit(cache=True, nogil=True)
def _renew(team, known, levels, ranks, ask):
    """Share the vertices."""
    work = np.uint64(levels.size) // _CHUNK + ONE
    arrays = (known.lower, known.upper, known.kept, known.listed, known.claim, known.tallies)
    share(team, work, _renew_some, (*arrays, levels, ranks, ask))


@member
def _renew_some(lower, upper, kept, listed, claim, tallies, levels, ranks, ask, t):
    """Take stretches of vertices until there are no more.

    What most vertices need is done in loops without branches; the few that are far, central or open have their own.
    """
    n, own = np.uint64(levels.size), tallies[t]
    nearest = _MOST
    while True:
        first = fetch_add(claim, 0, ONE) * _CHUNK
        if first >= n:
            break
        last = min(n, first + _CHUNK)
        reached, deepest, floor, ceiling, middle, opened = bound(
            lower, upper, levels, first, last, ask.depth, ask.longest, ask.anew
        )
        own[_AT_REACHED] += np.uint64(reached)
        own[_AT_RADIUS] = max(own[_AT_RADIUS], np.uint64(_MOST - floor))
        own[_AT_CEILING] = max(own[_AT_CEILING], np.uint64(_MOST - ceiling))
        if ask.keep >= 0:
            for v in range(first, last):
                kept[ask.keep, v] = min(levels[v], _FAR)
        if deepest:
            for v in range(first, last):
                if levels[v] == ask.depth:
                    own[_AT_FAR] = max(own[_AT_FAR], _key(_BYTE - ranks[v], v))
        if ask.central and middle <= nearest and middle < _MOST:
            nearest = middle
            score = np.uint64(_WIDE - min(middle, _WIDE)) << _EIGHT
            for v in range(first, last):
                if lower[v] == middle and upper[v] > middle:
                    own[_AT_CENTRAL] = max(own[_AT_CENTRAL], _key(score + ranks[v], v))
        if opened:
            own[_AT_OPEN] += np.uint64(opened)
            _list_open(upper, listed, claim, np.uint64(opened), first, last, ask)
            for k in range(_KEPT):
                if (ask.kept >> k) & 1:
                    _note_outside(upper, kept, own, ranks, first, last, ask, k)


@njit
def bound(lower, upper, levels, first, last, depth, longest, anew):
    """Renew bounds of some vertices; return how many are reached, how many of them farthest, the smallest lower and
    upper bound, the smallest lower one of those not known, and how many are open."""
    reached, deepest, opened = 0, 0, 0
    floor, ceiling, middle = _MOST, _MOST, _MOST
    for v in range(first, last):
        level = levels[v]
        inside = level >= _NONE
        low, high = max(level, np.int32(depth - level)), np.int32(depth + level)
        if not anew:
            low, high = max(low, lower[v]), min(high, upper[v])
        lower[v] = low if inside else _NONE
        upper[v] = high if inside else _OUTSIDE
        reached += inside
        deepest += level == depth
        floor = min(floor, low if inside else _MOST)
        ceiling = min(ceiling, high if inside else _MOST)
        middle = min(middle, low if inside & (low < high) else _MOST)
        opened += inside & (high > longest)
    return reached, deepest, floor, ceiling, middle, opened


@njit
def _key(score, v):
    """Return what is largest for the highest score."""
    return (np.uint64(score) << _SHIFT) | (v + ONE)


@njit
def _list_open(upper, listed, claim, opened, first, last, ask):
    """List the open vertices of a stretch, ``opened`` of them, as far as there is room."""
    if load(claim, LIST) >= _LISTED:
        return
    at = fetch_add(claim, LIST, opened)
    for v in range(first, last):
        if upper[v] > ask.longest and at < _LISTED:
            listed[at] = v
            at += ONE


@njit
def _note_outside(upper, kept, own, ranks, first, last, ask, k):
    """Count the open vertices outside the ball of source ``k``, and say which is the next to search from."""
    half = ask.longest // np.int32(2)
    left, top, following = ZERO, ZERO, ZERO
    for v in range(first, last):
        away = np.int32(kept[k, v])
        if away > half or away == _FAR:
            high = upper[v]
            if high > ask.longest:
                left += ONE
                top = max(top, np.uint64(high))
                score = (np.uint64(min(high, _WIDE)) << _EIGHT) + _BYTE - ranks[v]
                following = max(following, _key(score, v))
    own[_AT_LEFT + k] += left
    own[_AT_TOP + k] = max(own[_AT_TOP + k], top)
    own[_AT_NEXT + k] = max(own[_AT_NEXT + k], following)
