"""R-MAT graphs: each edge falls down a tree of quadrants of the adjacency matrix; Kronecker is its Graph500 case.

Out: ``edges`` pairs with duplicates and self-loops, as the generator makes them. Quadrants are drawn with 32 bits
each. Where n is no power of two a pair outside 0..n-1 is drawn again. Sources: Chakrabarti, Zhan, Faloutsos: R-MAT
(SDM 2004); the Graph500 specification, section "Generating the edge list".
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bigbfs.generate.arrays import Drawn
from bigbfs.generate.rng import draw, make_key, stream, threshold
from bigbfs.jit.njit import njit

BLOCK = 1024
"""Edges drawn together: their states stay in the first-level cache."""

DRAWS = 32
"""Numbers of an edge's stream that one turn may use: two levels each, so 64 levels."""


def kronecker(seed: int, threads: int, p: dict[str, Any]) -> Drawn:
    """Return the Graph500 Kronecker edges of ``scale`` and ``edges``."""
    return rmat(seed, threads, p | {"a": 0.57, "b": 0.19, "c": 0.19})


def rmat(seed: int, threads: int, p: dict[str, Any]) -> Drawn:
    """Return R-MAT ``edges`` on ``vertices`` with quadrant probabilities ``a``, ``b``, ``c``."""
    limits = np.array([threshold(p["a"]), threshold(p["a"] + p["b"]), threshold(p["a"] + p["b"] + p["c"])])
    levels = max(p["vertices"] - 1, 0).bit_length()
    shape = (np.uint64(p["vertices"]), levels, make_key(seed, 0), limits)
    return Drawn(p["vertices"], p["edges"], _fill, shape)


@njit(cache=True, nogil=True, inline="always")
def _descend(u, v, part, a, ab, abc):
    """Add one bit to both ends: the quadrant that the 32-bit ``part`` falls in."""
    down = np.uint64(part >= ab)
    right = np.uint64(part >= a) ^ down ^ np.uint64(part >= abc)
    return (u << np.uint64(1)) | down, (v << np.uint64(1)) | right


@njit(cache=True, nogil=True)
def _descend_block(states, us, vs, levels, turn, limits):
    """Draw one pair for each of ``states``; the loops over the block are the inner ones, so that they vectorize."""
    a, ab, abc = limits[0], limits[1], limits[2]
    half, low = np.uint64(32), np.uint64(0xFFFFFFFF)
    us[:], vs[:] = 0, 0
    for step in range(levels // 2):
        counter = np.uint64(turn * DRAWS + step)
        for i in range(states.size):
            word = draw(states[i], counter)
            u, v = _descend(us[i], vs[i], word & low, a, ab, abc)
            us[i], vs[i] = _descend(u, v, word >> half, a, ab, abc)
    if levels % 2:
        counter = np.uint64(turn * DRAWS + levels // 2)
        for i in range(states.size):
            us[i], vs[i] = _descend(us[i], vs[i], draw(states[i], counter) & low, a, ab, abc)


@njit(cache=True, nogil=True)
def _fill(first, last, src, dst, n, levels, key, limits):
    states, us, vs = np.empty(BLOCK, np.uint64), np.empty(BLOCK, np.uint64), np.empty(BLOCK, np.uint64)
    for begin in range(first, last, BLOCK):
        count = min(BLOCK, last - begin)
        for i in range(count):
            states[i] = stream(key, np.uint64(begin + i))
        _descend_block(states[:count], us[:count], vs[:count], levels, 0, limits)
        for i in range(count):
            turn = 0
            while us[i] >= n or vs[i] >= n:
                turn += 1
                _descend_block(states[i : i + 1], us[i : i + 1], vs[i : i + 1], levels, turn, limits)
            src[begin - first + i], dst[begin - first + i] = us[i], vs[i]
