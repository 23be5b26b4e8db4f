"""The arrays that the kernels of a rank share, as one argument."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Own(NamedTuple):
    """What a rank keeps of a search.

    Attributes
    ----------
    visited
        Bitmap of all vertices, uint64 words and one more: of own vertices those visited; of others those that this
        rank knows to be, or has claimed.
    fresh
        Own words: own vertices visited since the others were told.
    new
        Own words: what the last level found, where it was pulled.
    levels, parents
        The result for own vertices, by local number: int32 and id.
    heads, short
        Head table, id (k, own vertices), and bitmap of those whose whole row it holds. Empty where nothing is pulled.
    queue
        Own vertices in the order in which they were found, id (own vertices + 1).
    """

    visited: np.ndarray
    fresh: np.ndarray
    new: np.ndarray
    levels: np.ndarray
    parents: np.ndarray
    heads: np.ndarray
    short: np.ndarray
    queue: np.ndarray
