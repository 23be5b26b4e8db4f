"""The graphs of cases on several GPUs: those of the zoo, and larger ones."""

from __future__ import annotations

from functools import cache

import numpy as np
import zoo

from bigbfs.graph.graph import Graph


def random_graph(n: int, m: int, seed: int) -> Graph:
    """Return a graph of n vertices and m edges, of which the first vertices have most."""
    drawn = np.random.default_rng(seed)
    return zoo.build(n, (drawn.integers(0, n, m), (n * drawn.random(m) ** 3).astype(np.int64)))


@cache
def graph_of(name: str) -> Graph:
    """Return a graph of the zoo, or a random one (``random-SEED``), a large one (``large-SEED``), a ``grid``."""
    kind, _, seed = name.partition("-")
    if kind == "random" and seed.isdigit():
        return random_graph(5_000, 60_000, int(seed))
    if kind == "large" and seed.isdigit():
        return random_graph(1 << 16, 12 << 16, int(seed))
    if name == "star":
        return star_and_strays()
    if name == "grid":
        side = 600
        at = np.arange(side * side).reshape(side, side)
        pairs = [(at[:, :-1], at[:, 1:]), (at[:-1], at[1:])]
        return zoo.build(side * side, zoo.join(*((a.ravel(), b.ravel()) for a, b in pairs)))
    return zoo.shared()[name]


def star_and_strays() -> Graph:
    """Return a large star, and small ones of which some are joined to it, hubs first."""
    small = 4 + np.arange(4 * 1200)
    large = small[-1] + 1 + np.arange(1 << 19)
    stars = (0 * large, large), (1 + np.arange(4 * 1200) // 1200, small)
    return zoo.build(int(large[-1]) + 1000, zoo.join(*stars, (small[::900], large[:6]), (large[-64:-32], large[-32:])))
