"""Preferential attachment: each new vertex brings edges to earlier ones, by their degree.

Source: Barabasi and Albert, Emergence of scaling in random networks, Science 286 (1999), drawn without a table of
ends: the other end of an edge is a uniformly random place in the list of all ends before it, and the place of an
other end is looked up by drawing it again (Sanders and Schulz, Scalable generation of scale-free graphs, IPL 2016).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bigbfs.generate.arrays import Drawn
from bigbfs.generate.rng import below, draw, make_key, stream
from bigbfs.jit.njit import njit


def preferential(seed: int, threads: int, p: dict[str, Any]) -> Drawn:
    """Return ``links`` edges for each vertex after the first."""
    return Drawn(p["vertices"], p["edges"], _fill, (np.uint64(p["links"]), make_key(seed, 0)))


@njit(cache=True, nogil=True)
def _fill(first, last, src, dst, links, key):
    one, zero = np.uint64(1), np.uint64(0)
    for edge in range(first, last):
        newcomer = np.uint64(edge)
        other = zero  # the first vertex has one end more than its edges, or nobody would ever join it
        while True:
            place = below(draw(stream(key, newcomer), zero), one + np.uint64(2) * newcomer)
            if place == zero:
                break
            place -= one
            newcomer = place >> one
            if place & one == zero:
                other = one + newcomer // links
                break
        src[edge - first] = one + np.uint64(edge) // links
        dst[edge - first] = other
