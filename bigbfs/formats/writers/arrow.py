"""Arrow IPC file (Feather version 2): edges as two columns of original ids or names, by batches; needs pyarrow."""

from __future__ import annotations

from bigbfs.formats.writers.edge_tables import require_room, write_edges
from bigbfs.formats.writers.writer import Writer

WRITER = Writer(
    "arrow",
    "Arrow IPC file (Feather): columns `source` and `target`, as Parquet (extra `tables`)",
    ".arrow",
    lambda graph, stream, both, progress: write_edges(graph, stream, "arrow", both, progress),
    numbered_from=None,
    one_direction=True,
    keeps_names=True,
    require_room=lambda graph, target, both: require_room(graph, target, "arrow", both),
)
