"""The rows of one rank in place: offsets of all vertices, edges of its own rows alone.

Mapped, the file's edges are page-locked and read where they lie. In device memory own rows lie side by side: they are
copied there by a kernel that reads them from page-locked memory, so that nothing of other ranks' rows crosses the link.
Heads are made of own rows, by the degrees of all vertices. There are no hot rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bigbfs.engines.gpu.placement.placed import PLACE_ROWS, PlacedAdjacency
from bigbfs.engines.gpu.placement.steps import PROOF_KERNELS
from bigbfs.engines.gpu.ranks.arguments import DEFINES, place_part
from bigbfs.engines.gpu.runtime.arguments import HEAD_GROUP, LINE, WARP
from bigbfs.engines.gpu.runtime.kernels import KernelSpec, kernels_of
from bigbfs.engines.gpu.runtime.launch import launch
from bigbfs.engines.gpu.runtime.runtime import Array, Runtime
from bigbfs.engines.ranks.partition import Partition
from bigbfs.graph.adjacency import Adjacency, CompressedAdjacency, PlainAdjacency

KERNELS = kernels_of(
    "kernels/placement/own.cu",
    ("own_rows", "own_heads", "own_offsets", "own_near", "own_blocks", "own_edges"),
    defines=DEFINES,
)
PLACEMENT: tuple[KernelSpec, ...] = (PLACE_ROWS, *KERNELS)
"""Every kernel that placing own rows launches, a proof of rows aside."""


class OwnAdjacency(PlacedAdjacency):
    """An adjacency of which one rank has its own rows in place; parameters of :class:`PlacedAdjacency`, and these.

    Parameters
    ----------
    partition, rank
        Who owns what, and who this is.
    prove
        Look at every edge of this rank's share of all rows.

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
        hot_bytes: int = 0,
        ranked: bool = False,
        prove: bool = False,
    ) -> None:
        self._partition, self._rank = partition, rank
        self._part, self._bounds = place_part(runtime, partition, rank)
        self._kernels = {spec.name: spec.build(runtime, adjacency.ids, adjacency.codec) for spec in KERNELS}
        specs = PROOF_KERNELS if prove else ()
        self._kernels |= {spec.name: spec.build(runtime, adjacency.ids, adjacency.codec) for spec in specs}
        options: dict[str, Any] = {
            "mapped": mapped,
            "head_groups": head_groups,
            "hot_bytes": hot_bytes,
            "ranked": ranked,
        }
        super().__init__(runtime, adjacency, **options, prove=prove)

    def _place_rows(self, adjacency: Adjacency, mapped: bool, head_groups: int, hot_bytes: int) -> int:
        """Place own edges and their heads; return how many ids read for them are no vertices."""
        runtime, edges = self._runtime, adjacency.edges
        counts = runtime.zeros(3, np.uint64)
        self._run("own_rows", self.n, np.uint64(self.n), self._part, self.arrays["rows"], counts[:1])
        mapping = runtime.map(edges) if edges.nbytes else None
        view = runtime.empty(0, edges.dtype) if mapping is None else mapping.array
        try:
            self.struct["data"] = runtime.pointer(view)
            if self._prove:
                self._prove_share(counts[2:])
            if head_groups:
                self._fill_heads(adjacency, head_groups, counts[1:2])
            if not mapped:
                self._move_own(adjacency)
            elif hot_bytes:
                self._copy_near(adjacency, hot_bytes)
            self.with_edges, invalid, faults = (int(count) for count in runtime.download(counts))
            self.sound = faults == 0
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

    def _prove_share(self, faults: Array) -> None:
        """Look at this rank's share of all rows, whoever owns them: together ranks look at each once."""
        size = self._partition.size
        first, last = (min(self.n, self.n * rank // size // WARP * WARP) for rank in (self._rank, self._rank + 1))
        last = self.n if self._rank == size - 1 else last
        hubs = np.searchsorted(self.hubs, np.array([first, last], np.uint64))
        chunks = (self.hub_ptr[hubs[0]], self.hub_ptr[hubs[1]])
        self._run("prove_rows", last - first, self.struct, np.uint64(first), np.uint64(last), faults)
        self._run("prove_chunks", int(chunks[1] - chunks[0]) * WARP, self.struct, *chunks, faults)

    def _fill_heads(self, adjacency: Adjacency, groups: int, invalid: Array) -> None:
        heads = self.arrays["heads"] = self._runtime.empty(groups * HEAD_GROUP * self.n, adjacency.ids)
        self.struct["head_groups"], self.struct["head_rows"] = groups, self.n
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

    def _copy_near(self, adjacency: Adjacency, room: int) -> None:
        """Copy own rows to device memory, as many as ``room`` bytes hold, from the first on; the others stay mapped.

        Where own words lie side by side, the copies have the offsets of the rows; where they are dealt, offsets behind
        those of all edges.
        """
        runtime, edges = self._runtime, adjacency.edges
        unit, line = edges.itemsize, LINE // edges.itemsize
        starts = self._starts(adjacency.indptr)
        words = int(np.searchsorted(starts, np.uint64(max(0, room // unit - line)), side="right")) - 1
        if words <= 0 or starts[words] == 0:
            return
        part, count = self._part.copy(), int(starts[words])
        part["words"] = words
        dealt = int(part["stride"]) > 1
        begin = -(-len(edges) // line) * line if dealt else int(adjacency.indptr[64 * int(part["first"])])
        lead = begin % line  # whole lines are read, also of the first row
        near = runtime.empty(lead + count, edges.dtype)
        placed = runtime.upload(starts[: words + 1])
        self._run("own_edges", WARP * (count // 4096 + 1), self.struct, part, placed, near[lead:])
        if dealt:
            offsets = runtime.empty(self.n + 1, np.uint64)
            where = (np.uint64(words), np.uint64(begin), offsets)
            self._run("own_near", self.n + 1, self.struct, self._part, placed, *where)
            if isinstance(adjacency, CompressedAdjacency) and self.chunks:
                self._run("own_blocks", self.chunks, self.struct, self._part, offsets, self.arrays["block_ptr"])
            runtime.synchronize()
            self.arrays["indptr"] = offsets
            self._point("indptr")
        self.arrays["near"] = near
        self.struct["near"] = (runtime.pointer(near) - (begin - lead) * unit) % 2**64
        self.struct["near_begin"], self.struct["near_end"] = begin, begin + count
        self.hot_bytes, self.near_share = int(near.nbytes), count / int(starts[-1])

    def _starts(self, indptr: np.ndarray) -> np.ndarray:
        """Return where own words begin among own edges, and where they end: uint64 (words + 1,)."""
        words = np.arange(self._partition.words, dtype=np.int64)[self._partition.own(self._rank)]
        lengths = indptr[np.minimum(64 * words + 64, self.n)] - indptr[64 * words]
        return np.concatenate([np.zeros(1, np.uint64), np.cumsum(lengths, dtype=np.uint64)])

    def _run(self, name: str, threads: int, *arguments: Any) -> None:
        if threads:
            launch(self._runtime, self._kernels[name], threads, arguments)
