"""BFS as work of the engine of one of several GPUs, each of which reads its own rows from the file."""

from __future__ import annotations

import numpy as np

from bigbfs.algorithms.bfs.gpu.hosts import streamed_arguments as arguments
from bigbfs.algorithms.bfs.gpu.hosts.program import HostBfs
from bigbfs.algorithms.bfs.gpu.hosts.streamed_loop import StreamedSearch
from bigbfs.algorithms.bfs.gpu.hosts.streamed_prove import PIECES
from bigbfs.algorithms.bfs.gpu.peers.arguments import PROOF_KERNELS
from bigbfs.algorithms.bfs.options import BfsOptions
from bigbfs.engines.gpu.placement.arrays import ArraySpec
from bigbfs.engines.gpu.ranks.memory import layout
from bigbfs.engines.gpu.ranks.transport import made, staging
from bigbfs.engines.gpu.runtime.kernels import KernelSpec
from bigbfs.engines.ranks.partition import Partition


class StreamedHostBfs(HostBfs):
    """See :class:`RankedTree`."""

    @classmethod
    def own_arrays(cls) -> tuple[ArraySpec, ...]:
        """Return the bitmaps and counters of a run."""
        return (*arguments.BITMAPS, arguments.TALLIES)

    @staticmethod
    def shared_bytes(partition: Partition, ids: np.dtype) -> int:
        """Return the bytes of the tree, and of claims on their way."""
        claims = arguments.claim_bytes(partition, ids, arguments.inbox(partition))
        return layout(arguments.tree_fields(partition, ids))[1] + claims

    @staticmethod
    def staged_bytes(partition: Partition, ids: np.dtype) -> int:
        """Return the bytes of pinned memory by way of which ranks tell one another, where that is not NCCL."""
        return sum(staging(partition.size, arguments.most_sent(partition, ids, arguments.inbox(partition))))

    @staticmethod
    def every_kernel() -> tuple[KernelSpec, ...]:
        """Return every kernel that a run and its proof launch."""
        return (*arguments.KERNELS, PIECES, *PROOF_KERNELS[1:])

    def _made(self, options: BfsOptions) -> StreamedSearch:
        placed = self._placed
        return StreamedSearch(
            placed,
            placed.group,
            placed.partition,
            lambda nbytes: made(placed.transport, placed.runtime, placed.group, nbytes, placed.patience),
            bottom_up=options.entry.bottom_up,
        )
