"""A few rows, listed by the device: where they lie in the file, and where in the batches, without a look at the bitmap.

The bitmap of a level has a bit for every vertex. To copy it to the host and look for the rows in it takes milliseconds,
however few they are. The device knows the offsets too, so it writes down the stretches to be read and the pieces for
its own kernels (kernels/placement/streamed_pieces.cu), and the host fetches the stretches alone.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from bigbfs.engines.gpu.placement.hot import NOTHING_HOT
from bigbfs.engines.gpu.runtime.arguments import PIECE, PIECE_LIST, struct
from bigbfs.engines.gpu.runtime.kernels import kernels_of
from bigbfs.engines.gpu.runtime.launch import launch
from bigbfs.engines.gpu.runtime.runtime import Array, Runtime, Stage
from bigbfs.errors import FormatError
from bigbfs.graph.adjacency import Adjacency

KERNELS = kernels_of("kernels/placement/streamed_pieces.cu", ("streamed_pieces",))

COUNT_AT, ALIGN = 36, 16
"""As streamed_pieces.cu has them."""

HEADER_BYTES = 16
STRETCH_BYTES = 24


@dataclass(frozen=True, slots=True)
class Listed:
    """Rows, or chunks of hub rows, nearly in the order of the file.

    Attributes
    ----------
    stretches
        uint64, shape (rows, 3), in pinned memory: first byte in the edges, bytes, first byte of all rows listed.
    pieces
        The same in device memory, for kernels: uint64.
    bytes
        Where the last row ends.
    """

    stretches: np.ndarray
    pieces: Array
    bytes: int

    def batches(self, room: int) -> Iterator[tuple[int, int]]:
        """Yield (first, last + 1) of the rows that go into a batch of ``room`` bytes.

        Raises
        ------
        FormatError
            Offsets of the graph do not ascend, or a row is longer than any can be.
        """
        count, first = len(self.stretches), 0

        def end(i: int) -> int:
            return int(self.stretches[i, 2]) + int(self.stretches[i, 1])

        while first < count:
            goal = int(self.stretches[first, 2]) + room
            last = first + bisect_right(range(first, count), goal, key=end)
            if last == first:
                begin = int(self.stretches[first, 0])
                raise FormatError(
                    f"the offsets of the row at byte {begin} of the edges are damaged: they descend, or a chunk of it "
                    f"has more than {room} bytes; `bigbfs check` says where"
                )
            yield first, last
            first = last

    def pieces_of(self, first: int, last: int) -> Array:
        """Return the pieces of these rows."""
        width = PIECE.itemsize // 8
        return self.pieces[first * width : last * width]


class Lister:
    """Lists rows of one adjacency, in a stage that holds nothing else meanwhile."""

    def __init__(self, runtime: Runtime, adjacency: Adjacency, words: range) -> None:
        self._runtime = runtime
        self._kind = adjacency.ids, adjacency.codec
        self._words = words

    @staticmethod
    def capacity(nbytes: int) -> int:
        """Return how many rows a stage of ``nbytes`` has room for."""
        return (nbytes - HEADER_BYTES) // (STRETCH_BYTES + PIECE.itemsize)

    def warm(self, rows: np.ndarray, wanted: Array, stage: Stage) -> None:
        """Run the kernel on a graph of no vertices: the driver loads a kernel when it is first launched."""
        nothing = rows.copy()
        nothing["chunks"] = 0
        self._run(nothing, wanted, stage, range(0))

    def _run(self, rows: np.ndarray, wanted: Array, stage: Stage, words: range) -> None:
        runtime, room = self._runtime, self.capacity(stage.array.nbytes)
        runtime.fill(stage.array[:HEADER_BYTES], 0)
        target = struct(
            PIECE_LIST, words=runtime.pointer(stage.array), capacity=room, begin=words.start, end=words.stop
        )
        rows = rows.copy()
        rows["hot_from"] = NOTHING_HOT  # a row may be asked for all the same
        # a warp takes 32 words of the bitmap, or 32 chunks
        threads = max(1, len(words), int(rows["chunks"]))
        launch(runtime, KERNELS[0].build(runtime, *self._kind), threads, (rows, wanted, target))

    def list(self, rows: np.ndarray, wanted: Array, stage: Stage) -> Listed | None:
        """Return the rows of the bitmap ``wanted``; None where ``stage`` has no room for so many.

        Parameters
        ----------
        rows
            The struct of the adjacency.
        wanted
            Bitmap in device memory.
        stage
            Free to be written; what is returned lies in it.
        """
        runtime, room = self._runtime, self.capacity(stage.array.nbytes)
        self._run(rows, wanted, stage, self._words)
        header = stage.host[:8].view(np.uint64)
        runtime.read(stage.array[:8].view(np.uint64), header)
        count, lines = int(header[0]) >> COUNT_AT, int(header[0]) & ((1 << COUNT_AT) - 1)
        if count > room:
            return None
        there = slice(HEADER_BYTES, HEADER_BYTES + STRETCH_BYTES * count)
        runtime.read(stage.array[there], stage.host[there])
        first = HEADER_BYTES + STRETCH_BYTES * room
        pieces = stage.array[first : first + PIECE.itemsize * count].view(np.uint64)
        return Listed(stage.host[there].view(np.uint64).reshape(-1, 3), pieces, lines * ALIGN)
