"""Connected components as work of the engine of one of several GPUs, each of which reads its rows from the file."""

from __future__ import annotations

from bigbfs.algorithms.components.gpu.hosts import streamed_forest
from bigbfs.algorithms.components.gpu.hosts.program import HostComponents
from bigbfs.algorithms.components.gpu.hosts.streamed_forest import StreamedForest
from bigbfs.algorithms.components.gpu.peers.prove import prove_labels
from bigbfs.algorithms.components.options import ComponentsOptions
from bigbfs.algorithms.components.result import ComponentsResult
from bigbfs.engines.gpu.placement.arrays import ArraySpec
from bigbfs.engines.gpu.ranks.placed_graph import RankPlacedGraph
from bigbfs.engines.gpu.ranks.transport import made
from bigbfs.engines.gpu.runtime.kernels import KernelSpec


class StreamedHostComponents(HostComponents):
    """See :class:`PeerComponents`."""

    forest: StreamedForest

    @staticmethod
    def own_arrays() -> tuple[ArraySpec, ...]:
        """Return the state of a run that one GPU has, too."""
        return streamed_forest.own_arrays()

    @staticmethod
    def every_kernel(whole: bool = False) -> tuple[KernelSpec, ...]:
        """Return every kernel that a run and its proof launch."""
        return (*streamed_forest.KERNELS, *streamed_forest.LOOK)

    @staticmethod
    def _made(placed: RankPlacedGraph) -> StreamedForest:
        return StreamedForest(
            placed,
            placed.group,
            placed.partition,
            lambda nbytes: made(placed.transport, placed.runtime, placed.group, nbytes, placed.patience),
        )

    def verify(self, options: ComponentsOptions, result: ComponentsResult) -> None:
        """Prove the labels of the last run on the devices, all ranks together.

        Raises
        ------
        VerificationError
            A rule is broken, on any rank.
        """
        prove_labels(self.forest, self.forest.look_at_edges)
