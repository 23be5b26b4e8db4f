"""The edges of a NetworkX graph, whose nodes are integers from 0 on or strings; imports nothing of NetworkX."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from typing import Any

import numpy as np

from bigbfs.conversion.in_memory.nodes import Numbering
from bigbfs.errors import ArgumentError, InputError
from bigbfs.graph.edges import EdgeList

_LAST = 2**63 - 1


def edges_of_networkx(graph: Any, keep_duplicates: bool) -> tuple[EdgeList, list[bytes] | None]:
    """Return the edges of a graph, each once, and its names in byte order, whose ranks are the ids; None: no names.

    Edges that run parallel are repeated where ``keep_duplicates``.

    Raises
    ------
    ArgumentError
        It is no such graph, or its nodes are neither all integers from 0 on nor all strings; names one.
    InputError
        It has no node, or a name is empty or no UTF-8.
    """
    if not all(hasattr(graph, each) for each in ("_adj", "is_directed", "is_multigraph")):
        raise ArgumentError("must be a NetworkX graph", about=(("graph", graph),))
    nodes: list[Any] = list(graph)
    if not nodes:
        raise InputError("from_networkx: no node in the graph; a graph without vertices is not made")
    names = None
    if isinstance(nodes[0], str):
        names, ids = _ranked(graph, nodes)
    else:
        _require(graph, nodes, _is_id)
        ids = np.fromiter(nodes, np.uint64, len(nodes))
    ids = ids.astype(np.uint32 if int(ids.max()) < 2**32 else np.uint64, copy=False)
    sources, targets = _pairs(graph, Numbering(nodes), keep_duplicates)
    return EdgeList(ids[sources], ids[targets], isolated=np.sort(ids)), names


def _pairs(graph: Any, numbering: Numbering, keep_duplicates: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of both ends of every edge; an undirected one stands in the rows of both."""
    adjacency = graph._adj
    rows = numbering.rows(adjacency)
    sources, targets = np.repeat(np.arange(rows.n), rows.degrees()), rows.indices
    if keep_duplicates and graph.is_multigraph():
        parallel = chain.from_iterable(map(len, adjacency[node].values()) for node in numbering.nodes)
        times = np.fromiter(parallel, np.int64, rows.m)
        sources, targets = np.repeat(sources, times), np.repeat(targets, times)
    if graph.is_directed():
        return sources, targets
    once = sources <= targets
    return sources[once], targets[once]


def _ranked(graph: Any, nodes: list[Any]) -> tuple[list[bytes], np.ndarray]:
    """Return the names of the nodes in byte order, and the rank of each node."""
    _require(graph, nodes, lambda node: isinstance(node, str))
    try:
        names = [node.encode() for node in nodes]
    except UnicodeEncodeError as error:
        raise InputError(f"from_networkx: node {error.object!r} is no name: names are UTF-8") from None
    if b"" in names:
        raise InputError(f"from_networkx: node {''!r} is no name: an empty one is no vertex")
    order = sorted(range(len(names)), key=names.__getitem__)
    ranks = np.empty(len(names), np.uint64)
    ranks[order] = np.arange(len(names))
    return [names[number] for number in order], ranks


def _is_id(node: Any) -> bool:
    return isinstance(node, int | np.integer) and not isinstance(node, bool) and 0 <= int(node) <= _LAST


def _require(graph: Any, nodes: list[Any], fits: Callable[[Any], bool]) -> None:
    """Refuse nodes of which one does not fit; names it.

    Raises
    ------
    ArgumentError
        There is one.
    """
    for node in nodes:
        if not fits(node):
            what = "must have nodes that are all integers from 0 on, or all strings"
            what += f", and has {node!r}: networkx.relabel_nodes makes them so"
            raise ArgumentError(what, about=(("graph", graph),))
