"""The result of a search as the caller gets it: arrays of its own, and what is counted in them, in one pass.

Arrays that have just been allocated are not there before somebody writes to them: here all threads do.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bigbfs.algorithms.bfs.cpu.state import State
from bigbfs.engines.cpu.bits import ONE, ZERO
from bigbfs.jit.njit import njit
from bigbfs.jit.team import member, pieces_of, share, take

_SIZE = np.uint64(8192)
"""Vertices of a piece."""
_TALLY = np.uint64(8)
_NOBODY = np.int64(-1)


@dataclass(frozen=True, slots=True)
class Handed:
    """Levels (int32) and parents (int64) as the caller gets them, empty where they are not wanted.

    ``reached`` vertices have a level; ``deepest`` is the first vertex of the level asked for, or n.
    """

    levels: np.ndarray
    parents: np.ndarray
    reached: int
    deepest: int


def handed(team: np.ndarray, state: State, depth: int, *, levels: bool, parents: bool) -> Handed:
    """Return copies of ``levels`` and ``parents``, and say who is in level ``depth``."""
    n = len(state.levels)
    into = np.empty(n * levels, np.int32), np.empty(n * parents, np.int64)
    _hand(team, state, *into, np.int32(depth))
    tallies = state.tallies.reshape(-1, int(_TALLY))
    return Handed(*into, int(tallies[:, 0].sum()), int(tallies[:, 1].min()))


@njit(nogil=True, cache=True)
def _hand(team, state, levels, parents, depth):
    """Share the vertices."""
    state.claim[0] = ZERO
    n = np.uint64(state.levels.size)
    for i in range(ZERO, np.uint64(state.tallies.size), _TALLY):
        state.tallies[i], state.tallies[i + ONE] = ZERO, n
    given = (state.levels, state.parents, state.claim, state.tallies, levels, parents, depth)
    share(team, pieces_of(n, _SIZE), _hand_some, given)


@member
def _hand_some(found, owners, claim, tallies, levels, parents, depth, t):
    """Take pieces for :func:`_hand` until there are no more."""
    n, nobody = np.uint64(found.size), ~owners.dtype.type(0)
    pieces, reached, deepest = pieces_of(n, _SIZE), 0, n
    while True:
        piece = take(claim, pieces, t)
        if piece >= pieces:
            break
        first, last, farthest = piece * _SIZE, min(n, (piece + ONE) * _SIZE), 0
        for v in range(first, last):
            reached += found[v] >= 0
            farthest += found[v] == depth
        if farthest and first < deepest:
            v = first
            while found[v] != depth:
                v += ONE
            deepest = v
        if levels.size:
            for v in range(first, last):
                levels[v] = found[v]
        if parents.size:
            for v in range(first, last):
                parents[v] = np.int64(owners[v]) if owners[v] != nobody else _NOBODY
    tallies[t * _TALLY] = np.uint64(reached)
    tallies[t * _TALLY + ONE] = deepest
