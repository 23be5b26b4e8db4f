"""Web-like graphs: a page copies links of a page nearby, links to pages nearby, and to popular ones.

Out: ``links`` edges from each page after the first to earlier ones. With probability ``copy`` a link is that of a page
at most ``span`` before, of the same number; else it leads with probability ``near`` to a page at most ``span`` before,
and otherwise to a popular one: the number of the page times three uniform numbers, so that low ones are met often.
Source: after Kumar et al., Stochastic models for the
web graph, FOCS 2000; the locality is ours.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bigbfs.generate.arrays import Drawn
from bigbfs.generate.rng import below, draw, make_key, stream, threshold
from bigbfs.jit.njit import njit


def web(seed: int, threads: int, p: dict[str, Any]) -> Drawn:
    """Return the links of ``vertices`` pages."""
    shares = (threshold(p["copy"]), threshold(p["near"]))
    shape = (np.uint64(p["links"]), np.uint64(p["span"]), *shares, make_key(seed, 0))
    return Drawn(p["vertices"], p["edges"], _fill, shape)


@njit(cache=True, nogil=True)
def _fill(first, last, src, dst, links, span, copy, near, key):
    one, half = np.uint64(1), np.uint64(32)
    for edge in range(first, last):
        link = np.uint64(edge)
        page = one + link // links
        src[edge - first] = page
        while True:
            state = stream(key, link)
            back = one + below(draw(state, np.uint64(1)), min(span, page))
            if draw(state, np.uint64(0)) >> half >= copy or back == page:
                break
            link -= back * links
            page -= back
        if draw(state, np.uint64(2)) >> half < near:
            dst[edge - first] = page - back
        else:
            far = below(draw(state, np.uint64(3)), page)
            far = below(draw(state, np.uint64(4)), far + one)
            dst[edge - first] = below(draw(state, np.uint64(5)), far + one)
