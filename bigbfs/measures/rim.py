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
from bigbfs.jit.njit import njit
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
    depth, low = int(rim.levels.max()), int(rim.levels.min())
    every, ends = pairs_of(rim.ids[wanted], rim.levels[wanted], depth, low, PAIRS)
    most, begin, first = max(LEAST, seen.edges // SHARE), 0, True
    last = seen.read + most
    for total, end in zip(range(2 * depth, depth + low - 1, -1), ends, strict=True):
        if longest[0] >= total:
            break
        if end < 0:
            return longest, False
        pairs, begin = every[begin:end], end
        while len(pairs) and longest[0] < total:
            some = pairs[:1] if first else pairs
            left, found = seen.look_at(some, longest[0], most // FIRST if first else last - seen.read)
            if found is None and left.any():
                return longest, False
            longest, first = found or longest, False
            pairs = np.concatenate([some[left], pairs[len(some) :]])
    return longest, longest[0] >= depth + low - 1


def pairs_of(ids: np.ndarray, levels: np.ndarray, depth: int, low: int, most: int) -> tuple[np.ndarray, list[int]]:
    """Return pairs of ``ids`` by what their ``levels``, ``low`` to ``depth``, add up to, the largest sum first.

    Pairs are int64 (k, 2), each once, at most ``most`` of them. The number of those that add up to 2 ``depth`` or more,
    to one less, ..., to ``depth + low`` or more, is -1 from where there would be more.
    """
    pairs, ends = np.empty((most, 2), np.int64), np.empty(depth - low + 1, np.int64)
    list_pairs(ids, levels, np.int64(depth), pairs, ends)
    return pairs, ends.tolist()


@njit(cache=True, nogil=True)
def list_pairs(ids, levels, depth, pairs, ends):
    """See :func:`pairs_of`; a number for each sum, from that of 2 ``depth`` on."""
    starts = np.zeros(depth + 2, np.int64)  # of each level among the ids by level
    for level in levels:
        starts[level + 1] += 1
    for level in range(depth + 1):
        starts[level + 1] += starts[level]
    order, places = np.empty_like(ids), starts.copy()
    for i in range(ids.size):
        order[places[levels[i]]] = ids[i]
        places[levels[i]] += 1
    fill, room = np.int64(0), True
    for i in range(ends.size):
        total = 2 * depth - i
        for high in range((total + 1) // 2, min(total, depth) + 1):
            low = total - high
            for x in range(starts[high], starts[high + 1]):
                first = x + 1 if low == high else starts[low]
                room &= fill + starts[low + 1] - first <= len(pairs)
                if not room:
                    break
                for y in range(first, starts[low + 1]):
                    pairs[fill, 0], pairs[fill, 1] = order[x], order[y]
                    fill += 1
        ends[i] = fill if room else -1
