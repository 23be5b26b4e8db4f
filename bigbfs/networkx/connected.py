"""Connected components, by all threads."""

from __future__ import annotations

from collections.abc import Iterator, Set
from itertools import islice, pairwise
from typing import Any

import networkx as nx
import numpy as np

from bigbfs.algorithms.components.cpu.once import labels_once
from bigbfs.networkx import kernels
from bigbfs.networkx.bridge import Bridge, bridge_of
from bigbfs.networkx.found import number_of
from bigbfs.networkx.views import NodeSet


def _labels(bridge: Bridge) -> np.ndarray:
    """Return the smallest node, by number, in the component of each."""
    return bridge.by_number(labels_once(bridge.graph))


def connected_components(G: Any) -> Iterator[Set[Any]]:
    """Return the nodes of each component, in the order of their first nodes; see NetworkX."""
    bridge = bridge_of(G)
    labels = _labels(bridge)
    order, ends = np.empty_like(labels), np.empty(len(labels), np.int64)
    bounds = [0, *ends[: kernels.gather_sets(labels, order, ends)].tolist()]
    if (nodes := bridge.file_nodes) is not None:
        for begin, end in pairwise(bounds):
            yield NodeSet(nodes, order[begin:end])
        return
    one_by_one = iter(bridge.nodes(order))
    for begin, end in pairwise(bounds):
        yield set(islice(one_by_one, end - begin))


def number_connected_components(G: Any) -> int:
    """Return how many components there are; see NetworkX."""
    labels = _labels(bridge_of(G))
    return int(np.count_nonzero(labels == np.arange(len(labels), dtype=labels.dtype)))


def is_connected(G: Any) -> bool:
    """Tell whether there is one component; see NetworkX."""
    bridge = bridge_of(G)
    if len(bridge) == 0:
        raise nx.NetworkXPointlessConcept("Connectivity is undefined for the null graph.")
    return number_connected_components(bridge) == 1


def node_connected_component(G: Any, n: Any) -> Set[Any]:
    """Return the nodes of one node's component; see NetworkX."""
    bridge = bridge_of(G)
    number = number_of(bridge, n, lambda: KeyError(n), True)
    labels = _labels(bridge)
    found = bridge.set_of(np.flatnonzero(labels == labels[number]))
    return {n, *found} if bridge.file_nodes is None else found  # n as it is given, which comes first


weakly_connected_components = connected_components
number_weakly_connected_components = number_connected_components
is_weakly_connected = is_connected
