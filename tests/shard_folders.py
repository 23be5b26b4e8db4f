"""Shards of a graph in folders as machines have them: each rank's own shards, the rest, the manifest, and no more."""

from __future__ import annotations

import shutil
from pathlib import Path

from bigbfs.formats.shards.mapped import parts_of
from bigbfs.formats.shards.split import split
from bigbfs.graph.graph import Graph


def folders_of(path: Path, shards: int, ranks: int) -> list[Path]:
    """Split the graph file ``path``; return a folder for each rank."""
    whole = path.with_suffix(".shards")
    split(path, whole, shards=shards)
    made = []
    for rank in range(ranks):
        made.append(path.parent / f"machine{rank}" / "g.shards")
        made[-1].mkdir(parents=True)
        for name in ["manifest.json", "rest.shard", *(f"{part:05}.shard" for part in parts_of(shards, rank, ranks))]:
            shutil.copy(whole / name, made[-1])
    return made


def folders(graph: Graph, codec: str, at: Path, *, shards: int, ranks: int) -> list[Path]:
    """Save ``graph`` in the folder ``at``, compressed or plain, and split it; return a folder for each rank."""
    path = at / ("g.ccsr" if codec == "varint" else "g.csrbin")
    (graph.compress() if codec == "varint" else graph).save(path)
    return folders_of(path, shards, ranks)
