"""Where the rows of many searches lie, and in which order the chunks of hubs are read."""

from __future__ import annotations

import numpy as np

from bigbfs.engines.gpu.placement.placed import PlacedAdjacency
from bigbfs.graph.adjacency import Adjacency, CompressedAdjacency

_STEPS = 1 << 15
"""Parts of a row that count as different ones."""


def degrees_and_places(
    adjacency: Adjacency, placed: PlacedAdjacency, vertices: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the ids in the rows of ``vertices`` (int64), and whether the rows are in device memory (bool)."""
    rows, at = placed.struct, vertices.astype(np.int64)
    begin, end = adjacency.indptr[at].astype(np.int64), adjacency.indptr[at + 1].astype(np.int64)
    degrees = adjacency.degree[at].astype(np.int64) if isinstance(adjacency, CompressedAdjacency) else end - begin
    near = (begin >= int(rows["near_begin"])) & (end <= int(rows["near_end"]))
    near |= (degrees.astype(np.uint64) >= rows["hot_from"]) | (placed.kind == "device")
    return degrees, near


def order_of_chunks(adjacency: Adjacency, placed: PlacedAdjacency) -> np.ndarray:
    """Return the chunks of the hubs of ``placed``, uint32, those equally far along their rows one after the other.

    Rows are sorted: such chunks lead to the same vertices, whose bits stay in a cache, and what comes first in a row
    often is enough. Chunks beyond the link come last, the first of every row first, so that what is read at a time lies
    close together.
    """
    first = placed.hub_ptr.astype(np.int64)
    counts = np.diff(first)
    hub = np.repeat(np.arange(len(counts)), counts)
    number = np.arange(len(hub)) - first[hub]
    _, near = degrees_and_places(adjacency, placed, placed.hubs)
    along = np.where(near[hub], number * _STEPS // counts[hub], _STEPS + np.minimum(number, _STEPS - 1))
    return np.argsort(along.astype(np.uint16), kind="stable").astype(np.uint32)


def chunks_at_hand(adjacency: Adjacency, placed: PlacedAdjacency) -> int:
    """Return how many chunks of hubs are in device memory: the first of :func:`order_of_chunks`."""
    _, near = degrees_and_places(adjacency, placed, placed.hubs)
    return int(np.diff(placed.hub_ptr.astype(np.int64))[near].sum())
