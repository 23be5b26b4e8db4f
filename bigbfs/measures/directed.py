"""Directed graphs without eccentricities as they are: the refusals, with the conversion that makes one with them."""

from __future__ import annotations

from bigbfs.errors import Argument, Remedy, UsageError
from bigbfs.graph.converted import converted
from bigbfs.graph.graph import Graph


def not_strong(graph: Graph, why: str) -> UsageError:
    """Return the error of a graph that is not strongly connected; ``why`` names two vertices."""
    said = f"a directed graph has eccentricities where it is strongly connected, and {why}"
    way = converted(graph, "undirected", Argument("undirected", True))
    words = "make a graph without directions for those of its weak components: {}"
    return UsageError(f"{graph.path or 'graph'}: {said}", remedies=(Remedy(way, words),))
