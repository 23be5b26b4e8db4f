"""The labels as the caller gets them, an array of its own, and what is counted in them, in one pass of all threads."""

from __future__ import annotations

import numpy as np

from bigbfs.engines.cpu.bits import ONE
from bigbfs.jit.njit import njit
from bigbfs.jit.team import member, members_of, pieces_of, share, take

SAMPLE = 1024
"""Labels of a sample that tells a giant."""
_SIZE = np.uint64(8192)
"""Vertices of a piece."""
_TALLY = np.uint64(8)


def handed(team: np.ndarray, labels: np.ndarray, sample: np.ndarray) -> tuple[np.ndarray, int, int]:
    """Return the ``labels`` as int64, how many components there are, and the vertices of the largest.

    ``sample`` (any length) are labels of some vertices: if most are the same, its component is counted in passing.
    """
    copied, tallies = np.empty(len(labels), np.int64), np.zeros(members_of(team) * int(_TALLY), np.uint64)
    giant = np.sort(sample)[len(sample) // 2] if len(sample) else labels.dtype.type(0)
    _hand(team, labels, copied, giant, np.zeros(8, np.uint64), tallies)
    components, held = (int(total) for total in tallies.reshape(-1, int(_TALLY))[:, :2].sum(axis=0))
    if 2 * held < len(labels) - components + 2:  # another one may be larger: of so many others, one each at least
        return copied, components, int(np.bincount(copied, minlength=1).max())
    return copied, components, held


@njit(nogil=True, cache=True)
def _hand(team, labels, copied, giant, claim, tallies):
    """Share the vertices."""
    share(team, pieces_of(np.uint64(labels.size), _SIZE), _hand_some, (labels, copied, giant, claim, tallies))


@member
def _hand_some(labels, copied, giant, claim, tallies, t):
    """Take pieces for :func:`_hand` until there are no more."""
    n = np.uint64(labels.size)
    pieces, roots, held = pieces_of(n, _SIZE), 0, 0
    while True:
        piece = take(claim, pieces, t)
        if piece >= pieces:
            break
        for v in range(piece * _SIZE, min(n, (piece + ONE) * _SIZE)):
            copied[v] = np.int64(labels[v])
            roots += np.uint64(labels[v]) == v
            held += labels[v] == giant
    tallies[t * _TALLY], tallies[t * _TALLY + ONE] = np.uint64(roots), np.uint64(held)
