"""What BFS over several GPUs is to the engine, whether the levels stay on the devices or hosts run them.

All ranks run it together, and rank 0 has the tree.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from bigbfs.algorithms.bfs.gpu.arguments import EDGES
from bigbfs.algorithms.bfs.gpu.peers import arguments
from bigbfs.algorithms.bfs.options import BfsOptions
from bigbfs.algorithms.bfs.result import BfsResult, RunRecord
from bigbfs.engines.cpu.ranked_memory import tree_bytes
from bigbfs.engines.gpu.placement.arrays import ArraySpec
from bigbfs.engines.gpu.ranks.engine import RankPlacedGraph
from bigbfs.engines.gpu.runtime.arguments import no_vertex
from bigbfs.engines.ranks.numbering import to_first, whole
from bigbfs.engines.ranks.partition import Partition
from bigbfs.errors import UsageError


class RankedTree(ABC):
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

    SLOTS = 1
    """Levels that a launch records."""

    def __init__(self, placed: RankPlacedGraph, options: BfsOptions) -> None:
        self._placed, self._group = placed, placed.group
        self.search: Any = self._made(options)

    @classmethod
    def own_arrays(cls) -> tuple[ArraySpec, ...]:
        """Return the state of a run that no other rank sees."""
        return (*arguments.own_arrays(cls.SLOTS), EDGES)

    @staticmethod
    def fetched_bytes(partition: Partition, ids: np.dtype, rank: int) -> int:
        """Return the bytes of host memory of ``rank`` while levels and parents come to rank 0."""
        mine = 64 * int(partition.part(rank).words)
        return tree_bytes(partition.n, mine, ids, first=rank == 0, levels=True, parents=True)

    @abstractmethod
    def _made(self, options: BfsOptions) -> Any:
        """Return what runs the levels."""

    @abstractmethod
    def _searched(self, options: BfsOptions) -> tuple[RunRecord, int]:
        """Search; return what was measured, with a record of each rank, and how many ids met are no vertices."""

    def warm(self, options: BfsOptions) -> None:
        """Launch every kernel once, on nothing."""
        self.search.warm()

    def run(self, options: BfsOptions) -> BfsResult:
        """Traverse; see ``BfsOptions``. Levels and parents are on rank 0; elsewhere they are all -1."""
        placed, n = self._placed, self._placed.n
        options.require_source(n)
        record, invalid = self._searched(options)
        placed.require_vertices(invalid)
        levels: Any = np.broadcast_to(np.int32(-1), n)
        parents: Any = np.broadcast_to(np.int64(-1), n)
        if options.fetch and options.want_levels:
            levels = self._fetched(self.search.own_levels(), levels)
        if options.fetch and options.want_parents:
            fetched = self._fetched(self.search.own_parents(), None)
            if fetched is not None:
                parents = fetched.astype(np.int64)
                parents[fetched == no_vertex(placed.ids)] = -1
        return BfsResult(levels, parents, record)

    def _fetched(self, mine: np.ndarray, otherwise: Any) -> Any:
        """Return the array of all vertices on rank 0, ``otherwise`` elsewhere."""
        group, partition = self._group, self._placed.partition
        parts = to_first(group, mine)
        if group.rank:
            return otherwise
        return whole(parts, [partition.own_words(rank) for rank in range(group.size)], self._placed.n)

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
