"""A graph as the functions of the backend see it: rows, the nodes' names, and their numbers.

A graph of NetworkX is turned into rows once (NetworkX keeps what :func:`from_networkx` makes with the graph); its nodes
have the numbers of their order, and their neighbours the order that they have there. A :class:`bigbfs.Graph` is used as
it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from functools import cached_property
from typing import Any

import networkx as nx
import numpy as np

from bigbfs.conversion.in_memory.nodes import Numbering
from bigbfs.conversion.orders.reorder import renumber
from bigbfs.graph import rows
from bigbfs.graph.adjacency import PlainAdjacency, id_dtype
from bigbfs.graph.flags import GraphFlags
from bigbfs.graph.graph import Graph
from bigbfs.graph.views import frozen, signed
from bigbfs.jit.workers import thread_count
from bigbfs.networkx.file_nodes import FileNodes
from bigbfs.networkx.views import NodeMap, NodeSet

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
    numbering
        Of the nodes of that.
    """

    __networkx_backend__ = "bigbfs"

    def __init__(self, graph: Graph, original: Any = None, numbering: Numbering | None = None) -> None:
        self.graph, self.original, self._given = graph, original, numbering
        # where vertices are in another order than their ids, nodes come in that of the ids all the same
        self._by_id = original is None and graph.flags.relabelled and graph.labels is not None

    def __len__(self) -> int:
        return self.graph.n

    def __iter__(self) -> Iterator[Any]:
        return iter(self.all_nodes())

    def __contains__(self, node: Any) -> bool:
        try:
            return self.number(node) is not None
        except TypeError:
            return False

    def is_directed(self) -> bool:
        """Tell whether edges lead one way, as NetworkX asks every graph."""
        return self.graph.flags.directed if self.original is None else bool(self.original.is_directed())

    def is_multigraph(self) -> bool:
        """Tell whether the graph of NetworkX is one of parallel edges."""
        return self.original is not None and bool(self.original.is_multigraph())

    def nbunch(self, nodes: Any) -> list[Any]:
        """Return the nodes that NetworkX takes ``nodes`` for: all (None), one, or those of several that are here.

        Raises
        ------
        NetworkXError
            It is neither a node nor several.
        """
        return list(nx.Graph.nbunch_iter(_Holder(self), nodes))

    def number(self, node: Any) -> int | None:
        """Return the number of a node; None: it is not in the graph. TypeError where it can be in none."""
        return self.numbering.number(node)

    @cached_property
    def numbering(self) -> Numbering | FileNodes:
        """The nodes and their numbers."""
        return FileNodes.of_graph(self.graph) if self._given is None else self._given

    @property
    def file_nodes(self) -> FileNodes | None:
        """The nodes of a graph of ours, whose results are views of arrays; None for one of NetworkX."""
        return self.numbering if isinstance(self.numbering, FileNodes) else None

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
        return self.numbering.of(numbers)

    def set_of(self, numbers: np.ndarray) -> Set[Any]:
        """Return the nodes of vertices as a set."""
        nodes = self.file_nodes
        return set(self.nodes(numbers)) if nodes is None else NodeSet(nodes, np.sort(numbers))

    def map_of(self, values: np.ndarray) -> Mapping[Any, Any]:
        """Return all nodes with their values, which are by number."""
        nodes = self.file_nodes
        if nodes is None:
            return dict(zip(self.all_nodes(), values.tolist(), strict=True))
        return NodeMap(nodes, np.arange(len(values), dtype=id_dtype(len(values))), values)

    def all_nodes(self) -> list[Any]:
        """Return all nodes in their order."""
        return self._given.nodes if self._given is not None else self.nodes(np.arange(len(self)))

    @cached_property
    def _sides(self) -> tuple[Csr, Csr | None]:
        """Rows of a graph of ours by ids, out and in (None: not known); a copy where vertices have another order."""
        self.graph.require_valid()  # kernels follow every id
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
        return self._sides[0]

    @cached_property
    def into(self) -> Csr:
        """The in-neighbours, ascending where NetworkX has no order for them."""
        if not self.is_directed():
            return self.out
        if self._given is not None:
            return _csr(self._given.rows(self.original._pred))
        into = self._sides[1]
        return _csr(rows.transpose(self.graph.decompress().adjacency)) if into is None else into

    @property
    def known_into(self) -> Csr | None:
        """The in-neighbours where they are there already, in a graph of ours."""
        return self._sides[1] if self.is_directed() else self.out

    @cached_property
    def two_ways(self) -> Graph:
        """The graph with its in-neighbours, for searches against the edges."""
        graph = self.graph
        if graph.in_adjacency is not None:
            return graph
        graph.require_valid()
        plain = graph.decompress()
        made = Graph(
            plain.adjacency, plain.flags, labels=plain.labels, first_id=plain.first_id, names=plain.names,
            in_adjacency=rows.transpose(plain.adjacency), m=plain.m,
        )  # fmt: skip
        made.declare_valid()
        return made

    def vertices(self, numbers: np.ndarray) -> np.ndarray:
        """Return the vertices of the graph that have ``numbers``."""
        return self.order[numbers] if self._by_id else numbers

    def by_number(self, labels: np.ndarray) -> np.ndarray:
        """Return labels of the vertices, the smallest vertex of each set, as labels of numbers: the smallest number."""
        if not self._by_id:
            return labels
        _, first, sets = np.unique(labels[self.order], return_index=True, return_inverse=True)
        return np.asarray(first[sets]).astype(labels.dtype)


