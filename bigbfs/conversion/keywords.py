"""The keywords of :func:`bigbfs.convert` as type checkers see them: the fields of ``ConvertOptions``, all optional."""

from __future__ import annotations

from pathlib import Path
from typing import TypedDict


class ConvertKeywords(TypedDict, total=False):
    """See :class:`bigbfs.conversion.ConvertOptions`."""

    directed: bool
    undirected: bool
    in_edges: bool
    keep_duplicates: bool
    keep_self_loops: bool
    keep_ids: bool
    order: str
    compressed: bool
    format: str | None
    skip_bad_lines: int
    columns: tuple[int | str, int | str] | None
    edge_index: bool
    bipartite: bool
    names: bool | None
    header: bool | None
    memory: int | None
    tmp: Path | None
    shards: int | None
    force: bool
    threads: int | None
    progress: bool
