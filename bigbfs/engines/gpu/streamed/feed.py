"""Moves batches of rows from the file to the device while kernels work on the batches before.

Four buffers of pinned host memory, each with a twin in device memory, take turns. While the threads of the reader fill
one, the batch before is on its way over the link or under a kernel, and this thread plans the next one; where rows are
few, the device has planned all of them (listed.py). A buffer is filled again when its copy has ended, its twin when the
kernels that read it have (``runtime.Stage``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from bigbfs.engines.gpu.runtime.runtime import Array, Runtime, Stage
from bigbfs.engines.gpu.streamed.batches import PIECE_FIELDS, Planner
from bigbfs.engines.gpu.streamed.buffers import Buffers, Consume, Traffic
from bigbfs.engines.gpu.streamed.ledger import ALIGN
from bigbfs.engines.gpu.streamed.listed import Listed, Lister
from bigbfs.engines.gpu.streamed.reader import Reader, Reading
from bigbfs.graph.adjacency import Adjacency

LEAST_ROOM = 4 << 20
"""Bytes of a batch at least, where buffers allow it: smaller ones cost more in calls than they save by overlapping."""

SHARES = 12
"""Batches into which little work is cut all the same, so that reading, copying and traversing overlap."""


LISTED_SHARES = 4
"""The same where rows are copied one by one: that takes far longer than to send and traverse them."""


@dataclass(frozen=True, slots=True)
class _Filling:
    """A batch that is being read: what to send of its stage, its pieces, and the bytes [``first``, ``end``) as pieces
    count them."""

    stage: Stage
    reading: Reading
    sent: int
    pieces: Array
    end: int
    first: int


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
        self._readings: list[Reading] = []
        self._lister = Lister(runtime, adjacency, self._words)
        self.kind = self._reader.kind
        self.unit = self._planner.unit
        self.host_bytes = self._planner.host_bytes + self._mirror.nbytes

    def run(self, struct: np.ndarray, wanted: Array, units: int, consume: Consume, rows: int | None = None) -> Traffic:
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
        rows
            How many are wanted: where they are few, the device lists them. None: nobody knows.

        Raises
        ------
        FileAccessError, FormatError
            The file cannot be read or is damaged.
        """
        traffic = Traffic()
        if rows == 0:
            return traffic
        if rows is not None and rows <= Lister.capacity(self._buffers.capacity):
            with self._buffers.held() as stage:
                listed = self._lister.list(struct, wanted, stage)
                if listed is not None:
                    self._pass(struct, consume, self._listed(listed, traffic))
                    return traffic
        self._pass(struct, consume, self._planned(wanted, units, traffic))
        return traffic

    def warm(self, struct: np.ndarray, wanted: Array) -> None:
        """Run the kernel that lists rows without work."""
        with self._buffers.held() as stage:
            self._lister.warm(struct, wanted, stage)

    def _planned(self, wanted: Array, units: int, traffic: Traffic) -> Iterator[_Filling]:
        """Begin to fill one buffer after the other with the rows that the host finds in the bitmap."""
        there = slice(self._words.start, self._words.stop)
        if self._words:
            self._runtime.read(wanted[there], self._mirror[there])
        share = max(LEAST_ROOM, units * self._planner.unit // SHARES)
        room = min(self._buffers.capacity, share)
        for batch in self._planner.batches(self._mirror, room, self._words.start):
            traffic.add(batch.stretches, len(batch.pieces))
            stage = self._buffers.take()
            at = -(-batch.bytes // ALIGN) * ALIGN
            pieces = batch.pieces.reshape(-1).view(np.uint8)
            behind = slice(at, at + len(pieces))
            stage.host[behind] = pieces
            reading = self._begin(batch.stretches, stage)
            yield _Filling(stage, reading, behind.stop, stage.array[behind].view(np.uint64), batch.bytes, 0)

    def _listed(self, listed: Listed, traffic: Traffic) -> Iterator[_Filling]:
        """Begin to fill one buffer after the other with the rows that the device has listed."""
        room = min(self._buffers.capacity, max(LEAST_ROOM, listed.bytes // LISTED_SHARES))
        for first, last in listed.batches(room):
            stretches = listed.stretches[first:last]
            stage = self._buffers.take()
            reading = self._begin(stretches, stage)
            traffic.add(stretches, last - first)
            begin, end = int(stretches[0, 2]), int(stretches[-1, 2] + stretches[-1, 1])
            yield _Filling(stage, reading, end - begin, listed.pieces_of(first, last), end, begin)

    def _begin(self, stretches: np.ndarray, stage: Stage) -> Reading:
        reading = self._reader.start(stretches, stage.host)
        self._readings = [*self._readings[-1:], reading]
        return reading

    def _pass(self, struct: np.ndarray, consume: Consume, fillings: Iterator[_Filling]) -> None:
        """Send each batch, and launch what reads it, when the next one is being read."""
        waiting: _Filling | None = None
        try:
            for filling in fillings:
                if waiting is not None:
                    self._send(struct, consume, waiting)
                waiting = filling
            if waiting is not None:
                self._send(struct, consume, waiting)
        finally:
            # also the batch before the last one, which may still be waited for where an interrupt came
            for left in self._readings:
                left.abandon()
            self._readings = []

    def _send(self, struct: np.ndarray, consume: Consume, filling: _Filling) -> None:
        stage = filling.stage
        filling.reading.wait()
        local = struct.copy()
        local["data"] = self._runtime.pointer(stage.array) - filling.first
        local["data_bytes"] = filling.end
        stage.send(filling.sent)
        try:
            consume(local, filling.pieces, len(filling.pieces) // PIECE_FIELDS)
        finally:
            stage.done()

    def close(self) -> None:
        """End the threads; a second call does nothing."""
        self._reader.close()
