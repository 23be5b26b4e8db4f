"""BFS as work of the GPU engine: the loop for the strategy and the residency, results, and their verification."""

from __future__ import annotations

from typing import Any

import numpy as np

from bigbfs.algorithms.bfs.gpu import arguments, levels, loop, streamed, verify
from bigbfs.algorithms.bfs.gpu.hosts import arguments as hosts
from bigbfs.algorithms.bfs.gpu.hosts import streamed_arguments
from bigbfs.algorithms.bfs.gpu.levels import LevelBfs
from bigbfs.algorithms.bfs.gpu.loop import BfsLoop
from bigbfs.algorithms.bfs.gpu.peers import arguments as peers
from bigbfs.algorithms.bfs.gpu.search import LEVEL_KERNELS, kernels_of_strategy
from bigbfs.algorithms.bfs.gpu.streamed import StreamedBfs
from bigbfs.algorithms.bfs.gpu.tree import Run
from bigbfs.algorithms.bfs.gpu.tuning import DEFAULT
from bigbfs.algorithms.bfs.options import BfsOptions
from bigbfs.algorithms.bfs.result import BfsResult, RunRecord
from bigbfs.algorithms.bfs.strategies import STRATEGIES, Strategy
from bigbfs.engines.gpu.placed_graph import PlacedGraph
from bigbfs.engines.gpu.placement.arrays import ArraySpec
from bigbfs.engines.gpu.runtime.arguments import no_vertex
from bigbfs.engines.gpu.runtime.kernels import KernelSpec
from bigbfs.errors import UsageError


def every_kernel() -> tuple[KernelSpec, ...]:
    """Return every kernel of BFS."""
    own = (spec for entry in STRATEGIES.values() for spec in _kernels_of(entry, "vram"))
    ranks = (*peers.KERNELS, *peers.PROOF_KERNELS, *hosts.KERNELS, *streamed_arguments.KERNELS)
    return tuple(dict.fromkeys((*own, *streamed.KERNELS, *verify.KERNELS, *ranks)))


def _kernels_of(strategy: Strategy, residency: str) -> tuple[KernelSpec, ...]:
    """Return every kernel that a run of ``strategy`` launches."""
    if strategy.loop == "levels":
        return (*kernels_of_strategy(strategy, levels.THREADS), *LEVEL_KERNELS)
    return streamed.KERNELS if residency == "streamed" else loop.KERNELS


class GpuBfs:
    """BFS on one placed graph.

    Parameters
    ----------
    placed
        The graph.
    options
        Which strategy.

    Attributes
    ----------
    loop
        What runs the levels; it holds levels and parents of the last search.
    """

    @staticmethod
    def arrays(options: BfsOptions, residency: str) -> tuple[ArraySpec, ...]:
        """Return the state of a run."""
        if options.entry.loop == "levels":
            return (*(arguments.spec_of(array) for array in options.entry.arrays), arguments.RESULTS)
        if residency == "streamed":
            return (*streamed.ARRAYS, arguments.RESULTS)
        tuning = options.tuning or DEFAULT
        return (*arguments.arrays(tuning.slots), arguments.EDGES, arguments.RESULTS)

    @staticmethod
    def kernels(options: BfsOptions, residency: str) -> tuple[KernelSpec, ...]:
        """Return every kernel that a run launches."""
        return _kernels_of(options.entry, residency)

    def __init__(self, placed: PlacedGraph, options: BfsOptions) -> None:
        strategy = STRATEGIES[options.strategy]
        self._placed = placed
        self._verifier: verify.TreeVerifier | None = None
        self.loop: BfsLoop | StreamedBfs | LevelBfs
        if strategy.loop == "levels":
            self.loop = LevelBfs(placed, strategy)
        elif placed.residency == "streamed":
            self.loop = StreamedBfs(placed, strategy)
        else:
            self.loop = BfsLoop(placed, strategy, options.tuning or DEFAULT)

    def warm(self, options: BfsOptions) -> None:
        """Launch every kernel once, on nothing."""
        self.loop.warm()

    def run(self, options: BfsOptions) -> BfsResult:
        """Traverse; see ``BfsOptions``."""
        n, found = self._placed.n, self.search(options)
        self._placed.require_vertices(found.invalid_ids)
        record = RunRecord(
            options.source,
            found.reached,
            found.depth,
            found.edges,
            found.seconds,
            levels=found.level_records,
            launches=found.launches,
            reads=found.reads,
        )
        levels: Any = np.broadcast_to(np.int32(-1), n)
        parents: Any = np.broadcast_to(np.int64(-1), n)
        if options.fetch and options.want_levels:
            levels = self.loop.levels()
        if options.fetch and options.want_parents:
            found_parents = self.loop.parents()
            parents = found_parents.astype(np.int64)
            parents[found_parents == no_vertex(self._placed.ids)] = -1
        return BfsResult(levels, parents, record)

    def search(self, options: BfsOptions) -> Run:
        """Traverse, and leave levels and parents on the device."""
        options.require_source(self._placed.n)
        return self.loop.run(options.source, options.max_depth, options.want_parents, options.want_levels)

    def verify(self, options: BfsOptions, result: BfsResult) -> None:
        """Prove the tree of the last search on the device.

        Raises
        ------
        VerificationError
            A rule is broken.
        UsageError
            Levels or parents are not wanted.
        """
        if not (options.want_levels and options.want_parents):
            raise UsageError("verifying looks at levels and parents: both must be wanted")
        if self._verifier is None:
            self._verifier = verify.TreeVerifier(self._placed)
        tree = (self.loop.array("levels"), self.loop.array("parents"))
        self._verifier.verify(options.source, *tree, options.max_depth)
