"""Rows of some shards as one adjacency, each mapped where it lies: edges are not copied.

In: files of shards that follow one another. Out: an adjacency whose arrays are as long as those of the whole graph, but
empty where rows are not here: addresses without memory. A stretch of addresses is set aside, and the files are mapped
into it (``MAP_FIXED``), each from a page on, one after the other. The edges of all shards are one array, which begins
where the first file does; other sections lie between. So positions are neither those of the graph nor of the shard, and
offsets are made anew: 8 bytes and an eighth for each row (plain), or 8 and an id (varint). No file stays open.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np

from bigbfs.errors import FormatError, UsageError
from bigbfs.formats.container import layout
from bigbfs.formats.shards.extents import WORD
from bigbfs.formats.shards.manifest import NAME, Manifest, open_shard
from bigbfs.formats.shards.pieces import ADVICE, Piece, addresses_for, empty, map_shard, whole_pages
from bigbfs.graph.adjacency import CompressedAdjacency, PiecewiseAdjacency, gapped
from bigbfs.sizes import counted

_WORDS = 1 << 14
"""Words of rows whose offsets are made at once."""


class Lot:
    """Some shards of a graph that follow one another, mapped; closed by :meth:`close`.

    Attributes
    ----------
    pieces
        The shards.
    nbytes
        Bytes of memory that the offsets take; the mapped files are not counted.

    Raises
    ------
    FormatError
        A shard is missing, damaged, of another graph, or contradicts the manifest or the others. Names the file.
    FileAccessError
        It cannot be read or mapped.
    """

    def __init__(self, folder: Path, manifest: Manifest, parts: range) -> None:
        self.pieces: list[Piece] = []
        self.nbytes = 0
        sizes = [whole_pages(manifest.shards[part].bytes) for part in parts]
        self._addresses = addresses_for(sum(sizes))
        try:
            place = 0
            for part, size in zip(parts, sizes, strict=True):
                with open_shard(folder, manifest, part) as shard:
                    self.pieces.append(map_shard(self._addresses, place, size, shard))
                self._require_alike(self.pieces[-1], folder, manifest, part)
                place += size
        except BaseException:
            self.close()
            raise
        self.header = self.pieces[0].header.graph
        self.ids = np.dtype(np.uint32 if self.header.id_bytes == 4 else np.uint64)

    def _require_alike(self, piece: Piece, folder: Path, manifest: Manifest, part: int) -> None:
        """Refuse a shard that does not say what the manifest, and the first shard, say."""
        graph, first = piece.header.graph, self.pieces[0]
        start = piece.header.first_row
        said = (graph.n, graph.m, graph.codec, start, piece.header.rows)
        facts, entry = manifest.graph, manifest.shards[part]
        wanted = (facts["vertices"], facts["edges"], facts["codec"], entry.first_row, entry.rows)
        uneven = start % WORD and start != graph.n
        if said != wanted or uneven or set(piece.sections) != set(first.sections):
            raise FormatError(
                f"{piece.path}: says {said} where {folder / NAME} says {wanted}, or has other sections than "
                f"{first.path}{ADVICE}"
            )
        _require_consistent(piece)

    @property
    def rows(self) -> range:
        """The vertices whose rows these are."""
        first, last = self.pieces[0].header, self.pieces[-1].header
        return range(first.first_row, last.first_row + last.rows)

    def has(self, name: str) -> bool:
        """Return whether the shards have a section of this name."""
        return name in self.pieces[0].sections

    def labels(self) -> np.ndarray:
        """Return the original ids of the rows: int64."""
        return np.concatenate([piece.array("labels") for piece in self.pieces])

    def require_labels(self) -> None:
        """Hold the original ids of the rows, if there are any, against their checksums.

        Nothing else would tell a label that became another one: a search is right, and its ids are wrong. They are read
        to be told to other ranks anyway, and a checksum takes as long as looking whether they ascend.

        Raises
        ------
        FormatError
            Names the first shard whose labels are damaged.
        """
        if self.has("labels"):
            for piece in self.pieces:
                piece.require_checksum("labels")

    def require_offsets(self) -> int:
        """Check the offsets of all rows, those of in-neighbours too; return the edges of the out-rows.

        Raises
        ------
        FormatError
            Names the shard and the first place that is wrong.
        """
        if self.has("in_indptr"):
            for piece in self.pieces:
                piece.require_offsets("in_")
        return sum(piece.require_offsets("") for piece in self.pieces)

    def require_valid(self) -> int:
        """Check all rows, those of in-neighbours too; return the edges of the out-rows.

        Raises
        ------
        FormatError
            Names the shard and the first place that is wrong.
        """
        n = self.header.n
        if self.has("in_indptr"):
            for piece in self.pieces:
                piece.require_valid("in_", n)
        return sum(piece.require_valid("", n) for piece in self.pieces)

    def adjacency(self, prefix: str = "") -> PiecewiseAdjacency | CompressedAdjacency:
        """Return the out-neighbours, or with ``prefix="in_"`` the in-neighbours.

        Raises
        ------
        FileAccessError
            A section cannot be mapped.
        """
        n, ids = self.header.n, self.ids
        if self.header.codec == "plain":
            indices, starts = self._edges(prefix + "indices")
            indptr = empty(gapped(n), np.dtype(np.uint64))
            for piece, start in zip(self.pieces, starts, strict=True):
                _fill_gapped(indptr, piece.array(prefix + "indptr"), piece.header.first_row, start)
            self.nbytes += -(-len(self.rows) // 64) * 65 * 8
            edges = sum(piece.sections[prefix + "indices"].count for piece in self.pieces)
            return PiecewiseAdjacency(indptr, indices, n, edges)
        blob, starts = self._edges(prefix + "blob")
        indptr, degree = empty(n + 1, np.dtype(np.uint64)), empty(n, ids)
        hub_ptr, block_ptr, hubs = [np.zeros(1, np.uint64)], [np.zeros(0, np.uint64)], [np.zeros(0, ids)]
        for piece, start in zip(self.pieces, starts, strict=True):
            first, last = piece.header.first_row, piece.header.first_row + piece.header.rows
            np.add(piece.array(prefix + "indptr"), np.uint64(start), out=indptr[first : last + 1])
            degree[first:last] = piece.array(prefix + "degree")
            hub_ptr.append(piece.array(prefix + "hub_ptr")[1:] + np.uint64(sum(map(len, block_ptr))))
            block_ptr.append(piece.array(prefix + "block_ptr") + np.uint64(start))
            hubs.append(piece.array(prefix + "hubs"))
        index = [np.concatenate(each) for each in (hubs, hub_ptr, block_ptr)]
        self.nbytes += len(self.rows) * (8 + ids.itemsize) + sum(each.nbytes for each in index)
        return CompressedAdjacency(indptr, degree, blob, *index)

    def _edges(self, name: str) -> tuple[np.ndarray, list[int]]:
        """Return an array from the first file to the end of the last one's section, and where each shard's begins."""
        last, starts = self.pieces[-1], [piece.item(name) for piece in self.pieces]
        end = starts[-1] + last.sections[name].count
        return np.frombuffer(self._addresses, last.sections[name].dtype, end), starts

    def close(self) -> None:
        """Unmap the files, now or when the last array is gone."""
        with suppress(BufferError):
            self._addresses.close()


def _require_consistent(piece: Piece) -> None:
    """Refuse sections that are not the rows of a graph as the header has it, of either direction."""

    def refuse(reason: str) -> FormatError:
        return FormatError(f"{piece.path}: {reason}{ADVICE}")

    both, rows_here, graph = piece.sections, piece.header.rows, piece.header.graph
    forward = {name: section for name, section in both.items() if not name.startswith("in_")}
    backward = {name.removeprefix("in_"): section for name, section in both.items() if name.startswith("in_")}
    if backward and "symmetric" in graph.flags:
        raise refuse("in_ sections in a symmetric graph")
    edges = [each["indices"].count if "indices" in each else 0 for each in (forward, backward)]
    layout.require_consistent(replace(graph, n=rows_here, m=edges[0]), forward, refuse)
    if backward:
        flags = graph.flags - {"relabelled"}  # labels stand once
        layout.require_consistent(replace(graph, n=rows_here, m=edges[1], flags=flags), backward, refuse)


def index_bytes(codec: str, own: int, ids: np.dtype, ways: int) -> int:
    """Return the bytes of the offsets of ``own`` rows; ``ways``: 2 where in-neighbours are stored too."""
    return ways * own * (8 + ids.itemsize) if codec == "varint" else ways * (-(-own // 64) * 65 * 8)


def _fill_gapped(indptr: np.ndarray, own: np.ndarray, first_row: int, start: int) -> None:
    """Write the offsets ``own`` of rows from ``first_row`` on, a word's end after each word; ``start`` is added."""
    rows_here, base = len(own) - 1, np.uint64(start)
    for first in range(0, rows_here, 64 * _WORDS):
        last = min(first + 64 * _WORDS, rows_here)
        whole = (last - first) // 64
        place = (first_row + first) // 64 * 65
        target = indptr[place : place + 65 * whole].reshape(whole, 65)
        np.add(own[first : first + 64 * whole].reshape(whole, 64), base, out=target[:, :64])
        np.add(own[first + 64 : first + 64 * whole + 1 : 64], base, out=target[:, 64])
        if first + 64 * whole < last:
            tail = own[first + 64 * whole : last + 1]
            np.add(tail, base, out=indptr[place + 65 * whole : place + 65 * whole + len(tail)])


def require_shards(path: Path, count: int, ranks: int) -> None:
    """Refuse fewer shards than ranks.

    Raises
    ------
    UsageError
        With both numbers.
    """
    if count < ranks:
        raise UsageError(
            f"{path}: {counted(ranks, 'rank')} for {counted(count, 'shard')}: each rank needs one at least; take "
            f"{counted(count, 'rank')}, or split the graph into more shards"
        )


def parts_of(shards: int, rank: int, size: int) -> range:
    """Return which of ``shards`` shards are those of ``rank``: stretches of as many, as far as they can be."""
    return range(rank * shards // size, (rank + 1) * shards // size)
