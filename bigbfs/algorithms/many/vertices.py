"""Original ids or names of many vertices to internal ones at once; those that are not there are named together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bigbfs.errors import ArgumentError, UsageError
from bigbfs.graph.graph import Graph
from bigbfs.sizes import counted

PLURALS = {"vertex": "vertices"}

NAMED = 10
"""Ids that a message names at most."""


def vertices_of(
    graph: Graph, originals: Sequence[int | str] | np.ndarray, what: str = "vertex", plural: str | None = None
) -> np.ndarray:
    """Return the vertices (int64) whose original ids, or names, are ``originals``.

    Parameters
    ----------
    what, plural
        What such an id is called in a message, and the argument that holds them.

    Raises
    ------
    UsageError
        Some are not in the graph (the first ten are named).
    ArgumentError
        They are no list of whole numbers, or of names where vertices have names.
    """
    argument = plural or PLURALS.get(what) or f"{what}s"
    wanted = _numbers(graph, originals, argument)
    if not len(wanted):
        return np.zeros(0, np.int64)
    if not graph.n:
        raise UsageError(
            f"{graph.path or 'graph'}: it has no vertices, so none of {counted(len(wanted), what, argument)}"
        )
    found = graph.places(wanted)
    missing = wanted[found < 0]
    if len(missing):
        unique = list(dict.fromkeys(missing.tolist()))
        named = ", ".join(map(str, unique[:NAMED]))
        more = f" and {len(unique) - NAMED:,} more" if len(unique) > NAMED else ""
        several = f" ({counted(len(unique), what, argument)})" if len(unique) > 1 else ""
        raise graph.unknown(f"{named}{more}{several}")
    return found


def _numbers(graph: Graph, originals: Sequence[int | str] | np.ndarray, argument: str) -> np.ndarray:
    """Return ``originals`` as int64, names by their ranks.

    Raises
    ------
    ArgumentError
        They cannot be ids.
    UsageError
        No vertex is called so.
    """
    about = ((argument, originals),)
    named = graph.names is not None
    try:
        found = np.asarray(originals)
    except ValueError:  # lists of several lengths
        found = np.asarray(None)
    if found.ndim == 1 and not len(found):
        return np.zeros(0, np.int64)
    if found.ndim == 1 and found.dtype.kind not in "iu" and named:
        words = list(originals)
        if all(isinstance(word, str) for word in words):
            return np.array([graph.id_of(word) for word in words], np.int64)
    if found.ndim == 1 and found.dtype.kind in "Of" and all(type(each) is int for each in originals):
        # they are beyond 64 bits, or those of uint64 and of int64 are mixed
        raise graph.unknown(max(originals, key=abs))
    if found.ndim != 1 or found.dtype.kind not in "iu":
        kinds = "whole numbers, or of names" if named else "whole numbers"
        raise ArgumentError(f"must be a list of {kinds}", about=about)
    if found.dtype.kind == "u" and int(found.max()) > np.iinfo(np.int64).max:
        raise graph.unknown(int(found.max()))
    return found.astype(np.int64)
