"""The rows of many searches that come from the file: those that a level needs, once for all sources.

The device says which rows these are, and expands or searches them batch by batch as they come (many_streamed.cu). Rows
that the heads hold, and hubs that are hot, are others' to read.
"""

from __future__ import annotations

import numpy as np

from bigbfs.algorithms.many.gpu.arguments import PULL_PIECES, PUSH_PIECES
from bigbfs.engines.gpu.placement.placed import PlacedAdjacency
from bigbfs.engines.gpu.runtime.arguments import WARP
from bigbfs.engines.gpu.runtime.kernels import Launcher
from bigbfs.engines.gpu.runtime.runtime import Array, Runtime
from bigbfs.engines.gpu.streamed.placement import StreamedAdjacency


class FileRows:
    """Reads the rows of a placed graph for batches of searches.

    Parameters
    ----------
    runtime
        The device.
    out, incoming
        Rows that top-down expands, and those that bottom-up reads; None: there are none.
    kernels
        Of the batches.

    Attributes
    ----------
    bytes
        Read from the file so far.
    """

    def __init__(
        self, runtime: Runtime, out: PlacedAdjacency, incoming: PlacedAdjacency | None, kernels: Launcher
    ) -> None:
        self._runtime, self._kernels = runtime, kernels
        self._rows = {"out": out, "in": incoming}
        self.bytes = 0

    def warm(self, state: np.ndarray, arrays: dict[str, Array]) -> None:
        """Launch the kernels once, on no vertices."""
        wanted, found, none = arrays["wanted"], arrays["many_asked"], np.uint64(0)
        self._kernels("many_ask", 1, state, np.uint32(0), arrays["open"], wanted, found)
        for name in (*PUSH_PIECES, *PULL_PIECES):
            self._kernels(name, 1, state, wanted, found, none)

    def push(self, state: np.ndarray, marks: Array, arrays: dict[str, Array]) -> None:
        """Expand the rows of the vertices that the bitmap ``marks`` has."""
        self._read("out", PUSH_PIECES, state, marks, arrays)

    def pull(self, state: np.ndarray, arrays: dict[str, Array]) -> None:
        """Search the rows of the vertices whose heads did not decide."""
        self._read("in", PULL_PIECES, state, arrays["open"], arrays)

    def _read(
        self, side: str, names: tuple[str, ...], state: np.ndarray, marks: Array, arrays: dict[str, Array]
    ) -> None:
        placed, wanted, found = self._rows[side], arrays["wanted"], arrays["many_asked"]
        assert isinstance(placed, StreamedAdjacency)
        self._runtime.fill(found, 0)
        self._kernels("many_ask", placed.n, state, np.uint32(side == "in"), marks, wanted, found)
        rows, units = self._runtime.download(found).tolist()

        def consume(local: np.ndarray, pieces: Array, count: int) -> None:
            there = state.copy()
            there[side] = local
            for name in names:
                self._kernels(name, count * WARP, there, wanted, pieces, np.uint64(count))

        self.bytes += placed.read(wanted, units, consume, rows).bytes
