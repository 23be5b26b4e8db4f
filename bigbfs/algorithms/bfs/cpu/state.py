"""The arrays that the kernels of a search share, as one argument."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bigbfs.engines.cpu.bits import words_for

BUFFER_IDS = 1024
"""Vertices that a thread finds before it settles them, or puts off until it reads their rows."""

TALLY = 8
"""Sums of a thread."""


class State(NamedTuple):
    """Everything that a level reads and writes beside the rows.

    Attributes
    ----------
    queue, hubs, next_hubs
        Frontier windows, id (n + 1); frontier vertices of long rows and those of the next level, id.
    pieces
        First piece of each hub, uint64.
    tails
        Where the queue (entry ``TAIL``) and the hubs (``HUB_TAIL``) end, uint64.
    visited, before
        Bitmaps, uint64 words and one more: vertices visited; the same before the last bottom-up level.
    parents, levels
        The result: id and int32, shape (n,).
    heads, short
        Head table, id (k, n); bitmap of the vertices whose whole row it holds. Empty where levels never go bottom-up.
    buffers
        What each thread finds before it settles it, or puts off: id (threads, 2, BUFFER_IDS).
    claim, tallies, faults
        Work taken; eight sums for each thread; ids met that are no vertices: uint64.
    """

    queue: np.ndarray
    hubs: np.ndarray
    next_hubs: np.ndarray
    pieces: np.ndarray
    tails: np.ndarray
    visited: np.ndarray
    before: np.ndarray
    parents: np.ndarray
    levels: np.ndarray
    heads: np.ndarray
    short: np.ndarray
    buffers: np.ndarray
    claim: np.ndarray
    tallies: np.ndarray
    faults: np.ndarray


def shapes(n: int, hubs: int, ids: np.dtype, threads: int) -> dict[str, tuple[tuple[int, ...], np.dtype]]:
    """Return shape and dtype of what all ``threads`` of a search work on together, for up to so many ``hubs``.

    ``bitmaps`` are ``visited`` and ``before``, ``hubs`` those of two levels.
    """
    wide, level = np.dtype(np.uint64), np.dtype(np.int32)
    return {
        "queue": ((n + 1,), ids), "hubs": ((2, hubs), ids), "tails": ((16,), wide),
        "bitmaps": ((2, words_for(n) + 1), wide), "parents": ((n,), ids), "levels": ((n,), level),
        "tallies": ((threads * TALLY,), wide), "faults": ((1,), wide),
    }  # fmt: skip
