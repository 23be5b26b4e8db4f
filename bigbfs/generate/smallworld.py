"""A ring with shortcuts. Source: Watts and Strogatz, Collective dynamics of small-world networks, Nature 393 (1998).

Out: ``links`` edges from each vertex to those that follow it on the ring, each of which leads to a uniformly random
vertex instead with probability ``rewire``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bigbfs.generate.arrays import Drawn
from bigbfs.generate.rng import below, draw, make_key, stream, threshold
from bigbfs.jit.njit import njit


def small_world(seed: int, threads: int, p: dict[str, Any]) -> Drawn:
    """Return the edges of a ring of ``vertices``."""
    shape = (np.uint64(p["vertices"]), np.uint64(p["links"]), threshold(p["rewire"]), make_key(seed, 0))
    return Drawn(p["vertices"], p["edges"], _fill, shape)


@njit(cache=True, nogil=True)
def _fill(first, last, src, dst, n, links, rewire, key):
    one = np.uint64(1)
    for edge in range(first, last):
        state = stream(key, np.uint64(edge))
        vertex = np.uint64(edge) // links
        src[edge - first] = vertex
        if draw(state, np.uint64(0)) >> np.uint64(32) < rewire:
            dst[edge - first] = (vertex + one + below(draw(state, one), n - one)) % n
        else:
            dst[edge - first] = (vertex + one + np.uint64(edge) % links) % n
