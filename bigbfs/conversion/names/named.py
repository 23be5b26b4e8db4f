"""Named: the edges and the names of all inputs of one conversion, once they have been read and sorted."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bigbfs.conversion.names import table
from bigbfs.conversion.names.gather import Gather
from bigbfs.conversion.names.merging import merge_in_memory, merge_on_disk
from bigbfs.conversion.names.runs import Run
from bigbfs.conversion.names.store import PageStore
from bigbfs.conversion.on_disk.scratch import Scratch
from bigbfs.formats.readers.edge_buffer import EdgeBuffer
from bigbfs.formats.readers.estimates import InputEstimate
from bigbfs.graph.edges import EdgeList
from bigbfs.graph.names import Names
from bigbfs.jit.workers import Workers, ranges
from bigbfs.report.progress import SILENT, Progress

_READ = 1 << 18


class Named:
    """Edges between vertices 0 to n - 1, each of which has a name: vertex v the v-th in byte order.

    Parameters
    ----------
    gather
        What has read them all; it is used up.
    room
        Bytes that merging may take.
    told
        Told what is done.

    Attributes
    ----------
    n, lines, self_loops
        Vertices, edges as given, and those from a vertex to itself.
    odd
        Some names that are not in Unicode's normal form C.
    """

    def __init__(
        self,
        gather: Gather,
        room: int,
        scratch: Scratch,
        workers: Workers,
        told: Progress = SILENT,
    ) -> None:
        self._workers, self._shards = workers, gather.threads
        self.lines, self.self_loops = gather.lines, gather.self_loops
        self._store = store = PageStore(scratch)
        self._maps: list[np.ndarray] | None = None
        self._gather = gather
        self._epochs = gather.epochs
        told.now("sort names", gather.kept(), "names")
        if len(gather.epochs) == 1:
            shards = gather.sorted_records(told.advance)
            self._maps = merge_in_memory(gather.words, shards, store.writer, told)
        else:
            gather.end_epoch(told.advance)
            gather.words = np.empty(0, np.uint64)
            self._epochs = gather.epochs[:-1]
            store.to_disk()
            runs = [run for epoch in self._epochs for run in epoch.runs if run.count]
            told.now("merge names", sum(run.count for run in runs), "names")
            merge_on_disk(runs, room, gather.longest, scratch, store.writer, told.advance)
        gather.words = np.empty(0, np.uint64)
        store.finish()
        self.n, self.odd = store.writer.count, store.writer.odd

    def to_disk(self) -> None:
        """Put what is in memory on disk: the conversion goes on there.

        Raises
        ------
        FileAccessError
            A temporary file cannot be written.
        """
        if not self._store.on_disk:
            self._store.to_disk()
            self._gather.spill_edges()

    def estimate(self, size: int) -> InputEstimate:
        """Return what building takes; ``size``: bytes of the inputs."""
        return InputEstimate(max(size, 1), self.lines, 16 * self.lines + self._store.nbytes, self.n)

    def names(self) -> Names:
        """Return the names; on disk they are mapped."""
        return self._store.names()

    def sections(self) -> Iterator[tuple[str, np.dtype, int, Iterator[np.ndarray]]]:
        """Return name, dtype, items and content, in stretches, of every section of the names."""
        return self._store.sections()

    def sample(self) -> np.ndarray:
        """Return ranks (uint64, ascending) that occur in the edges as often as all do: about evenly, by hashing."""
        return np.linspace(0, self.n - 1, min(self.n, 1 << 16)).astype(np.uint64)

    def feed(self, edges: EdgeBuffer) -> EdgeList:
        """Append all edges, as pairs of ranks, to ``edges``; return what was kept there. They are used up.

        Raises
        ------
        DoesNotFitError
            They take more memory than they may.
        FileAccessError
            A temporary file cannot be read.
        """
        if self.n > 2**32 and edges.dtype == np.uint32:
            edges.widen()
        edges.reserve(self.lines)
        for epoch in self._epochs:
            ranks, bases = self._ranks(epoch.runs)
            for numbers in epoch.edges():
                sides = edges.space(numbers.shape[1])
                cuts = ranges(numbers.shape[1], self._shards)

                def write(task: int, numbers: np.ndarray = numbers, cuts: list[tuple[int, int]] = cuts) -> None:
                    side, (first, last) = task % 2, cuts[task // 2]
                    given, out = numbers[side][first:last], sides[side][first:last]
                    table.translate(given, self._shards, bases, ranks, out)

                self._workers.each(2 * len(cuts), write)
                edges.keep(numbers.shape[1])
        self._maps = None
        return EdgeList(*edges.arrays(), declared_n=self.n)

    def _ranks(self, runs: list[Run]) -> tuple[np.ndarray, np.ndarray]:
        """Return the ranks of an epoch's names, shard behind shard, and where each shard begins."""
        dtype = np.uint32 if self.n <= 2**32 else np.uint64
        if self._maps is not None:
            bases = np.cumsum([0, *map(len, self._maps)])
            return np.concatenate(self._maps).astype(dtype), bases
        bases = np.cumsum([0, *(run.count for run in runs)])
        ranks = np.empty(int(bases[-1]), dtype)
        for base, run in zip(bases.tolist(), runs, strict=False):
            if not run.count:
                continue
            with run.ranks.open("rb") as stream:
                while len(pairs := np.fromfile(stream, np.uint64, 2 * _READ)):
                    ranks[base + pairs[::2].astype(np.int64)] = pairs[1::2]
        return ranks, bases
