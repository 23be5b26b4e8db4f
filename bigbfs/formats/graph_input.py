"""A graph file (.csrbin, .ccsr, raw .csrbin, GAP .sg) as the edges that it holds, so that it can be converted again."""

from __future__ import annotations

import numpy as np

from bigbfs.adjacency import PlainAdjacency
from bigbfs.edges import EdgeList
from bigbfs.errors import FormatError
from bigbfs.formats.sources import Source


def read_graph(source: Source) -> EdgeList:
    """Read all edges of a graph file in original ids.

    A vertex without edges whose id the file cannot declare as part of a range (labels with gaps) gets a self-loop,
    so that it stays a vertex.

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
                sources, targets, declared = _edges(plain, graph.labels, graph.first_id)
                return EdgeList(
                    sources,
                    targets,
                    first_id=graph.first_id if declared is not None else 0,
                    declared_n=declared,
                    mirrored=graph.flags.symmetric,
                    input_bytes=source.consumed,
                )
        except FormatError as error:
            if str(path) != source.name:
                raise FormatError(str(error).replace(str(path), source.name)) from error
            raise


def _edges(
    plain: PlainAdjacency, labels: np.ndarray | None, first_id: int
) -> tuple[np.ndarray, np.ndarray, int | None]:
    """Return (sources, targets, declared vertices), all copies, in original ids."""
    degrees = plain.degrees()
    if labels is None:
        dtype = np.dtype(np.uint32 if first_id + plain.n <= 2**32 else np.uint64)
        ids = np.arange(first_id, first_id + plain.n, dtype=dtype)
        targets = plain.indices.astype(dtype)
        targets += dtype.type(first_id)
        return np.repeat(ids, degrees), targets, plain.n
    wide = plain.n > 0 and int(labels.max()) >= 2**32
    ids = labels.astype(np.uint64 if wide else np.uint32)
    alone = ids[degrees == 0]
    sources = np.concatenate((np.repeat(ids, degrees), alone))
    return sources, np.concatenate((ids[plain.indices], alone)), None
