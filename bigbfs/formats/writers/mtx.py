"""Matrix Market, pattern: the lower triangle of a symmetric graph, as its "symmetric" asks for."""

from __future__ import annotations

from typing import BinaryIO

import numpy as np

from bigbfs.formats.writers.writer import Exported, Progress, Writer
from bigbfs.graph.graph import Graph


def _write(graph: Graph, stream: BinaryIO, both: bool, progress: Progress) -> Exported:
    from bigbfs.formats.writers.lines import put_lines

    half = graph.flags.symmetric and not graph.flags.directed
    entries = (graph.m + _loops(graph)) // 2 if half else graph.m
    kind = "symmetric" if half else "general"
    stream.write(f"%%MatrixMarket matrix coordinate pattern {kind}\n{graph.n} {graph.n} {entries}\n".encode())
    put_lines(graph, stream, np.zeros(0, np.int64), 1, half, half, progress)
    return Exported(entries)


def _loops(graph: Graph) -> int:
    """Return the self-loops."""
    from bigbfs.graph.chunks import chunks

    loops = 0
    if not graph.flags.loops_removed:
        for first, part in chunks(graph.adjacency):
            owner = np.repeat(np.arange(first, first + part.n), part.degrees())
            loops += int(np.count_nonzero(part.indices == owner.astype(part.ids)))
    return loops


WRITER = Writer("mtx", "Matrix Market, pattern; vertices from 1", ".mtx", _write, numbered_from=1)
