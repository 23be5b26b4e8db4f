"""Graphs of NetworkX that the backend must get right."""

import networkx as nx


def graphs():
    """Graphs of NetworkX: names of any kind, loops, parallel edges, edges put in without order."""
    random = nx.gnm_random_graph(60, 90, seed=3)
    directed = nx.gnm_random_graph(60, 110, seed=4, directed=True)
    backwards = nx.Graph(list(random.edges)[::-1])
    words = nx.relabel_nodes(directed, {v: f"n{v * 7 % 60}" for v in directed})
    parallel = nx.MultiDiGraph([(0, 1), (0, 1), (1, 2), (2, 0), (3, 3), (4, 5)])
    acyclic = nx.DiGraph((u, v) for u, v in directed.edges if u < v)
    return {
        "random": random,
        "backwards": backwards,
        "directed": directed,
        "words": words,
        "parallel": parallel,
        "acyclic": acyclic,
        "loop": nx.Graph([("a", "a"), ("a", 1)]),
        "empty": nx.Graph(),
    }
