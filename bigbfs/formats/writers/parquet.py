"""Parquet: edges as two columns of original ids or names, by row groups; needs pyarrow (the extra ``tables``)."""

from __future__ import annotations

from bigbfs.formats.writers.edge_tables import require_room, write_edges
from bigbfs.formats.writers.writer import Writer

WRITER = Writer(
    "parquet",
    "Parquet: columns `source` and `target`, original ids or names (extra `tables`)",
    ".parquet",
    lambda graph, stream, both, progress: write_edges(graph, stream, "parquet", both, progress),
    numbered_from=None,
    one_direction=True,
    keeps_names=True,
    require_room=lambda graph, target, both: require_room(graph, target, "parquet", both),
)
