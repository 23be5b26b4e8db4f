"""CSV: a header line, then a line for each edge: two original ids, or two names, quoted where they need it."""

from __future__ import annotations

from typing import BinaryIO

import numpy as np

from bigbfs.formats.writers.edge_tables import HEADER, require_room, write_edges
from bigbfs.formats.writers.isolated import edge_notes
from bigbfs.formats.writers.writer import Exported, Progress, Writer
from bigbfs.graph.graph import Graph


def _write(graph: Graph, stream: BinaryIO, both: bool, progress: Progress) -> Exported:
    if graph.names is not None:
        return write_edges(graph, stream, "csv", both, progress)
    from bigbfs.formats.writers.lines import put_lines

    stream.write((",".join(HEADER) + "\n").encode())
    half = not graph.flags.directed and not both
    labels = np.zeros(0, np.int64) if graph.labels is None else graph.labels
    lines = put_lines(graph, stream, labels, graph.first_id, half, False, progress, separator=",")
    return Exported(lines, *edge_notes(graph, "a CSV table of edges"))


WRITER = Writer(
    "csv",
    "CSV: a header line, then `source,target`, original ids or names, quoted where they need it",
    ".csv",
    _write,
    numbered_from=None,
    one_direction=True,
    keeps_names=True,
    require_room=lambda graph, target, both: require_room(graph, target, "csv", both),
)
