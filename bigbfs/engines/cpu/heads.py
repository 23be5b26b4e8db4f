"""The head table: every vertex's neighbours of highest degree, so that most searches for a parent open no row.

In a bottom-up level nearly every vertex has a hub among its neighbours, and hubs are reached first; Afforest's
neighbour rounds tie most of the graph together through them. ``heads[j, u]`` (id dtype, shape (2, n)) is the
neighbour of ``u`` of (j + 1)-th highest degree among the first ``LOOK`` of its row; where a row has fewer neighbours
it is ``absent``, an id past the last vertex whose bit is never set in a bitmap.

Degrees are compared as one byte (three bits of mantissa): the table of n bytes stays in cache while the rows stream by.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from bigbfs.engines.cpu.bits import ONE, SHIFT, WORD, ZERO, words_for
from bigbfs.engines.cpu.rows import Rows, degree, row_count, seek, step
from bigbfs.errors import UsageError
from bigbfs.jit.atomics import fetch_add
from bigbfs.jit.bits import leading_zeros
from bigbfs.jit.njit import njit
from bigbfs.jit.team import member, share, team_of

HEADS = 2
"""Neighbours of each vertex in the table: more hardly make searches faster."""

LOOK = 2**20
"""Neighbours looked at for it: the vertex of a longer row is a head itself and hardly needs any."""

_HEADS = np.uint64(HEADS)
_LOOK = np.uint64(LOOK)
_CHUNK = np.uint64(4096)
_WORDS = np.uint64(64)
_EIGHT = np.uint64(8)
_TWO = np.uint64(2)
_THREE = np.uint64(3)
_TOP = np.uint64(63)
_MANTISSA = np.uint64(7)
_HIGHEST = np.uint64(255)


class Survey:
    """What one pass over ``rows`` finds out, for searches and components to share.

    Attributes
    ----------
    empty
        Bitmap of the vertices without neighbours; bits past the last vertex are set too, the extra word is left out.
    short
        Bitmap of those with no more neighbours than the head table holds.
    ranks
        uint8, one per vertex and more up to ``absent``, which has 0: grows with the degree.
    heads
        The head table: id dtype, shape (2, n); where none is wanted (0, n), and nobody is in ``short``.
    faults
        Neighbours met that are no vertices.

    Raises
    ------
    UsageError
        So many vertices that the ids have no value left for ``absent``.
    """

    def __init__(self, rows: Rows, ids: np.dtype, threads: int, *, heads: bool = True) -> None:
        made = {name: np.empty(*each) for name, each in shapes(row_count(rows), ids, heads=heads).items()}
        self._fill(rows, made, threads)

    def _fill(self, rows: Rows, arrays: Mapping[str, np.ndarray], threads: int) -> None:
        n, team = row_count(rows), team_of(threads)
        absent = np.uint64(words_for(n) * 64)
        self.empty, self.short, self.ranks, self.heads = (arrays[name] for name in ("empty", "short", "ranks", "heads"))
        self.ranks[n:] = 0
        faults = np.zeros(1, np.uint64)
        _survey(team, rows, n, self.ranks, self.empty, self.short, self._begin())
        if len(self.heads):
            _fill_heads(team, rows, self.ranks, self.heads, absent, self._begin(), faults)
        else:
            self.short[:] = 0
        self.faults = int(faults[0])

    def _begin(self) -> np.ndarray:
        """Return the counter by which work is taken, when it may be."""
        return np.zeros(8, np.uint64)

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays."""
        return self.empty.nbytes + self.short.nbytes + self.ranks.nbytes + self.heads.nbytes


def shapes(n: int, ids: np.dtype, *, heads: bool = True) -> dict[str, tuple[tuple[int, ...], np.dtype]]:
    """Return shape and dtype of the arrays of a survey of ``n`` vertices.

    Raises
    ------
    UsageError
        See :class:`Survey`.
    """
    absent = words_for(n) * 64
    if absent > np.iinfo(ids).max:
        raise UsageError(f"{n} vertices are too many for {ids} on the CPU: make the graph with uint64 ids")
    bits = ((words_for(n),), np.dtype(np.uint64))
    return {
        "empty": bits,
        "short": bits,
        "ranks": ((absent + 1,), np.dtype(np.uint8)),
        "heads": ((HEADS * heads, n), ids),
    }


@njit
def degree_byte(count):
    """Return a byte that grows with the degree ``count``: exponent and three bits of mantissa."""
    if count < _EIGHT:
        return np.uint8(count)
    exponent = _TOP - leading_zeros(count)
    rank = (exponent - _TWO) * _EIGHT + ((count >> (exponent - _THREE)) & _MANTISSA)
    return np.uint8(min(rank, _HIGHEST))


@njit(nogil=True, cache=True)
def _survey(team, rows, n, ranks, empty, short, claim):
    """Fill ``ranks`` (uint8, one per vertex) and the bitmap ``empty`` of the vertices without neighbours.

    Bits of ``empty`` past the last vertex are set, so that a loop over its complement meets vertices only. ``claim``
    (uint64) is 0 at first.
    """
    pieces = np.uint64(empty.size) // _WORDS + ONE
    share(team, pieces, _survey_some, (rows, np.uint64(n), ranks, empty, short, claim))


@member
def _survey_some(rows, n, ranks, empty, short, claim, t):
    """Take words of the bitmaps for :func:`_survey` until there are no more."""
    words = np.uint64(empty.size)
    while True:
        first = fetch_add(claim, 0, _WORDS)
        if first >= words:
            break
        for w in range(first, min(words, first + _WORDS)):
            base = w << SHIFT
            none, few = ZERO, ZERO
            for b in range(WORD):
                u = base + b
                count = degree(rows, u) if u < n else ZERO
                none |= (ONE if count == ZERO else ZERO) << b
                few |= (ONE if count <= _HEADS else ZERO) << b
                if u < n:
                    ranks[u] = degree_byte(count)
            empty[w], short[w] = none, few


@njit
def strongest_two(rows, u, ranks, n, absent):
    """Return the two neighbours of ``u`` of highest rank, ``absent`` where there is none; and ids of no vertex."""
    first, second, faults = absent, absent, ZERO
    top, below = np.int64(-1), np.int64(-1)
    position, v = seek(rows, u, ZERO), ZERO
    for k in range(min(degree(rows, u), _LOOK)):
        v, position = step(rows, position, k, v)
        if v >= n:
            faults += ONE
            continue
        rank = np.int64(ranks[v])
        if rank > top:
            second, below = first, top
            first, top = v, rank
        elif rank > below:
            second, below = v, rank
    return first, second, faults


@njit(nogil=True, cache=True)
def _fill_heads(team, rows, ranks, heads, absent, claim, faults):
    """Fill ``heads`` from ``rows``; ``claim`` (uint64) is 0 at first, ``faults`` counts ids that are no vertices."""
    share(team, np.uint64(heads.shape[1]) // _CHUNK + ONE, _fill_some, (rows, ranks, heads, absent, claim, faults))


@member
def _fill_some(rows, ranks, heads, absent, claim, faults, t):
    """Take vertices for :func:`_fill_heads` until there are no more."""
    n = np.uint64(heads.shape[1])
    while True:
        first = fetch_add(claim, 0, _CHUNK)
        if first >= n:
            break
        for u in range(first, min(n, first + _CHUNK)):
            heads[0, u], heads[1, u], bad = strongest_two(rows, u, ranks, n, absent)
            if bad != ZERO:
                fetch_add(faults, 0, bad)
