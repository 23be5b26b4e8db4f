"""Moves batches of rows from the file to the device while kernels work on the batches before.

Four buffers of pinned host memory, each with a twin in device memory, take turns. While the threads of the reader fill
one, the batch before is on its way over the link or under a kernel, and this thread plans the next one. A buffer is
filled again when its copy has ended, its twin when the kernels that read it have (``runtime.Stage``).
"""

from __future__ import annotations

import numpy as np

from bigbfs.engines.gpu.runtime.runtime import Array, Runtime, Stage
from bigbfs.engines.gpu.streamed.batches import PIECE_FIELDS, Batch, Planner
from bigbfs.engines.gpu.streamed.buffers import Buffers, Consume, Traffic
from bigbfs.engines.gpu.streamed.ledger import ALIGN
from bigbfs.engines.gpu.streamed.reader import Reader, Reading
from bigbfs.graph.adjacency import Adjacency

LEAST_ROOM = 4 << 20
"""Bytes of a batch at least, where buffers allow it: smaller ones cost more in calls than they save by overlapping."""

SHARES = 12
"""Batches into which little work is cut all the same, so that reading, copying and traversing overlap."""


class Feed:
    """The rows of one adjacency, by way of ``buffers``, until ``close``.

    Parameters
    ----------
    runtime
        The device.
    adjacency
        Rows, whose edges are mapped from a file (or in memory, which is read the same way).
    buffers
        They stay open longer than this object.
    threads
        Of the reader; None: see there.
    words
        Words of bitmaps in which rows may be wanted; None: all.
    """

    def __init__(
        self,
        runtime: Runtime,
        adjacency: Adjacency,
        buffers: Buffers,
        threads: int | None = None,
        words: range | None = None,
    ) -> None:
        self._runtime = runtime
        self._buffers = buffers
        self._planner = Planner(adjacency, buffers.capacity)
        self._words = range(-(-adjacency.n // 32)) if words is None else words
        self._mirror = np.empty(self._words.stop, np.uint32)
        self._reader = Reader(adjacency.edges, threads)
        self.kind = self._reader.kind
        self.unit = self._planner.unit
        self.host_bytes = self._planner.host_bytes + self._mirror.nbytes

    def run(self, struct: np.ndarray, wanted: Array, units: int, consume: Consume) -> Traffic:
        """Read the rows of ``wanted``, and call ``consume`` for each batch as soon as it may be launched.

        Parameters
        ----------
        struct
            The adjacency's, dtype ``ADJACENCY``.
        wanted
            Bitmap in device memory, uint32, shape (ceil(n / 32),).
        units
            About how much of what ``indptr`` counts the wanted rows are.
        consume
            Must not wait for the device.

        Raises
        ------
        FileAccessError, FormatError
            The file cannot be read or is damaged.
        """
        runtime, traffic = self._runtime, Traffic()
        there = slice(self._words.start, self._words.stop)
        if self._words:
            runtime.read(wanted[there], self._mirror[there])
        share = max(LEAST_ROOM, units * self._planner.unit // SHARES)
        room = min(self._buffers.capacity, share)
        waiting: tuple[Stage, Batch, int, Reading] | None = None
        reading: Reading | None = None
        try:
            for batch in self._planner.batches(self._mirror, room, self._words.start):
                traffic.add(batch)
                stage = self._buffers.take()
                at = -(-batch.bytes // ALIGN) * ALIGN
                pieces = batch.pieces.reshape(-1).view(np.uint8)
                stage.host[at : at + len(pieces)] = pieces
                reading = self._reader.start(batch.stretches, stage.host)
                if waiting is not None:
                    self._send(struct, consume, *waiting)
                waiting = (stage, batch, len(batch.pieces), reading)
            if waiting is not None:
                self._send(struct, consume, *waiting)
        finally:
            # also the batch before the last one, which may still be waited for where an interrupt came
            for left in (waiting[3] if waiting else None, reading):
                if left is not None:
                    left.abandon()
        return traffic

    def _send(
        self, struct: np.ndarray, consume: Consume, stage: Stage, batch: Batch, count: int, reading: Reading
    ) -> None:
        reading.wait()
        at = -(-batch.bytes // ALIGN) * ALIGN
        size = 8 * PIECE_FIELDS * count
        local = struct.copy()
        local["data"] = self._runtime.pointer(stage.array)
        local["data_bytes"] = batch.bytes
        stage.send(at + size)
        try:
            consume(local, stage.array[at : at + size].view(np.uint64), count)
        finally:
            stage.done()

    def close(self) -> None:
        """End the threads; a second call does nothing."""
        self._reader.close()
