"""BFS as work of the engine of one of several GPUs of a machine: the levels stay on the devices."""

from __future__ import annotations

import numpy as np

from bigbfs.algorithms.bfs.gpu.peers import arguments
from bigbfs.algorithms.bfs.gpu.peers.base import RankedTree
from bigbfs.algorithms.bfs.gpu.peers.loop import PeerSearch
from bigbfs.algorithms.bfs.gpu.tuning import DEFAULT
from bigbfs.algorithms.bfs.options import BfsOptions
from bigbfs.algorithms.bfs.ranks.depth import agreed_thin_levels
from bigbfs.algorithms.bfs.result import RunRecord
from bigbfs.engines.gpu.ranks.memory import layout
from bigbfs.engines.gpu.runtime.kernels import KernelSpec
from bigbfs.engines.ranks.partition import Partition
from bigbfs.record import RankRecord


class PeerBfs(RankedTree):
    """See :class:`RankedTree`."""

    SLOTS = DEFAULT.slots
    TAKES_ALL_ROWS = True
    """Whether it runs on ranks that each have all rows, too, and is quicker there where these are uneven."""

    @staticmethod
    def shared_bytes(partition: Partition, ids: np.dtype) -> int:
        """Return the bytes that other ranks write and read."""
        return layout(arguments.shared_fields(partition, ids, arguments.inbox(partition)))[1]

    @staticmethod
    def every_kernel(whole: bool = False) -> tuple[KernelSpec, ...]:
        """Return every kernel that a run and its proof launch; ``whole``: where each rank has all rows."""
        return (*arguments.kernels(whole), *arguments.PROOF_KERNELS)

    def _made(self, options: BfsOptions) -> PeerSearch:
        placed = self._placed
        alone = placed.whole and agreed_thin_levels(placed.graph, placed.group) is not None
        shared = "large bottom-up levels are shared" if placed.whole else "its levels are shared"
        placed.tell("levels are thin: each searches for itself" if alone else shared)
        return PeerSearch(
            placed,
            placed.group,
            placed.partition,
            placed.share,
            bottom_up=options.entry.bottom_up,
            tuning=options.tuning or DEFAULT,
            patience=placed.patience,
            whole=placed.whole,
            alone=alone,
        )

    def _searched(self, options: BfsOptions) -> tuple[RunRecord, int]:
        found = self.search.run(options.source, options.max_depth, options.want_parents, options.want_levels)
        group = self._group
        mine = RankRecord(group.rank, group.host, found.mine, found.waited, found.sent)
        record = RunRecord(
            options.source,
            found.reached,
            found.depth,
            found.edges,
            found.seconds,
            levels=found.levels,
            launches=found.launches,
            reads=found.launches,
            ranks=tuple(group.objects(mine)),
            exchanges=found.told,
        )
        return record, found.invalid
