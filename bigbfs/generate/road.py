"""Road-like graphs: connected, planar, mean degree about 2.5, a diameter of the order of sqrt(n).

Intersections stand on a square grid. Each keeps a road to its left or its upper neighbour, drawn at random, which
makes a spanning tree (the "binary tree" maze); the other road stays with the probability that gives the mean degree
asked for. Then ``n - intersections`` vertices of degree 2 are spread over the roads, which so become chains. Out: each
edge once; intersections have the first ids, row by row, then the chains in the order of their roads.
"""

from __future__ import annotations

import math
from itertools import accumulate
from typing import Any

import numpy as np

from bigbfs.generate.arrays import ITEMS, Pairs, allocate
from bigbfs.generate.rng import draw, make_key, stream, threshold
from bigbfs.jit.njit import njit
from bigbfs.jit.workers import ranges, run

CHAIN_TENTHS = 3
"""Tenths of the vertices that lie inside chains."""


def road(seed: int, threads: int, p: dict[str, Any]) -> Pairs:
    """Return the edges of a road-like graph of ``vertices`` whose mean degree is about ``degree``."""
    n = p["vertices"]
    chained = n * CHAIN_TENTHS // 10
    crossings = n - chained
    columns = math.isqrt(crossings - 1) + 1
    choices = crossings - columns - (crossings - 1) // columns  # crossings that have a left and an upper neighbour
    extra = threshold(min(1.0, (p["degree"] / 2 - 1) * n / max(choices, 1)))
    shape = (columns, make_key(seed, 0), extra)
    stretches = ranges(crossings, -(-crossings // ITEMS))
    before = [0, *accumulate(run(threads, _count_roads, [(*stretch, *shape) for stretch in stretches]))]
    roads = before[-1]
    src, dst = allocate(n, roads + chained)
    lay = (crossings, roads, chained, make_key(seed, 1), src, dst)
    run(threads, _fill, [(*stretch, before[i], *shape, *lay) for i, stretch in enumerate(stretches)])
    return src, dst


@njit(cache=True, nogil=True, inline="always")
def _kept(vertex, columns, key, extra):
    """Tell which roads of a crossing are kept: (to the left, upwards)."""
    has_left, has_up = vertex % columns > 0, vertex >= columns
    if not (has_left and has_up):
        return has_left, has_up
    word = draw(stream(key, np.uint64(vertex)), np.uint64(0))
    both = (word >> np.uint64(32)) < extra
    left = (word & np.uint64(1)) == 1
    return left or both, both or not left


@njit(cache=True, nogil=True)
def _count_roads(first, last, columns, key, extra):
    roads = 0
    for vertex in range(first, last):
        left, up = _kept(vertex, columns, key, extra)
        roads += np.int64(left) + np.int64(up)
    return roads


@njit(cache=True, nogil=True)
def _road_of(chain, roads, chained, key):
    """Return the road that chain vertex number ``chain`` lies on: one random place in each of ``chained`` strata."""
    jitter = draw(stream(key, np.uint64(chain)), np.uint64(0)) >> np.uint64(32)
    place = np.uint64(chain) * np.uint64(roads) + ((jitter * np.uint64(roads)) >> np.uint64(32))
    return np.int64(place // np.uint64(chained))


@njit(cache=True, nogil=True)
def _lay(start, end, road, chain, crossings, roads, chained, key, src, dst):
    """Write one road with the chain vertices on it; return the first chain vertex after it."""
    here = start
    while chain < chained and _road_of(chain, roads, chained, key) == road:
        src[road + chain], dst[road + chain] = here, crossings + chain
        here = crossings + chain
        chain += 1
    src[road + chain], dst[road + chain] = here, end
    return chain


@njit(cache=True, nogil=True)
def _fill(first, last, road, columns, key, extra, crossings, roads, chained, chain_key, src, dst):
    """Lay the roads of the crossings first..last-1, of which ``road`` is the first."""
    chain = 0
    if roads > 0:
        chain = max(0, np.int64(np.uint64(road) * np.uint64(chained) // np.uint64(roads)) - 2)
    while chain < chained and _road_of(chain, roads, chained, chain_key) < road:
        chain += 1
    rest = (crossings, roads, chained, chain_key, src, dst)
    for vertex in range(first, last):
        left, up = _kept(vertex, columns, key, extra)
        if left:
            chain = _lay(vertex - 1, vertex, road, chain, *rest)
            road += 1
        if up:
            chain = _lay(vertex - columns, vertex, road, chain, *rest)
            road += 1
