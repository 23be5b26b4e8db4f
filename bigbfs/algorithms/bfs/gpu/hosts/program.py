"""BFS as work of the engine of one of several GPUs whose hosts run the levels."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from bigbfs.algorithms.bfs.gpu.hosts import arguments
from bigbfs.algorithms.bfs.gpu.hosts.loop import HostSearch
from bigbfs.algorithms.bfs.gpu.peers.arguments import PROOF_KERNELS, inbox, shared_fields
from bigbfs.algorithms.bfs.gpu.peers.base import RankedTree
from bigbfs.algorithms.bfs.gpu.tuning import DEFAULT
from bigbfs.algorithms.bfs.options import BfsOptions
from bigbfs.algorithms.bfs.ranks.costs import Forced
from bigbfs.algorithms.bfs.result import RunRecord
from bigbfs.engines.gpu.ranks.memory import layout
from bigbfs.engines.gpu.ranks.transport import made, staging
from bigbfs.engines.gpu.runtime.kernels import KernelSpec
from bigbfs.engines.ranks.partition import Partition
from bigbfs.record import RankRecord


class HostBfs(RankedTree):
    """See :class:`RankedTree`."""

    @staticmethod
    def shared_bytes(partition: Partition, ids: np.dtype) -> int:
        """Return the bytes that others write and read, and of what a rank has for others."""
        capacity = inbox(partition)
        own = layout(shared_fields(partition, ids, capacity))[1]
        return own + arguments.inbox_bytes(partition, ids, capacity)

    @staticmethod
    def staged_bytes(partition: Partition, ids: np.dtype) -> int:
        """Return the bytes of pinned memory by way of which ranks tell one another, where that is not NCCL."""
        return sum(staging(partition.size, arguments.most_sent(partition, ids, inbox(partition))))

    @staticmethod
    def every_kernel() -> tuple[KernelSpec, ...]:
        """Return every kernel that a run and its proof launch."""
        return (*arguments.KERNELS, *PROOF_KERNELS[1:])

    def _made(self, options: BfsOptions) -> Any:
        placed = self._placed
        return HostSearch(
            placed,
            placed.group,
            placed.partition,
            lambda nbytes: made(placed.transport, placed.runtime, placed.group, nbytes, placed.patience),
            forced=Forced(None if placed.exchange == "auto" else placed.exchange),
            bottom_up=options.entry.bottom_up,
            tuning=replace(options.tuning or DEFAULT, slots=self.SLOTS),
            patience=placed.patience,
        )

    def _searched(self, options: BfsOptions) -> tuple[RunRecord, int]:
        found = self.search.run(options.source, options.max_depth, options.want_parents, options.want_levels)
        group = self._group
        mine = RankRecord(group.rank, group.host, found.mine, found.traffic.waited, found.traffic.sent)
        record = RunRecord(
            options.source,
            self.search.reached,
            found.depth,
            self.search.edges,
            found.seconds,
            levels=found.levels,
            ranks=tuple(group.objects(mine)),
            exchanges=found.exchanges,
        )
        return record, found.faults
