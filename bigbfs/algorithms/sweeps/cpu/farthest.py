"""The vertices farthest from a source, whole levels of them, from the levels of a search: in one pass.

A level counts as far until that makes more vertices than there is room for; what was taken before is sifted when the
buffer is full. Most stretches of a graph hold nobody far by then, and are passed by without a branch.
"""

from __future__ import annotations

import numpy as np

from bigbfs.algorithms.sweeps.options import RIM, SHALLOW, Rim
from bigbfs.jit.njit import njit

_STRETCH = np.int64(256)


def rim_of(levels: np.ndarray, depth: int) -> Rim | None:
    """Return the vertices farthest away, as many of the last levels as there is room for.

    ``levels``: int32, -1 unreached; ``depth``: the largest of them. None: the last level alone is too many, there are
    no others than the source, or the search was deep.
    """
    if not 0 < depth <= SHALLOW:
        return None
    found, counts = np.empty((2, 2 * RIM + 1), np.int64), np.zeros(SHALLOW + 1, np.int64)
    count = farthest(levels, np.int64(RIM), counts, found[0], found[1])
    return Rim(found[0, :count], found[1, :count]) if count else None


@njit(cache=True, nogil=True)
def farthest(levels, most, counts, ids, theirs):
    """Write vertices and levels of the last levels, at most ``most`` vertices; return how many.

    ``counts``, one for each level, are 0 at first; ``ids`` and ``theirs`` are longer than ``most``.
    """
    least, total, fill = np.int32(1), np.int64(0), np.int64(0)
    for first in range(np.int64(0), np.int64(levels.size), _STRETCH):
        last = min(np.int64(levels.size), first + _STRETCH)
        some = 0
        for v in range(first, last):
            some += levels[v] >= least
        if some == 0:
            continue
        for v in range(first, last):
            level = levels[v]
            if level >= least:
                ids[fill], theirs[fill] = v, level
                fill += 1
                counts[level] += 1
                total += 1
                while total > most:
                    total -= counts[least]
                    least += np.int32(1)
                if fill == ids.size:
                    fill = _sift(ids, theirs, fill, least)
    return _sift(ids, theirs, fill, least)


@njit
def _sift(ids, theirs, fill, least):
    """Keep those of level ``least`` and more; return how many."""
    kept = np.int64(0)
    for i in range(fill):
        if theirs[i] >= least:
            ids[kept], theirs[kept] = ids[i], theirs[i]
            kept += 1
    return kept
