"""GAP's serialized graph: header, offsets, 32-bit ids; of a directed graph the in-neighbours too."""

from __future__ import annotations

from typing import BinaryIO

import numpy as np

from bigbfs.formats.container import gapsg
from bigbfs.formats.writers.writer import Exported, Progress, Writer
from bigbfs.graph.adjacency import Adjacency
from bigbfs.graph.graph import Graph


def put_rows(adjacency: Adjacency, stream: BinaryIO, progress: Progress) -> None:
    """Write offsets (i64) and ids (i32); ``progress`` is told of all edges."""
    from bigbfs.graph.chunks import chunks

    stream.write(adjacency.edge_offsets().data.cast("B"))
    for _, part in chunks(adjacency):
        stream.write(part.indices.astype(np.int32).data.cast("B"))
        progress(part.m)


def _write(graph: Graph, stream: BinaryIO, both: bool, progress: Progress) -> Exported:
    from bigbfs.graph import rows

    directed = graph.flags.directed
    stream.write(gapsg.pack_header(directed, graph.m, graph.n))
    parts = [graph.adjacency]
    if directed:
        if graph.in_adjacency is None:
            rows.require_valid(graph.adjacency, "out-neighbours")
        parts.append(rows.transpose(graph.adjacency) if graph.in_adjacency is None else graph.in_adjacency)
    for adjacency in parts:
        put_rows(adjacency, stream, lambda edges: progress(edges // len(parts)))
    return Exported(graph.m)


WRITER = Writer("sg", "serialized graph of the GAP benchmark suite", ".sg", _write, most_vertices=2**31)
