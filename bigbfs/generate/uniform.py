"""Uniformly random pairs: G(n, m) with replacement, and a directed acyclic graph drawn the same way.

Out: ``edges`` pairs. ``uniform`` may repeat pairs and draw self-loops; ``dag`` draws two different ends and points the
edge from the smaller to the larger, so that no cycle is possible.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bigbfs.generate.arrays import Drawn
from bigbfs.generate.rng import below, draw, make_key, stream
from bigbfs.jit.njit import njit


def uniform(seed: int, threads: int, p: dict[str, Any]) -> Drawn:
    """Return ``edges`` pairs of ``vertices``, each end uniform."""
    return Drawn(p["vertices"], p["edges"], _uniform, (np.uint64(p["vertices"]), make_key(seed, 0)))


def dag(seed: int, threads: int, p: dict[str, Any]) -> Drawn:
    """Return ``edges`` pairs u < v with v - u at most ``span``."""
    n, key = np.uint64(p["vertices"]), make_key(seed, 0)
    if p["span"] is None:
        return Drawn(p["vertices"], p["edges"], _ordered, (n, key))
    return Drawn(p["vertices"], p["edges"], _near, (n, np.uint64(p["span"]), key))


@njit(cache=True, nogil=True)
def _uniform(first, last, src, dst, n, key):
    for edge in range(first, last):
        state = stream(key, np.uint64(edge))
        src[edge - first] = below(draw(state, np.uint64(0)), n)
        dst[edge - first] = below(draw(state, np.uint64(1)), n)


@njit(cache=True, nogil=True)
def _ordered(first, last, src, dst, n, key):
    for edge in range(first, last):
        state = stream(key, np.uint64(edge))
        one = below(draw(state, np.uint64(0)), n)
        other = below(draw(state, np.uint64(1)), n - np.uint64(1))
        other += np.uint64(other >= one)
        src[edge - first], dst[edge - first] = min(one, other), max(one, other)


@njit(cache=True, nogil=True)
def _near(first, last, src, dst, n, span, key):
    for edge in range(first, last):
        state = stream(key, np.uint64(edge))
        one = below(draw(state, np.uint64(0)), n - np.uint64(1))
        reach = min(span, n - np.uint64(1) - one)
        src[edge - first], dst[edge - first] = one, one + np.uint64(1) + below(draw(state, np.uint64(1)), reach)
