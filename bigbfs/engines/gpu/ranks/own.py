"""The rows of one rank in place: offsets of all vertices, edges of its own rows alone.

Mapped, own rows are page-locked and read where they lie, but for those copied to device memory; where words are dealt,
all edges are page-locked. In device memory own
rows lie as in the file, or where words are dealt side by side: nothing of other ranks' rows crosses the link, and
nothing is page-locked. Heads are made of own rows, by the degrees of all vertices, and own rows are proved: in device
memory as they come, after all that goes by their addresses alone (``finish``). There are no hot rows.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from bigbfs.engines.gpu.placement.placed import PLACE_ROWS, PlacedAdjacency
from bigbfs.engines.gpu.ranks.arguments import DEFINES, place_part, side_by_side
from bigbfs.engines.gpu.ranks.passed_on import Arriving
from bigbfs.engines.gpu.ranks.shares import Share, share_of
from bigbfs.engines.gpu.ranks.telling import Tell, say, silent, step
from bigbfs.engines.gpu.runtime.arguments import LINE, WARP
from bigbfs.engines.gpu.runtime.kernels import KernelSpec, kernels_of
from bigbfs.engines.gpu.runtime.launch import launch
from bigbfs.engines.gpu.runtime.runtime import Array, Coming, Runtime
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

STEP = 256 << 20
"""Bytes of own edges of which heads are made while the next are copied."""

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
    later
        Leave :meth:`finish` to the caller, who has something to do while edges come.

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
        later: bool = False,
    ) -> None:
        self._tell = tell
        self._adjacency = adjacency
        self._coming: Coming | None = None
        self._offsets: Array = None
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
        if not later:
            self.finish()

    def _place_rows(self, adjacency: Adjacency, mapped: bool, head_groups: int, hot_bytes: int) -> int:
        """Place what does not wait for own edges in device memory, mapped ones with their heads; :meth:`finish` counts
        ids that are no vertices."""
        runtime = self._runtime
        self._counts = runtime.zeros(3, np.uint64)  # own vertices with edges; ids that are none; faults
        if self._share.whole:  # levels that are not shared look for others' vertices, too
            self.arrays["all_rows"] = runtime.empty(len(self.arrays["rows"]), np.uint32)
            runtime.copy(self.arrays["all_rows"], self.arrays["rows"])
        self._run("own_rows", self.n, np.uint64(self.n), self._part, self.arrays["rows"], self._counts[:1])
        self._heads = self._make_heads(adjacency, head_groups) if head_groups else None
        self.with_edges = int(runtime.download(self._counts)[0])
        if mapped:
            self._map_own(adjacency, hot_bytes)
        else:
            self._expect_own(adjacency)
        return 0

    def finish(self) -> None:
        """Wait for own rows in device memory, make their heads and prove them meanwhile; all ranks make this call where
        others bring rows. A second call does nothing."""
        coming, self._coming = self._coming, None
        if coming is not None:
            with step(self._tell, "edges come, heads are made"):
                self._take_own(coming)
        self.invalid_ids, faults = (int(count) for count in self._runtime.download(self._counts)[1:])
        self.sound = faults == 0

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

    def _expect_own(self, adjacency: Adjacency) -> None:
        """Say where own rows will be in device memory."""
        runtime, share = self._runtime, self._share
        source, self._all = share.copied, self.struct.copy()
        self._begun = time.perf_counter()
        self._coming = runtime.coming(source)
        own = self._coming.array
        self._offsets = self.arrays["indptr"]  # of all rows, by which heads are chosen
        self.arrays["blob" if isinstance(adjacency, CompressedAdjacency) else "indices"] = own
        self.struct["data"] = (runtime.pointer(own) - share.first * own.itemsize) % 2**64
        if share.dealt and isinstance(source, Stretches):
            self._move_rows(adjacency, source.starts.astype(np.uint64))
            self.struct["data_bytes"] = own.nbytes

    def _take_own(self, coming: Coming) -> None:
        """Have own rows in device memory, and their heads."""
        share = self._share
        if share.others is None:
            self._follow(coming)
        else:
            arriving = Arriving(share.others.parts, self._adjacency.indptr, int(self._part["rank"]))
            said = share.others.bring(
                coming,
                self._kernels["own_pass_on"],
                lambda ends, last: arriving.see(ends, last, self._make_heads_of, self._prove_words),
            )
            self._tell(f"those that others copied have come: {said}")
        self._runtime.synchronize()
        say(self._tell, "own edges are copied", self._begun, coming.ended)
        self._tell("heads are made")
        self._offsets = None

    def _follow(self, coming: Coming) -> None:
        """Make heads of own rows, and prove them, as they come."""
        share, done = self._share, 0
        source, unit = share.copied, share.edges.itemsize
        ends = source.starts[1:] if isinstance(source, Stretches) else share.ends - share.first
        if not share.whole:  # which has heads of all rows at once
            for nbytes in range(STEP, source.nbytes, STEP):
                coming.wait(nbytes)
                words = max(done, int(np.searchsorted(ends, nbytes // unit, side="right")))
                self._look(self._all, done, words)
                done = words
        coming.wait()
        self._look(self._all, done, int(self._part["words"]))

    def _look(self, whole: np.ndarray, begin: int, end: int) -> None:
        """Make heads of own words ``begin`` to ``end - 1`` and prove their rows; ``whole`` has all degrees."""
        if begin == end and not self._share.whole:
            return
        part = self._part.copy()
        first, stride = int(part["first"]), int(part["stride"])
        part["first"], part["words"] = first + begin * stride, end - begin
        threads = 2 * WARP * (end - begin)
        if self._heads is not None:
            # a search top-down reads short rows from heads
            headed = side_by_side(0, -(-self.n // 64)) if self._share.whole else part
            self._run_heads(headed, whole)
        if self._prove and begin < end:
            words = np.array([first + begin * stride, first + (end - 1) * stride + 1], np.uint64)
            if self._share.whole:  # all at once, from among others'
                words[:] = 0, -(-self.n // 64)
            chunks = self.hub_ptr[np.searchsorted(self.hubs, np.minimum(64 * words, np.uint64(self.n)))]
            self._run("prove_own_rows", threads, self.struct, part, self._counts[2:])
            count = int(chunks[1] - chunks[0])
            self._run("prove_own_chunks", count * WARP, self.struct, self._part, *chunks, self._counts[2:])

    def _run_heads(self, part: np.ndarray, whole: np.ndarray) -> None:
        arguments = (part, self._heads, np.uint32(self.ranked), self._counts[1:2])
        self._run("own_heads", WARP * 2 * int(part["words"]), self.struct, whole, *arguments)

    def _make_heads_of(self, begin: int, end: int) -> None:
        """Make heads of the rows of words ``begin`` to ``end - 1``, whoever owns them."""
        if self._heads is not None:
            self._run_heads(side_by_side(begin, end), self._all)

    def _prove_words(self, begin: int, end: int) -> None:
        """Prove the rows of words ``begin`` to ``end - 1``, whoever owns them."""
        if self._prove:
            part, words = side_by_side(begin, end), np.array([begin, end], np.uint64)
            chunks = self.hub_ptr[np.searchsorted(self.hubs, np.minimum(64 * words, np.uint64(self.n)))]
            self._run("prove_own_rows", 2 * WARP * (end - begin), self.struct, part, self._counts[2:])
            count = int(chunks[1] - chunks[0])
            self._run("prove_own_chunks", count * WARP, self.struct, part, *chunks, self._counts[2:])

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
