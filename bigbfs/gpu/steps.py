"""What placement makes of the rows, step by step, as they become readable: hot rows, the range near them, heads.

In: ranges of the edges, in file order, as ``Runtime.map`` page-locks them. Out: filled tables. The kernels of one step
run while the next is page-locked, which is the longer of the two.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from bigbfs.adjacency import Adjacency
from bigbfs.gpu.arguments import BLOCK, WARP, defines
from bigbfs.gpu.runtime import Array, Kernel, Runtime

SLACK = 256
"""Bytes that must be readable behind a row: kernels read whole words and lines."""


@dataclass
class HotRows:
    """Where copies of rows go.

    Attributes
    ----------
    hot_from
        Ids from which a row is hot.
    bare
        The struct of the adjacency without any hot rows: what they are copied from.
    begin, end
        Edges that are copied as they are stored.
    """

    hot_from: int
    bare: np.ndarray
    begin: int = 0
    end: int = 0


class Placed(Protocol):
    """What is placed already (``PlacedAdjacency``)."""

    struct: np.ndarray
    hubs: np.ndarray
    hub_ptr: np.ndarray
    ranked: bool

    @property
    def arrays(self) -> dict[str, Array]:
        """The arrays in device memory by name."""


class Steps:
    """Fills the tables of ``placed``.

    Parameters
    ----------
    runtime
        The device.
    placed
        Its struct leads to the tables already, and is told where the edges are.
    adjacency
        The rows.
    hot
        Which rows are copied; None: none.
    heads
        The head table; None: there is none.
    invalid
        Counter of ids that are no vertices: uint64, shape (1,).
    """

    def __init__(
        self,
        runtime: Runtime,
        placed: Placed,
        adjacency: Adjacency,
        hot: HotRows | None,
        heads: Array | None,
        invalid: Array,
    ) -> None:
        self._runtime, self._placed, self._indptr = runtime, placed, adjacency.indptr
        self._edges, self._n = adjacency.edges, adjacency.n
        self._hot, self._heads, self._invalid = hot, heads, invalid
        self._rows = 0
        variant = defines(adjacency.ids, adjacency.codec)
        self._kernels = {name: runtime.kernel("place.cu", name, variant) for name in ("place_hot", "place_heads")}

    def use(self, view: Array, begin: int, end: int) -> None:
        """Do what can be done with the edges before ``end``; see ``Runtime.map``."""
        runtime, placed = self._runtime, self._placed
        placed.struct["data"] = runtime.pointer(view)
        if begin == 0:
            self._rows = 0
            runtime.fill(self._invalid, 0)
        first, last = self._rows, self._rows_before(end)
        self._rows = last
        if self._hot is not None:
            self._hot.bare["data"] = placed.struct["data"]
            self._copy_hot(self._hot, first, last)
            self._copy_near(self._hot, view, begin, end)
        if self._heads is not None and first < last:
            arguments = (self._heads, np.uint32(placed.ranked), np.uint64(first), np.uint64(last), self._invalid)
            self._launch("place_heads", last - first, placed.struct, *arguments)

    def _rows_before(self, end: int) -> int:
        """Return how many rows can be read whole, a multiple of 32 unless all can."""
        if end == len(self._edges):
            return self._n
        readable = max(0, end - SLACK // self._edges.itemsize)
        rows = int(np.searchsorted(self._indptr, np.uint64(readable), side="right")) - 1
        return max(self._rows, rows // WARP * WARP)

    def _copy_hot(self, hot: HotRows, first: int, last: int) -> None:
        placed = self._placed
        if "hot" not in placed.arrays:
            return
        ends = np.searchsorted(placed.hubs, np.array([first, last], np.uint64))
        chunks = placed.hub_ptr[ends]
        if chunks[0] < chunks[1]:
            targets = (np.uint64(hot.hot_from), placed.arrays["hot_ptr"], placed.arrays["hot"])
            self._launch("place_hot", int(chunks[1] - chunks[0]) * WARP, hot.bare, *targets, chunks[0], chunks[1])

    def _copy_near(self, hot: HotRows, view: Array, begin: int, end: int) -> None:
        low, high = max(begin, hot.begin), min(end, hot.end)
        if low < high:
            near = self._placed.arrays["near"]
            self._runtime.copy(near[low - hot.begin : high - hot.begin], view[low:high])

    def _launch(self, name: str, threads: int, *arguments: Array) -> None:
        kernel: Kernel = self._kernels[name]
        kernel(max(1, min(self._runtime.max_blocks(kernel, BLOCK), -(-threads // BLOCK))), BLOCK, arguments)
