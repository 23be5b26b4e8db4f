"""The conversion of a graph's own file that a refusal names, and the refusal of one without in-neighbours."""

from __future__ import annotations

from pathlib import Path

from bigbfs.errors import Argument, Call, Remedy, UsageError
from bigbfs.graph.graph import Graph


def converted(graph: Graph, name: str, *how: Argument) -> Call:
    """Return the conversion of a graph's own file to one beside it, called by ``name`` too."""
    if graph.path is None:
        return Call("convert", "SOURCE", how)
    path = Path(graph.path)
    return Call("convert", str(path), (*how, Argument("output", path.with_name(f"{path.stem}-{name}.csrbin"))))


def without_in_rows(graph: Graph, what: str) -> UsageError:
    """Return the error of a directed graph without in-neighbours, which ``what`` takes."""
    way = converted(graph, "with-in-edges", Argument("directed", True), Argument("in_edges", True))
    said = f"{what} of a directed graph need its in-neighbours, which it does not store"
    return UsageError(f"{graph.path or 'graph'}: {said}", remedies=(Remedy(way, "add them with {}"),))
