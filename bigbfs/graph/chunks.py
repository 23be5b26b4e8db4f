"""The edges of a graph in stretches of bounded size, plain, whatever its encoding: for whoever writes all of them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, pairwise

import numpy as np

from bigbfs.errors import FormatError
from bigbfs.graph import structure, varint
from bigbfs.graph.adjacency import Adjacency, PlainAdjacency
from bigbfs.graph.views import row_chunks

CHUNK_EDGES = 1 << 20
"""Edges taken at once."""


def chunks(adjacency: Adjacency, edges: int = CHUNK_EDGES, every: int = 1) -> Iterator[tuple[int, PlainAdjacency]]:
    """Yield (first row, plain rows with offsets from 0 on) in order, at most about ``edges`` edges at a time.

    A row that is longer comes in several pieces, each as a row of the same number. ``every``: of so many stretches one
    alone, for a sample.

    Raises
    ------
    FormatError
        Offsets that descend, an index out of range, or a damaged blob.
    """
    if isinstance(adjacency, PlainAdjacency):
        offsets = adjacency.indptr
        if structure.first_descent(offsets) is not None or int(offsets[-1]) != adjacency.m:
            raise FormatError("corrupted: indptr descends; `bigbfs check` names the place")
    else:
        offsets = structure.checked_edge_offsets(adjacency)
    bounds = row_chunks(offsets, max(1, (int(offsets[-1]) + adjacency.n) // edges))
    for first, last in islice(pairwise(bounds.tolist()), 0, None, every):
        if isinstance(adjacency, PlainAdjacency):
            start, stop = int(offsets[first]), int(offsets[last])
            ids = adjacency.indices[start:stop]
            if len(ids) and int(ids.max()) >= adjacency.n:
                raise FormatError("corrupted: an index is no vertex; `bigbfs check` names the place")
            part = PlainAdjacency(offsets[first : last + 1] - np.uint64(start), ids)
        else:
            part = varint.decode_rows(adjacency, first, last)
        for begin in range(0, part.m, 2 * edges):
            end = min(begin + 2 * edges, part.m)
            low = int(np.searchsorted(part.indptr, np.uint64(begin), side="right")) - 1
            high = int(np.searchsorted(part.indptr, np.uint64(end), side="left"))
            inside = np.clip(part.indptr[low : high + 1], np.uint64(begin), np.uint64(end)) - np.uint64(begin)
            yield first + low, PlainAdjacency(inside, part.indices[begin:end])
