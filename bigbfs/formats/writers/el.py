"""Edge list: a line "u v" of original ids for each edge."""

from __future__ import annotations

from typing import BinaryIO

import numpy as np

from bigbfs.formats.writers.isolated import edge_notes
from bigbfs.formats.writers.writer import Exported, Progress, Writer
from bigbfs.graph.graph import Graph


def _write(graph: Graph, stream: BinaryIO, both: bool, progress: Progress) -> Exported:
    from bigbfs.formats.writers.lines import put_lines

    half = not graph.flags.directed and not both
    labels = np.zeros(0, np.int64) if graph.labels is None else graph.labels
    lines = put_lines(graph, stream, labels, graph.first_id, half, False, progress)
    return Exported(lines, *edge_notes(graph, "an edge list"))


WRITER = Writer(
    "el",
    'lines "u v" of original ids, an undirected edge once',
    ".el",
    _write,
    numbered_from=None,
    one_direction=True,
)
