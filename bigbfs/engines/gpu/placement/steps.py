"""What placement makes of the rows, step by step, as they become readable: hot rows, a range near them, heads, a proof.

In: ranges of the edges, in file order, as ``Runtime.map`` page-locks them. Out: filled tables, and whether all rows are
as they should be (kernels/proof/prove.cu). The kernels of one step run while the next is page-locked, which is the
longer of the two. They read aligned words of rows that have been page-locked whole: none of these straddles a page.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bigbfs.engines.gpu.runtime.arguments import LINE, WARP
from bigbfs.engines.gpu.runtime.kernels import kernels_of
from bigbfs.engines.gpu.runtime.launch import launch
from bigbfs.engines.gpu.runtime.runtime import Array, Runtime
from bigbfs.graph.adjacency import Adjacency

if TYPE_CHECKING:
    from bigbfs.engines.gpu.placement.placed import PlacedAdjacency

KERNELS = kernels_of("kernels/placement/place.cu", ("place_hot", "place_heads"))
PROOF_KERNELS = kernels_of("kernels/proof/prove.cu", ("prove_rows", "prove_chunks"))


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
    prove
        Look at every edge.
    lead
        Edges from the first on that are in device memory (``near``).

    Attributes
    ----------
    first
        Of the edges that are mapped: those of all other rows, from a line of ``LINE`` bytes on.
    """

    def __init__(
        self,
        runtime: Runtime,
        placed: PlacedAdjacency,
        adjacency: Adjacency,
        hot: HotRows | None,
        heads: Array | None,
        prove: bool,
        lead: int = 0,
    ) -> None:
        self._runtime, self._placed, self._indptr = runtime, placed, adjacency.indptr
        self._edges, self._n = adjacency.edges, adjacency.n
        self._hot, self._heads, self._prove = hot, heads, prove
        self._counts, self._led_counts = runtime.zeros(2, np.uint64), runtime.zeros(2, np.uint64)
        self._rows = self._led = 0
        specs = (*KERNELS, *(PROOF_KERNELS if prove else ()))
        self._kernels = {spec.name: spec.build(runtime, adjacency.ids, placed.codec) for spec in specs}
        line = LINE // self._edges.itemsize
        self.first = min(lead, max(0, len(self._edges) - 1)) // line * line
        if lead:
            self._look(lead, self._led_counts)
            self._led = self._rows

    def use(self, view: Array, begin: int, end: int) -> None:
        """Do what can be done with the edges before ``end``, counted from ``first``; see ``Runtime.map``."""
        runtime, placed = self._runtime, self._placed
        placed.struct["data"] = (runtime.pointer(view) - self.first * self._edges.itemsize) % 2**64
        if begin == 0:
            self._rows = self._led
            runtime.fill(self._counts, 0)
        if self._hot is not None:
            self._hot.bare["data"] = placed.struct["data"]
            self._copy_hot(self._hot, self._chunks(self._rows, self._rows_before(end)))
            self._copy_near(self._hot, view, begin, end)
        self._look(self.first + end, self._counts)

    def _look(self, end: int, counts: Array) -> None:
        """Make heads of the rows before ``end`` that have none, and prove them."""
        placed, first, last = self._placed, self._rows, self._rows_before(end)
        self._rows, rows = last, (np.uint64(first), np.uint64(last))
        if self._heads is not None:
            self._launch(
                "place_heads", last - first, placed.struct, self._heads, np.uint32(placed.ranked), *rows, counts
            )
        if self._prove:
            chunks = self._chunks(first, last)
            self._launch("prove_rows", last - first, placed.struct, *rows, counts[1:])
            self._launch("prove_chunks", int(chunks[1] - chunks[0]) * WARP, placed.struct, *chunks, counts[1:])

    def found(self) -> tuple[int, bool]:
        """Wait; return how many ids read for the heads are no vertices, and whether the proof has found no fault."""
        invalid, faults = self._runtime.download(self._counts) + self._runtime.download(self._led_counts)
        return int(invalid), int(faults) == 0

    def _chunks(self, first: int, last: int) -> tuple[np.uint64, np.uint64]:
        """Return the first and the last + 1 of the chunks of hubs among these rows."""
        placed = self._placed
        hubs = np.searchsorted(placed.hubs, np.array([first, last], np.uint64))
        return placed.hub_ptr[hubs[0]], placed.hub_ptr[hubs[1]]

    def _rows_before(self, end: int) -> int:
        """Return how many rows can be read whole, a multiple of 32 unless all can."""
        if end == len(self._edges):
            return self._n
        rows = int(np.searchsorted(self._indptr, np.uint64(end), side="right")) - 1
        return max(self._rows, rows // WARP * WARP)

    def _copy_hot(self, hot: HotRows, chunks: tuple[np.uint64, np.uint64]) -> None:
        arrays = self._placed.arrays
        if "hot" in arrays:
            targets = (np.uint64(hot.hot_from), arrays["hot_ptr"], arrays["hot"])
            self._launch("place_hot", int(chunks[1] - chunks[0]) * WARP, hot.bare, *targets, *chunks)

    def _copy_near(self, hot: HotRows, view: Array, begin: int, end: int) -> None:
        low, high = max(begin, hot.begin), min(end, hot.end)
        if low < high:
            near = self._placed.arrays["near"]
            part = near[low - hot.begin : high - hot.begin]
            self._runtime.copy(part, view[low:high])
            self._placed.number(part)

    def _launch(self, name: str, threads: int, *arguments: Array) -> None:
        launch(self._runtime, self._kernels[name], threads, arguments)
