"""Eccentricities, and what follows from them: diameter, radius, center, periphery; exact, by bounds."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np

from bigbfs.algorithms.many.options import ManyOptions
from bigbfs.measures import eccentricity as bounded
from bigbfs.measures.placing import placed
from bigbfs.networkx.bridge import Bridge, bridge_of
from bigbfs.networkx.found import search
from bigbfs.networkx.lengths import is_strong, refuse_weights


def _known(bridge: Bridge, goal: str, usebounds: Any = False) -> tuple[np.ndarray, np.ndarray]:
    """Return bounds of all eccentricities, equal where ``goal`` needs them, by number.

    Raises
    ------
    NetworkXError
        A vertex does not reach all others.
    """
    n = len(bridge)
    if n < 2:
        return np.zeros(n, np.int64), np.zeros(n, np.int64)
    if not is_strong(bridge):
        raise _unreached(bridge, usebounds)
    found = bounded.eccentricity(bridge.two_ways, goal=goal)
    return found.lower, found.upper


def _unreached(bridge: Bridge, usebounds: Any = False) -> nx.NetworkXError:
    """Return NetworkX's error for a graph in which a vertex does not reach all others."""
    if bridge.is_directed():
        return nx.NetworkXError("Found infinite path length because the digraph is not strongly connected")
    if usebounds is True:
        return nx.NetworkXError("Cannot compute metric because graph is not connected.")
    return nx.NetworkXError("Found infinite path length because the graph is not connected")


def eccentricity(G: Any, v: Any = None, sp: Any = None, weight: Any = None) -> Any:
    """Return the eccentricity of every node, of some, or of one; see NetworkX."""
    refuse_weights(weight)
    if sp is not None:
        raise NotImplementedError("lengths of paths are not taken")
    bridge = bridge_of(G)
    if v is None:
        return bridge.map_of(_known(bridge, "all")[0])
    nodes = bridge.nbunch(v)
    found = dict(zip(nodes, _searched(bridge, nodes).tolist(), strict=True))
    return found[v] if v in bridge else found


def _searched(bridge: Bridge, nodes: list[Any]) -> np.ndarray:
    """Return the eccentricity of each of ``nodes``, which need reach all others themselves alone."""
    numbers = np.array([bridge.number(node) for node in nodes], np.int64)
    if len(nodes) < 2:
        found = [search(bridge, bridge.out, [number]) for number in numbers.tolist()]
        reached, depth = np.array([len(each) for each in found]), np.array([each.depth for each in found], np.int64)
    else:
        work = ManyOptions(bridge.vertices(numbers), totals=True)
        with placed(bridge.graph, work=(work,)) as engine:
            result = engine.run_internal(work)
        reached, depth = result.reached, result.depth
    if (reached != len(bridge)).any():
        raise _unreached(bridge)
    return depth


def _extreme(G: Any, e: Any, usebounds: Any, weight: Any, which: Any, goal: str) -> Any:
    """Return the largest or smallest eccentricity: ``which`` is max or min."""
    refuse_weights(weight)
    if e is not None:
        return which(e.values())
    lower, upper = _known(bridge_of(G), goal, usebounds)
    return which((lower if which is max else upper).tolist())


def diameter(G: Any, e: Any = None, usebounds: bool = False, weight: Any = None) -> int:
    """Return the largest eccentricity; see NetworkX."""
    return int(_extreme(G, e, usebounds, weight, max, "diameter"))


def radius(G: Any, e: Any = None, usebounds: bool = False, weight: Any = None) -> int:
    """Return the smallest eccentricity; see NetworkX."""
    return int(_extreme(G, e, usebounds, weight, min, "radius"))


def _of_extreme(G: Any, e: Any, usebounds: Any, weight: Any, which: Any) -> list[Any]:
    """Return the nodes of the largest or smallest eccentricity."""
    refuse_weights(weight)
    if e is not None:
        wanted = which(e.values())
        return [node for node in e if e[node] == wanted]
    bridge = bridge_of(G)
    known = _known(bridge, "all", usebounds)[0]
    return bridge.nodes(np.flatnonzero(known == which(known.tolist())))


def center(G: Any, e: Any = None, usebounds: bool = False, weight: Any = None) -> list[Any]:
    """Return the nodes of the smallest eccentricity; see NetworkX."""
    bridge = bridge_of(G)
    if len(bridge) == 0 and e is None and usebounds is not True and not bridge.is_directed():
        raise nx.NetworkXPointlessConcept("G has no nodes.")
    return _of_extreme(bridge, e, usebounds, weight, min)


def periphery(G: Any, e: Any = None, usebounds: bool = False, weight: Any = None) -> list[Any]:
    """Return the nodes of the largest eccentricity; see NetworkX."""
    return _of_extreme(G, e, usebounds, weight, max)
