"""Lengths of shortest paths without weights: from a node, to a node, between two, between all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import networkx as nx
import numpy as np

from bigbfs.algorithms.many.options import ManyOptions
from bigbfs.measures.between import PathFinder
from bigbfs.measures.placing import placed
from bigbfs.networkx.bridge import bridge_of
from bigbfs.networkx.found import Search, lengths, not_found, number_of, search

ONE_BY_ONE = ("unweighted", "dijkstra", "bellman-ford")
"""Methods of NetworkX that search from one node after the other; without weights all find the same."""
ALL_AT_ONCE = ("floyd-warshall", "floyd-warshall-numpy")


def refuse_weights(weight: Any) -> None:
    """Refuse weights; ``can_run`` says so before."""
    if weight is not None:
        raise NotImplementedError("edges have no weights")


def single_source_shortest_path_length(G: Any, source: Any, cutoff: float | None = None) -> Mapping[Any, int]:
    """Return the length of a shortest path to every node; see NetworkX."""
    bridge = bridge_of(G)
    number = number_of(bridge, source, not_found("Source", source))
    return lengths(bridge, number, source, cutoff)


def single_target_shortest_path_length(G: Any, target: Any, cutoff: float | None = None) -> Mapping[Any, int]:
    """Return the length of a shortest path from every node; see NetworkX."""
    bridge = bridge_of(G)
    number = number_of(bridge, target, not_found("Target", target))
    return lengths(bridge, number, target, cutoff, back=True)


def all_pairs_shortest_path_length(G: Any, cutoff: float | None = None) -> Iterator[tuple[Any, Mapping[Any, int]]]:
    """Return every node with the lengths of shortest paths from it; see NetworkX."""
    bridge = bridge_of(G)
    searches = Search(bridge, bridge.out)
    for number, node in enumerate(bridge.all_nodes()):
        yield node, searches.run([number], cutoff).lengths()


def _distance(G: Any, source: Any, target: Any) -> int:
    """Return the length of a shortest path, -1 where there is none."""
    bridge = bridge_of(G)
    ends = [number_of(bridge, each, not_found(what, each)) for what, each in (("Source", source), ("Target", target))]
    bridge.graph.require_valid()
    path, _ = PathFinder(bridge.graph).find(*bridge.vertices(np.array(ends)).tolist())
    return len(path) - 1


def has_path(G: Any, source: Any, target: Any) -> bool:
    """Tell whether a path leads from one node to another; see NetworkX, which takes None for any node."""
    if source is None or target is None:
        bridge, end = bridge_of(G), target if source is None else source
        if end is not None and end not in bridge:
            raise nx.NodeNotFound(f"Source {end} not in G")
        return True
    return _distance(G, source, target) >= 0


def shortest_path_length(
    G: Any, source: Any = None, target: Any = None, weight: Any = None, method: str = "dijkstra"
) -> Any:
    """Return one length, or those from or to one node, or all; see NetworkX."""
    if method not in ("dijkstra", "bellman-ford"):
        raise ValueError(f"method not supported: {method}")
    refuse_weights(weight)
    if source is None and target is None:
        return all_pairs_shortest_path_length(G)
    if target is None:
        return single_source_shortest_path_length(G, source)
    if source is None:
        bridge = bridge_of(G)
        number = number_of(bridge, target, not_found("Source", target))
        return lengths(bridge, number, target, back=True)
    length = _distance(G, source, target)
    if length < 0:
        raise nx.NetworkXNoPath(f"No path between {source} and {target}.")
    return length


def average_shortest_path_length(G: Any, weight: Any = None, method: str | None = None) -> float:
    """Return the mean length of shortest paths over all pairs; see NetworkX."""
    if method is not None and method not in (*ONE_BY_ONE, *ALL_AT_ONCE):
        raise ValueError(f"method not supported: {method}")
    refuse_weights(weight)
    bridge = bridge_of(G)
    n = len(bridge)
    if n == 0:
        raise nx.NetworkXPointlessConcept("the null graph has no paths, thus there is no average shortest path length")
    if n == 1:
        return 0
    if not is_strong(bridge):
        raise nx.NetworkXError(f"Graph is not {'strongly ' if bridge.is_directed() else ''}connected.")
    work = ManyOptions(np.arange(n))
    with placed(bridge.graph, work=(work,)) as engine:
        found = engine.run_internal(work).found.tolist()
    return sum(distance * count for distance, count in enumerate(found)) / (n * (n - 1))


def is_strong(bridge: Any) -> bool:
    """Tell whether every vertex reaches every other; there is at least one."""
    sides = [bridge.out, bridge.into] if bridge.is_directed() else [bridge.out]
    return all(len(search(bridge, side, [0])) == len(bridge) for side in sides)
