"""A graph in shards, opened by ranks together: each maps the shards that it owns, and no other file is needed there.

Of K shards rank r of P owns numbers ``r * K // P`` to ``(r + 1) * K // P - 1``: stretches of rows of about equal work.
Every machine has the manifest, the rest (names, origin: small where there are no names) and the shards of its ranks.
Ranks compare what their manifests say, and a shard that is missing is named on all of them. What is known of all
vertices, original ids that are no numbers in a row, is told once, when the graph is opened.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np

from bigbfs.engines.cpu import ranked_memory
from bigbfs.engines.ranks.agreeing import Agreed, together
from bigbfs.engines.ranks.group import Group
from bigbfs.engines.ranks.partition import Partition, shards
from bigbfs.errors import BigBfsError, FileAccessError, FormatError, Remedy, UsageError
from bigbfs.formats.container import layout
from bigbfs.formats.container.parts import JOIN, joining
from bigbfs.formats.shards.manifest import NAME, Manifest, read_manifest
from bigbfs.formats.shards.mapped import Lot, index_bytes, parts_of, require_shards
from bigbfs.formats.shards.rest import Rest
from bigbfs.graph import structure
from bigbfs.graph.adjacency import Adjacency
from bigbfs.graph.flags import GraphFlags
from bigbfs.graph.graph import Graph
from bigbfs.sizes import counted

T = TypeVar("T")

_NAMED = 3
"""Ranks whose errors a message has, at most."""


class ShardedGraph(Graph):
    """A graph of which this rank has the rows of its shards; made by :func:`open_shards`, all ranks together.

    All ranks make the same calls of ``degrees``, ``require_valid`` and ``require_structure``. What wants all rows, as
    compressing does, is refused.

    Attributes
    ----------
    group, partition
        The ranks, and who owns what.
    manifest, lot
        What the folder holds, and this rank's shards, mapped.
    parts
        This rank's shards.
    bytes_here
        Bytes of its shards, of the offsets of their rows and of the original ids.
    """

    def __init__(self, path: Path, manifest: Manifest, group: Group, lot: Lot, rest: Rest) -> None:
        header = lot.header
        flags = GraphFlags(**{name: name in header.flags for name in layout.FLAGS})
        backward = lot.adjacency("in_") if lot.has("in_indptr") else None
        super().__init__(
            cast("Adjacency", lot.adjacency()),  # of its attributes ranks read what both have
            flags,
            labels=_all_labels(group, manifest, lot) if lot.has("labels") else None,
            first_id=header.first_id,
            in_adjacency=cast("Adjacency | None", backward),
            m=header.m,
            names=rest.names,
            path=path,
            close=partial(_close, lot, rest),
        )
        self.group, self.manifest, self.lot = group, manifest, lot
        self.parts = parts_of(len(manifest.shards), group.rank, group.size)
        self.partition: Partition = self.partition_of(group.size)
        files = sum(manifest.shards[part].bytes for part in self.parts)
        self.bytes_here = files + lot.nbytes + (0 if self.labels is None else self.labels.nbytes)

    def partition_of(self, ranks: int) -> Partition:
        """Return which rows each of so many ranks owns.

        Raises
        ------
        UsageError
            There are fewer shards than ranks.
        """
        require_shards(cast("Path", self.path), len(self.manifest.shards), ranks)
        return shards(self.n, _bounds(self.manifest, ranks))

    def degrees(self) -> np.ndarray:
        """Return the (out-)degree of every vertex: int64, shape (n,)."""
        rows = self.lot.rows
        own = self.adjacency.degrees()[rows.start : rows.stop]
        return np.concatenate(self.group.gather(own))

    def require_structure(self) -> None:
        """Check all own rows, as :meth:`require_valid`."""
        self.require_valid()

    def require_valid(self) -> None:
        """Check that no kernel can leave the arrays: each rank looks at its own rows. O(n + m / ranks), once.

        Raises
        ------
        FormatError
            On every rank: names rank, host, shard, and the first place that is wrong.
        """
        if self.proved:
            return
        _ = self.adjacency  # refuses a closed graph
        self.require_counts(everywhere(self.group, self.lot.require_valid))
        self.declare_valid()

    def require_counts(self, edges: int) -> None:
        """Check that own rows have ``edges`` edges and others' the rest, and that labels are different ids.

        Raises
        ------
        FormatError
            On every rank.
        """
        total = int(self.group.sum([edges])[0])
        if total != self.m:
            raise FormatError(f"{self.path}: {self.m} edges in the headers, {total} in the rows; split the graph again")
        labels = self.labels
        if labels is not None and self.n:
            different = structure.all_different if self.flags.relabelled else structure.ascending
            if int(labels.min()) < 0 or not different(labels):
                raise FormatError(f"{self.path}: corrupted: labels are not {self.n} different ids; split it again")

    def require_whole(self) -> None:
        """Refuse what wants all rows as one.

        Raises
        ------
        UsageError
            Always.
        """
        raise UsageError(
            f"{self.path}: rows of a graph in shards are searched as they are, and this wants them as one",
            remedies=(Remedy(joining(cast("Path", self.path)), JOIN),),
        )

    def _with(self, recode: Any) -> Graph:
        self.require_whole()
        return super()._with(recode)


def open_shards(path: Path, group: Group) -> ShardedGraph:
    """Open a folder of shards; all ranks make this call.

    Raises
    ------
    UsageError
        There are fewer shards than ranks, or ranks have manifests of different graphs.
    FormatError, FileAccessError
        On every rank: a manifest, a shard or the rest is missing or damaged on a rank that needs it. Names rank, host
        and path.
    """
    manifest = everywhere(group, lambda: read_manifest(path))
    _require_one_graph(group, path, manifest)
    count = len(manifest.shards)
    require_shards(path, count, group.size)
    parts = parts_of(count, group.rank, group.size)

    def mapped() -> tuple[Lot, Rest]:
        lot = Lot(path, manifest, parts)
        try:
            lot.require_labels()  # here, where an error still has rank and host
            return lot, Rest(path, manifest)
        except BaseException:
            lot.close()
            raise

    lot, rest = everywhere(group, mapped)
    ways, labels = 1 + lot.has("in_indptr"), 16 * lot.header.n * lot.has("labels")  # as they come, and as one array
    need = index_bytes(lot.header.codec, len(lot.rows), lot.ids, ways) + labels
    ranked_memory.require(group, need, lot.header.n, "take ranks on more machines, or free some")
    return ShardedGraph(path, manifest, group, lot, rest)


def _close(lot: Lot, rest: Rest) -> None:
    lot.close()
    rest.close()


def everywhere(group: Group, work: Callable[[], T]) -> T:
    """Return what ``work`` returns here, when it has come to its end on every rank; it makes no calls of the group.

    Raises
    ------
    FormatError, FileAccessError
        On every rank, of the kind that the first rank raised: with rank, host and message of each that did.
    """
    if group.size == 1:
        return work()
    try:
        return together(group, work)
    except Agreed as agreed:
        if not isinstance(agreed.error, BigBfsError):
            raise agreed.error from None
        told = list(agreed.failures.items())
        if group.one_host and len(told) == group.size and len({str(error) for _, error in told}) == 1:
            raise agreed.error from None  # of the one folder that all have; rank 0 says it for all
        said = [f"rank {rank} (host {group.hosts[rank]}): {error}" for rank, error in told[:_NAMED]]
        more = [] if len(told) <= _NAMED else [f"and {counted(len(told) - _NAMED, 'rank')} more"]
        kind = FileAccessError if isinstance(agreed.error, FileAccessError) else FormatError
        raise kind("\n  ".join([*said, *more]), names_ranks=True, lead="\n  ") from agreed.error


def _require_one_graph(group: Group, path: Path, manifest: Manifest) -> None:
    """Refuse ranks whose manifests are of different graphs, or of other shards of one."""
    mine = hashlib.sha256(repr(manifest).encode()).hexdigest()
    facts = manifest.graph
    told = f"{path}: {facts['vertices']:,} vertices, {facts['edges']:,} edges, {len(manifest.shards):,} shards"
    everyone = group.objects((mine, told))
    for rank, (theirs, said) in enumerate(everyone):
        if theirs != everyone[0][0]:
            first = f"rank 0 (host {group.hosts[0]}) has {everyone[0][1]}"
            raise UsageError(
                f"ranks have opened different graphs; {first}; rank {rank} (host {group.hosts[rank]}) has {said}; give "
                f"all the {NAME} of one graph, and the shards that it names",
                names_ranks=True,
            )


def _bounds(manifest: Manifest, size: int) -> list[int]:
    """Return the first row of each rank's shards, and n."""
    count = len(manifest.shards)
    return [
        *(manifest.shards[parts_of(count, rank, size).start].first_row for rank in range(size)),
        manifest.graph["vertices"],
    ]


def _all_labels(group: Group, manifest: Manifest, lot: Lot) -> np.ndarray:
    """Return the original ids of all vertices: each rank tells those of its own rows."""
    return np.concatenate(group.gather(lot.labels()))
