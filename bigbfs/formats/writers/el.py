"""Edge list: a line "u v" of original ids for each edge."""

from __future__ import annotations

from typing import BinaryIO

import numpy as np

from bigbfs.formats.container.describe import degree_blocks
from bigbfs.formats.writers import writers
from bigbfs.formats.writers.writer import Exported, Progress, Writer
from bigbfs.graph.graph import Graph


def _write(graph: Graph, stream: BinaryIO, both: bool, progress: Progress) -> Exported:
    from bigbfs.formats.writers.lines import put_lines

    half = not graph.flags.directed and not both
    labels = np.zeros(0, np.int64) if graph.labels is None else graph.labels
    lines = put_lines(graph, stream, labels, graph.first_id, half, False, progress)
    isolated = _isolated(graph)
    notes = []
    if isolated:
        keep = ", ".join(writer.name for writer in writers().values() if writer.numbered_from is not None)
        notes.append(f"an edge list cannot express isolated vertices: {isolated:,} are missing ({keep} keep them)")
    return Exported(lines, isolated, tuple(notes))


def _isolated(graph: Graph) -> int:
    """Return the vertices without an edge."""
    from bigbfs.graph.chunks import chunks

    if not graph.flags.directed:
        return sum(int(np.count_nonzero(degrees == 0)) for degrees in degree_blocks(graph))
    touched = np.concatenate([np.zeros(0, np.bool_), *(degrees > 0 for degrees in degree_blocks(graph))])
    for _, part in chunks(graph.adjacency):
        touched[part.indices] = True
    return graph.n - int(np.count_nonzero(touched))


WRITER = Writer(
    "el",
    'lines "u v" of original ids, an undirected edge once',
    ".el",
    _write,
    numbered_from=None,
    one_direction=True,
)
