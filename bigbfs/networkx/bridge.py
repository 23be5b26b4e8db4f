"""A graph as the functions of the backend see it: rows, the nodes' names, and their numbers.

A graph of NetworkX is turned into rows once (NetworkX keeps what :func:`from_networkx` makes with the graph); its nodes
have the numbers of their order, and their neighbours the order that they have there. A :class:`bigbfs.Graph` is used as
it is.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from functools import cached_property
from itertools import chain
from typing import Any

import networkx as nx
import numpy as np

from bigbfs.conversion.orders.reorder import renumber
from bigbfs.graph import rows
from bigbfs.graph.adjacency import PlainAdjacency, id_dtype
from bigbfs.graph.flags import GraphFlags
from bigbfs.graph.graph import Graph
from bigbfs.graph.views import frozen, signed
from bigbfs.jit.workers import thread_count

Csr = tuple[np.ndarray, np.ndarray]
"""Rows as kernels take them: offsets (int64) and ids."""


class Bridge:
    """What the functions ask of any graph.

    Parameters
    ----------
    graph
        The rows; vertices are numbers 0 to n - 1 here.
    original
        The graph of NetworkX that it was made of; None: it is a graph of ours.
    """

    __networkx_backend__ = "bigbfs"

    def __init__(self, graph: Graph, original: Any = None) -> None:
        self.graph, self.original = graph, original
        self._nodes = None if original is None else list(original)
        # where vertices are in another order than their ids, nodes come in that of the ids all the same
        self._by_id = original is None and graph.flags.relabelled and graph.labels is not None
        self._numbered = self._nodes is not None and self._nodes == list(range(len(self._nodes)))

    def __len__(self) -> int:
        return self.graph.n

    def is_directed(self) -> bool:
        """Tell whether edges lead one way, as NetworkX asks every graph."""
        return self.graph.flags.directed if self.original is None else bool(self.original.is_directed())

    def is_multigraph(self) -> bool:
        """Tell whether the graph of NetworkX is one of parallel edges."""
        return self.original is not None and bool(self.original.is_multigraph())

    @cached_property
    def _numbers(self) -> dict[Hashable, int]:
        return {node: number for number, node in enumerate(self._nodes or ())}

    def number(self, node: Any) -> int | None:
        """Return the number of a node; None: it is not in the graph. TypeError where it can be in none."""
        if self._nodes is not None:
            return self._numbers.get(node)
        hash(node)
        try:
            vertex = self.graph.vertex(node)
        except ValueError:  # UsageError, ArgumentError: no vertex is called so
            return None
        return int(self.rank[vertex]) if self._by_id else vertex

    @cached_property
    def order(self) -> np.ndarray:
        """The vertex of each number, where vertices are not in the order of their ids."""
        return np.asarray(self.graph.in_original_order(np.arange(self.graph.n)))

    @cached_property
    def rank(self) -> np.ndarray:
        """The number of each vertex there."""
        found = np.empty(self.graph.n, id_dtype(self.graph.n))
        found[self.order] = np.arange(self.graph.n)
        return found

    def nodes(self, numbers: np.ndarray) -> list[Any]:
        """Return the nodes of vertices, as Python objects."""
        if self._numbered:
            return numbers.tolist()
        if self._nodes is not None:
            return list(map(self._nodes.__getitem__, numbers.tolist()))
        found = self.graph.original(self.order[numbers] if self._by_id else numbers).tolist()
        return found if self.graph.names is None else [self.graph.called(each) for each in found]

    @cached_property
    def _sides(self) -> tuple[Csr, Csr | None]:
        """Rows of a graph of ours by ids, out and in (None: not known); a copy where vertices have another order."""
        plain = self.graph.decompress()
        sides = [side for side in (plain.adjacency, plain.in_adjacency) if isinstance(side, PlainAdjacency)]
        out, into = _csr(sides[0]), _csr(sides[1]) if len(sides) > 1 else None
        if not self._by_id:
            return out, into
        both = out if not self.is_directed() else into or _csr(rows.transpose(sides[0]))
        return renumber(out, both, self.order.astype(self.rank.dtype), self.rank, thread_count())

    @cached_property
    def out(self) -> Csr:
        """The out-neighbours."""
        return _csr(_plain(self.graph)) if self.original is not None else self._sides[0]

    @cached_property
    def into(self) -> Csr:
        """The in-neighbours, ascending where NetworkX has no order for them."""
        if not self.is_directed():
            return self.out
        if self.original is not None:
            return _csr(_rows(self.original._pred.values(), self))
        into = self._sides[1]
        return _csr(rows.transpose(_plain(self.graph))) if into is None else into

    def by_number(self, labels: np.ndarray) -> np.ndarray:
        """Return labels of the vertices, the smallest vertex of each set, as labels of numbers: the smallest number."""
        if not self._by_id:
            return labels
        _, first, sets = np.unique(labels[self.order], return_index=True, return_inverse=True)
        return np.asarray(first[sets]).astype(np.int64)

    def numbers_of(self, nodes: Iterable[Any], count: int) -> np.ndarray:
        """Return the numbers of ``count`` nodes of a graph of NetworkX, in its dtype."""
        found = nodes if self._numbered else map(self._numbers.__getitem__, nodes)
        return np.fromiter(found, id_dtype(len(self._nodes or ())), count)


def _plain(graph: Graph) -> Any:
    return graph.decompress().adjacency


def _csr(adjacency: Any) -> Csr:
    return signed(adjacency.indptr), frozen(adjacency.indices)


def _rows(neighbours: Iterable[Any], bridge: Bridge) -> PlainAdjacency:
    """Return rows of the neighbours of every node, in the order in which they come."""
    lists = list(neighbours)
    indptr = np.zeros(len(lists) + 1, np.uint64)
    np.cumsum(np.fromiter(map(len, lists), np.int64, len(lists)), out=indptr[1:].view(np.int64))
    return PlainAdjacency(indptr, bridge.numbers_of(chain.from_iterable(lists), int(indptr[-1])))


def from_networkx(graph: Any) -> Bridge:
    """Turn a graph of NetworkX into rows: O(nodes + edges); edges that run parallel become one."""
    empty = PlainAdjacency(np.zeros(1, np.uint64), np.zeros(0, np.uint32))
    bridge = Bridge(Graph(empty), graph)
    directed = bool(graph.is_directed())
    # rows in the order of NetworkX are not ascending, and nothing that the backend runs asks that of them
    flags = GraphFlags(directed=directed, symmetric=not directed, sorted=False)
    bridge.graph = Graph(_rows(graph._adj.values(), bridge), flags)
    bridge.graph.declare_valid()
    return bridge


def to_networkx(graph: Any) -> Any:
    """Return the graph of NetworkX that one of ours stands for, made where there is none yet."""
    if isinstance(graph, Bridge) and graph.original is not None:
        return graph.original
    if not isinstance(graph, Bridge | Graph):
        return graph  # is one already
    bridge = graph if isinstance(graph, Bridge) else Bridge(graph)
    made = nx.DiGraph() if bridge.is_directed() else nx.Graph()
    nodes = bridge.nodes(np.arange(len(bridge)))
    made.add_nodes_from(nodes)
    indptr, indices = bridge.out
    sources = np.repeat(np.arange(len(bridge)), np.diff(indptr))
    made.add_edges_from(zip(bridge.nodes(sources), bridge.nodes(indices), strict=True))
    return made


def bridge_of(graph: Any) -> Bridge:
    """Return what stands for a graph given to a function of the backend."""
    if isinstance(graph, Bridge):
        return graph
    return Bridge(graph) if isinstance(graph, Graph) else from_networkx(graph)
