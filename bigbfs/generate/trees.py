"""Very deep graphs: a path with teeth, and a random tree whose vertices hang on one shortly before.

Out: n - 1 edges, connected.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bigbfs.generate.arrays import Drawn
from bigbfs.generate.rng import below, draw, make_key, stream
from bigbfs.jit.njit import njit


def comb(seed: int, threads: int, p: dict[str, Any]) -> Drawn:
    """Return a path whose vertices each have a path of ``tooth`` vertices hanging on them, as far as they go."""
    return Drawn(p["vertices"], p["edges"], _comb, (np.uint64(p["tooth"]) + np.uint64(1),))


def tree(seed: int, threads: int, p: dict[str, Any]) -> Drawn:
    """Return a tree in which each vertex hangs on one of the ``span`` before it."""
    return Drawn(p["vertices"], p["edges"], _tree, (np.uint64(p["span"]), make_key(seed, 0)))


@njit(cache=True, nogil=True)
def _comb(first, last, src, dst, period):
    one = np.uint64(1)
    for edge in range(first, last):
        vertex = np.uint64(edge) + one
        src[edge - first] = vertex - (period if vertex % period == np.uint64(0) else one)
        dst[edge - first] = vertex


@njit(cache=True, nogil=True)
def _tree(first, last, src, dst, span, key):
    one = np.uint64(1)
    for edge in range(first, last):
        vertex = np.uint64(edge) + one
        src[edge - first] = vertex - one - below(draw(stream(key, np.uint64(edge)), np.uint64(0)), min(span, vertex))
        dst[edge - first] = vertex
