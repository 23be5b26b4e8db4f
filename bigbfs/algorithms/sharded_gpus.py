"""A graph in shards as GPUs read it: offsets of all rows, and edges as one array, in which own ones are there.

In: shards that ranks have opened together. Out: a graph like that of the joined file. Offsets and degrees (8 bytes a
vertex and direction, compressed an id more), hubs and their tables are told by whoever has them; the edges of other
ranks' shards are addresses without memory. Nobody reads there: a rank's GPU looks at own rows alone.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import NamedTuple, cast

import numpy as np

from bigbfs.engines.cpu import ranked_memory
from bigbfs.engines.cpu.sharded import ShardedGraph, everywhere
from bigbfs.engines.ranks.group import Group
from bigbfs.engines.ranks.partition import Partition
from bigbfs.formats.shards.mapped import Lot
from bigbfs.formats.shards.spanned import copied_bytes, spanned
from bigbfs.graph.adjacency import Adjacency, CompressedAdjacency, PlainAdjacency
from bigbfs.graph.graph import Graph


class SpannedGraph(Graph):
    """A graph of whose edges this rank has those of its shards; made by :func:`for_gpus`, all ranks together.

    Attributes
    ----------
    partition
        Who owns what.
    """

    def __init__(self, shards: ShardedGraph, adjacency: Adjacency, in_adjacency: Adjacency | None) -> None:
        super().__init__(
            adjacency,
            shards.flags,
            labels=shards.labels,
            first_id=shards.first_id,
            in_adjacency=in_adjacency,
            names=shards.names,
            m=shards.m,
            path=shards.path,
        )
        self._shards = shards
        self.partition: Partition = shards.partition
        self._sound, self._valid = True, shards.proved  # offsets have been checked, shard by shard

    def partition_of(self, ranks: int) -> Partition:
        """Return which rows each of so many ranks owns; as :meth:`ShardedGraph.partition_of`."""
        return self._shards.partition_of(ranks)

    def require_rows(self) -> None:
        """Look at all own rows; as :meth:`ShardedGraph.require_valid`, all ranks together."""
        self._shards.require_valid()

    def require_whole(self) -> None:
        """Refuse what wants all rows, where ranks have some each; a process that has opened all shards has all rows."""
        if self.partition.size > 1:
            self._shards.require_whole()


class _Starts(NamedTuple):
    """Where rows begin, and what follows from it.

    Attributes
    ----------
    offsets
        Where each row begins in the edges of all rows, and their end: uint64, shape (n + 1,).
    own
        Where the rows of each own shard begin there.
    """

    offsets: np.ndarray
    own: list[int]


def for_gpus(graph: ShardedGraph) -> SpannedGraph:
    """Return the rows of ``graph`` as GPUs read them; all ranks make this call. The edges are not looked at.

    Raises
    ------
    FormatError, FileAccessError
        On every rank: a shard is damaged, or cannot be mapped. Names rank, host and shard.
    DoesNotFitError
        The offsets, and what must be copied, do not fit a machine.
    """
    group, lot, _ = graph.group, graph.lot, graph.adjacency  # which refuses a closed graph
    graph.require_counts(everywhere(group, lot.require_offsets))
    ways = [prefix for prefix in ("", "in_") if lot.has(f"{prefix}indptr")]
    edges = "blob" if graph.codec == "varint" else "indices"
    copies = sum(copied_bytes(lot, prefix + edges, _begins(lot, prefix + edges, group)) for prefix in ways)
    vertex = 16 + 2 * graph.ids.itemsize * (graph.codec == "varint")  # as they come, and as one array
    ranked_memory.require(
        group, len(ways) * vertex * graph.n + copies, graph.n, "take ranks on more machines, or free some"
    )
    rows = [_adjacency(graph, prefix) for prefix in ways]
    return SpannedGraph(graph, rows[0], rows[1] if len(rows) > 1 else None)


def _begins(lot: Lot, name: str, group: Group) -> list[int]:
    """Return where each own shard's part of a section begins in that of the graph."""
    counts = [piece.sections[name].count for piece in lot.pieces]
    before = sum(group.objects(sum(counts))[: group.rank])
    return [before + sum(counts[:number]) for number in range(len(counts))]


def _adjacency(graph: ShardedGraph, prefix: str) -> Adjacency:
    """Return the out-neighbours, or with ``prefix="in_"`` the in-neighbours."""
    group, lot = graph.group, graph.lot
    if graph.codec == "plain":
        starts = _starts(group, lot, prefix, "indices")
        return PlainAdjacency(starts.offsets, _edges(graph, prefix + "indices", starts))
    starts = _starts(group, lot, prefix, "blob")
    degrees = _told(group, [piece.array(prefix + "degree") for piece in lot.pieces])
    hubs = _told(group, [piece.array(prefix + "hubs") for piece in lot.pieces])
    blocks = _begins(lot, prefix + "block_ptr", group)
    places = list(zip(lot.pieces, blocks, starts.own, strict=True))
    hub_ptr = [piece.array(prefix + "hub_ptr")[1:] + np.uint64(at) for piece, at, _ in places]
    block_ptr = [piece.array(prefix + "block_ptr") + np.uint64(at) for piece, _, at in places]
    index = np.concatenate([np.zeros(1, np.uint64), _told(group, hub_ptr)]), _told(group, block_ptr)
    return CompressedAdjacency(starts.offsets, degrees, _edges(graph, prefix + "blob", starts), hubs, *index)


def _told(group: Group, mine: list[np.ndarray]) -> np.ndarray:
    """Return an array of all ranks' parts, each of several pieces."""
    return np.concatenate(group.gather(np.concatenate(mine)))


def _starts(group: Group, lot: Lot, prefix: str, edges: str) -> _Starts:
    """Return where rows begin, told by all."""
    own = _begins(lot, prefix + edges, group)
    mine = np.empty(len(lot.rows), np.uint64)
    for piece, start in zip(lot.pieces, own, strict=True):
        at = piece.header.first_row - lot.rows.start
        np.add(piece.array(prefix + "indptr")[:-1], np.uint64(start), out=mine[at : at + piece.header.rows])
    total = sum(group.objects(sum(piece.sections[prefix + edges].count for piece in lot.pieces)))
    return _Starts(np.concatenate([*group.gather(mine), np.array([total], np.uint64)]), own)


def _edges(graph: ShardedGraph, name: str, starts: _Starts) -> np.ndarray:
    """Return the edges of all rows, of which own ones are there."""
    path, count = cast("Path", graph.path), int(starts.offsets[-1])
    return everywhere(graph.group, partial(spanned, path, graph.manifest, graph.lot, name, starts.own, count))
