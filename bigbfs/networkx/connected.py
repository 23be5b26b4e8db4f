"""Connected components, by all threads."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import Any

import networkx as nx
import numpy as np

from bigbfs.algorithms.components.cpu.once import labels_once
from bigbfs.jit.workers import hold_to, thread_count
from bigbfs.networkx import kernels
from bigbfs.networkx.bridge import Bridge, bridge_of
from bigbfs.networkx.found import number_of

_GIANT = 7 / 8
"""Share of all nodes from which on a component is made by taking the others out of the set of all."""


def _labels(bridge: Bridge) -> np.ndarray:
    """Return the smallest node, by number, in the component of each."""
    return bridge.by_number(labels_once(bridge.graph))


def _sets(bridge: Bridge, threads: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the nodes of one component after the other, ascending, and where each ends, by number."""
    labels = bridge.by_number(labels_once(bridge.graph, threads)).astype(np.int64)
    order, ends = np.empty(len(labels), np.int64), np.empty(len(labels), np.int64)
    return order, ends[: kernels.gather_sets(labels, order, ends)]


def connected_components(G: Any) -> Iterator[set[Any]]:
    """Return the nodes of each component, in the order of their first nodes; see NetworkX.

    Most graphs have a giant, whose set takes Python longer than the labels take. So one thread makes the set of all
    nodes while the others label the graph, and those of the other components are taken out of it.
    """
    bridge = bridge_of(G)
    threads, apart = thread_count(), bridge.compiled_nodes
    with ThreadPoolExecutor(1, initializer=hold_to, initargs=(threads,)) as beside:
        gathered = beside.submit(_sets, bridge, threads if apart else max(1, threads - 1))
        if apart:
            gathered.result()
        everyone = set(bridge.each(np.arange(len(bridge))))
        order, ends = gathered.result()
    sizes = np.diff(ends, prepend=0)
    giant = int(sizes.argmax()) if len(sizes) and sizes.max() >= _GIANT * len(bridge) else -1
    if giant >= 0:
        end = int(ends[giant])
        order = np.delete(order, np.s_[end - int(sizes[giant]) : end])
    rest = bridge.nodes(order)
    if giant >= 0:
        everyone.difference_update(rest)
    else:
        everyone.clear()  # its memory is for theirs
    nodes = iter(rest)
    for component, size in enumerate(sizes.tolist()):
        yield everyone if component == giant else set(islice(nodes, size))


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


def node_connected_component(G: Any, n: Any) -> set[Any]:
    """Return the nodes of one node's component; see NetworkX."""
    bridge = bridge_of(G)
    number = number_of(bridge, n, lambda: KeyError(n), True)
    labels = _labels(bridge)
    return {n, *bridge.nodes(np.flatnonzero(labels == labels[number]))}  # n as it is given, which comes first


weakly_connected_components = connected_components
number_weakly_connected_components = number_connected_components
is_weakly_connected = is_connected
