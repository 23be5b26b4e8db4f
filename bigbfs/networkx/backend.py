"""The functions of NetworkX that bigbfs has, with NetworkX's parameters, results and errors.

The group ``networkx.backends`` of the package's entry points names this module. What each function returns is what
NetworkX returns for the same graph, in the same order; a graph file has its neighbours in ascending order of id.
"""

from __future__ import annotations

import inspect
from typing import Any

from bigbfs.graph.graph import Graph
from bigbfs.networkx.bridge import Bridge, from_networkx, to_networkx
from bigbfs.networkx.centrality import closeness_centrality, harmonic_centrality
from bigbfs.networkx.connected import (
    connected_components,
    is_connected,
    is_weakly_connected,
    node_connected_component,
    number_connected_components,
    number_weakly_connected_components,
    weakly_connected_components,
)
from bigbfs.networkx.eccentric import center, diameter, eccentricity, periphery, radius
from bigbfs.networkx.info import FUNCTIONS
from bigbfs.networkx.lengths import (
    ALL_AT_ONCE,
    all_pairs_shortest_path_length,
    average_shortest_path_length,
    has_path,
    shortest_path_length,
    single_source_shortest_path_length,
    single_target_shortest_path_length,
)
from bigbfs.networkx.traversal import (
    bfs_edges,
    bfs_layers,
    bfs_predecessors,
    bfs_successors,
    bfs_tree,
    descendants,
    descendants_at_distance,
    topological_generations,
)

__all__ = [
    "all_pairs_shortest_path_length",
    "average_shortest_path_length",
    "bfs_edges",
    "bfs_layers",
    "bfs_predecessors",
    "bfs_successors",
    "bfs_tree",
    "can_run",
    "center",
    "closeness_centrality",
    "connected_components",
    "convert_from_nx",
    "convert_to_nx",
    "descendants",
    "descendants_at_distance",
    "diameter",
    "eccentricity",
    "harmonic_centrality",
    "has_path",
    "is_connected",
    "is_weakly_connected",
    "node_connected_component",
    "number_connected_components",
    "number_weakly_connected_components",
    "periphery",
    "radius",
    "shortest_path_length",
    "should_run",
    "single_source_shortest_path_length",
    "single_target_shortest_path_length",
    "topological_generations",
    "weakly_connected_components",
]

FEWEST_EDGES = 20_000
"""Edges of a graph of NetworkX from which on turning it into rows is worth it for one search."""
FEWEST_STEPS = 1_000_000
"""Nodes times edges from which on it is worth it for a search from every node."""
_FROM_EVERY_NODE = {
    "all_pairs_shortest_path_length": (),
    "average_shortest_path_length": (),
    "center": ("e",),
    "closeness_centrality": ("u",),
    "diameter": ("e",),
    "eccentricity": ("v",),
    "harmonic_centrality": ("nbunch", "sources"),
    "periphery": ("e",),
    "radius": ("e",),
    "shortest_path_length": ("source", "target"),
}
"""Functions that search from every node, unless one of these parameters is given."""
_LIMITS = ("cutoff", "depth_limit", "distance")
_NEAR = 2
"""A limit up to which a search looks at a few nodes only."""


def convert_from_nx(graph: Any, **_: Any) -> Bridge:
    """Turn a graph of NetworkX into rows."""
    return from_networkx(graph)


def convert_to_nx(result: Any, **_: Any) -> Any:
    """Return a graph of NetworkX for one of ours; anything else as it is."""
    return to_networkx(result)


def _given(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a call that are given, by name, those that are None left out."""
    try:
        bound = inspect.signature(globals()[name]).bind_partial(*args, **kwargs)
    except TypeError:  # the call itself will say what is wrong with it
        return {}
    return {key: value for key, value in bound.arguments.items() if value is not None}


def can_run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
    """Return True, or why a call is not for this backend."""
    if name not in FUNCTIONS:
        return f"bigbfs has no {name}"
    given = _given(name, args, kwargs)
    if "sort_neighbors" in given:
        return "neighbours are not sorted by a function"
    if "weight" in given or ("distance" in given and name.endswith("_centrality")):
        return "edges have no weights"
    if "sp" in given:
        return "lengths of paths are searched for, not taken"
    if name == "average_shortest_path_length" and given.get("method") in ALL_AT_ONCE:
        return f"no {given['method']}: one search after the other"
    return True


def should_run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
    """Return True, or why NetworkX itself is as quick: it looks at a few nodes, or the graph is small."""
    given = _given(name, args, kwargs)
    graph = given.get("G")
    if graph is None or isinstance(graph, Graph | Bridge):
        return True
    converted = "bigbfs" in getattr(graph, "__networkx_cache__", {}).get("backends", {})
    edges = graph.number_of_edges()
    every = name in _FROM_EVERY_NODE and not any(each in given for each in _FROM_EVERY_NODE[name])
    if every:
        steps = len(graph) * edges
        return True if steps >= FEWEST_STEPS else f"fewer than {FEWEST_STEPS:,} steps from node to node"
    if "e" in given:
        return "eccentricities are given"
    if not converted:
        if any(isinstance(given.get(each), int | float) and given[each] <= _NEAR for each in _LIMITS):
            return f"a search to a distance of {_NEAR} or less looks at few nodes, turning a graph into rows at all"
        if name == "has_path" or {"source", "target"} <= given.keys():
            return "a search from both ends looks at few nodes, turning a graph into rows at all"
    return True if edges >= FEWEST_EDGES else f"fewer than {FEWEST_EDGES:,} edges"
