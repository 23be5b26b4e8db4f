"""Edges as lines "u v", and numbers as lines, in decimal, formatted by all threads."""

from __future__ import annotations

from typing import BinaryIO

import numpy as np

from bigbfs.formats.writers import kernels
from bigbfs.formats.writers.writer import Progress
from bigbfs.graph.chunks import chunks
from bigbfs.graph.graph import Graph
from bigbfs.graph.views import frozen, row_chunks, signed
from bigbfs.jit.team import team_of
from bigbfs.jit.workers import thread_count


def put_lines(
    graph: Graph,
    stream: BinaryIO,
    labels: np.ndarray,
    first_id: int,
    half: bool,
    larger_first: bool,
    progress: Progress,
    separator: str = " ",
) -> int:
    """Write the edges as text; return how many lines.

    Parameters
    ----------
    labels, first_id
        Name of vertex v: ``labels[v]``, or ``v + first_id`` where there are none.
    half
        Only edges u -> v with u <= v.
    larger_first
        Write "v u".
    separator
        The character between the two.

    Raises
    ------
    FormatError
        The graph is damaged.
    """
    text = np.empty(0, np.uint8)
    lines = 0
    for first, part in chunks(graph.adjacency):
        bounds = row_chunks(part.indptr, 4 * thread_count())
        if len(text) < kernels.LINE_BYTES * part.m:
            text = np.empty(kernels.LINE_BYTES * part.m, np.uint8)
        lengths = np.zeros(len(bounds) - 1, np.int64)
        ids = frozen(part.indices)
        kernels.put_edges(
            team_of(thread_count()),
            signed(part.indptr),
            ids,
            first,
            bounds,
            frozen(labels),
            first_id,
            half,
            larger_first,
            ord(separator),
            text,
            lengths,
        )
        starts = kernels.LINE_BYTES * part.indptr[bounds[:-1]].astype(np.int64)
        for start, length in zip(starts.tolist(), lengths.tolist(), strict=True):
            written = text.data[start : start + length]
            stream.write(written)
            lines += int(np.count_nonzero(text[start : start + length] == 10))
        progress(part.m)
    return lines


def put_numbers(numbers: np.ndarray, stream: BinaryIO) -> None:
    """Write integers (below 2**63), each on a line of its own."""
    parts = 4 * thread_count()
    bounds = np.array([len(numbers) * part // parts for part in range(parts + 1)], np.int64)
    text = np.empty(kernels.NUMBER_BYTES * len(numbers), np.uint8)
    lengths = np.zeros(parts, np.int64)
    kernels.put_numbers(team_of(thread_count()), frozen(numbers), bounds, text, lengths)
    for start, length in zip((kernels.NUMBER_BYTES * bounds[:-1]).tolist(), lengths.tolist(), strict=True):
        stream.write(text.data[start : start + length])
