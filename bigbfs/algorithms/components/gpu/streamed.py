"""Connected components for rows that are read from the file: the algorithms of ``gpu/cc.py``, whose passes are
streamed.

Afforest's forest and rounds take the heads, in device memory; what is outside the giant then reads its rows from the
file, once. Without a head table there are no rounds, and nearly all rows are read. The simple algorithms read rows in
every pass.
"""

from __future__ import annotations

import numpy as np

from bigbfs.algorithms.components.gpu.loop import ComponentsLoop
from bigbfs.engines.gpu.placed_graph import PlacedGraph
from bigbfs.engines.gpu.placement.arrays import ArraySpec
from bigbfs.engines.gpu.placement.placed import PlacedAdjacency
from bigbfs.engines.gpu.runtime.arguments import WARP
from bigbfs.engines.gpu.runtime.kernels import kernels_of
from bigbfs.engines.gpu.runtime.launch import launch
from bigbfs.engines.gpu.runtime.runtime import Array
from bigbfs.engines.gpu.streamed.placement import StreamedAdjacency

KERNELS = kernels_of(
    "algorithms/components/gpu/streamed_cc.cu",
    ("streamed_outside", "streamed_active", "streamed_link", "streamed_hook", "streamed_spread"),
)

WANTED = ArraySpec("wanted", "u32", "words", "bitmap: rows to be read from the file")
ASKED = ArraySpec("asked", "u64", "1", "rows that a pass reads", True)


class StreamedComponents(ComponentsLoop):
    """Connected components of one placed graph, whose rows are streamed; the parameters of ``ComponentsLoop``."""

    ROWS_IN_PLACE = False

    def __init__(self, placed: PlacedGraph) -> None:
        super().__init__(placed)
        self._to_read, self._asked = self.borrow(WANTED), self.borrow(ASKED)
        self._kernels.load(KERNELS)

    def warm(self) -> None:
        """Run every kernel of Afforest on a graph of no vertices."""
        nothing, none, one = self._out.struct.copy(), np.uint64(0), np.uint32(1)
        nothing["n"] = 0
        forest = (self._labels, one, self._giant)
        self._launch("streamed_outside", 1, nothing, *forest, one, self._to_read, self._asked, self._counts)
        self._launch("streamed_link", 1, nothing, *forest, self._to_read, self._asked, none, self._counts)
        super().warm()

    def _round(self, first: int, last: int, begin: int, end: int) -> None:
        if self._heads:
            super()._round(first, last, begin, end)

    def _walk(self, kernels: str, rows: PlacedAdjacency, *arguments: Array) -> None:
        assert isinstance(rows, StreamedAdjacency)
        runtime, wanted = self._runtime, self._to_read
        runtime.fill(self._asked, 0)
        if kernels == "cc_spread":
            self._launch("streamed_active", self.n, rows.struct, arguments[1], wanted, self._asked)
        else:
            heads_too = np.uint32(kernels == "cc_link")
            choice = (*arguments, heads_too, wanted, self._asked, self._counts)
            self._launch("streamed_outside", self.n, rows.struct, *choice)
        asked = int(runtime.download(self._asked)[0])
        if asked == 0:
            return
        kernel = self._kernels.kernel(kernels.replace("cc_", "streamed_"))

        def walk(local: np.ndarray, pieces: Array, count: int) -> None:
            taken = (local, *arguments, wanted, pieces, np.uint64(count), self._counts)
            launch(runtime, kernel, count * WARP, taken)

        # about: rows are taken to be of average length
        rows.read(wanted, asked * rows.units // max(1, rows.with_edges), walk, asked)
