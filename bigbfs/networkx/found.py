"""Searches of one graph in NetworkX's order, and what they found; numbers of the nodes that a caller names."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, repeat
from typing import Any

import networkx as nx
import numpy as np

from bigbfs.networkx import kernels
from bigbfs.networkx.bridge import Bridge, Csr
from bigbfs.networkx.views import NodeMap

_FAR = 2**62
_FEW = 8
"""Lengths of fewer than one in so many nodes lie in arrays of their own."""


def _limit(most: float | None) -> int:
    """Return the last level that is searched to: of 1.5, as in NetworkX, that is 2."""
    return _FAR if most is None or most > _FAR else max(0, math.ceil(most))


class Search:
    """Searches over rows of a graph, one after the other; its arrays are used again.

    Parameters
    ----------
    bridge
        The graph.
    rows
        ``bridge.out`` or ``bridge.into``.
    parents
        Whether parents are wanted.
    """

    def __init__(self, bridge: Bridge, rows: Csr, parents: bool = False) -> None:
        n = len(bridge)
        dtype = np.int32 if n < 2**31 - 1 else np.int64
        self._bridge, self._rows = bridge, rows
        self._seen, self._ends = np.zeros(n, np.uint8), np.empty(n + 1, np.int64)
        self._order, self._parents = np.empty(n + 1, dtype), np.empty(n if parents else 0, dtype)

    def run(self, sources: Sequence[int], most: float | None = None, given: Sequence[Any] = ()) -> Found:
        """Search from ``sources`` (all different) to level ``most``.

        ``given``: the sources as the caller has named them, for :class:`Found`.
        """
        limit = _limit(most)
        room = self._seen, self._order, self._parents, self._ends
        many, levels = kernels.search(*self._rows, np.array(sources, np.int64), limit, *room)
        order = self._order[:many].copy()
        self._seen[order] = 0
        parents = self._parents[order[len(sources) :]] if len(self._parents) else self._parents
        return Found(self._bridge, order, parents, np.diff(self._ends[:levels], prepend=0), given)


class Found:
    """The vertices that a search found, in its order.

    Attributes
    ----------
    order
        Numbers, (found,).
    parents
        Of each but the sources, which come first; empty where they are not wanted.
    sizes
        int64: vertices in each level.
    given
        What the sources are called, where that may be another object than the graph's: NetworkX gives back 1.0, or
        True, where the caller has named node 1 so. Empty: as the graph calls them.
    """

    def __init__(
        self, bridge: Bridge, order: np.ndarray, parents: np.ndarray, sizes: np.ndarray, given: Sequence[Any] = ()
    ) -> None:
        self.bridge, self.order, self.parents, self.sizes, self.given = bridge, order, parents, sizes, given

    def __len__(self) -> int:
        return len(self.order)

    @property
    def depth(self) -> int:
        """The level of the last vertex."""
        return len(self.sizes) - 1

    def nodes(self) -> list[Any]:
        """Return the nodes in the order in which they were found."""
        nodes = self.bridge.nodes(self.order)
        nodes[: len(self.given)] = self.given
        return nodes

    def at(self, level: float) -> np.ndarray:
        """Return the numbers of the nodes of a level."""
        if level not in range(len(self.sizes)):
            return self.order[:0]
        end = int(self.sizes[: int(level) + 1].sum())
        return self.order[end - int(self.sizes[int(level)]) : end]

    def lengths(self) -> Mapping[Any, int]:
        """Return the level of every node."""
        if (known := self.bridge.file_nodes) is not None:
            depths = np.arange(len(self.sizes), dtype=np.int32)
            return NodeMap.of_some(known, self.order, np.repeat(depths, self.sizes))
        levels = chain.from_iterable(map(repeat, range(len(self.sizes)), self.sizes.tolist()))
        return dict(zip(self.nodes(), levels, strict=True))

    def edges(self) -> Iterator[tuple[Any, Any]]:
        """Return the edges of the tree of one source."""
        parents = self.bridge.nodes(self.parents)
        if self.given and len(self.sizes) > 1:
            near = int(self.sizes[1])
            parents[:near] = [self.given[0]] * near
        return zip(parents, self.bridge.nodes(self.order[1:]), strict=True)

    def layers(self) -> Iterator[list[Any]]:
        """Return the nodes of each level."""
        nodes = self.nodes()
        first = 0
        for end in np.cumsum(self.sizes).tolist():
            yield nodes[first:end]
            first = end


def search(
    bridge: Bridge,
    rows: Csr,
    sources: Sequence[int],
    most: float | None = None,
    parents: bool = False,
    given: Sequence[Any] = (),
) -> Found:
    """Search once; see :class:`Search`."""
    return Search(bridge, rows, parents).run(sources, most, given)


def lengths(
    bridge: Bridge, number: int, given: Any, most: float | None = None, back: bool = False
) -> Mapping[Any, int]:
    """Return the length of a shortest path from a node to every other, or ``back`` to it, in the order of the levels.

    In a level, nodes have NetworkX's order; those of a graph file, which has none, ascend by id. So no queue has to be
    kept in order.
    """
    if (nodes := bridge.file_nodes) is None:
        return search(bridge, bridge.into if back else bridge.out, [number], most, given=[given]).lengths()
    nothing = np.empty(0, np.int64), np.empty(0, np.int32)
    rows, others = (bridge.into, bridge.out) if back else (bridge.out, bridge.known_into or nothing)
    n = len(bridge)
    dtype = np.int32 if n < 2**31 - 1 else np.int64
    level, order = np.full(n, -1, dtype), np.empty(n + 1, dtype)
    level[number], order[0] = 0, number
    many = kernels.distances(*rows, *others, _limit(most), level, order)
    found = NodeMap(nodes, order[:many], level)
    return found if many * _FEW > n else found.alone()


def number_of(bridge: Bridge, node: Any, error: Callable[[], Exception], looked_up: bool = False) -> int:
    """Return the number of a node; raise what ``error`` makes where it is not in the graph.

    ``looked_up``: NetworkX looks it up unasked there, so that what has no hash is a TypeError of Python's.
    """
    try:
        number = bridge.number(node)
    except TypeError:
        if looked_up:
            hash(node)  # whose words are NetworkX's
        number = None
    if number is None:
        raise error()
    return number


def missing(node: Any, where: str = "graph") -> Callable[[], Exception]:
    """Return what makes the error of a search whose source is not there."""
    return lambda: nx.NetworkXError(f"The node {node} is not in the {where}.")


def not_found(what: str, node: Any) -> Callable[[], Exception]:
    """Return what makes the error of a path whose end is not there."""
    return lambda: nx.NodeNotFound(f"{what} {node} is not in G")
