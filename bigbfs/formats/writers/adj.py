"""Ligra's AdjacencyGraph: the name, n, m, n offsets and m neighbours, a number on each line, vertices from 0.

Rows are written as the graph has them, so an undirected edge stands at both its ends.
"""

from __future__ import annotations

from typing import BinaryIO

import numpy as np

from bigbfs.formats.writers.writer import Exported, Progress, Writer
from bigbfs.graph.graph import Graph


def _write(graph: Graph, stream: BinaryIO, both: bool, progress: Progress) -> Exported:
    from bigbfs.formats.writers.lines import put_numbers
    from bigbfs.graph.chunks import CHUNK_EDGES, chunks

    stream.write(f"AdjacencyGraph\n{graph.n}\n{graph.m}\n".encode())
    offsets = graph.adjacency.edge_offsets()[:-1]
    for first in range(0, graph.n, CHUNK_EDGES):
        put_numbers(offsets[first : first + CHUNK_EDGES].view(np.int64), stream)
    for _, part in chunks(graph.adjacency):
        put_numbers(part.indices, stream)
        progress(part.m)
    return Exported(graph.m)


WRITER = Writer("adj", "Ligra's AdjacencyGraph, each row as it is stored", ".adj", _write)