class _Nodes:
    """What NetworkX looks nodes up in; TypeError for what can be no node."""

    def __init__(self, bridge: Bridge) -> None:
        self._bridge = bridge

    def __iter__(self) -> Iterator[Any]:
        return iter(self._bridge)

    def __contains__(self, node: Any) -> bool:
        return self._bridge.number(node) is not None


class _Holder:
    """What ``nbunch_iter`` of NetworkX takes for a graph."""

    def __init__(self, bridge: Bridge) -> None:
        self._bridge, self._adj = bridge, _Nodes(bridge)

    def __contains__(self, node: Any) -> bool:
        return node in self._bridge


def _csr(adjacency: Any) -> Csr:
    return signed(adjacency.indptr), frozen(adjacency.indices)


def from_networkx(graph: Any) -> Bridge:
    """Turn a graph of NetworkX into rows: O(nodes + edges); edges that run parallel become one."""
    numbering = Numbering(list(graph))
    directed = bool(graph.is_directed())
    # rows in the order of NetworkX are not ascending, and nothing that the backend runs asks that of them
    flags = GraphFlags(directed=directed, symmetric=not directed, sorted=False, loops_removed=False)
    made = Graph(numbering.rows(graph._adj), flags)
    made.declare_valid()
    return Bridge(made, graph, numbering)


def to_networkx(graph: Any) -> Any:
    """Return the graph of NetworkX that one of ours stands for, made where there is none yet."""
    if isinstance(graph, Bridge) and graph.original is not None:
        return graph.original
    if not isinstance(graph, Bridge | Graph):
        return graph  # is one already
    bridge = graph if isinstance(graph, Bridge) else Bridge(graph)
    made = nx.DiGraph() if bridge.is_directed() else nx.Graph()
    made.add_nodes_from(bridge.all_nodes())
    indptr, indices = bridge.out
    sources = np.repeat(np.arange(len(bridge)), np.diff(indptr))
    made.add_edges_from(zip(bridge.nodes(sources), bridge.nodes(indices), strict=True))
    return made


def bridge_of(graph: Any) -> Bridge:
    """Return what stands for a graph given to a function of the backend."""
    if isinstance(graph, Bridge):
        return graph
    return Bridge(graph) if isinstance(graph, Graph) else from_networkx(graph)
