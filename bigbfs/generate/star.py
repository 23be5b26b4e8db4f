"""A graph with one supernode, as in traces of internet traffic (Mawi): most vertices hang on one.

Out: a connected graph. Vertex 0 is the hub, joined to the vertices 1..hub_degree; each vertex after those hangs on a
random earlier leaf, so that the search goes a few levels deep; further edges join random vertices other than the hub.
Mawi (226 M vertices, 240 M undirected edges) has a hub joined to 93 % of its vertices: these are the defaults.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bigbfs.generate.arrays import Drawn
from bigbfs.generate.rng import below, draw, make_key, stream
from bigbfs.jit.njit import njit


def star(seed: int, threads: int, p: dict[str, Any]) -> Drawn:
    """Return the edges of a star of ``vertices``, the hub joined to ``hub_degree`` of them, ``edges`` in all."""
    shape = (np.uint64(p["vertices"]), np.uint64(p["hub_degree"]), make_key(seed, 0))
    return Drawn(p["vertices"], p["edges"], _fill, shape)


@njit(cache=True, nogil=True)
def _fill(first, last, src, dst, n, hub_degree, key):
    one = np.uint64(1)
    for edge in range(first, last):
        state = stream(key, np.uint64(edge))
        vertex = np.uint64(edge) + one  # the first n - 1 edges hang one vertex each on what is there
        if vertex <= hub_degree:
            src[edge - first], dst[edge - first] = np.uint64(0), vertex
        elif vertex < n:
            src[edge - first] = one + below(draw(state, np.uint64(0)), vertex - one)
            dst[edge - first] = vertex
        else:
            src[edge - first] = one + below(draw(state, np.uint64(0)), n - one)
            dst[edge - first] = one + below(draw(state, np.uint64(1)), n - one)
