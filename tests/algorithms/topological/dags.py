"""Directed acyclic graphs that are hard in one way each, and an oracle of the standard library for their rounds."""

from __future__ import annotations

from functools import cache
from graphlib import TopologicalSorter

import numpy as np
from zoo import build, join, path, random, star

from bigbfs.graph.graph import Graph


def upward(pairs, n, seed=None):
    """Return ``pairs`` turned to lead from smaller to larger, and then renumbered at random where there is a seed."""
    low, high = np.sort(np.stack([np.asarray(side) for side in pairs]), axis=0)
    apart = low != high
    order = np.arange(n) if seed is None else np.random.default_rng(seed).permutation(n)
    return order[low[apart]], order[high[apart]]


def layers(count, width, seed):
    """Return ``count`` layers of ``width`` vertices, each vertex with two edges to the next layer."""
    base = np.repeat(np.arange((count - 1) * width), 2)
    targets = (base // width + 1) * width + np.random.default_rng(seed).integers(0, width, len(base))
    return base, targets


def fan(n, hub):
    """Return edges from the vertices below ``hub`` to it, and from it to those above."""
    return join((np.arange(hub), np.full(hub, hub)), (np.full(n - hub - 1, hub), np.arange(hub + 1, n)))


def make(name: str) -> Graph:
    """Return the graph ``name`` of ``NAMES``."""
    rng = np.random.default_rng(7)
    several = join(random(120, 2_500, seed=9), ([3] * 1_500, [77] * 1_500))
    makers = {
        "empty": lambda: build(0, ([], []), directed=True),
        "isolated": lambda: build(70, ([], []), directed=True),
        "path": lambda: build(257, path(257), directed=True),
        "path backwards": lambda: build(90, path(90)[::-1], directed=True),
        "path shuffled": lambda: build(300, upward(path(300), 300, seed=1), directed=True),
        "random": lambda: build(700, upward(random(700, 3_000, seed=2), 700, seed=3), directed=True),
        "dense": lambda: build(200, upward(random(200, 12_000, seed=4), 200, seed=5), directed=True),
        "duplicates": lambda: build(120, upward(several, 120), directed=True, keep=True),
        "no in-rows": lambda: build(700, upward(random(700, 3_000, seed=6), 700), directed=True, in_rows=False),
        "wide ids": lambda: build(500, upward(random(500, 2_500, seed=8), 500, seed=9), directed=True, ids=np.uint64),
        "layers": lambda: build(40 * 130, layers(40, 130, seed=10), directed=True),
        "hub": lambda: build(3_001, fan(3_001, 1_700), directed=True),
        "out of a hub": lambda: build(2_200, star(2_200, hub=0), directed=True),
        "three hubs": lambda: build(
            5_003,
            join(star(5_003, hub=0), path(4), *((np.full(5_000 - h, h), np.arange(h + 3, 5_003)) for h in (1, 2))),
            directed=True,
        ),
        "thin, wide, thin": lambda: build(
            2_000 + 200, join(path(100), fan_between(99, 2_100, 2_000), path(2_200, first=2_100)), directed=True
        ),
        "relabelled": lambda: build(
            300, upward(random(300, 900, seed=12), 300, seed=13), directed=True, labels=rng.permutation(300) * 10**10
        ),
    }  # fmt: skip
    return makers[name]()


def fan_between(first, last, width):
    """Return edges from ``first`` to the ``width`` vertices after it, and from all of them to ``last``."""
    middle = np.arange(first + 1, first + 1 + width)
    return join((np.full(width, first), middle), (middle, np.full(width, last)))


NAMES = (
    "empty", "isolated", "path", "path backwards", "path shuffled", "random", "dense", "duplicates", "no in-rows",
    "wide ids", "layers", "hub", "out of a hub", "three hubs", "thin, wide, thin", "relabelled",
)  # fmt: skip


@cache
def dag(name: str) -> Graph:
    """Return the graph ``name``, the same object on every call."""
    graph = make(name)
    graph.require_valid()
    return graph


def rounds_by_graphlib(graph: Graph) -> np.ndarray:
    """Return the round of every vertex: what graphlib says is ready together."""
    indptr, indices = graph.adjacency.indptr.astype(np.int64), graph.adjacency.indices.tolist()
    sorter = TopologicalSorter(dict.fromkeys(range(graph.n), ()))
    for vertex in range(graph.n):
        for neighbour in indices[indptr[vertex] : indptr[vertex + 1]]:
            sorter.add(neighbour, vertex)
    sorter.prepare()
    rounds = np.full(graph.n, -1, np.int32)
    number = 0
    while sorter.is_active():
        ready = sorter.get_ready()
        rounds[list(ready)] = number
        sorter.done(*ready)
        number += 1
    return rounds
