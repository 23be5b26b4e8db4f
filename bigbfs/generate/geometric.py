"""Random geometric graphs: points in the unit square, joined where they are near each other.

Out: an edge for each pair of points at most a radius apart, which is chosen for the mean degree; the border takes a
little of it. Points are numbered by the cell of a grid that they lie in, row by row, so that neighbours have near ids
unless they are permuted. Coordinates and distances are integers: the same graph on every machine. Source: Gilbert,
Random plane networks, 1961; the grid of cells as in Bentley, Stanat, Williams, 1977.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bigbfs.generate.arrays import Pairs, allocate, spread
from bigbfs.generate.rng import draw, make_key, stream
from bigbfs.jit.njit import njit

SIDE = 1 << 30
"""The square's, in units of coordinates."""


def geometric(seed: int, threads: int, p: dict[str, Any]) -> Pairs:
    """Return the pairs of ``vertices`` points that are near each other."""
    n = p["vertices"]
    radius = min(SIDE, int(SIDE * math.sqrt(p["degree"] / (math.pi * max(1, n - 1)))))
    cells = max(1, min(SIDE // max(1, radius), math.isqrt(n)))
    x, y = np.empty((2, n), np.int64)
    cell = np.empty(n, np.int64)
    spread(threads, _points, n, x, y, cell, cells, make_key(seed, 0))
    order = np.argsort(cell, kind="stable")
    x, y = x[order], y[order]
    first = np.zeros(cells * cells + 1, np.int64)
    np.cumsum(np.bincount(cell, minlength=cells * cells), out=first[1:])
    counts = np.zeros(n + 1, np.int64)
    place = (x, y, first, cells, radius * radius)
    spread(threads, _count, n, *place, counts)
    np.cumsum(counts, out=counts)
    src, dst = allocate(n, int(counts[-1]))
    spread(threads, _fill, n, *place, counts, src, dst)
    return src, dst


@njit(cache=True, nogil=True)
def _points(first, last, x, y, cell, cells, key):
    for point in range(first, last):
        state = stream(key, np.uint64(point))
        x[point] = draw(state, np.uint64(0)) >> np.uint64(34)
        y[point] = draw(state, np.uint64(1)) >> np.uint64(34)
        cell[point] = _cell(y[point], cells) * cells + _cell(x[point], cells)


@njit(cache=True, nogil=True, inline="always")
def _cell(place, cells):
    return (place * cells) >> 30


@njit(cache=True, nogil=True)
def _count(begin, end, x, y, first, cells, near, counts):
    for point in range(begin, end):
        found = 0
        for candidates in range(2):
            low, high = _candidates(point, x, y, first, cells, candidates)
            for other in range(low, high):
                found += _near(point, other, x, y, near)
        counts[point + 1] = found


@njit(cache=True, nogil=True)
def _fill(begin, end, x, y, first, cells, near, starts, src, dst):
    for point in range(begin, end):
        at = starts[point]
        for candidates in range(2):
            low, high = _candidates(point, x, y, first, cells, candidates)
            for other in range(low, high):
                if _near(point, other, x, y, near):
                    src[at], dst[at] = point, other
                    at += 1


@njit(cache=True, nogil=True, inline="always")
def _near(point, other, x, y, near):
    across, along = x[point] - x[other], y[point] - y[other]
    return across * across + along * along <= near


@njit(cache=True, nogil=True, inline="always")
def _candidates(point, x, y, first, cells, candidates):
    """Return the points that follow ``point`` in its cell and the next one (0), or lie in the three cells above (1)."""
    row, column = _cell(y[point], cells), _cell(x[point], cells)
    right = min(column + 1, cells - 1)
    if candidates == 0:
        return point + 1, first[row * cells + right + 1]
    if row + 1 == cells:
        return 0, 0
    above = (row + 1) * cells
    return first[above + max(column - 1, 0)], first[above + right + 1]
