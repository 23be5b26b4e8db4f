"""Named: the edges and the names of all inputs of one conversion, once they have been read and sorted."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from bigbfs.conversion.names import table
from bigbfs.conversion.names.gather import Gather
from bigbfs.conversion.names.merging import merge_in_memory, merge_on_disk
from bigbfs.conversion.names.runs import Run
from bigbfs.conversion.on_disk.scratch import Scratch
from bigbfs.formats.readers.edge_buffer import EdgeBuffer
from bigbfs.formats.readers.estimates import InputEstimate
from bigbfs.graph.edges import EdgeList
from bigbfs.graph.name_pages import PageWriter
from bigbfs.graph.names import Names
from bigbfs.jit.workers import Workers, ranges
from bigbfs.report.progress import SILENT, Progress

_READ = 1 << 18
_STRETCH = 1 << 24


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
        self._scratch, self._workers, self._shards = scratch, workers, gather.threads
        self.lines, self.self_loops = gather.lines, gather.self_loops
        self._blob: list[bytes] = []
        self._file: Path | None = None
        self._maps: list[np.ndarray] | None = None
        self._gather = gather
        self._epochs = gather.epochs
        if len(gather.epochs) == 1:
            pages = PageWriter(self._blob.append)
            told.now("sort names", gather.kept(), "names")
            shards = gather.sorted_records(told.advance)
            self._maps = merge_in_memory(gather.words, shards, pages, told)
        else:
            told.now("sort names", gather.kept(), "names")
            gather.end_epoch(told.advance)
            gather.words = np.empty(0, np.uint64)
            self._epochs = gather.epochs[:-1]
            self._file = scratch.folder / "names"
            pages = PageWriter(self._append)
            runs = [run for epoch in self._epochs for run in epoch.runs if run.count]
            told.now("merge names", sum(run.count for run in runs), "names")
            merge_on_disk(runs, room, gather.longest, scratch, pages, told.advance)
            self._flush()
        gather.words = np.empty(0, np.uint64)
        self.n = pages.count
        self.ptr, self.firsts = pages.finish()
        self.odd = pages.odd
        if self._file is not None:
            self._flush()

    def _append(self, page: bytes) -> None:
        self._blob.append(page)
        if len(self._blob) >= 64:
            self._flush()

    def _flush(self) -> None:
        assert self._file is not None
        try:
            with self._file.open("ab") as stream:
                for page in self._blob:
                    self._scratch.wrote(len(page))
                    stream.write(page)
        except OSError as error:
            raise self._scratch.error(error) from error
        self._blob.clear()

    def to_disk(self) -> None:
        """Put what is in memory on disk: the conversion goes on there.

        Raises
        ------
        FileAccessError
            A temporary file cannot be written.
        """
        if self._file is None:
            self._file = self._scratch.folder / "names"
            self._flush()
            self._gather.spill_edges()

    def estimate(self, size: int) -> InputEstimate:
        """Return what building takes; ``size``: bytes of the inputs."""
        names = sum(map(len, self._blob)) + self.ptr.nbytes + self.firsts.nbytes
        return InputEstimate(max(size, 1), self.lines, 16 * self.lines + names, self.n)

    def names(self) -> Names:
        """Return the names; on disk they are mapped."""
        if self._file is None:
            self._blob = [b"".join(self._blob)]
            blob = np.frombuffer(self._blob[0], np.uint8)
        else:
            blob = np.memmap(self._file, np.uint8, "r")
        return Names(blob, self.ptr, self.firsts)

    def sections(self) -> Iterator[tuple[str, np.dtype, int, Iterator[np.ndarray]]]:
        """Return name, dtype, items and content, in stretches, of every section of the names."""
        size = int(self.ptr[-1])
        yield "names", np.dtype(np.uint8), size, self._stretches(size)
        yield "names_ptr", self.ptr.dtype, len(self.ptr), iter([self.ptr])
        yield "names_first", self.firsts.dtype, len(self.firsts), iter([self.firsts])

    def _stretches(self, size: int) -> Iterator[np.ndarray]:
        if self._file is None:
            yield np.frombuffer(b"".join(self._blob), np.uint8)
            return
        with self._file.open("rb") as stream:
            for first in range(0, size, _STRETCH):
                yield np.fromfile(stream, np.uint8, min(_STRETCH, size - first))

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
