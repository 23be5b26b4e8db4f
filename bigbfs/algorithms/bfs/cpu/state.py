"""The arrays that the kernels of a search share, as one argument."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

BUFFER_IDS = 1024
"""Vertices that a thread finds before it settles them, or puts off until it reads their rows."""


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
