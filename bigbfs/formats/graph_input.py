"""A graph file (.csrbin, .ccsr, raw .csrbin, GAP .sg) as the edges that it holds, so that it can be converted again."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bigbfs.adjacency import PlainAdjacency
from bigbfs.edges import EdgeList
from bigbfs.errors import FormatError
from bigbfs.formats.sources import Source


def read_graph(source: Source) -> EdgeList:
    """Read all edges of a graph file in original ids.

    Vertices without edges are declared as part of the range of ids, or listed as isolated where ids have gaps.

    Raises
    ------
    FormatError
        It is no graph file, is cut short, damaged, or of a newer version.
    """
    from bigbfs import rows  # here and not above: formats do not depend on graphs, this one function does
    from bigbfs.graph import Graph

    with source.seekable() as (_, path):
        try:
            with Graph.open(path) as graph:
                rows.require_valid(graph.adjacency, source.name)
                plain = graph.decompress().adjacency
                assert isinstance(plain, PlainAdjacency)
                edges = _edges(plain, graph.labels, graph.first_id)
                return replace(edges, mirrored=graph.flags.symmetric, input_bytes=source.consumed)
        except FormatError as error:
            if str(path) != source.name:
                raise FormatError(str(error).replace(str(path), source.name)) from error
            raise


def _edges(plain: PlainAdjacency, labels: np.ndarray | None, first_id: int) -> EdgeList:
    """Return the edges and vertices, all copies, in original ids."""
    degrees = plain.degrees()
    if labels is None:
        dtype = np.dtype(np.uint32 if first_id + plain.n <= 2**32 else np.uint64)
        ids = np.arange(first_id, first_id + plain.n, dtype=dtype)
        targets = plain.indices.astype(dtype)
        targets += dtype.type(first_id)
        return EdgeList(np.repeat(ids, degrees), targets, first_id=first_id, declared_n=plain.n)
    wide = plain.n > 0 and int(labels.max()) >= 2**32
    ids = labels.astype(np.uint64 if wide else np.uint32)
    return EdgeList(np.repeat(ids, degrees), ids[plain.indices], isolated=ids[degrees == 0])
