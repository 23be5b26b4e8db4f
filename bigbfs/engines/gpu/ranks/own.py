"""The rows of one rank in place: offsets of all vertices, edges of its own rows alone.

Mapped, own rows are page-locked and read where they lie, but for those copied to device memory; where words are dealt,
all edges are page-locked. In device memory own
rows lie as in the file, or where words are dealt side by side: nothing of other ranks' rows crosses the link, and
nothing is page-locked. Heads are made of own rows, by the degrees of all vertices, and own rows are proved. There are
no hot rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bigbfs.engines.gpu.placement.placed import PLACE_ROWS, PlacedAdjacency
from bigbfs.engines.gpu.ranks.arguments import DEFINES, place_part
from bigbfs.engines.gpu.ranks.shares import Share, share_of
from bigbfs.engines.gpu.ranks.telling import Tell, silent
from bigbfs.engines.gpu.runtime.arguments import LINE, WARP
from bigbfs.engines.gpu.runtime.kernels import KernelSpec, kernels_of
from bigbfs.engines.gpu.runtime.launch import launch
from bigbfs.engines.gpu.runtime.runtime import Array, Runtime
from bigbfs.engines.gpu.runtime.stretches import Stretches
from bigbfs.engines.ranks.partition import Partition
from bigbfs.graph.adjacency import Adjacency, CompressedAdjacency

KERNELS = kernels_of(
    "kernels/placement/own.cu",
    ("own_rows", "own_heads", "own_offsets", "own_near", "own_blocks", "own_edges", "own_pass_on"),
    defines=DEFINES,
)
PLACEMENT: tuple[KernelSpec, ...] = (PLACE_ROWS, *KERNELS)
"""Every kernel that placing own rows launches, a proof of rows aside."""

PROOF_KERNELS = kernels_of("kernels/proof/own.cu", ("prove_own_rows", "prove_own_chunks"), defines=DEFINES)


class OwnAdjacency(PlacedAdjacency):
    """An adjacency of which one rank has its own rows in place; parameters of :class:`PlacedAdjacency`, and these.

    Parameters
    ----------
    partition, rank
        Who owns what, and who this is.
    prove
        Look at every edge of own rows.
    share
        What :func:`share_of` says of them: who has begun to copy them brings it.
    tell
        Is told each step.

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
        share: Share | None = None,
        tell: Tell = silent,
    ) -> None:
        self._tell = tell
        self._share = share_of(adjacency, partition, rank) if share is None else share
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
        runtime = self._runtime
        self._counts = runtime.zeros(3, np.uint64)  # own vertices with edges; ids that are none; faults
        self._run("own_rows", self.n, np.uint64(self.n), self._part, self.arrays["rows"], self._counts[:1])
        self._heads = self._make_heads(adjacency, head_groups) if head_groups else None
        if mapped:
            self._map_own(adjacency, hot_bytes)
        else:
            self._take_own(adjacency)
        self.with_edges, invalid, faults = (int(count) for count in runtime.download(self._counts))
        self.sound = faults == 0
        return invalid

    def _map_own(self, adjacency: Adjacency, hot_bytes: int) -> None:
        """Let kernels read own rows where they lie, and do step by step what can be done with them.

        Of rows that lie side by side the first are copied to device memory, by way of pinned buffers, and only the
        others page-locked, which takes longer.
        """
        runtime, share, unit = self._runtime, self._share, adjacency.edges.itemsize
        near, first, done = share.near(hot_bytes), share.first, 0
        if len(near):
            begin, end = int(share.begins[0]), first + len(near)
            self._publish_near(runtime.upload(near), first, begin, end)
            first = end // (LINE // unit) * (LINE // unit) if end < share.ends[-1] else share.last
        source = share.edges[first : share.last]

        def use(view: Array, begin: int, end: int) -> None:
            nonlocal done
            self.struct["data"] = (runtime.pointer(view) - first * unit) % 2**64
            if begin == 0:
                done = 0
                runtime.fill(self._counts[1:], 0)
            words = int(np.searchsorted(share.ends, first + end, side="right"))
            words = len(share.ends) if end == len(source) else max(done, words)
            self._look(self.struct, done, words)
            done = words

        if source.nbytes == 0:
            self.arrays["edges"] = runtime.empty(0, source.dtype)
            use(self.arrays["edges"], 0, 0)
            return
        self._mapping = runtime.map(source, use)
        self.kind, self.host_bytes = self._mapping.kind, source.nbytes
        if share.dealt and hot_bytes:
            self._copy_dealt(adjacency, hot_bytes)

    def _take_own(self, adjacency: Adjacency) -> None:
        """Have own rows in device memory."""
        runtime, share = self._runtime, self._share
        source, whole = share.copied, self.struct.copy()
        own = runtime.upload(source)
        offsets = self.arrays["indptr"]  # of all rows, by which heads are chosen
        self.arrays["blob" if isinstance(adjacency, CompressedAdjacency) else "indices"] = own
        self.struct["data"] = (runtime.pointer(own) - share.first * own.itemsize) % 2**64
        self._tell("edges are copied")
        if share.others is not None:
            said = share.others.bring(own, self._kernels["own_pass_on"])
            self._tell(f"those that others copied have come: {said}")
        if share.dealt and isinstance(source, Stretches):
            self._move_rows(adjacency, source.starts.astype(np.uint64))
            self.struct["data_bytes"] = own.nbytes
        self._look(whole, 0, len(share.ends))
        runtime.synchronize()
        self._tell("heads are made")
        del offsets

    def _look(self, whole: np.ndarray, begin: int, end: int) -> None:
        """Make heads of own words ``begin`` to ``end - 1`` and prove their rows; ``whole`` has all degrees."""
        if begin == end and not self._share.whole:
            return
        part = self._part.copy()
        first, stride = int(part["first"]), int(part["stride"])
        part["first"], part["words"] = first + begin * stride, end - begin
        threads = 2 * WARP * (end - begin)
        if self._heads is not None:
            headed = self._part.copy() if self._share.whole else part
            if self._share.whole:  # a search top-down reads short rows from heads
                headed["bounds"], headed["first"], headed["stride"], headed["gap"] = 0, 0, 1, 0
                headed["words"] = -(-self.n // 64)
            arguments = (headed, self._heads, np.uint32(self.ranked), self._counts[1:2])
            self._run("own_heads", WARP * 2 * int(headed["words"]), self.struct, whole, *arguments)
        if self._prove and begin < end:
            words = np.array([first + begin * stride, first + (end - 1) * stride + 1], np.uint64)
            if self._share.whole:  # all at once, from among others'
                words[:] = 0, -(-self.n // 64)
            chunks = self.hub_ptr[np.searchsorted(self.hubs, np.minimum(64 * words, np.uint64(self.n)))]
            self._run("prove_own_rows", threads, self.struct, part, self._counts[2:])
            count = int(chunks[1] - chunks[0])
            self._run("prove_own_chunks", count * WARP, self.struct, self._part, *chunks, self._counts[2:])

    def _move_rows(self, adjacency: Adjacency, starts: np.ndarray) -> None:
        """Say where own rows are that lie side by side; the others become empty."""
        runtime = self._runtime
        offsets, placed = runtime.empty(self.n + 1, np.uint64), runtime.upload(starts)
        self._run("own_offsets", self.n + 1, self.struct, self._part, placed, offsets)
        if isinstance(adjacency, CompressedAdjacency) and self.chunks:
            self._run("own_blocks", self.chunks, self.struct, self._part, offsets, self.arrays["block_ptr"])
        runtime.synchronize()
        self.arrays["indptr"] = offsets
        self._point("indptr")

    def _copy_dealt(self, adjacency: Adjacency, room: int) -> None:
        """Copy own rows that lie among others' to device memory, as many as ``room`` bytes hold, from the first on.

        The others stay mapped; the copies have offsets behind those of all edges.
        """
        runtime, share, words = self._runtime, self._share, self._share.near_words(room)
        if not words:
            return
        starts = np.concatenate([[0], np.cumsum(share.ends[:words] - share.begins[:words])]).astype(np.uint64)
        part, count, line = self._part.copy(), int(starts[-1]), LINE // share.edges.itemsize
        part["words"] = words
        begin = -(-len(share.edges) // line) * line
        near, placed = runtime.empty(count, share.edges.dtype), runtime.upload(starts)
        self._run("own_edges", WARP * (count // 4096 + 1), self.struct, part, placed, near)
        offsets = runtime.empty(self.n + 1, np.uint64)
        where = (np.uint64(words), np.uint64(begin), offsets)
        self._run("own_near", self.n + 1, self.struct, self._part, placed, *where)
        if isinstance(adjacency, CompressedAdjacency) and self.chunks:
            self._run("own_blocks", self.chunks, self.struct, self._part, offsets, self.arrays["block_ptr"])
        runtime.synchronize()
        self.arrays["indptr"] = offsets
        self._point("indptr")
        self._publish_near(near, begin, begin, begin + count)

    def _publish_near(self, near: Array, first: int, begin: int, end: int) -> None:
        """Let kernels read what lies between ``begin`` and ``end`` from ``near``, which has edges from ``first`` on."""
        self.arrays["near"] = near
        self.struct["near"] = (self._runtime.pointer(near) - first * near.itemsize) % 2**64
        self.struct["near_begin"], self.struct["near_end"] = begin, end
        self.hot_bytes, self.near_share = int(near.nbytes), (end - begin) / self._share.own

    def _run(self, name: str, threads: int, *arguments: Any) -> None:
        if threads:
            launch(self._runtime, self._kernels[name], threads, arguments)
