"""Grids of two and three dimensions: the graphs of huge diameter and constant degree.

Vertex v stands at column ``v % columns``, row ``v // columns % rows``, layer ``v // (columns * rows)``. Only the last
row or layer may be incomplete, so any number of vertices makes a grid. Out: each edge once, as (v, the next one along
an axis), in ascending order of v. The edges of the vertices before v can be counted without looking at them, so every
range of vertices knows where to write.
"""

from __future__ import annotations

from typing import Any

from bigbfs.generate.arrays import Pairs, allocate, spread
from bigbfs.jit.njit import njit


def grid(seed: int, threads: int, p: dict[str, Any]) -> Pairs:
    """Return the edges of a grid of ``vertices`` with ``columns`` and, in three dimensions, ``rows`` in each layer."""
    n, columns = p["vertices"], p["columns"]
    layer = columns * (p.get("rows_per_layer") or n + 1)  # in two dimensions a layer that holds all of them
    src, dst = allocate(n, edge_count(n, columns, layer))
    spread(threads, _fill, n, n, columns, layer, src, dst)
    return src, dst


def edge_count(n: int, columns: int, layer: int) -> int:
    """Return the edges of a grid of ``n`` vertices, ``columns`` in a row and ``layer`` in a layer."""
    return int(_edges_before.py_func(n, n, columns, layer))


@njit(cache=True, nogil=True)
def _edges_before(v, n, columns, layer):
    """Count the edges that start at vertices before ``v``: along the row, to the next row, to the next layer."""
    along = min(v, max(n - 1, 0))
    along -= along // columns
    across = min(v, max(n - columns, 0))
    across -= across // layer * columns + max(across % layer - (layer - columns), 0)
    return along + across + min(v, max(n - layer, 0))


@njit(cache=True, nogil=True)
def _fill(first, last, n, columns, layer, src, dst):
    edge = _edges_before(first, n, columns, layer)
    column, place = first % columns, first % layer
    for v in range(first, last):
        if column < columns - 1 and v + 1 < n:
            src[edge], dst[edge] = v, v + 1
            edge += 1
        if place < layer - columns and v + columns < n:
            src[edge], dst[edge] = v, v + columns
            edge += 1
        if v + layer < n:
            src[edge], dst[edge] = v, v + layer
            edge += 1
        column = 0 if column == columns - 1 else column + 1
        place = 0 if place == layer - 1 else place + 1
