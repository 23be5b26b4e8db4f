"""A graph of two columns of ids: what ``Graph.from_edges`` means."""

from __future__ import annotations

from typing import Any

import numpy as np

from bigbfs.conversion.in_memory.build import build_graph
from bigbfs.conversion.options import ConvertOptions
from bigbfs.errors import ArgumentError, DoesNotFitError, InputError
from bigbfs.graph.graph import Graph
from bigbfs.sizes import integer

LARGEST = 2**63 - 1
_NAMES = "names are numbered by Graph.from_arrow, from a table of two columns"
_WAYS = {"U": _NAMES, "S": _NAMES, "T": _NAMES, "f": "if all of them are whole, give column.astype(np.int64)"}
"""What to do with a column that is no ids, by the kind of its dtype."""


def graph_of(
    src: Any, dst: Any, n: int | None, *, directed: bool, keep_duplicates: bool, keep_self_loops: bool
) -> Graph:
    """Return the graph of the edges ``src[i]`` - ``dst[i]``; the parameters are those of ``Graph.from_edges``.

    Raises
    ------
    ArgumentError
        A column is no column of integers, or an option is of another type.
    InputError
        The columns differ in length, or an id is out of range.
    DoesNotFitError
        It takes more than half of the memory that is free.
    """
    options = ConvertOptions(directed=directed, keep_duplicates=keep_duplicates, keep_self_loops=keep_self_loops)
    if n is not None:
        n = integer("n", n, 0)
    sources, targets = _column("src", src), _column("dst", dst)
    if len(sources) != len(targets):
        raise InputError(f"from_edges: src has {len(sources):,} ids and dst {len(targets):,}; an edge has two ends")
    largest = max((int(column.max()) for column in (sources, targets) if len(column)), default=0)
    if n is not None and largest >= n and len(sources):
        raise InputError(f"from_edges: id {largest}, and n={n} means ids of 0 to {n - 1}; leave n out")
    ids = np.uint32 if largest < 2**32 else np.uint64
    sources, targets = np.ascontiguousarray(sources, ids), np.ascontiguousarray(targets, ids)
    try:
        graph, _ = build_graph(sources, targets, n, options=options)
    except DoesNotFitError as error:
        raise DoesNotFitError(error.message, remedies=("free some memory", "convert the edges from a file")) from None
    graph.declare_valid()
    return graph


def _column(name: str, given: Any) -> np.ndarray:
    """Return ``given`` as an array of ids, shape (edges,)."""
    if np.ma.isMaskedArray(given) and np.ma.getmaskarray(given).any():
        raise ArgumentError("has masked entries, which are no ids; leave them out", about=((name, given),))
    try:
        found = np.asarray(given)
    except (TypeError, ValueError):
        found = np.empty(0, object)
    if found.size == 0 and found.ndim == 1 and found.dtype != object:
        return np.empty(0, np.uint32)  # an empty list is an array of floats
    if found.ndim != 1 or found.dtype.kind not in "iu":
        why = "must be a column of whole numbers, the ids of vertices"
        way = _WAYS.get(found.dtype.kind) if found.ndim == 1 else None
        raise ArgumentError(why, about=((name, given),), remedies=() if way is None else (way,))
    low, high = int(found.min()), int(found.max())
    if low < 0 or high > LARGEST:
        raise InputError(f"from_edges: {name} has the id {low if low < 0 else high}; ids are 0 to 2^63-1")
    return found
