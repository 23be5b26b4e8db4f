"""Directed graphs without eccentricities as they are: the refusals, with the conversion that makes one with them."""

from __future__ import annotations

from pathlib import Path

from bigbfs.errors import Argument, Call, Remedy, UsageError
from bigbfs.graph.graph import Graph


def not_strong(graph: Graph, why: str) -> UsageError:
    """Return the error of a graph that is not strongly connected; ``why`` names two vertices."""
    said = f"a directed graph has eccentricities where it is strongly connected, and {why}"
    way = converted(graph, "undirected", Argument("undirected", True))
    words = "make a graph without directions for those of its weak components: {}"
    return UsageError(f"{graph.path or 'graph'}: {said}", remedies=(Remedy(way, words),))


def converted(graph: Graph, name: str, *how: Argument) -> Call:
    """Return the conversion of a graph's own file to one beside it, called by ``name`` too."""
    if graph.path is None:
        return Call("convert", "SOURCE", how)
    path = Path(graph.path)
    return Call("convert", str(path), (*how, Argument("output", path.with_name(f"{path.stem}-{name}.csrbin"))))
