"""The component of each vertex, for measures that ask for it once.

Afforest's kernels take seconds to compile, and loading them from the cache takes longer than one thread takes to join
the edges of a small graph. So such a graph is labelled by one kernel: a forest of vertices, of which each points to one
that is not larger, joined edge by edge (union by the smaller root, paths halved: Tarjan and van Leeuwen, Worst-case
analysis of set union algorithms, J. ACM 31, 1984).
"""

from __future__ import annotations

import numpy as np

from bigbfs import api
from bigbfs.algorithms.components.options import ComponentsOptions
from bigbfs.algorithms.engine import Engine
from bigbfs.engines.cpu.bits import ONE, ZERO
from bigbfs.engines.cpu.rows import degree, rows_of, seek, step
from bigbfs.errors import FormatError
from bigbfs.graph.graph import Graph
from bigbfs.jit.njit import njit
from bigbfs.measures.small import NO_VERTICES

EDGES = 2**21
"""Stored edges of a graph, and vertices, at most that one thread joins: some ten milliseconds."""


def labels_of(engine: Engine) -> np.ndarray:
    """Return the component of each vertex (internal), of a directed graph the weak one.

    Returns
    -------
    numpy.ndarray
        int64, (n,): a vertex of the component.

    Raises
    ------
    FormatError
        The graph has ids that are no vertices.
    """
    graph, work = engine.graph, ComponentsOptions()
    if type(graph) is Graph and max(graph.n, graph.m) <= EDGES:
        labels = np.empty(graph.n, np.int64)
        if joined(rows_of(graph.adjacency), labels):
            raise FormatError(f"{graph.path or 'the graph'}: {NO_VERTICES}")
        return labels
    if engine.backend == "cpu":
        return np.asarray(engine.run_internal(work).labels)
    with api.engine(graph, backend="cpu", work=(work,)) as other:  # a GPU's memory is planned for the searches
        return np.asarray(other.run_internal(work).labels)


@njit(cache=True, nogil=True)
def joined(rows, labels):
    """Write the smallest vertex of its component for each vertex to ``labels``; return ids met that are no vertices."""
    n, faults = np.uint64(labels.size), ZERO
    for u in range(n):
        labels[u] = u
    for u in range(n):
        root = _root(labels, np.int64(u))
        position, v = seek(rows, u, ZERO), ZERO
        for k in range(degree(rows, u)):
            v, position = step(rows, position, k, v)
            if v >= n:
                faults += ONE
                continue
            other = _root(labels, np.int64(v))
            labels[max(root, other)] = min(root, other)
            root = min(root, other)
    for u in range(n):
        labels[u] = labels[labels[u]]  # who is smaller points to its root by now
    return faults


@njit
def _root(labels, v):
    """Return the vertex that ``v`` leads to."""
    while labels[v] != v:
        labels[v] = labels[labels[v]]
        v = labels[v]
    return v
