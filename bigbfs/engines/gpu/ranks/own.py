"""The rows of one rank in place: offsets of all vertices, edges of its own rows alone.

Mapped, the file's edges are page-locked and read where they lie. In device memory own rows lie side by side: they are
copied there by a kernel that reads them from page-locked memory, so that nothing of other ranks' rows crosses the link.
Heads are made of own rows, by the degrees of all vertices. There are no hot rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bigbfs.engines.gpu.placement.placed import PLACE_ROWS, PlacedAdjacency
from bigbfs.engines.gpu.ranks.arguments import DEFINES, place_part
from bigbfs.engines.gpu.runtime.arguments import HEAD_GROUP, WARP
from bigbfs.engines.gpu.runtime.kernels import KernelSpec, kernels_of
from bigbfs.engines.gpu.runtime.launch import launch
from bigbfs.engines.gpu.runtime.runtime import Array, Runtime
from bigbfs.engines.ranks.partition import Partition
from bigbfs.graph.adjacency import Adjacency, CompressedAdjacency, PlainAdjacency

KERNELS = kernels_of(
    "kernels/placement/own.cu",
    ("own_rows", "own_heads", "own_offsets", "own_blocks", "own_edges"),
    defines=DEFINES,
)
PLACEMENT: tuple[KernelSpec, ...] = (PLACE_ROWS, *KERNELS)
"""Every kernel that placing own rows launches."""


class OwnAdjacency(PlacedAdjacency):
    """An adjacency of which one rank has its own rows in place; parameters of :class:`PlacedAdjacency`, and these.

    Parameters
    ----------
    partition, rank
        Who owns what, and who this is.

    Attributes
    ----------
    with_edges
        Own vertices that have any.
    """

    def __init__(
        self,
        runtime: Runtime,
        adjacency: Adjacency,
        partition: Partition,
        rank: int,
        *,
        mapped: bool,
        head_groups: int = 0,
        ranked: bool = False,
    ) -> None:
        self._partition, self._rank = partition, rank
        self._part, self._bounds = place_part(runtime, partition, rank)
        self._kernels = {spec.name: spec.build(runtime, adjacency.ids, adjacency.codec) for spec in KERNELS}
        super().__init__(runtime, adjacency, mapped=mapped, head_groups=head_groups, ranked=ranked)

    def _place_rows(self, adjacency: Adjacency, mapped: bool, head_groups: int, hot_bytes: int) -> int:
        """Place own edges and their heads; return how many ids read for them are no vertices."""
        runtime, edges = self._runtime, adjacency.edges
        counts = runtime.zeros(2, np.uint64)
        self._run("own_rows", self.n, np.uint64(self.n), self._part, self.arrays["rows"], counts[:1])
        mapping = runtime.map(edges) if edges.nbytes else None
        view = runtime.empty(0, edges.dtype) if mapping is None else mapping.array
        try:
            self.struct["data"] = runtime.pointer(view)
            if head_groups:
                self._fill_heads(adjacency, head_groups, counts[1:])
            if not mapped:
                self._move_own(adjacency)
            self.with_edges, invalid = (int(count) for count in runtime.download(counts))
        except BaseException:
            if mapping is not None:
                mapping.close()
            raise
        if mapping is None:
            self.arrays["edges"] = view
        elif mapped:
            self._mapping, self.kind, self.host_bytes = mapping, mapping.kind, edges.nbytes
        else:
            mapping.close()
        return invalid

    def _fill_heads(self, adjacency: Adjacency, groups: int, invalid: Array) -> None:
        heads = self.arrays["heads"] = self._runtime.empty(groups * HEAD_GROUP * self.n, adjacency.ids)
        self.struct["head_groups"] = groups
        self._point("heads")
        words = int(self._part["words"])
        self._run("own_heads", 2 * WARP * words, self.struct, self._part, heads, np.uint32(self.ranked), invalid)
        if self.ranked and isinstance(adjacency, PlainAdjacency):
            self.struct["head_skip"] = groups * HEAD_GROUP

    def _move_own(self, adjacency: Adjacency) -> None:
        """Copy own rows to device memory, where they lie side by side."""
        runtime, edges = self._runtime, adjacency.edges
        starts = self._starts(adjacency.indptr)
        own = runtime.empty(int(starts[-1]), edges.dtype)
        placed = runtime.upload(starts)
        offsets = runtime.empty(self.n + 1, np.uint64)
        self._run("own_offsets", self.n + 1, self.struct, self._part, placed, offsets)
        if isinstance(adjacency, CompressedAdjacency) and self.chunks:
            self._run("own_blocks", self.chunks, self.struct, self._part, offsets, self.arrays["block_ptr"])
        self._run("own_edges", WARP * (len(own) // 4096 + 1), self.struct, self._part, placed, own)
        runtime.synchronize()
        self.arrays["indptr"] = offsets
        self.arrays["blob" if isinstance(adjacency, CompressedAdjacency) else "indices"] = own
        self.struct["data"], self.struct["data_bytes"] = runtime.pointer(own), own.nbytes
        self._point("indptr")

    def _starts(self, indptr: np.ndarray) -> np.ndarray:
        """Return where own words begin among own edges, and where they end: uint64 (words + 1,)."""
        words = np.arange(self._partition.words, dtype=np.int64)[self._partition.own(self._rank)]
        lengths = indptr[np.minimum(64 * words + 64, self.n)] - indptr[64 * words]
        return np.concatenate([np.zeros(1, np.uint64), np.cumsum(lengths, dtype=np.uint64)])

    def _run(self, name: str, threads: int, *arguments: Any) -> None:
        if threads:
            launch(self._runtime, self._kernels[name], threads, arguments)
