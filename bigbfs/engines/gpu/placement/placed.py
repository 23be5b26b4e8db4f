"""One adjacency where kernels can read it: the small arrays in device memory, the edges there or mapped.

Placed are ``indptr`` (uint64, n + 1), for varint rows ``degree`` (id, n) and the block index, the hub tables and the
bitmap of the vertices with edges (kernels/rows/adjacency.cuh); ``indices`` or ``blob`` goes to device memory or is
mapped, and then the rows of the largest hubs, or more, are copied to device memory (hot.py). The head table (heads.cuh)
is built by a kernel that reads the rows where they are by then. Both follow the page-locking step by step (steps.py);
where rows that are copied are the first ones, they go ahead of it, and only the others are page-locked.
"""

from __future__ import annotations

from types import TracebackType

import numpy as np

from bigbfs.engines.gpu.placement.hot import (
    GRAIN,
    NOTHING_HOT,
    first_is_best,
    first_rows,
    held_share,
    hottest,
    nearest,
    offset_bytes,
)
from bigbfs.engines.gpu.placement.renumbered import Renumbered
from bigbfs.engines.gpu.placement.steps import HotRows, Steps
from bigbfs.engines.gpu.runtime.arguments import ADJACENCY, HEAD_GROUP, LINE, renumbered, struct
from bigbfs.engines.gpu.runtime.kernels import KernelSpec
from bigbfs.engines.gpu.runtime.launch import launch
from bigbfs.engines.gpu.runtime.runtime import Array, Mapping, Runtime
from bigbfs.graph.adjacency import BLOCK_IDS, Adjacency, CompressedAdjacency, PlainAdjacency

PLACE_ROWS = KernelSpec("kernels/placement/place.cu", "place_rows")
PLACE_NUMBERS = KernelSpec("kernels/placement/place.cu", "place_numbers")

U32_MAX = 2**32 - 1


