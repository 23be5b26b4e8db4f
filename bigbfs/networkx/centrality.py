"""Closeness and harmonic centrality, exact: distances *to* a node, as NetworkX has them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from bigbfs.algorithms.many.options import ManyOptions
from bigbfs.measures.closeness import closeness
from bigbfs.measures.placing import placed
from bigbfs.networkx.bridge import Bridge, bridge_of
from bigbfs.networkx.found import not_found, number_of, search
from bigbfs.networkx.lengths import refuse_weights

FEW = 32
"""Searches that run at once for what one alone takes, about: so many times fewer nodes are searched from singly."""


def closeness_centrality(G: Any, u: Any = None, distance: Any = None, wf_improved: bool = True) -> Any:
    """Return the closeness of every node, or of one; see NetworkX."""
    refuse_weights(distance)
    bridge = bridge_of(G)
    if u is None:
        none = not bridge.graph.m
        values = np.zeros(len(bridge)) if none else closeness(bridge.graph, wf_improved=bool(wf_improved)).values
        return bridge.map_of(values)
    found = search(bridge, bridge.into, [number_of(bridge, u, not_found("Source", u))])
    others, total = len(found) - 1.0, sum(level * size for level, size in enumerate(found.sizes.tolist()))
    if not total:
        return 0.0
    return others / total * (others / (len(bridge) - 1) if wf_improved else 1)


def harmonic_centrality(G: Any, nbunch: Any = None, distance: Any = None, sources: Any = None) -> Mapping[Any, float]:
    """Return the harmonic centrality of every node, or of some, from every node, or from some; see NetworkX."""
    refuse_weights(distance)
    bridge = bridge_of(G)
    if nbunch is None and sources is None and bridge.file_nodes is not None:
        everyone = np.arange(len(bridge))
        return bridge.map_of(_forward(bridge, everyone, everyone))
    nodes = set(bridge.nbunch(nbunch))
    starts = set(bridge.nbunch(sources))
    if sources is None and FEW * len(nodes) < len(starts):
        sums = _backward(bridge, list(nodes))
    else:
        sums = _forward(bridge, _numbers(bridge, starts), _numbers(bridge, nodes))
    return {node: value or 0 for node, value in zip(nodes, sums.tolist(), strict=True)}


def _numbers(bridge: Bridge, nodes: set[Any]) -> np.ndarray:
    return np.array([bridge.number(node) for node in nodes], np.int64)


def _forward(bridge: Bridge, starts: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Return the sum for each of ``wanted``, from searches along the edges from ``starts``; both are numbers."""
    if not len(starts) or not len(wanted):
        return np.zeros(len(wanted))
    work = ManyOptions(bridge.vertices(starts), sums=True, harmonic=True)
    with placed(bridge.graph, work=(work,)) as engine:
        found: np.ndarray = engine.run_internal(work).harmonic[bridge.vertices(wanted)]
    return found


def _backward(bridge: Bridge, nodes: list[Any]) -> np.ndarray:
    """Return the sum for each of ``nodes``, from searches against the edges from them."""
    sums = np.zeros(len(nodes))
    for place, number in enumerate(nodes):
        found = search(bridge, bridge.into, [number_of(bridge, number, KeyError)])
        counts = found.sizes[1:]
        sums[place] = (counts / np.arange(1, len(counts) + 1)).sum()
    return sums
