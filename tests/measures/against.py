"""NetworkX graphs of ours, and small graphs on which the measures are held against it."""

from __future__ import annotations

from functools import cache

import networkx as nx
import numpy as np
import zoo

from bigbfs.graph.graph import Graph

SMALL = 400
"""Vertices of the largest graph of the zoo on which NetworkX is asked."""


def networkx_of(graph: Graph) -> nx.Graph:
    """Return ``graph`` as NetworkX has it, vertices by their original ids."""
    plain = graph.decompress().adjacency
    made = nx.DiGraph() if graph.flags.directed else nx.Graph()
    ids = np.asarray(graph.original(np.arange(graph.n))).tolist()
    made.add_nodes_from(ids)
    ends = np.repeat(np.arange(graph.n), graph.degrees())
    made.add_edges_from((ids[u], ids[int(v)]) for u, v in zip(ends.tolist(), plain.indices.tolist(), strict=True))
    return made


@cache
def graphs() -> dict[str, Graph]:
    """Return the small graphs of the zoo and random ones, with gaps in the ids, loops, parts, and one-way edges."""
    found = {name: graph for name, graph in zoo.shared().items() if graph.n <= SMALL and graph.ids == np.uint32}
    for seed, (n, m) in enumerate(((60, 70), (90, 400), (150, 130)), 1):
        for directed in (False, True):
            labels = np.random.default_rng(seed).permutation(3 * n)[:n]
            pairs = zoo.random(n, m, seed=seed)
            found[f"random {n} {directed}"] = zoo.build(n, pairs, directed=directed, labels=labels)
    found["no in-rows"] = zoo.build(80, zoo.random(80, 300, seed=9), directed=True, in_rows=False)
    for graph in found.values():
        graph.require_valid()
    return found
