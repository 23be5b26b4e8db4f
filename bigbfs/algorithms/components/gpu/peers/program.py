"""Connected components as work of the engine of one of several GPUs: all ranks run it, and rank 0 has the labels."""

from __future__ import annotations

import numpy as np

from bigbfs.algorithms.components.gpu.peers import arguments
from bigbfs.algorithms.components.gpu.peers.loop import JointForest
from bigbfs.algorithms.components.gpu.peers.prove import Forest, prove_labels
from bigbfs.algorithms.components.gpu.peers.whole import WholeForest
from bigbfs.algorithms.components.options import ComponentsOptions
from bigbfs.algorithms.components.result import ComponentsResult, result_of_first
from bigbfs.engines.cpu.ranked_memory import labels_bytes
from bigbfs.engines.gpu.placement.arrays import ArraySpec
from bigbfs.engines.gpu.ranks.engine import RankPlacedGraph
from bigbfs.engines.gpu.ranks.memory import layout
from bigbfs.engines.gpu.runtime.kernels import KernelSpec
from bigbfs.engines.ranks.numbering import to_first, whole
from bigbfs.engines.ranks.partition import Partition


class PeerComponents:
    """Connected components of one graph over several GPUs; every rank makes it together.

    Parameters
    ----------
    placed
        Own rows, and the ranks.
    options
        Any that has a form over GPUs (``ComponentsOptions.require_peers``).

    Attributes
    ----------
    forest
        What runs the passes; it holds the labels of the last run.
    """

    TAKES_ALL_ROWS = True
    """Whether it runs on ranks that each have all rows, too: by degree, in one pass over own vertices."""

    @staticmethod
    def own_arrays() -> tuple[ArraySpec, ...]:
        """Return the state of a run that no other rank sees."""
        return arguments.own_arrays()

    @staticmethod
    def shared_bytes(partition: Partition, ids: np.dtype) -> int:
        """Return the bytes that other ranks read."""
        return layout(arguments.shared_fields(partition, ids))[1]

    @staticmethod
    def fetched_bytes(partition: Partition, ids: np.dtype, rank: int) -> int:
        """Return the bytes of host memory of ``rank`` while labels come to rank 0."""
        return labels_bytes(partition.n, 64 * int(partition.part(rank).words), ids, first=rank == 0)

    @staticmethod
    def every_kernel(whole: bool = False) -> tuple[KernelSpec, ...]:
        """Return every kernel that a run and its proof launch; ``whole``: where each rank has all rows."""
        return (*arguments.KERNELS, *(arguments.WHOLE_KERNELS if whole else ()), *arguments.PROOF_KERNELS)

    def __init__(self, placed: RankPlacedGraph, options: ComponentsOptions) -> None:
        self._placed, self._group = placed, placed.group
        self.forest = self._made(placed)

    @staticmethod
    def _made(placed: RankPlacedGraph) -> Forest:
        made = WholeForest if placed.whole else JointForest
        return made(placed, placed.group, placed.partition, placed.share, placed.patience)

    def warm(self, options: ComponentsOptions) -> None:
        """Launch every kernel once, on nothing."""
        self.forest.warm()

    def run(self, options: ComponentsOptions) -> ComponentsResult:
        """Label the components; see ``ComponentsOptions``. The labels are on rank 0; elsewhere there are none.

        Raises
        ------
        UsageError
            The algorithm, or a switch of it, has no form over GPUs.
        FormatError
            The graph's file is damaged.
        DeviceError
            A kernel failed.
        """
        options.require_peers()
        placed, group, partition = self._placed, self._group, self._placed.partition
        found = self.forest.run(options)
        placed.require_vertices(found.invalid_ids)
        parts = to_first(group, self.forest.own_labels())
        labels = np.empty(0, placed.ids)
        if group.rank == 0:
            labels = whole(parts, [partition.own_words(rank) for rank in range(group.size)], placed.n)
        return result_of_first(group, labels, options.algorithm, found)

    def verify(self, options: ComponentsOptions, result: ComponentsResult) -> None:
        """Prove the labels of the last run on the devices, all ranks together.

        Raises
        ------
        VerificationError
            A rule is broken, on any rank.
        """
        prove_labels(self.forest)

    @property
    def shared_nbytes(self) -> int:
        """Bytes that other ranks read."""
        return self.forest.shared_bytes

    def close(self) -> None:
        """Close the memory of the others, all ranks together; a second call does nothing."""
        self.forest.close()
