"""Connected components as work of the engine of one of several GPUs whose hosts carry what is told."""

from __future__ import annotations

import numpy as np

from bigbfs.algorithms.components.gpu.hosts import arguments
from bigbfs.algorithms.components.gpu.hosts.loop import HostForest
from bigbfs.algorithms.components.gpu.peers.arguments import PROOF_KERNELS
from bigbfs.algorithms.components.gpu.peers.program import PeerComponents
from bigbfs.engines.gpu.placement.arrays import ArraySpec
from bigbfs.engines.gpu.ranks.memory import layout
from bigbfs.engines.gpu.ranks.placed_graph import RankPlacedGraph
from bigbfs.engines.gpu.ranks.transport import made, staging
from bigbfs.engines.gpu.runtime.kernels import KernelSpec
from bigbfs.engines.ranks.partition import Partition


class HostComponents(PeerComponents):
    """See :class:`PeerComponents`."""

    @staticmethod
    def own_arrays() -> tuple[ArraySpec, ...]:
        """Return the state of a run that one GPU has, too."""
        return arguments.own_arrays()

    @staticmethod
    def shared_bytes(partition: Partition, ids: np.dtype) -> int:
        """Return the bytes of the forest, and of what is told."""
        return layout(arguments.fields(partition, ids))[1]

    @staticmethod
    def staged_bytes(partition: Partition, ids: np.dtype) -> int:
        """Return the bytes of pinned memory by way of which ranks tell one another, where that is not NCCL."""
        return sum(staging(partition.size, arguments.most_sent(partition, ids)))

    @staticmethod
    def every_kernel(whole: bool = False) -> tuple[KernelSpec, ...]:
        """Return every kernel that a run and its proof launch."""
        return (*arguments.KERNELS, *PROOF_KERNELS)

    @staticmethod
    def _made(placed: RankPlacedGraph) -> HostForest:
        return HostForest(
            placed,
            placed.group,
            placed.partition,
            lambda nbytes: made(placed.transport, placed.runtime, placed.group, nbytes, placed.patience),
        )
