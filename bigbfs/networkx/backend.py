"""The functions of NetworkX that bigbfs has, with NetworkX's parameters, results and errors.

The group ``networkx.backends`` of the package's entry points names this module. What each function returns is what
NetworkX returns for the same graph, in the same order; a graph file has its neighbours in ascending order of id.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import networkx as nx
import numpy as np

from bigbfs import api
from bigbfs.graph.graph import Graph
from bigbfs.networkx import kernels
from bigbfs.networkx.bridge import Bridge, Csr, bridge_of, from_networkx, to_networkx
from bigbfs.networkx.info import FUNCTIONS

FEWEST_EDGES = 20_000
"""Edges of a graph of NetworkX from which on turning it into rows is worth it."""
_FAR = 2**62


def convert_from_nx(graph: Any, **_: Any) -> Bridge:
    """Turn a graph of NetworkX into rows."""
    return from_networkx(graph)


def convert_to_nx(result: Any, **_: Any) -> Any:
    """Return a graph of NetworkX for one of ours; anything else as it is."""
    return to_networkx(result)


def can_run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
    """Return True, or why a call is not for this backend."""
    if name not in FUNCTIONS:
        return f"bigbfs has no {name}"
    if kwargs.get("sort_neighbors") is not None or (name.startswith("bfs_") and _given(args, 4)):
        return "neighbours are not sorted by a function"
    if name == "shortest_path_length":
        if kwargs.get("weight") is not None or _given(args, 3):
            return "edges have no weights"
        if all(value is None for value in (*args[1:3], kwargs.get("source"), kwargs.get("target"))):
            return "not between all pairs"
    return True


def _given(args: tuple[Any, ...], place: int) -> bool:
    return len(args) > place and args[place] is not None


def should_run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
    """Return True, or why NetworkX itself is as quick: the graph is small."""
    graph = args[0] if args else kwargs.get("G")
    if isinstance(graph, Graph | Bridge) or graph is None or graph.number_of_edges() >= FEWEST_EDGES:
        return True
    return f"fewer than {FEWEST_EDGES:,} edges"


class _Found:
    """The vertices that a search found, in its order, with their parents and levels."""

    def __init__(self, bridge: Bridge, rows: Csr, sources: list[int], most: float | None = None, wanted: int = -1):
        n = len(bridge)
        order, parents = np.empty(n, np.int64), np.empty(n, np.int64)
        levels = np.full(n, -1, np.int64)
        limit = _FAR if most is None or most > _FAR else int(np.floor(most))
        many = kernels.search(*rows, np.array(sources, np.int64), max(0, limit), wanted, order, parents, levels)
        self.bridge, self.order = bridge, order[:many]
        self.parents, self.levels = parents[self.order], levels[self.order]
        self.wanted = -1 if wanted < 0 else int(levels[wanted])

    def lengths(self) -> dict[Any, int]:
        """Return the level of every node."""
        return dict(zip(self.bridge.nodes(self.order), self.levels.tolist(), strict=True))

    def edges(self) -> Iterator[tuple[Any, Any]]:
        """Return the edges of the tree."""
        return zip(self.bridge.nodes(self.parents[1:]), self.bridge.nodes(self.order[1:]), strict=True)

    def layers(self) -> Iterator[list[Any]]:
        """Return the nodes of each level."""
        nodes = self.bridge.nodes(self.order)
        ends = np.flatnonzero(np.diff(self.levels, append=-1)) + 1
        first = 0
        for end in ends.tolist():
            yield nodes[first:end]
            first = end


def _number(bridge: Bridge, node: Any, error: Callable[[], Exception]) -> int:
    number = bridge.number(node)
    if number is None:
        raise error()
    return number


def _missing(node: Any) -> Callable[[], Exception]:
    return lambda: nx.NetworkXError(f"The node {node} is not in the graph.")


def _not_found(what: str, node: Any) -> Callable[[], Exception]:
    return lambda: nx.NodeNotFound(f"{what} {node} is not in G")


def single_source_shortest_path_length(G: Any, source: Any, cutoff: float | None = None) -> dict[Any, int]:
    """Return the length of a shortest path to every node; see NetworkX."""
    bridge = bridge_of(G)
    return _Found(bridge, bridge.out, [_number(bridge, source, _not_found("Source", source))], cutoff).lengths()


def single_target_shortest_path_length(G: Any, target: Any, cutoff: float | None = None) -> dict[Any, int]:
    """Return the length of a shortest path from every node; see NetworkX."""
    bridge = bridge_of(G)
    return _Found(bridge, bridge.into, [_number(bridge, target, _not_found("Target", target))], cutoff).lengths()


def _distance(G: Any, source: Any, target: Any) -> int:
    """Return the length of a shortest path, -1 where there is none."""
    bridge = bridge_of(G)
    ends = [_number(bridge, each, _not_found(what, each)) for what, each in (("Source", source), ("Target", target))]
    return _Found(bridge, bridge.out, ends[:1], None, ends[1]).wanted


def has_path(G: Any, source: Any, target: Any) -> bool:
    """Tell whether a path leads from one node to another; see NetworkX."""
    return _distance(G, source, target) >= 0


def shortest_path_length(
    G: Any, source: Any = None, target: Any = None, weight: Any = None, method: str = "dijkstra"
) -> Any:
    """Return one length, or those from or to one node; see NetworkX."""
    if method not in ("dijkstra", "bellman-ford"):
        raise ValueError(f"method not supported: {method}")
    if weight is not None or (source is None and target is None):
        raise NotImplementedError("lengths without weights, not between all pairs")
    if target is None:
        return single_source_shortest_path_length(G, source)
    if source is None:
        bridge = bridge_of(G)
        return _Found(bridge, bridge.into, [_number(bridge, target, _not_found("Source", target))]).lengths()
    length = _distance(G, source, target)
    if length < 0:
        raise nx.NetworkXNoPath(f"No path between {source} and {target}.")
    return length


def bfs_edges(
    G: Any, source: Any, reverse: bool = False, depth_limit: int | None = None, sort_neighbors: Any = None
) -> Iterator[tuple[Any, Any]]:
    """Return the edges of a breadth-first search; see NetworkX."""
    if sort_neighbors is not None:
        raise NotImplementedError("neighbours are not sorted by a function")
    bridge = bridge_of(G)
    number = _number(bridge, source, _missing(source))
    yield from _Found(bridge, bridge.into if reverse else bridge.out, [number], depth_limit).edges()


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
    yield from _Found(bridge, bridge.out, _sources(bridge, sources)).layers()


def _sources(bridge: Bridge, sources: Any) -> list[int]:
    """Return the numbers of one node, or of several."""
    try:
        alone = bridge.number(sources)
    except TypeError:  # a list is no node
        alone = None
    if alone is not None:
        return [alone]
    several: Iterable[Any] = set(sources)
    return [_number(bridge, each, _missing(each)) for each in several]


def descendants_at_distance(G: Any, source: Any, distance: int) -> set[Any]:
    """Return the nodes at one distance; see NetworkX."""
    bridge = bridge_of(G)
    found = _Found(bridge, bridge.out, [_number(bridge, source, _missing(source))], distance)
    return set(bridge.nodes(found.order[found.levels == distance]))


def descendants(G: Any, source: Any) -> set[Any]:
    """Return the nodes that can be reached; see NetworkX."""
    bridge = bridge_of(G)
    found = _Found(bridge, bridge.out, [_number(bridge, source, _missing(source))])
    return set(bridge.nodes(found.order[1:]))


def _labels(bridge: Bridge) -> np.ndarray:
    """Return the smallest vertex in the component of each."""
    graph = bridge.graph
    if graph.n == 0:
        return np.empty(0, np.int64)
    with api.engine(graph) as engine:
        from bigbfs.algorithms.components.options import ComponentsOptions

        return bridge.by_number(np.asarray(engine.run_internal(ComponentsOptions()).labels).astype(np.int64))


def connected_components(G: Any) -> Iterator[set[Any]]:
    """Return the nodes of each component, in the order of their first nodes; see NetworkX."""
    bridge = bridge_of(G)
    labels = _labels(bridge)
    order = np.argsort(labels, kind="stable")
    nodes = bridge.nodes(order)
    first = 0
    for end in (np.flatnonzero(np.diff(labels[order], append=-1)) + 1).tolist():
        yield set(nodes[first:end])
        first = end


def number_connected_components(G: Any) -> int:
    """Return how many components there are; see NetworkX."""
    labels = _labels(bridge_of(G))
    return int((labels == np.arange(len(labels))).sum())


def is_connected(G: Any) -> bool:
    """Tell whether there is one component; see NetworkX."""
    bridge = bridge_of(G)
    if len(bridge) == 0:
        raise nx.NetworkXPointlessConcept("Connectivity is undefined for the null graph.")
    return number_connected_components(bridge) == 1


def node_connected_component(G: Any, n: Any) -> set[Any]:
    """Return the nodes of one node's component; see NetworkX."""
    bridge = bridge_of(G)
    number = _number(bridge, n, lambda: KeyError(n))
    labels = _labels(bridge)
    return set(bridge.nodes(np.flatnonzero(labels == labels[number])))


weakly_connected_components = connected_components
number_weakly_connected_components = number_connected_components
is_weakly_connected = is_connected


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
