"""BFS as work of the engine of one of several GPUs: all ranks run it together, and rank 0 has the tree."""

from __future__ import annotations

from typing import Any

import numpy as np

from bigbfs.algorithms.bfs.gpu.arguments import EDGES
from bigbfs.algorithms.bfs.gpu.peers import arguments
from bigbfs.algorithms.bfs.gpu.peers.loop import Found, PeerSearch
from bigbfs.algorithms.bfs.gpu.tuning import DEFAULT
from bigbfs.algorithms.bfs.options import BfsOptions
from bigbfs.algorithms.bfs.result import BfsResult, RunRecord
from bigbfs.engines.gpu.placement.arrays import ArraySpec
from bigbfs.engines.gpu.ranks.engine import RankPlacedGraph
from bigbfs.engines.gpu.ranks.memory import layout
from bigbfs.engines.gpu.runtime.arguments import no_vertex
from bigbfs.engines.gpu.runtime.kernels import KernelSpec
from bigbfs.engines.ranks.numbering import to_first, whole
from bigbfs.engines.ranks.partition import Partition
from bigbfs.errors import UsageError
from bigbfs.record import RankRecord


class PeerBfs:
    """BFS on one graph over several GPUs; every rank makes it together.

    Parameters
    ----------
    placed
        Own rows, and the ranks.
    options
        Which strategy.

    Attributes
    ----------
    search
        What runs the levels; it holds levels and parents of the last search.
    """

    @staticmethod
    def own_arrays() -> tuple[ArraySpec, ...]:
        """Return the state of a run that no other rank sees."""
        return (*arguments.own_arrays(DEFAULT.slots), EDGES)

    @staticmethod
    def shared_bytes(partition: Partition, ids: np.dtype) -> int:
        """Return the bytes that other ranks write and read."""
        return layout(arguments.shared_fields(partition, ids, arguments.inbox(partition)))[1]

    @staticmethod
    def every_kernel() -> tuple[KernelSpec, ...]:
        """Return every kernel that a run and its proof launch."""
        return (*arguments.KERNELS, *arguments.PROOF_KERNELS)

    def __init__(self, placed: RankPlacedGraph, options: BfsOptions) -> None:
        self._placed, self._group = placed, placed.group
        self.search = PeerSearch(
            placed,
            placed.group,
            placed.partition,
            placed.runtime.shareable,
            bottom_up=options.entry.bottom_up,
            tuning=options.tuning or DEFAULT,
            patience=placed.patience,
        )

    def warm(self, options: BfsOptions) -> None:
        """Launch every kernel once, on nothing."""
        self.search.warm()

    def run(self, options: BfsOptions) -> BfsResult:
        """Traverse; see ``BfsOptions``. Levels and parents are on rank 0; elsewhere they are all -1."""
        placed, n = self._placed, self._placed.n
        options.require_source(n)
        found = self.search.run(options.source, options.max_depth, options.want_parents, options.want_levels)
        placed.require_vertices(found.invalid)
        levels: Any = np.broadcast_to(np.int32(-1), n)
        parents: Any = np.broadcast_to(np.int64(-1), n)
        if options.fetch and options.want_levels:
            levels = self._fetched(self.search.own_levels(), levels)
        if options.fetch and options.want_parents:
            fetched = self._fetched(self.search.own_parents(), None)
            if fetched is not None:
                parents = fetched.astype(np.int64)
                parents[fetched == no_vertex(placed.ids)] = -1
        return BfsResult(levels, parents, self._record(options, found))

    def _record(self, options: BfsOptions, found: Found) -> RunRecord:
        """Return what the search measured, with a record of each rank."""
        group = self._group
        mine = RankRecord(group.rank, group.host, found.mine, found.waited, found.sent)
        return RunRecord(
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

    def _fetched(self, mine: np.ndarray, otherwise: Any) -> Any:
        """Return the array of all vertices on rank 0, ``otherwise`` elsewhere."""
        group, partition = self._group, self._placed.partition
        parts = to_first(group, mine)
        if group.rank:
            return otherwise
        return whole(parts, [partition.own(rank) for rank in range(group.size)], self._placed.n)

    def verify(self, options: BfsOptions, result: BfsResult) -> None:
        """Prove the tree of the last search on the devices, all ranks together.

        Raises
        ------
        VerificationError
            A rule is broken, on any rank.
        UsageError
            Levels or parents are not wanted.
        """
        if not (options.want_levels and options.want_parents):
            raise UsageError("verifying looks at levels and parents: both must be wanted")
        self.search.prove(options.source, options.max_depth)

    @property
    def shared_nbytes(self) -> int:
        """Bytes that other ranks write and read."""
        return self.search.shared_bytes

    def close(self) -> None:
        """Close the memory of the others, all ranks together; a second call does nothing."""
        self.search.close()
