"""One adjacency where kernels can read it: the small arrays in device memory, the edges there or mapped.

Placed are ``indptr`` (uint64, n + 1), for varint rows ``degree`` (id, n) and the block index, the hub tables and the
bitmap of the vertices with edges (kernels/include/adjacency.cuh); ``indices`` or ``blob`` goes to device memory or is
mapped, and then the rows of the largest hubs, or more, are copied to device memory (hot.py). The head table (heads.cuh)
is built last, by a kernel that reads the rows where they are by then.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from types import TracebackType

import numpy as np

from bigbfs.adjacency import BLOCK_IDS, Adjacency, CompressedAdjacency, PlainAdjacency
from bigbfs.gpu.arguments import ADJACENCY, BLOCK, HEAD_GROUP, WARP, defines, struct
from bigbfs.gpu.hot import GRAIN, LINE, NOTHING_HOT, hottest, nearest, offset_bytes
from bigbfs.gpu.runtime import Array, Mapping, Runtime

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

    Attributes
    ----------
    struct
        The kernel argument: a zero-dimensional array of dtype ``ADJACENCY``.
    chunks
        Chunks of hub rows.
    with_edges
        Vertices that have any.
    ranked
        As given.
    invalid_ids
        Ids that were read for the head table and are no vertices.
    kind
        How the edges are held: ``"device"``, or what ``Runtime.map`` called it.
    hot_bytes
        Bytes of the rows of mapped edges that are in device memory too.
    near_share
        Share of the edges that the rows of no hub among them make up.
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
    ) -> None:
        self._runtime = runtime
        self._arrays: dict[str, Array] = {}
        self._mapping: Mapping | None = None
        self.kind = "device"
        self.hot_bytes = 0
        self.near_share = 0.0
        self.n = adjacency.n
        self.ranked = ranked
        try:
            self._place(adjacency, mapped)
            self.invalid_ids = self._derive(adjacency, head_groups, hot_bytes)
            self.device_bytes = sum(self.buffers.values())
        except BaseException:
            self.close()
            raise

    @property
    def buffers(self) -> dict[str, int]:
        """Bytes of every array in device memory by its name in the ledger."""
        sizes = {name: int(array.nbytes) for name, array in self._arrays.items()}
        near = sizes.pop("near", 0)
        return sizes | ({"hot": sizes.get("hot", 0) + near} if near else {})

    def _derive(self, adjacency: Adjacency, head_groups: int, hot_bytes: int) -> int:
        """Make the hot rows and the head table; return how many ids read for it are no vertices."""
        if hot_bytes:
            hot_from, hot = self._choose_hot(adjacency, hot_bytes)
            if self.hot_bytes:
                self._copy_hot(adjacency, hot_from)
                self._publish_hot(hot_from)
            self._place_near(adjacency, hot, hot_bytes - self.hot_bytes - offset_bytes(self._hub_count))
        return self._place_heads(adjacency, head_groups) if head_groups else 0

    def _place(self, adjacency: Adjacency, mapped: bool) -> None:
        runtime, arrays = self._runtime, self._arrays
        name, edges = "blob" if isinstance(adjacency, CompressedAdjacency) else "indices", adjacency.edges
        self.struct = struct(ADJACENCY, n=adjacency.n, data_bytes=edges.nbytes)
        self.struct["hot_from"] = NOTHING_HOT
        with ThreadPoolExecutor(1) as pool:
            # page-locking takes tenths of a second of the driver; the tables need only the offsets
            holding = pool.submit(self._hold, name, edges, mapped)
            arrays["indptr"] = runtime.upload(adjacency.indptr)
            if isinstance(adjacency, CompressedAdjacency):
                arrays["degrees"] = runtime.upload(adjacency.degree)
                arrays["block_ptr"] = runtime.upload(adjacency.block_ptr)
            self._point("indptr", "degrees", "block_ptr")
            self._place_hubs(adjacency)
            data = holding.result()
        self.host_bytes = edges.nbytes if self._mapping else 0
        self.struct["data"] = runtime.pointer(data)

    def _hold(self, name: str, edges: np.ndarray, mapped: bool) -> Array:
        """Return the edges, called ``name``, where kernels read them."""
        if mapped and edges.nbytes:
            self._mapping = self._runtime.map(edges)
            self.kind = self._mapping.kind
            return self._mapping.array
        self._arrays[name] = self._runtime.upload(edges)
        return self._arrays[name]

    def _point(self, *names: str) -> None:
        for name in names:
            if name in self._arrays:
                self.struct[name] = self._runtime.pointer(self._arrays[name])

    def _place_hubs(self, adjacency: Adjacency) -> None:
        """Make the bitmap of rows and the tables of the hubs and their chunks."""
        runtime, arrays = self._runtime, self._arrays
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
        arrays["hubs"] = runtime.upload(hubs)
        arrays["hub_ptr"] = runtime.upload(hub_ptr)
        arrays["chunk_hub"] = runtime.upload(chunk_hub)
        self._point("rows", "hubs", "hub_ptr", "chunk_hub")
        self.chunks = len(chunk_hub)
        self.struct["chunks"] = self.chunks
        self.struct["hub_count"] = self._hub_count = len(hubs)

    def _find_hubs(self, adjacency: Adjacency) -> np.ndarray:
        """Fill the bitmap of rows; return the hubs of plain rows, ascending (compressed rows bring theirs)."""
        runtime = self._runtime
        kernel = runtime.kernel("place.cu", "place_rows", defines(adjacency.ids, adjacency.codec))
        grid = max(1, min(runtime.max_blocks(kernel, BLOCK), -(-adjacency.n // BLOCK)))
        counts = runtime.zeros(2, np.uint64)
        # two passes, so that the list is exactly as long as it must be
        capacity = 0
        for _ in range(1 if isinstance(adjacency, CompressedAdjacency) else 2):
            hubs = runtime.empty(capacity, adjacency.ids)
            kernel(grid, BLOCK, (self.struct, self._arrays["rows"], hubs, np.uint64(capacity), counts))
            capacity, self.with_edges = (int(count) for count in runtime.download(counts))
            runtime.fill(counts, 0)
        return np.sort(runtime.download(hubs))

    def _choose_hot(self, adjacency: Adjacency, room: int) -> tuple[int, np.ndarray]:
        """Make ``room`` bytes or less for the rows of the largest hubs; return the ids from which one is hot, and
        them."""
        runtime, arrays = self._runtime, self._arrays
        hubs = runtime.download(arrays["hubs"]).astype(np.int64)
        indptr = adjacency.indptr
        unit = 1 if isinstance(adjacency, CompressedAdjacency) else adjacency.ids.itemsize
        lengths = (indptr[hubs + 1] - indptr[hubs]).astype(np.int64)
        ids = adjacency.degree[hubs] if isinstance(adjacency, CompressedAdjacency) else lengths
        hot_from, offsets, self.hot_bytes = hottest(
            ids.astype(np.int64), lengths * unit, room - offset_bytes(len(hubs))
        )
        if self.hot_bytes:
            arrays["hot"] = runtime.empty(self.hot_bytes // unit, np.uint8 if unit == 1 else adjacency.ids)
            arrays["hot_ptr"] = runtime.upload((offsets // unit).astype(np.uint64))
            return hot_from, hubs[ids >= hot_from]
        return hot_from, hubs[:0]

    def _copy_hot(self, adjacency: Adjacency, hot_from: int) -> None:
        """Copy the rows of ``hot_from`` ids and more to where room was made for them."""
        runtime = self._runtime
        kernel = runtime.kernel("place.cu", "place_hot", defines(adjacency.ids, adjacency.codec))
        grid = max(1, min(runtime.max_blocks(kernel, BLOCK), -(-self.chunks * WARP // BLOCK)))
        kernel(grid, BLOCK, (self.struct, np.uint64(hot_from), self._arrays["hot_ptr"], self._arrays["hot"]))

    def _publish_hot(self, hot_from: int) -> None:
        """Let kernels read hot rows from now on."""
        self._point("hot", "hot_ptr")
        self.struct["hot_from"], self.struct["hot_bytes"] = hot_from, self.hot_bytes

    def _place_near(self, adjacency: Adjacency, hot: np.ndarray, room: int) -> None:
        """Copy a range of edges to device memory, into ``room`` bytes or less: what comes after ``hot`` rows."""
        edges = adjacency.edges
        leading = int(np.count_nonzero(hot == np.arange(len(hot))))
        begin, end = nearest(adjacency.indptr, leading, room - LINE - 2 * GRAIN, edges.itemsize)
        if begin == end:
            return
        start = max(0, begin - LINE // edges.itemsize)  # whole lines are read, also of the first row
        near = self._arrays["near"] = self._runtime.upload(edges[start:end])
        self.struct["near"] = (self._runtime.pointer(near) - start * edges.itemsize) % 2**64
        self.struct["near_begin"], self.struct["near_end"] = begin, end
        self.near_share = int(near.nbytes) / edges.nbytes
        self.hot_bytes += int(near.nbytes)

    def _place_heads(self, adjacency: Adjacency, groups: int) -> int:
        """Build the head table; return how many ids read are no vertices."""
        runtime = self._runtime
        heads, invalid = self._make_heads(adjacency, groups), runtime.zeros(1, np.uint64)
        kernel = runtime.kernel("place.cu", "place_heads", defines(adjacency.ids, adjacency.codec))
        grid = max(1, min(runtime.max_blocks(kernel, BLOCK), -(-self.n * WARP // BLOCK)))
        kernel(grid, BLOCK, (self.struct, heads, np.uint32(self.ranked), invalid))
        return int(runtime.download(invalid)[0])

    def _make_heads(self, adjacency: Adjacency, groups: int) -> Array:
        """Allocate the head table, to be filled at once, and return it."""
        heads = self._arrays["heads"] = self._runtime.empty(groups * HEAD_GROUP * self.n, adjacency.ids)
        self.struct["head_groups"] = groups
        self._point("heads")
        if self.ranked and isinstance(adjacency, PlainAdjacency):
            self.struct["head_skip"] = groups * HEAD_GROUP
        return heads

    def close(self) -> None:
        """Release the arrays and the mapping; a second call does nothing."""
        self._arrays.clear()
        mapping, self._mapping = self._mapping, None
        if mapping is not None:
            mapping.close()

    def __enter__(self) -> PlacedAdjacency:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
