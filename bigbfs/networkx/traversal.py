"""Breadth-first searches: edges, trees, layers, descendants; topological generations."""

from __future__ import annotations

from collections.abc import Iterator, Set
from typing import Any

import networkx as nx
import numpy as np

from bigbfs.networkx import kernels
from bigbfs.networkx.bridge import bridge_of
from bigbfs.networkx.found import missing, number_of, search


def bfs_edges(
    G: Any, source: Any, reverse: bool = False, depth_limit: int | None = None, sort_neighbors: Any = None
) -> Iterator[tuple[Any, Any]]:
    """Return the edges of a breadth-first search; see NetworkX."""
    if sort_neighbors is not None:
        raise NotImplementedError("neighbours are not sorted by a function")
    bridge = bridge_of(G)
    number = number_of(bridge, source, missing(source, "digraph" if bridge.is_directed() else "graph"), True)
    rows = bridge.into if reverse else bridge.out
    yield from search(bridge, rows, [number], depth_limit, parents=True, given=[source]).edges()


def bfs_tree(
    G: Any, source: Any, reverse: bool = False, depth_limit: int | None = None, sort_neighbors: Any = None
) -> Any:
    """Return the tree of a breadth-first search, as a graph of NetworkX; see there."""
    tree = nx.DiGraph()
    tree.add_node(source)
    tree.add_edges_from(bfs_edges(G, source, reverse, depth_limit, sort_neighbors))
    return tree


def bfs_predecessors(
    G: Any, source: Any, depth_limit: int | None = None, sort_neighbors: Any = None
) -> Iterator[tuple[Any, Any]]:
    """Return every node with the one before it in a breadth-first search; see NetworkX."""
    for parent, child in bfs_edges(G, source, False, depth_limit, sort_neighbors):
        yield child, parent


def bfs_successors(
    G: Any, source: Any, depth_limit: int | None = None, sort_neighbors: Any = None
) -> Iterator[tuple[Any, list[Any]]]:
    """Return every node with those that a breadth-first search finds from it; see NetworkX."""
    parent = source
    children: list[Any] = []
    for above, child in bfs_edges(G, source, False, depth_limit, sort_neighbors):
        if above != parent:
            yield parent, children
            parent, children = above, []
        children.append(child)
    yield parent, children


def bfs_layers(G: Any, sources: Any) -> Iterator[list[Any]]:
    """Return the nodes of each level of a search from one or several nodes; see NetworkX."""
    bridge = bridge_of(G)
    given = [sources] if sources in bridge else list(set(sources))
    numbers = [number_of(bridge, each, missing(each)) for each in given]
    yield from search(bridge, bridge.out, numbers, given=given).layers()


def descendants_at_distance(G: Any, source: Any, distance: int) -> Set[Any]:
    """Return the nodes at one distance; see NetworkX."""
    bridge = bridge_of(G)
    found = search(bridge, bridge.out, [number_of(bridge, source, missing(source))], distance)
    if bridge.file_nodes is None and distance == 0:
        return {source}  # as it is given
    return bridge.set_of(found.at(distance))


def descendants(G: Any, source: Any) -> Set[Any]:
    """Return the nodes that can be reached; see NetworkX."""
    bridge = bridge_of(G)
    number = number_of(bridge, source, missing(source, "digraph" if bridge.is_directed() else "graph"), True)
    return bridge.set_of(search(bridge, bridge.out, [number]).order[1:])


def topological_generations(G: Any) -> Iterator[list[Any]]:
    """Return the nodes round by round, each after all before it; see NetworkX."""
    bridge = bridge_of(G)
    if not bridge.is_directed():
        raise nx.NetworkXError("Topological sort not defined on undirected graphs.")
    n = len(bridge)
    order, bounds = np.empty(n, np.int64), np.empty(n + 1, np.int64)
    found, rounds = kernels.generations(*bridge.out, order, bounds)
    nodes = bridge.nodes(order[:found])
    for i in range(rounds):
        yield nodes[bounds[i] : bounds[i + 1]]
    if found < n:
        raise nx.NetworkXUnfeasible("Graph contains a cycle or graph changed during iteration")
