"""BFS as work of the GPU engine: the loop for the strategy and the residency, results, and their verification."""

from __future__ import annotations

from dataclasses import replace
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
from bigbfs.algorithms.bfs.level_records import LevelRecords
from bigbfs.algorithms.bfs.options import BfsOptions
from bigbfs.algorithms.bfs.result import BfsResult, RunRecord
from bigbfs.algorithms.bfs.strategies import STRATEGIES, Strategy
from bigbfs.engines.gpu.placed_graph import PlacedGraph
from bigbfs.engines.gpu.placement.arrays import ArraySpec
from bigbfs.engines.gpu.runtime.arguments import no_vertex
from bigbfs.engines.gpu.runtime.kernels import KernelSpec
from bigbfs.errors import UsageError
from bigbfs.record import LevelRecord


def every_kernel() -> tuple[KernelSpec, ...]:
    """Return every kernel of BFS."""
    own = (spec for entry in STRATEGIES.values() for spec in _kernels_of(entry, "vram"))
    ranks = (
        *peers.kernels(False),
        *peers.kernels(True),
        *peers.PROOF_KERNELS,
        *hosts.KERNELS,
        *streamed_arguments.KERNELS,
    )
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
        self._n = placed.n if placed.numbers is None else placed.numbers.n
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
        found = self.search(options)
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
        levels: Any = np.broadcast_to(np.int32(-1), self._n)
        parents: Any = np.broadcast_to(np.int64(-1), self._n)
        if options.fetch and options.want_levels:
            levels = self._levels(options.source)
        if options.fetch and options.want_parents:
            parents = self._parents(options.source)
        return BfsResult(levels, parents, record)

    def _levels(self, source: int) -> np.ndarray:
        """Return the levels of the last search: int32, shape (n,)."""
        found, numbers = self.loop.levels(), self._placed.numbers
        if numbers is None:
            return found
        if numbers.number(source) is None:
            found[:] = -1
        levels = numbers.spread(found, -1)
        levels[source] = 0
        return levels

    def _parents(self, source: int) -> np.ndarray:
        """Return the parents of the last search: int64, shape (n,)."""
        found, numbers = self.loop.parents(), self._placed.numbers
        parents = found.astype(np.int64)
        parents[found == no_vertex(self._placed.ids)] = -1
        if numbers is None:
            return parents
        if numbers.number(source) is None:
            parents[:] = -1
        return numbers.spread(np.where(parents < 0, -1, numbers.vertices[parents]), -1)

    def search(self, options: BfsOptions) -> Run:
        """Traverse, and leave levels and parents on the device, where vertices may have numbers of their own."""
        options.require_source(self._n)
        source, most, numbers = options.source, options.max_depth, self._placed.numbers
        number = source if numbers is None else numbers.number(source)
        if number is None:  # it has no edges, and reaches itself alone, as any other vertex does without a step
            found = self.loop.run(0, 0, options.want_parents, options.want_levels)
            level = LevelRecord(0, "top-down", 1, found.seconds, 0)
            return replace(found, edges=0, level_records=LevelRecords.of([level] if most != 0 else []))
        return self.loop.run(number, most, options.want_parents, options.want_levels)

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
        numbers, source, most = self._placed.numbers, options.source, options.max_depth
        number = source if numbers is None else numbers.number(source)
        tree = (self.loop.array("levels"), self.loop.array("parents"))
        root, depth = (0, 0) if number is None else (number, most)  # who has no edges: as any vertex without a step
        self._verifier.verify(root, *tree, depth, name=source)
