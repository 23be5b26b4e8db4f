"""Whether all ranks have opened the same graph."""

from __future__ import annotations

import hashlib
from pathlib import Path

from bigbfs.engines.ranks.group import Group
from bigbfs.errors import UsageError
from bigbfs.graph.graph import Graph

HEADER = 4096
"""Bytes at the beginning of a graph file by which ranks compare theirs: header, section table, checksums."""


def require_one_file(graph: Graph, group: Group) -> None:
    """Refuse ranks that have opened different files: their sizes and headers, with all checksums, are compared.

    Of shards the manifests were compared when they were opened.

    Raises
    ------
    UsageError
        Names two ranks, their hosts and what each has opened.
    """
    if getattr(graph, "partition", None) is not None:
        return
    mine = (graph.n, graph.m, graph.codec, str(graph.path), _identity(graph.path))
    everyone = group.objects(mine)
    for rank, theirs in enumerate(everyone):
        if (theirs[:3], theirs[4]) != (everyone[0][:3], everyone[0][4]):
            said = [
                f"rank {number} (host {group.hosts[number]}) has {path}: {n:,} vertices, {m:,} edges, {codec}"
                for number, (n, m, codec, path, _) in ((0, everyone[0]), (rank, theirs))
            ]
            raise UsageError(
                f"ranks have opened different graphs; {'; '.join(said)}; give all the same file", names_ranks=True
            )


def _identity(path: Path | None) -> str:
    """Return what tells files apart: their size and the hash of their beginning; empty for a graph in memory."""
    if path is None:
        return ""
    with path.open("rb") as stream:
        return f"{path.stat().st_size} {hashlib.sha256(stream.read(HEADER)).hexdigest()}"
