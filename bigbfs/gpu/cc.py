"""Connected components on a device: exact Afforest.

In: placed rows. Out: labels id (n), the smallest vertex of each component. Every vertex is linked to its first heads
(or neighbours), which leaves one giant tree in most graphs; a sample finds it; only the vertices outside it read all
their edges. Where the first heads alone leave such a tree, the other rounds return at once.
Nothing waits for the host on the way. Source: Sutton, Ben-Nun, Barak (IPDPS'18).

Skipping the giant is exact when each edge is seen from both ends. Where a directed graph stores in-neighbours, the
rows of both directions are finished; where it does not, nothing is skipped.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bigbfs.gpu.arguments import BLOCK, WARP, defines, no_vertex
from bigbfs.gpu.placement import PlacedAdjacency
from bigbfs.gpu.runtime import Array, Runtime

FILE = "cc_afforest.cu"
KERNELS = ("cc_init", "cc_round", "cc_compress", "cc_giant", "cc_finish_rows", "cc_finish_hubs")

ROUNDS = 2
"""Neighbours of each vertex that are linked before the giant is looked for."""


@dataclass(frozen=True, slots=True)
class Labelling:
    """What one run measured: the seconds it took, ids read that are no vertex."""

    seconds: float
    invalid_ids: int


class ComponentsLoop:
    """Connected components of one placed graph.

    Parameters
    ----------
    runtime
        The device.
    out
        Rows.
    incoming
        In-neighbours: ``out`` itself for a symmetric graph, None where a directed graph does not store them.
    ids, codec
        Dtype of an id, and encoding of the rows.
    labels
        n ids of device memory to work in.
    """

    def __init__(
        self,
        runtime: Runtime,
        out: PlacedAdjacency,
        incoming: PlacedAdjacency | None,
        *,
        ids: np.dtype,
        codec: str,
        labels: Array,
    ) -> None:
        self.n = out.n
        self.ids = ids
        self._runtime = runtime
        self._out = out
        self._rows = [out] if incoming is None or incoming is out else [out, incoming]
        self._sees_both_ends = incoming is not None
        self._labels = labels
        self._giant = runtime.empty(1, ids)
        self._settled = runtime.zeros(1, np.uint32)
        self._never = runtime.zeros(1, np.uint32)
        self._invalid = runtime.zeros(1, np.uint64)
        self._kernels = {name: runtime.kernel(FILE, name, defines(ids, codec)) for name in KERNELS}
        self._limits = {name: runtime.max_blocks(kernel, BLOCK) for name, kernel in self._kernels.items()}

    @property
    def buffers(self) -> dict[str, int]:
        """Bytes of every array by its name, the labels aside; all of them are counters in the ledger."""
        arrays = {"giant": self._giant, "settled": self._settled, "never": self._never, "invalid": self._invalid}
        return {name: int(array.nbytes) for name, array in arrays.items()}

    def warm(self) -> None:
        """Run every kernel on a graph of no vertices."""
        nothing = self._out.struct.copy()
        nothing["n"] = 0
        nothing["chunks"] = 0
        none, settled = np.uint64(0), self._settled
        self._launch("cc_init", 1, nothing, self._labels)
        self._launch("cc_round", 1, nothing, self._labels, np.uint32(0), settled, self._invalid)
        self._launch("cc_compress", 1, none, self._labels, settled)
        self._launch("cc_giant", 1, nothing, self._labels, self._giant, settled)
        self._launch("cc_finish_rows", 1, nothing, self._labels, self._giant, self._invalid)
        self._launch("cc_finish_hubs", 1, nothing, self._labels, self._giant, self._invalid)
        self._runtime.synchronize()

    def run(self) -> Labelling:
        """Label the components; the clock runs from the first label to the last. The labels stay on the device.

        Raises
        ------
        DeviceError
            A kernel failed.
        """
        runtime = self._runtime
        if self.n == 0:
            return Labelling(0.0, 0)
        size = np.uint64(self.n)
        runtime.fill(self._invalid, 0)
        with runtime.timer() as timer:
            self._launch("cc_init", self.n, self._out.struct, self._labels)
            runtime.fill(self._settled, 0)
            if not self._sees_both_ends:
                runtime.fill(self._giant, no_vertex(self.ids))
            for which in range(ROUNDS):
                self._round(which)
                self._launch("cc_compress", self.n, size, self._labels, self._settled)
                if self._sees_both_ends:
                    self._launch("cc_giant", 1, self._out.struct, self._labels, self._giant, self._settled)
            for rows in self._rows:
                self._launch("cc_finish_rows", self.n, rows.struct, self._labels, self._giant, self._invalid)
                if rows.chunks:
                    threads = rows.chunks * WARP
                    self._launch("cc_finish_hubs", threads, rows.struct, self._labels, self._giant, self._invalid)
            self._launch("cc_compress", self.n, size, self._labels, self._never)
        return Labelling(timer.seconds, int(runtime.download(self._invalid)[0]))

    def _round(self, which: int) -> None:
        """Link every vertex to its head (or neighbour) number ``which``."""
        if which == 0 and self._out.ranked and self._out.struct["head_groups"]:
            # cc_init has linked all but those without a smaller neighbour, which their neighbours found or rows will
            return
        out = self._out.struct
        self._launch("cc_round", self.n, out, self._labels, np.uint32(which), self._settled, self._invalid)

    def labels(self) -> np.ndarray:
        """Copy the labels of the last run to host memory: id, shape (n,)."""
        return self._runtime.download(self._labels)

    def _launch(self, name: str, threads: int, *arguments: Array) -> None:
        grid = max(1, min(self._limits[name], -(-threads // BLOCK)))
        self._kernels[name](grid, BLOCK, arguments)