class PlacedAdjacency:
    """An adjacency in place, until ``close``.

    Parameters
    ----------
    runtime
        The device.
    adjacency
        Plain or compressed rows; the arrays of a mapped one must outlive this object.
    mapped
        Leave the edges in host memory.
    head_groups
        ``HEAD_GROUP`` heads each; 0: no head table.
    hot_bytes
        Device memory for hot rows.
    ranked
        Vertices are stored by descending degree.
    prove
        Look at every edge.
    numbers
        Whose rows these are, where vertices have numbers of their own.

    Attributes
    ----------
    arrays
        What is in device memory, by name.
    struct
        The kernel argument: a zero-dimensional array of dtype ``ADJACENCY``.
    hubs, hub_ptr
        Hubs, ascending, and the first chunk of each: host arrays, id (hubs,) and uint64 (hubs + 1,).
    chunks
        Chunks of hub rows.
    with_edges
        Vertices that have any.
    ranked
        As given.
    codec
        What kernels that read the rows are compiled for.
    invalid_ids
        Ids that were read for the head table and are no vertices.
    sound
        False where the proof has found rows that are not what offsets and degrees say.
    kind
        How the edges are held: ``"device"``, or what ``Runtime.map`` called it.
    hot_bytes
        Bytes of the rows of mapped edges that are in device memory too.
    near_share
        Share of the edges that the rows of no hub among them make up.
    held_to, held_share
        Longest row that the head table holds whole, in ids, and the share of the edges in such rows.
    device_bytes, host_bytes
        Bytes taken in device memory, and bytes of host memory read in place.
    """

    def __init__(
        self,
        runtime: Runtime,
        adjacency: Adjacency,
        *,
        mapped: bool,
        head_groups: int = 0,
        hot_bytes: int = 0,
        ranked: bool = False,
        prove: bool = False,
        numbers: Renumbered | None = None,
    ) -> None:
        self._runtime = runtime
        self.codec = renumbered(adjacency.codec) if mapped and numbers is not None else adjacency.codec
        self.arrays: dict[str, Array] = {}
        self._mapping: Mapping | None = None
        self.kind = "device"
        self.hot_bytes = 0
        self.near_share = 0.0
        self.held_to = head_groups * HEAD_GROUP
        self.held_share = held_share(adjacency, self.held_to) if mapped else 0.0
        self.n = adjacency.n
        self.ranked = ranked
        self.host_bytes = 0
        self.sound = True
        self._prove = prove
        try:
            self._place_tables(adjacency)
            if numbers is not None:
                arrays = self.arrays
                arrays["numbers"] = runtime.upload(numbers.words)
                self.struct["file_n"] = numbers.n
                self._point("numbers")
            self.invalid_ids = self._place_rows(adjacency, mapped, head_groups, hot_bytes)
            self.device_bytes = sum(self.buffers.values())
        except BaseException:
            self.close()
            raise

    @property
    def buffers(self) -> dict[str, int]:
        """Bytes of every array in device memory by its name in the ledger."""
        sizes = {name: int(array.nbytes) for name, array in self.arrays.items()}
        near = sizes.pop("near", 0)
        return sizes | ({"hot": sizes.get("hot", 0) + near} if near else {})

    def _place_tables(self, adjacency: Adjacency) -> None:
        """Place all that follows from the offsets."""
        runtime, arrays = self._runtime, self.arrays
        arrays["indptr"] = runtime.upload(adjacency.indptr)
        if isinstance(adjacency, CompressedAdjacency):
            arrays["degrees"] = runtime.upload(adjacency.degree)
            arrays["block_ptr"] = runtime.upload(adjacency.block_ptr)
        self.struct = struct(ADJACENCY, n=adjacency.n, data_bytes=adjacency.edges.nbytes)
        self.struct["hot_from"] = NOTHING_HOT
        self._point("indptr", "degrees", "block_ptr")
        self._place_hubs(adjacency)

    def _place_rows(self, adjacency: Adjacency, mapped: bool, head_groups: int, hot_bytes: int) -> int:
        """Place the edges, the hot rows and the head table; return how many ids read for it are no vertices."""
        runtime, edges = self._runtime, adjacency.edges
        leads = mapped and (not len(self.hubs) or first_is_best(adjacency, self.ranked))
        lead = self._take_lead(adjacency, hot_bytes) if leads else 0
        hot = self._make_hot(adjacency, hot_bytes) if hot_bytes and not leads else None
        heads = self._make_heads(adjacency, head_groups) if head_groups else None
        steps = Steps(runtime, self, adjacency, hot, heads, self._prove, lead)
        if mapped and edges.nbytes:
            others = edges[steps.first :]
            self._mapping = runtime.map(others, steps.use)
            self.kind, self.host_bytes = self._mapping.kind, others.nbytes
        else:
            name = "blob" if isinstance(adjacency, CompressedAdjacency) else "indices"
            self.arrays[name] = runtime.upload(edges)
            if "numbers" in self.arrays:
                self.number(self.arrays[name])
                del self.arrays["numbers"]  # of no use any more
            steps.use(self.arrays[name], 0, len(edges))
        invalid, self.sound = steps.found()
        return invalid

    def number(self, ids: Array) -> None:
        """Write ids of the file anew, as numbers, if vertices have any."""
        if "numbers" not in self.arrays:
            return
        runtime, count = self._runtime, len(ids)
        kernel = PLACE_NUMBERS.build(runtime, np.dtype(ids.dtype), self.codec)
        launch(runtime, kernel, count, (ids, np.uint64(count), self.arrays["numbers"], self.struct["file_n"][()]))

    def _point(self, *names: str) -> None:
        for name in names:
            if name in self.arrays:
                self.struct[name] = self._runtime.pointer(self.arrays[name])

    def _place_hubs(self, adjacency: Adjacency) -> None:
        """Make the bitmap of rows and the tables of the hubs and their chunks."""
        runtime, arrays = self._runtime, self.arrays
        arrays["rows"] = runtime.empty(-(-adjacency.n // 32), np.uint32)
        found = self._find_hubs(adjacency)
        if isinstance(adjacency, CompressedAdjacency):
            hubs, hub_ptr = adjacency.hubs, adjacency.hub_ptr
        else:
            assert isinstance(adjacency, PlainAdjacency)
            hubs = found
            degrees = adjacency.indptr[hubs.astype(np.int64) + 1] - adjacency.indptr[hubs]
            hub_ptr = np.zeros(len(hubs) + 1, np.uint64)
            np.cumsum(-(-degrees.astype(np.int64) // BLOCK_IDS), out=hub_ptr[1:], dtype=np.uint64)
        assert len(hubs) <= U32_MAX and int(hub_ptr[-1]) <= U32_MAX
        chunk_hub = np.repeat(np.arange(len(hubs), dtype=np.uint32), np.diff(hub_ptr).astype(np.int64))
        self.hubs, self.hub_ptr = np.asarray(hubs), np.asarray(hub_ptr)
        arrays["hubs"] = runtime.upload(hubs)
        arrays["hub_ptr"] = runtime.upload(hub_ptr)
        arrays["chunk_hub"] = runtime.upload(chunk_hub)
        self._point("rows", "hubs", "hub_ptr", "chunk_hub")
        self.chunks = len(chunk_hub)
        self.struct["chunks"] = self.chunks
        self.struct["hub_count"] = len(hubs)

    def _find_hubs(self, adjacency: Adjacency) -> np.ndarray:
        """Fill the bitmap of rows; return the hubs of plain rows, ascending (compressed rows bring theirs)."""
        runtime = self._runtime
        kernel = PLACE_ROWS.build(runtime, adjacency.ids, self.codec)
        counts = runtime.zeros(2, np.uint64)
        # two passes, so that the list is exactly as long as it must be
        capacity = 0
        for _ in range(1 if isinstance(adjacency, CompressedAdjacency) else 2):
            hubs = runtime.empty(capacity, adjacency.ids)
            launch(runtime, kernel, adjacency.n, (self.struct, self.arrays["rows"], hubs, np.uint64(capacity), counts))
            capacity, self.with_edges = (int(count) for count in runtime.download(counts))
            runtime.fill(counts, 0)
        return np.sort(runtime.download(hubs))

    def _take_lead(self, adjacency: Adjacency, room: int) -> int:
        """Copy the edges of the first rows to device memory by way of pinned buffers, as ``near``; return how many.

        Hot rows are among them where the longest rows come first. It takes less time than to page-lock them.
        """
        edges = first_rows(adjacency, room)
        if not len(edges):
            return 0
        runtime, arrays, unit = self._runtime, self.arrays, edges.itemsize
        arrays["near"] = runtime.upload(edges)
        self.number(arrays["near"])
        self._point("near")
        self.struct["near_end"], self.hot_bytes = len(edges), edges.nbytes
        hubs = self.hubs.astype(np.int64)
        ids = self._hub_ids(adjacency)
        outside = ids[adjacency.indptr[hubs + 1] > len(edges)]
        hot_from = int(outside.max()) + 1 if len(outside) else BLOCK_IDS + 1
        hot = hubs[ids >= hot_from]
        if len(hot):
            arrays["hot_ptr"] = runtime.upload(adjacency.indptr[hubs])
            self._point("hot_ptr")
            self.struct["hot"], self.struct["hot_from"] = self.struct["near"], hot_from
            self.struct["hot_bytes"] = edges.nbytes
        hot_units = int((adjacency.indptr[hot + 1] - adjacency.indptr[hot]).sum())
        self.near_share = (len(edges) - hot_units) * unit / adjacency.edges.nbytes
        return len(edges)

    def _hub_ids(self, adjacency: Adjacency) -> np.ndarray:
        """Return the ids in each hub's row: int64."""
        hubs = self.hubs.astype(np.int64)
        if isinstance(adjacency, CompressedAdjacency):
            return adjacency.degree[hubs].astype(np.int64)
        return (adjacency.indptr[hubs + 1] - adjacency.indptr[hubs]).astype(np.int64)

    def _choose_hot(self, adjacency: Adjacency, room: int) -> tuple[int, np.ndarray]:
        """Make ``room`` bytes or less for the rows of the largest hubs; return the ids from which one is hot, and
        them."""
        runtime, arrays = self._runtime, self.arrays
        hubs = self.hubs.astype(np.int64)
        unit = adjacency.edges.itemsize
        lengths, ids = self._hub_lengths(adjacency), self._hub_ids(adjacency)
        hot_from, offsets, self.hot_bytes = hottest(ids, lengths * unit, room - offset_bytes(len(hubs)))
        if self.hot_bytes:
            arrays["hot"] = runtime.empty(self.hot_bytes // unit, adjacency.edges.dtype)
            arrays["hot_ptr"] = runtime.upload((offsets // unit).astype(np.uint64))
            return hot_from, hubs[ids >= hot_from]
        return hot_from, hubs[:0]

    def _hub_lengths(self, adjacency: Adjacency) -> np.ndarray:
        """Return the ids (plain) or bytes (varint) of each hub's row: int64."""
        hubs = self.hubs.astype(np.int64)
        return (adjacency.indptr[hubs + 1] - adjacency.indptr[hubs]).astype(np.int64)

    def _make_hot(self, adjacency: Adjacency, room: int) -> HotRows:
        """Make ``room`` bytes or less for hot rows and what comes next, and let kernels look there from now on."""
        hot_from, chosen = self._choose_hot(adjacency, room)
        found = HotRows(hot_from, self.struct.copy())
        if self.hot_bytes:
            self._publish_hot(hot_from)
        leading = int(np.count_nonzero(chosen == np.arange(len(chosen))))
        self._make_near(adjacency, leading, room - self.hot_bytes - offset_bytes(len(self.hubs)), found)
        return found

    def _publish_hot(self, hot_from: int) -> None:
        """Let kernels read hot rows from now on."""
        self._point("hot", "hot_ptr")
        self.struct["hot_from"], self.struct["hot_bytes"] = hot_from, self.hot_bytes

    def _make_near(self, adjacency: Adjacency, leading: int, room: int, found: HotRows) -> None:
        """Make ``room`` bytes or less for a range of edges: what comes after the ``leading`` hot rows."""
        edges = adjacency.edges
        begin, end = nearest(adjacency.indptr, leading, room - LINE - 2 * GRAIN, edges.itemsize)
        if begin == end:
            return
        found.begin = max(0, begin - LINE // edges.itemsize)  # whole lines are read, also of the first row
        found.end = end
        near = self.arrays["near"] = self._runtime.empty(found.end - found.begin, edges.dtype)
        self.struct["near"] = (self._runtime.pointer(near) - found.begin * edges.itemsize) % 2**64
        self.struct["near_begin"], self.struct["near_end"] = begin, end
        self.near_share = int(near.nbytes) / edges.nbytes
        self.hot_bytes += int(near.nbytes)

    def _make_heads(self, adjacency: Adjacency, groups: int) -> Array:
        """Allocate the head table, to be filled at once, and return it."""
        rows = adjacency.rows_end
        heads = self.arrays["heads"] = self._runtime.empty(groups * HEAD_GROUP * rows, adjacency.ids)
        self.struct["head_groups"], self.struct["head_rows"] = groups, rows
        self._point("heads")
        if self.ranked and isinstance(adjacency, PlainAdjacency):
            self.struct["head_skip"] = groups * HEAD_GROUP
        return heads

    def close(self) -> None:
        """Release the arrays and the mapping; a second call does nothing."""
        self.arrays.clear()
        mapping, self._mapping = self._mapping, None
        if mapping is not None:
            mapping.close()

    def __enter__(self) -> PlacedAdjacency:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
