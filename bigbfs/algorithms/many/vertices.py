"""Original ids of many vertices to internal ones at once; those that are not in the graph are named together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bigbfs.errors import UsageError
from bigbfs.graph.graph import Graph
from bigbfs.sizes import counted

NAMED = 10
"""Ids that a message names at most."""


def vertices_of(graph: Graph, originals: Sequence[int] | np.ndarray, what: str = "vertex") -> np.ndarray:
    """Return the vertices (int64) whose original ids are ``originals``.

    Parameters
    ----------
    what
        What such an id is called in a message.

    Raises
    ------
    UsageError
        Some are not in the graph (the first ten are named), or are no whole numbers.
    """
    wanted = np.asarray(originals)
    if not len(wanted):
        return np.zeros(0, np.int64)
    if wanted.ndim != 1 or wanted.dtype.kind not in "iu":
        raise UsageError(f"{what} ids must be whole numbers, in one list", about=((f"{what}s", originals),))
    wanted = wanted.astype(np.int64)
    ids = np.asarray(graph.original_ids())
    if not len(ids):
        raise UsageError(f"{graph.path or 'graph'}: it has no vertices, so none of {counted(len(wanted), what)}")
    places = np.minimum(np.searchsorted(ids, wanted), len(ids) - 1)
    missing = wanted[ids[places] != wanted]
    if len(missing):
        unique = list(dict.fromkeys(missing.tolist()))
        named = ", ".join(map(str, unique[:NAMED]))
        more = f" and {len(unique) - NAMED:,} more" if len(unique) > NAMED else ""
        raise UsageError(
            f"{graph.path or 'graph'}: no such vertex: {named}{more} ({counted(len(unique), what)}); "
            f"ids are between {ids[0]} and {ids[-1]}"
        )
    return np.asarray(graph.in_original_order(np.arange(graph.n)))[places].astype(np.int64)
