"""One adjacency whose edges stay in the file: offsets, hub tables, heads and hot rows in device memory.

The edges are read once while it is placed: the head table and the hot rows are made of the batches as they come by.
"""

from __future__ import annotations

import numpy as np

from bigbfs.engines.gpu.placement.hot import NOTHING_HOT
from bigbfs.engines.gpu.placement.placed import PlacedAdjacency
from bigbfs.engines.gpu.runtime.arguments import TABLES, WARP, struct
from bigbfs.engines.gpu.runtime.kernels import kernels_of
from bigbfs.engines.gpu.runtime.launch import launch
from bigbfs.engines.gpu.runtime.runtime import Array, Runtime
from bigbfs.engines.gpu.streamed import listed
from bigbfs.engines.gpu.streamed.buffers import Buffers, Consume, Traffic
from bigbfs.graph.adjacency import Adjacency

KERNELS = (*kernels_of("kernels/placement/streamed_place.cu", ("streamed_place",)), *listed.KERNELS)


class StreamedAdjacency(PlacedAdjacency):
    """An adjacency in place, until ``close``; the parameters and attributes of ``PlacedAdjacency``, and these.

    Parameters
    ----------
    buffers
        Where batches go through; they stay open longer than this object.
    own
        Vertices whose rows are read, from a multiple of 32 on; None: all.

    Attributes
    ----------
    feed
        Reads rows from the file.
    traffic
        What placing has read.
    units
        Ids (plain) or bytes (varint) of all those rows together.
    unit
        Bytes of one.
    """

    def __init__(
        self,
        runtime: Runtime,
        adjacency: Adjacency,
        buffers: Buffers,
        *,
        head_groups: int = 0,
        hot_bytes: int = 0,
        ranked: bool = False,
        own: range | None = None,
    ) -> None:
        from bigbfs.engines.gpu.streamed.feed import Feed  # imports Numba, which edges in memory do without

        self.traffic = Traffic()
        self._own = range(adjacency.n) if own is None else own
        self.units = int(adjacency.indptr[self._own.stop]) - int(adjacency.indptr[self._own.start])
        words = range(self._own.start // 32, -(-self._own.stop // 32)) if self._own else range(0)
        self.feed = Feed(runtime, adjacency, buffers, words=words)
        self.unit = self.feed.unit
        super().__init__(runtime, adjacency, mapped=False, head_groups=head_groups, hot_bytes=hot_bytes, ranked=ranked)
        self.feed.warm(self.struct, self.arrays["rows"])
        self.kind = self.feed.kind
        self.host_bytes = self.feed.host_bytes

    def _place_rows(self, adjacency: Adjacency, mapped: bool, head_groups: int, hot_bytes: int) -> int:
        runtime, arrays = self._runtime, self.arrays
        hot_from = self._choose_hot(adjacency, hot_bytes)[0] if hot_bytes else NOTHING_HOT
        invalid = runtime.zeros(1, np.uint64)
        tables = struct(TABLES, hot_from=hot_from, ranked=self.ranked, invalid=runtime.pointer(invalid))
        if self.hot_bytes:
            tables["hot"], tables["hot_ptr"] = runtime.pointer(arrays["hot"]), runtime.pointer(arrays["hot_ptr"])
        if head_groups:
            tables["heads"] = runtime.pointer(self._make_heads(adjacency, head_groups))
        asked = arrays["rows"] if head_groups else self._hot_hubs(adjacency, hot_from)
        kernel = KERNELS[0].build(runtime, adjacency.ids, adjacency.codec)

        def place(local: np.ndarray, pieces: Array, count: int) -> None:
            launch(runtime, kernel, count * WARP, (local, tables, asked, pieces, np.uint64(count)))

        if head_groups or self.hot_bytes:
            self.traffic = self.read(asked, self.units, place)
        if self.hot_bytes:
            self._publish_hot(hot_from)
        return int(runtime.download(invalid)[0])

    def _hot_hubs(self, adjacency: Adjacency, hot_from: int) -> Array:
        """Return the bitmap of the rows of ``hot_from`` ids and more."""
        hubs = self.hubs.astype(np.int64)
        hubs = hubs[(hubs >= self._own.start) & (hubs < self._own.stop)]
        hot = hubs[adjacency.degrees()[hubs].astype(np.uint64) >= np.uint64(hot_from)]
        bits = np.zeros(-(-self.n // 32), np.uint32)
        np.bitwise_or.at(bits, hot // 32, np.uint32(1) << (hot % 32).astype(np.uint32))
        return self._runtime.upload(bits)

    def _hub_lengths(self, adjacency: Adjacency) -> np.ndarray:
        """Return the units of each hub's row: those of others take no room."""
        lengths = super()._hub_lengths(adjacency)
        hubs = self.hubs.astype(np.int64)
        lengths[(hubs < self._own.start) | (hubs >= self._own.stop)] = 0
        return lengths

    def read(self, wanted: Array, units: int, consume: Consume, rows: int | None = None) -> Traffic:
        """Send the rows of the bitmap ``wanted`` through the buffers (see ``Feed.run``)."""
        return self.feed.run(self.struct, wanted, units, consume, rows)

    def read_all(self, consume: Consume) -> Traffic:
        """Send every row through the buffers."""
        return self.read(self.arrays["rows"], self.units, consume)

    def close(self) -> None:
        """End the reader's threads and release the arrays; a second call does nothing."""
        self.feed.close()
        super().close()
