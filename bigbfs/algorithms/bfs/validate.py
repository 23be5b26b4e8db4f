"""Proof that a BFS tree is right, by the rules of the Graph500 specification (section "Validation").

Together they leave only BFS trees: the tree hangs from the source, each tree edge exists in the graph and goes down
one level, and no edge leads from a reached vertex to an unreached one or down more than one level.
"""

from __future__ import annotations

from typing import NoReturn

import numpy as np

from bigbfs.algorithms.bfs import validate_kernels as kernels
from bigbfs.algorithms.plain_rows import plain_rows
from bigbfs.algorithms.rules import ends_of, fail, first_offender, name_of, require_array
from bigbfs.errors import UsageError
from bigbfs.graph.graph import Graph
from bigbfs.graph.views import frozen


def validate_tree(
    graph: Graph,
    source: int,
    levels: np.ndarray,
    parents: np.ndarray | None,
    *,
    max_depth: int | None = None,
) -> None:
    """Prove that ``levels`` and ``parents`` are those of a BFS of ``graph`` from the vertex ``source``.

    Parameters
    ----------
    levels
        int32, shape (n,): -1 where unreached.
    parents
        int64, shape (n,): -1 for the source and the unreached. None checks the levels alone.
    max_depth
        The search was to stop at this level; None: to go on to the end.

    Raises
    ------
    VerificationError
        Names the rule, the vertex or edge that breaks it, and the values found there.
    UsageError
        ``source`` is no vertex.
    """
    if not 0 <= source < graph.n:
        raise UsageError(f"no vertex {source}: the graph has {graph.n}, numbered from 0")
    require_array("levels", levels, np.int32, graph.n)
    limit = graph.n if max_depth is None else min(max_depth, graph.n)
    seen = frozen(np.ascontiguousarray(levels))
    if parents is None:
        _check_levels(graph, source, seen, limit)
        above = frozen(np.empty(0, np.int64))
    else:
        require_array("parents", parents, np.int64, graph.n)
        above = frozen(np.ascontiguousarray(parents))
        if (vertex := first_offender(kernels.tree_vertices, graph.n, int(source), seen, above, limit)) >= 0:
            _explain_vertex(graph, source, vertex, seen, above, limit)
    indptr, indices = plain_rows(graph)
    joined = np.zeros(graph.n, np.uint8)
    if (edge := first_offender(kernels.tree_edges, len(indices), indptr, indices, seen, above, limit, joined)) >= 0:
        _explain_edge(graph, *ends_of(indptr, indices, edge), seen, limit)
    lonely = (joined == 0) & (seen > 0)
    if lonely.any():
        _explain_lonely(graph, int(lonely.argmax()), seen, parents)


def _check_levels(graph: Graph, source: int, levels: np.ndarray, limit: int) -> None:
    if levels[source] != 0:
        fail("the source has level 0", f"source {name_of(graph, source)} has level {levels[source]}")
    outside = (levels < -1) | (levels > limit)
    if outside.any():
        at = int(outside.argmax())
        fail(f"levels run from -1 to {limit}", f"vertex {name_of(graph, at)} has level {levels[at]}")
    roots = levels == 0
    roots[source] = False
    if roots.any():
        fail("only the source has level 0", f"vertex {name_of(graph, int(roots.argmax()))} has level 0")


def _explain_vertex(
    graph: Graph, source: int, vertex: int, levels: np.ndarray, parents: np.ndarray, limit: int
) -> NoReturn:
    """Raise the error that says which rule of the tree ``vertex`` breaks."""
    level, parent = int(levels[vertex]), int(parents[vertex])
    here = f"vertex {name_of(graph, vertex)} has level {level}"
    if vertex == source:
        fail("the source has level 0 and no parent", f"source {name_of(graph, vertex)}: level {level}, parent {parent}")
    if parent < -1 or parent >= graph.n:
        fail("a parent is a vertex", f"{here} and parent {parent}, of {graph.n} vertices")
    if level < -1 or level > limit:
        fail(f"levels run from -1 to {limit}", here)
    if level == 0:
        fail("only the source has level 0", here)
    if (level == -1) != (parent == -1):
        fail(
            "a vertex has a parent if it has a level",
            f"{here} and " + ("no parent" if parent == -1 else f"parent {name_of(graph, parent)}"),
        )
    above = f"parent {name_of(graph, parent)}, which has level {levels[parent]}"
    if _loops(vertex, parents):
        fail("parents lead to the source, in no cycle", f"{here} and {above}; its chain of parents is a cycle")
    fail("a parent is one level up", f"{here} and {above}")


def _loops(vertex: int, parents: np.ndarray) -> bool:
    """Tell whether the chain of parents from ``vertex`` comes back to a vertex of its own."""
    seen = set()
    while 0 <= vertex < len(parents) and vertex not in seen:
        seen.add(vertex)
        vertex = int(parents[vertex])
    return vertex in seen


def _explain_edge(graph: Graph, u: int, v: int, levels: np.ndarray, limit: int) -> NoReturn:
    edge = f"edge {name_of(graph, u)} -> {name_of(graph, v)} leads from level {levels[u]}"
    if levels[v] < 0:
        rule = "what an edge leads to from a reached vertex is reached"
        fail(rule if limit == graph.n else f"{rule}, up to level {limit}", f"{edge} to an unreached vertex")
    fail("an edge leads down one level at most", f"{edge} to level {levels[v]}")


def _explain_lonely(graph: Graph, vertex: int, levels: np.ndarray, parents: np.ndarray | None) -> NoReturn:
    here = f"vertex {name_of(graph, vertex)} (level {levels[vertex]})"
    if parents is None:
        fail("an edge leads to a reached vertex from the level above", f"no edge leads to {here} from there")
    parent = name_of(graph, int(parents[vertex]))
    fail("a tree edge is an edge of the graph", f"{here} has parent {parent}, but there is no edge {parent} -> it")
