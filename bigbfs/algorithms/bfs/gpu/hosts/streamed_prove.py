"""Proof on the devices that a tree is right, where each rank reads its own rows from the file once more."""

from __future__ import annotations

from typing import Any

import numpy as np

from bigbfs.algorithms.bfs.gpu.hosts.prove import HostProver
from bigbfs.algorithms.bfs.gpu.verify import KERNELS
from bigbfs.engines.gpu.runtime.arguments import WARP
from bigbfs.engines.gpu.runtime.launch import launch
from bigbfs.engines.gpu.runtime.runtime import Array
from bigbfs.engines.gpu.streamed.placement import StreamedAdjacency

PIECES = next(spec for spec in KERNELS if spec.name == "verify_tree_pieces")


class StreamedProver(HostProver):
    """Proves trees of one search; parameters of :class:`HostProver`."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._pieces = PIECES.build(self._runtime, self._placed.ids, self._placed.codec)

    def _launch(self, name: str, threads: int, *arguments: Any) -> None:
        """Launch a step of the proof; own edges, which are not there to be launched over, batch by batch."""
        if name != "prove_own_edges":
            super()._launch(name, threads, *arguments)
            return
        rows, (*tree, faults) = self._placed.out, arguments[2:]
        assert isinstance(rows, StreamedAdjacency)

        def look(local: np.ndarray, pieces: Array, count: int) -> None:
            launch(self._runtime, self._pieces, count * WARP, (local, *tree, pieces, np.uint64(count), faults))

        rows.read_all(look)
