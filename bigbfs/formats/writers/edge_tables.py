"""Edges as a table of two columns, ``source`` and ``target``: original ids (int64) or names, portion by portion.

Memory holds one portion, and the names of the graph where there is room for all of them. An undirected edge is a row
once, from the vertex that comes first in the graph.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np

from bigbfs.errors import DoesNotFitError
from bigbfs.formats.tables import results
from bigbfs.formats.tables.csvfile import is_name
from bigbfs.formats.writers.isolated import edge_notes
from bigbfs.formats.writers.writer import Exported, Progress
from bigbfs.graph.graph import Graph
from bigbfs.sizes import size_allowed, size_needed

HEADER = ("source", "target")
"""Names of the columns, which `convert` knows."""
NAMED_ROWS = 1 << 16
"""Rows of a portion, and so of a row group, where vertices have names; of numbers it is what a chunk holds."""
_SAMPLES, _SAMPLED_EDGES = 8, 1 << 16
_LONGEST_ROW = 2 * 20 + 2
"""Bytes of a row of numbers in CSV, at most; in the other kinds it takes less."""


def write_edges(graph: Graph, stream: BinaryIO, kind: str, both: bool, progress: Progress) -> Exported:
    """Write all edges as a table of ``kind``, one of ``results.KINDS``.

    Raises
    ------
    FormatError
        The graph is damaged.
    UsageError
        pyarrow is not installed, and ``kind`` is not CSV.
    """
    rows = 0
    half = not graph.flags.directed and not both

    def counted() -> Iterator[results.Columns]:
        nonlocal rows
        for piece in _pieces(graph, half, progress):
            rows += len(piece[HEADER[0]])
            yield piece

    results.write_pieces(stream, kind, counted(), HEADER, graph.names)
    isolated, notes = edge_notes(graph, f"a {kind} table of edges")
    if kind == "csv" and graph.names is not None and _like_numbers(graph):
        notes += ("its first names look like numbers: `names` says that they are names when it is converted again",)
    return Exported(rows, isolated, notes)


def _pieces(graph: Graph, half: bool, progress: Progress, every: int = 1) -> Iterator[results.Columns]:
    """Return the edges, portion by portion; ``every``: one of so many stretches of rows alone."""
    from bigbfs.graph.chunks import CHUNK_EDGES, chunks

    most = CHUNK_EDGES if graph.names is None else NAMED_ROWS
    done = False
    for first, part in chunks(graph.adjacency, CHUNK_EDGES if every == 1 else _SAMPLED_EDGES, every=every):
        sources = np.repeat(np.arange(first, first + part.n), part.degrees().astype(np.int64))
        targets = part.indices.astype(np.int64)
        if half:
            kept = sources <= targets
            sources, targets = sources[kept], targets[kept]
        for begin in range(0, len(sources), most):
            ends = (sources[begin : begin + most], targets[begin : begin + most])
            yield dict(zip(HEADER, map(graph.original, ends), strict=True))
            done = True
        progress(part.m)
    if not done:
        yield dict.fromkeys(HEADER, np.empty(0, np.int64))


def _like_numbers(graph: Graph) -> bool:
    """Tell whether an end of the first edge looks like a number: then nothing in a CSV file says that it is a name."""
    first = next(_pieces(graph, False, lambda edges: None))
    assert graph.names is not None
    return len(first[HEADER[0]]) > 0 and not all(is_name(graph.names.name(int(first[each][0]))) for each in HEADER)


def require_room(graph: Graph, target: Path, kind: str, both: bool) -> None:
    """Refuse a table for which its disk has no room, by what some of its rows take.

    Raises
    ------
    DoesNotFitError
        Names the file, what is needed and what is free.
    FormatError
        The graph is damaged.
    """
    status = os.statvfs(target.parent)
    free = status.f_bavail * status.f_frsize
    names = 0 if graph.names is None else 32 * len(graph.names.blob) // max(1, graph.n)
    if graph.m * (_LONGEST_ROW + 2 * names) <= free:
        return  # whatever they are
    need = expected_bytes(graph, kind, both)
    if need > free:
        raise DoesNotFitError(
            f"{target}: the table needs about {size_needed(need)}, and {size_allowed(free)} are free there",
            remedies=("free some", ("output", None, "write to another disk with {}")),
        )


def expected_bytes(graph: Graph, kind: str, both: bool) -> int:
    """Return about how many bytes a table takes, by writing rows from all over the graph to memory."""
    seen = 0

    def count(edges: int) -> None:
        nonlocal seen
        seen += edges

    every = max(1, graph.m // _SAMPLED_EDGES // _SAMPLES)
    written = io.BytesIO()
    pieces = _pieces(graph, not graph.flags.directed and not both, count, every)
    results.write_pieces(written, kind, pieces, HEADER, graph.names, hold=False)
    return len(written.getvalue()) * graph.m // max(1, seen)
