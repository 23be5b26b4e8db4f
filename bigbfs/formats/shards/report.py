"""What splitting and joining report."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class ShardsReport:
    """What a split or a join has written.

    Attributes
    ----------
    output
        The folder of shards, or the graph file.
    shards
        Shards with rows.
    vertices, edges
        Of the graph.
    output_bytes
        Bytes of all shards, or of the graph file.
    kept
        Shards that were done already, by a run that was stopped.
    seconds
        From the call to the manifest, or to the file's name.
    """

    output: str
    shards: int
    vertices: int
    edges: int
    output_bytes: int
    kept: int
    seconds: float

    def as_json(self) -> dict[str, Any]:
        """Return the fields as plain values."""
        return asdict(self)
