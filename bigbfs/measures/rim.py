"""The diameter of a small world from one search: the vertices farthest from its source, two by two.

Of two vertices whose distances from the source add up to no more than the longest distance known, none is the end of a
longer one. So pairs are looked at by that sum, the largest first, each by a search from both ends; a pair that is
farther apart than all before it raises the longest distance, and leaves fewer to look at. When that has come up to the
sum that is next, it is the diameter. Sums up to which the vertices listed do not tell all are left to others.

Source: Crescenzi et al., On computing the diameter of real-world undirected graphs, TCS 514 (2013), for the order.
"""

from __future__ import annotations

import numpy as np

from bigbfs.algorithms.sweeps.options import Rim
from bigbfs.measures.apart import LEAST, Apart

PAIRS = 2048
"""Pairs at most."""
SHARE = 4
"""They read about this share of the edges at most, or ``LEAST`` ids; the first of them, which tells what pairs take
here, ``FIRST`` times less."""
FIRST = 32


Longest = tuple[int, int, int]
"""A distance, and two vertices so far apart."""


def closed(rim: Rim, wanted: np.ndarray, seen: Apart, longest: Longest) -> tuple[Longest, bool]:
    """Look at pairs of the vertices ``wanted``, bool, of ``rim``, from the ``longest`` distance known on.

    Returns the longest distance then known, and whether there is none longer.
    """
    ids, levels = rim.ids[wanted], rim.levels[wanted]
    depth, allowed = int(rim.levels.max()), PAIRS
    floor = depth + int(rim.levels.min()) - 1
    most = max(LEAST, seen.edges // SHARE)
    end, first = seen.read + most, True
    for total in range(2 * depth, floor, -1):
        if longest[0] >= total:
            break
        pairs = _pairs(ids, levels, total, allowed)
        if pairs is None:
            return longest, False
        allowed -= len(pairs)
        while len(pairs) and longest[0] < total:
            some = pairs[:1] if first else pairs
            left, found = seen.look_at(some, longest[0], most // FIRST if first else end - seen.read)
            if found is None and left.any():
                return longest, False
            longest, first = found or longest, False
            pairs = np.concatenate([some[left], pairs[len(some) :]])
    return longest, longest[0] >= floor


def _pairs(ids: np.ndarray, levels: np.ndarray, total: int, most: int) -> np.ndarray | None:
    """Return the pairs whose levels add up to ``total``, int64 (k, 2), each once; None: more than ``most``."""
    found = [np.empty((0, 2), np.int64)]
    for high in range((total + 1) // 2, min(total, int(levels.max(initial=0))) + 1):
        ones = ids[levels == high]
        others = ids[levels == total - high] if len(ones) else ones
        most -= len(ones) * len(others) // (1 + (2 * high == total))
        if most < 0:
            return None
        if len(others):
            each = np.stack([np.repeat(ones, len(others)), np.tile(others, len(ones))], axis=1)
            found.append(each[each[:, 0] < each[:, 1]] if 2 * high == total else each)
    return np.concatenate(found)
