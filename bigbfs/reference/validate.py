"""Proofs that a result is right, from the graph and the result alone, in O(n + m).

``bfs_tree`` checks the rules of the Graph500 specification (section "Validation"), which together leave only BFS
trees: the tree hangs from the source, each tree edge exists in the graph and goes down one level, and no edge leads
from a reached vertex to an unreached one or down more than one level. ``labels`` and ``topological`` do the same for
components and orders. In: graphs plain or compressed, vertices internal. Messages name original ids.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NoReturn

import numpy as np
from numba import get_num_threads

from bigbfs.errors import UsageError, VerificationError
from bigbfs.graph import Graph
from bigbfs.reference import _validate_kernels as kernels
from bigbfs.reference.rows import plain_rows
from bigbfs.rows import frozen

PIECE = 1 << 18
"""Vertices or edges that one thread looks at in one go; less than this is not worth a second thread."""


def bfs_tree(
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
    _check_array("levels", levels, np.int32, graph.n)
    limit = graph.n if max_depth is None else min(max_depth, graph.n)
    seen = frozen(np.ascontiguousarray(levels))
    if parents is None:
        _check_levels(graph, source, seen, limit)
        above = frozen(np.empty(0, np.int64))
    else:
        _check_array("parents", parents, np.int64, graph.n)
        above = frozen(np.ascontiguousarray(parents))
        if (vertex := _first(kernels.tree_vertices, graph.n, int(source), seen, above, limit)) >= 0:
            _explain_vertex(graph, source, vertex, seen, above, limit)
    indptr, indices = plain_rows(graph)
    joined = np.zeros(graph.n, np.uint8)
    if (edge := _first(kernels.tree_edges, len(indices), indptr, indices, seen, above, limit, joined)) >= 0:
        _explain_edge(graph, *_ends(indptr, indices, edge), seen, limit)
    lonely = (joined == 0) & (seen > 0)
    if lonely.any():
        _explain_lonely(graph, int(lonely.argmax()), seen, parents)


def labels(graph: Graph, labels: np.ndarray) -> None:
    """Prove that ``labels`` names, for each vertex, the smallest vertex of its (weakly) connected component.

    Parameters
    ----------
    labels
        int64, shape (n,).

    Raises
    ------
    VerificationError
        Names the rule, the vertex or edge that breaks it, and the values found there.
    """
    _check_array("labels", labels, np.int64, graph.n)
    have = frozen(np.ascontiguousarray(labels))
    if (vertex := _first(kernels.label_vertices, graph.n, have)) >= 0:
        label, name = int(have[vertex]), _name(graph, vertex)
        if not 0 <= label < graph.n:
            _fail("a label is a vertex", f"vertex {name} has label {label} of {graph.n} vertices")
        if label > vertex:
            _fail("a label is the smallest vertex of its component", f"vertex {name} has label {_name(graph, label)}")
        of_label = _name(graph, int(have[label])) if 0 <= have[label] < graph.n else int(have[label])
        _fail(
            "a label is its own label",
            f"vertex {name} has label {_name(graph, label)}, and that vertex has label {of_label}",
        )
    indptr, indices = plain_rows(graph)
    if (edge := _first(kernels.label_edges, len(indices), indptr, indices, have)) >= 0:
        u, v = _ends(indptr, indices, edge)
        _fail(
            "an edge joins equal labels",
            f"edge {_name(graph, u)} -> {_name(graph, v)} joins labels {_name(graph, int(have[u]))} "
            f"and {_name(graph, int(have[v]))}",
        )
    if (vertex := int(kernels.unproven(indptr, indices, have))) >= 0:
        _fail(
            "vertices with one label are connected",
            f"no path joins vertex {_name(graph, vertex)} to its label {_name(graph, int(have[vertex]))}",
        )


def topological(graph: Graph, order: np.ndarray) -> None:
    """Prove that ``order`` (int64, shape (n,)) holds every vertex once, each before those that it points to.

    Raises
    ------
    VerificationError
        Names the vertex or edge that breaks the rule.
    """
    _check_array("order", order, np.int64, graph.n)
    outside = (order < 0) | (order >= graph.n)
    if outside.any():
        _fail("an order holds vertices", f"entry {int(outside.argmax())} is {int(order[outside.argmax()])}")
    position = np.full(graph.n, -1, np.int64)
    position[order] = np.arange(graph.n)
    if (position < 0).any():
        _fail("an order holds every vertex once", f"vertex {_name(graph, int((position < 0).argmax()))} is missing")
    indptr, indices = plain_rows(graph)
    if (edge := int(kernels.order_violation(indptr, indices, position))) >= 0:
        u, v = _ends(indptr, indices, edge)
        _fail(
            "an edge leads forward",
            f"edge {_name(graph, u)} -> {_name(graph, v)} leads from place {position[u]} to place {position[v]}",
        )


def compare_levels(graph: Graph, expected: np.ndarray, levels: np.ndarray) -> None:
    """Check that ``levels`` equal the ``expected`` ones of the reference.

    Raises
    ------
    VerificationError
        Says how many differ and names the first vertex.
    """
    _check_array("levels", levels, np.int32, graph.n)
    wrong = levels != expected
    if wrong.any():
        at = int(wrong.argmax())
        _fail(
            "levels equal the reference's",
            f"{int(wrong.sum())} differ, first at vertex {_name(graph, at)}: {levels[at]} instead of {expected[at]}",
        )


# --- what exactly is wrong --------------------------------------------------------------------------------------


def _fail(rule: str, finding: str) -> NoReturn:
    raise VerificationError(f"wrong result: {finding} (rule: {rule})")


def _name(graph: Graph, vertex: int) -> int:
    return int(graph.original(vertex))


def _first(kernel: Callable[..., int], count: int, *arguments: Any) -> int:
    """Return the smallest of 0..count-1 that ``kernel`` objects to, or -1; pieces are shared out among threads."""
    if count <= PIECE:
        return int(kernel(0, count, *arguments))
    with ThreadPoolExecutor(get_num_threads()) as pool:
        starts = range(0, count, PIECE)
        found = pool.map(lambda start: int(kernel(start, min(start + PIECE, count), *arguments)), starts)
        return min((offender for offender in found if offender >= 0), default=-1)


def _ends(indptr: np.ndarray, indices: np.ndarray, edge: int) -> tuple[int, int]:
    return int(np.searchsorted(indptr, edge, side="right")) - 1, int(indices[edge])


def _check_array(name: str, array: np.ndarray, dtype: type, n: int) -> None:
    if array.shape != (n,) or array.dtype != dtype:
        _fail(
            f"{name} are {np.dtype(dtype)}, one per vertex",
            f"{name} have dtype {array.dtype} and shape {array.shape} for {n} vertices",
        )


def _check_levels(graph: Graph, source: int, levels: np.ndarray, limit: int) -> None:
    if levels[source] != 0:
        _fail("the source has level 0", f"source {_name(graph, source)} has level {levels[source]}")
    outside = (levels < -1) | (levels > limit)
    if outside.any():
        at = int(outside.argmax())
        _fail(f"levels run from -1 to {limit}", f"vertex {_name(graph, at)} has level {levels[at]}")
    roots = levels == 0
    roots[source] = False
    if roots.any():
        _fail("only the source has level 0", f"vertex {_name(graph, int(roots.argmax()))} has level 0")


def _explain_vertex(
    graph: Graph, source: int, vertex: int, levels: np.ndarray, parents: np.ndarray, limit: int
) -> NoReturn:
    """Raise the error that says which rule of the tree ``vertex`` breaks."""
    level, parent = int(levels[vertex]), int(parents[vertex])
    here = f"vertex {_name(graph, vertex)} has level {level}"
    if vertex == source:
        _fail("the source has level 0 and no parent", f"source {_name(graph, vertex)}: level {level}, parent {parent}")
    if parent < -1 or parent >= graph.n:
        _fail("a parent is a vertex", f"{here} and parent {parent}, of {graph.n} vertices")
    if level < -1 or level > limit:
        _fail(f"levels run from -1 to {limit}", here)
    if level == 0:
        _fail("only the source has level 0", here)
    if (level == -1) != (parent == -1):
        _fail(
            "a vertex has a parent if it has a level",
            f"{here} and " + ("no parent" if parent == -1 else f"parent {_name(graph, parent)}"),
        )
    above = f"parent {_name(graph, parent)}, which has level {levels[parent]}"
    if _loops(vertex, parents):
        _fail("parents lead to the source, in no cycle", f"{here} and {above}; its chain of parents is a cycle")
    _fail("a parent is one level up", f"{here} and {above}")


def _loops(vertex: int, parents: np.ndarray) -> bool:
    """Tell whether the chain of parents from ``vertex`` comes back to a vertex of its own."""
    seen = set()
    while 0 <= vertex < len(parents) and vertex not in seen:
        seen.add(vertex)
        vertex = int(parents[vertex])
    return vertex in seen


def _explain_edge(graph: Graph, u: int, v: int, levels: np.ndarray, limit: int) -> NoReturn:
    edge = f"edge {_name(graph, u)} -> {_name(graph, v)} leads from level {levels[u]}"
    if levels[v] < 0:
        rule = "what an edge leads to from a reached vertex is reached"
        _fail(rule if limit == graph.n else f"{rule}, up to level {limit}", f"{edge} to an unreached vertex")
    _fail("an edge leads down one level at most", f"{edge} to level {levels[v]}")


def _explain_lonely(graph: Graph, vertex: int, levels: np.ndarray, parents: np.ndarray | None) -> NoReturn:
    here = f"vertex {_name(graph, vertex)} (level {levels[vertex]})"
    if parents is None:
        _fail("an edge leads to a reached vertex from the level above", f"no edge leads to {here} from there")
    parent = _name(graph, int(parents[vertex]))
    _fail("a tree edge is an edge of the graph", f"{here} has parent {parent}, but there is no edge {parent} -> it")
