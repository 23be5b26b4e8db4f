"""Write a graph in formats that other tools read: edge list, Matrix Market, GAP .sg, raw CSR.

In: a Graph, plain or compressed. Out: a file. The edges are taken in chunks of bounded size, so the memory needed does
not grow with them, except for a directed .sg without stored in-neighbours, which have to be made.

``el`` is one line "u v" of original ids for each edge; of an undirected graph each edge once, so that converting the
file again gives the same graph. ``mtx`` numbers the vertices from 1, ``sg`` and ``raw`` from 0, in the order that the
graph has them.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numba
import numpy as np

from bigbfs.errors import FormatError, UsageError
from bigbfs.formats.atomic import replacing
from bigbfs.formats.container import csrbin, gapsg
from bigbfs.formats.container.describe import degree_blocks
from bigbfs.formats.writers import export_kernels
from bigbfs.graph import rows
from bigbfs.graph.chunks import chunks
from bigbfs.graph.graph import Graph
from bigbfs.graph.views import frozen, row_chunks, signed

SUFFIXES = {"el": ".el", "mtx": ".mtx", "sg": ".sg", "raw": ".raw.csrbin"}
"""Formats, with the suffix that their files get by default."""

Progress = Callable[[int], object]


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written: ``lines`` (or stored edges), ``isolated`` vertices that an edge list cannot express."""

    lines: int
    isolated: int
    notes: tuple[str, ...]


def export(
    graph: Graph,
    to: str,
    output: Path | BinaryIO,
    *,
    both_directions: bool = False,
    progress: Progress = lambda edges: None,
) -> Exported:
    """Write ``graph`` as ``to`` (``el``, ``mtx``, ``sg`` or ``raw``).

    Parameters
    ----------
    output
        A file, replaced only when all is written, or an open binary stream.
    both_directions
        ``el``: write an undirected edge once in each direction, as tools that know directed edges only want it.
    progress
        Called with the number of edges done since the last call.

    Raises
    ------
    UsageError
        The format cannot hold so many vertices.
    FileAccessError
        The file cannot be written.
    FormatError
        The graph file is damaged.
    """
    if graph.path is not None:
        csrbin.require_checksums(graph.path)
    try:
        return _export(graph, to, output, both_directions, progress)
    except FormatError as error:
        raise FormatError(f"{graph.path or 'graph'}: {error}") from None


def _export(graph: Graph, to: str, output: Path | BinaryIO, both_directions: bool, progress: Progress) -> Exported:
    if to in ("sg", "raw") and graph.n > 2**31:
        raise UsageError(f"{to} has 32-bit signed ids: {graph.n} vertices are too many; export el or mtx")
    if isinstance(output, Path):
        with replacing(output) as stream:
            return _export(graph, to, stream, both_directions, progress)
    if to == "el":
        return _edge_list(graph, output, both_directions, progress)
    notes = []
    if to == "mtx":
        lines = _matrix_market(graph, output, progress)
        own = graph.labels is None and graph.first_id == 1
    else:
        _binary(graph, to, output, progress)
        lines, own = graph.m, graph.labels is None and graph.first_id == 0
    if not own and graph.n:
        start = int(to == "mtx")
        notes.append(
            f"{to} has no place for ids: vertices are numbered {start} to {graph.n - 1 + start} in the graph's order, "
            f"the first is {int(graph.original(0))}"
        )
    return Exported(lines, 0, tuple(notes))


def _edge_list(graph: Graph, stream: BinaryIO, both: bool, progress: Progress) -> Exported:
    half = not graph.flags.directed and not both
    labels = np.zeros(0, np.int64) if graph.labels is None else graph.labels
    lines = _put_lines(graph, stream, labels, graph.first_id, half, False, progress)
    if graph.flags.directed:
        touched = np.concatenate([np.zeros(0, np.bool_), *(degrees > 0 for degrees in degree_blocks(graph))])
        for _, part in chunks(graph.adjacency):
            touched[part.indices] = True
        isolated = graph.n - int(np.count_nonzero(touched))
    else:
        isolated = sum(int(np.count_nonzero(degrees == 0)) for degrees in degree_blocks(graph))
    notes = []
    if isolated:
        notes.append(
            f"an edge list cannot express isolated vertices: {isolated:,} are missing (mtx, sg, raw keep them)"
        )
    return Exported(lines, isolated, tuple(notes))


def _matrix_market(graph: Graph, stream: BinaryIO, progress: Progress) -> int:
    """Write Matrix Market; the lower triangle of a symmetric graph, as its "symmetric" asks for."""
    half = graph.flags.symmetric and not graph.flags.directed
    entries = graph.m
    if half:
        loops = 0
        if not graph.flags.loops_removed:
            for first, part in chunks(graph.adjacency):
                owner = np.repeat(np.arange(first, first + part.n), part.degrees())
                loops += int(np.count_nonzero(part.indices == owner.astype(part.ids)))
        entries = (graph.m + loops) // 2
    kind = "symmetric" if half else "general"
    stream.write(f"%%MatrixMarket matrix coordinate pattern {kind}\n{graph.n} {graph.n} {entries}\n".encode())
    _put_lines(graph, stream, np.zeros(0, np.int64), 1, half, half, progress)
    return entries


def _put_lines(
    graph: Graph,
    stream: BinaryIO,
    labels: np.ndarray,
    first_id: int,
    half: bool,
    larger_first: bool,
    progress: Progress,
) -> int:
    """Write the edges as text; return how many lines."""
    text = np.empty(0, np.uint8)
    lines = 0
    for first, part in chunks(graph.adjacency):
        bounds = row_chunks(part.indptr, 4 * numba.get_num_threads())
        if len(text) < export_kernels.LINE_BYTES * part.m:
            text = np.empty(export_kernels.LINE_BYTES * part.m, np.uint8)
        lengths = np.zeros(len(bounds) - 1, np.int64)
        ids = frozen(part.indices)
        export_kernels.put_edges(
            signed(part.indptr),
            ids,
            first,
            bounds,
            frozen(labels),
            first_id,
            half,
            larger_first,
            text,
            lengths,
        )
        starts = export_kernels.LINE_BYTES * part.indptr[bounds[:-1]].astype(np.int64)
        for start, length in zip(starts.tolist(), lengths.tolist(), strict=True):
            written = text.data[start : start + length]
            stream.write(written)
            lines += int(np.count_nonzero(text[start : start + length] == 10))
        progress(part.m)
    return lines


def _binary(graph: Graph, to: str, stream: BinaryIO, progress: Progress) -> None:
    """Write .sg or raw: a header, offsets, 32-bit ids; for a directed .sg the in-neighbours too."""
    directed = graph.flags.directed
    if to == "raw":
        stream.write(struct.pack("<QQ", graph.n, graph.m))
    else:
        stream.write(gapsg.pack_header(directed, graph.m, graph.n))
    parts = [graph.adjacency]
    if to == "sg" and directed:
        if graph.in_adjacency is None:
            rows.require_valid(graph.adjacency, "out-neighbours")
        parts.append(rows.transpose(graph.adjacency) if graph.in_adjacency is None else graph.in_adjacency)
    for adjacency in parts:
        stream.write(adjacency.edge_offsets().data.cast("B"))
        for _, part in chunks(adjacency):
            stream.write(part.indices.astype(np.int32).data.cast("B"))
            progress(part.m // len(parts))
