"""What a folder of shards says of its graph, whichever of the shards are there; no edge is read."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

import numpy as np

from bigbfs.formats.container import layout
from bigbfs.formats.container.describe import BLOCK, DegreeSummary, summarize
from bigbfs.formats.shards.manifest import Entry, read_manifest
from bigbfs.formats.shards.mapped import Lot, parts_of
from bigbfs.formats.shards.rest import Rest
from bigbfs.graph.flags import GraphFlags


class ShardsHere:
    """A folder of shards, by its manifest.

    Attributes
    ----------
    path, n, m, codec, flags
        As of a graph.
    manifest
        What the folder should hold.
    here
        The shards with rows that are there.

    Raises
    ------
    FormatError, FileAccessError
        There is no manifest, or it is damaged.
    """

    def __init__(self, path: Path) -> None:
        self.path, self.manifest = path, read_manifest(path)
        graph = self.manifest.graph
        self.n, self.m, self.codec = int(graph["vertices"]), int(graph["edges"]), str(graph["codec"])
        self.flags = GraphFlags(**{name: name in graph["flags"] for name in layout.FLAGS})
        self.ids = np.dtype(np.uint32 if graph["id_bytes"] == 4 else np.uint64)
        self.here = [part for part, entry in enumerate(self.manifest.shards) if (path / entry.file).is_file()]

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The shards, the rest behind them."""
        return (*self.manifest.shards, self.manifest.rest)

    @property
    def rows(self) -> int:
        """Rows of the shards that are there."""
        return sum(self.manifest.shards[part].rows for part in self.here)

    @cached_property
    def rest(self) -> Rest | None:
        """The rest, open; None: it is not there.

        Raises
        ------
        FormatError, FileAccessError
            It is damaged.
        """
        return Rest(self.path, self.manifest) if (self.path / self.manifest.rest.file).is_file() else None

    def degrees(self) -> Iterator[np.ndarray]:
        """Return the degrees of the rows that are there, a stretch at a time: int64.

        Raises
        ------
        FormatError, FileAccessError
            A shard is damaged.
        """
        for part in self.here:
            lot = Lot(self.path, self.manifest, range(part, part + 1))
            array = lot.pieces[0].array("indptr" if self.codec == "plain" else "degree")
            for start in range(0, len(lot.rows), BLOCK):
                if self.codec == "plain":
                    yield np.diff(array[start : start + BLOCK + 1]).astype(np.int64)
                else:
                    yield array[start : start + BLOCK].astype(np.int64)
            del array
            lot.close()

    def summary(self) -> DegreeSummary:
        """Return the degrees of the rows that are there in brief; FormatError where a shard is damaged."""
        edges = sum(self.manifest.shards[part].edges for part in self.here)
        return summarize(self.rows, edges, self.degrees, str(self.path))

    def busy(self) -> int:
        """Return how many vertices have neighbours: by the share of those that are there; all, where none is."""
        if not self.rows:
            return self.n
        found = sum(int(np.count_nonzero(degrees)) for degrees in self.degrees())
        return round(self.n * found / self.rows)

    def of_rank(self, rank: int, size: int) -> tuple[range, int, int]:
        """Return which shards ``rank`` of ``size`` owns, and their rows and bytes."""
        parts = parts_of(len(self.manifest.shards), rank, size)
        entries = self.manifest.shards[parts.start : parts.stop]
        return parts, sum(entry.rows for entry in entries), sum(entry.bytes for entry in entries)
