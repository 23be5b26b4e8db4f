"""Pairs on disk, by ranges of rows: one file for each partition, direction and width of ids.

In: lines u -> v as id arrays. A line goes to the stream ``"out"`` as the pair (u, v), to the partition of u, and to
``"in"`` as (v, u), to that of v: whatever graph is wanted, the pairs of a partition are all that its rows need, and the
rows of all its pairs are all the ids in its range. Files are flat arrays of uint32 or uint64, two for each pair.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import numpy as np

from bigbfs.conversion.on_disk import kernels
from bigbfs.conversion.on_disk.scratch import Scratch
from bigbfs.graph.views import frozen
from bigbfs.jit.workers import Workers, cursors, ranges

MOST_PARTS = 1 << 10
"""Partitions that are written at once."""
TABLE_BITS = 13
"""log2 of the entries of a map from ids to partitions: it stays in a first-level cache."""


@dataclass(frozen=True)
class PairFile:
    """``count`` pairs of ids of ``width`` bytes.

    ``stream`` is "out" or "in"; ``group`` tells inputs apart whose lines may not mean the same.
    """

    path: Path
    stream: str
    width: int
    group: int
    count: int

    @property
    def dtype(self) -> np.dtype:
        """Dtype of an id."""
        return np.dtype(f"<u{self.width}")


@dataclass
class Partition:
    """The pairs with rows ``low`` to ``end - 1``; of one row maybe only those with some values.

    These are ``value_low`` to ``value_end - 1``; ``value_end`` 0 stands for all.
    """

    low: int
    end: int
    files: list[PairFile] = field(default_factory=list)
    value_low: int = 0
    value_end: int = 0

    @property
    def part_of_row(self) -> bool:
        """Whether this is a part of one row."""
        return self.value_end > 0

    def remove(self) -> None:
        """Delete the files."""
        for file in self.files:
            file.path.unlink(missing_ok=True)
        self.files = []


@dataclass(frozen=True)
class Map:
    """Leads from an id to the number of its part: ``parts[min((id - low) >> shift, last)]``."""

    low: int
    shift: int
    parts: np.ndarray
    bounds: list[int]

    @property
    def count(self) -> int:
        """Number of parts."""
        return len(self.bounds) - 1


def map_by_weight(low: int, end: int, shift: int, weights: np.ndarray, goal: float) -> Map:
    """Cut ``low`` to ``end`` into parts of about ``goal`` weight; ``weights`` holds that of each ``2**shift`` ids."""
    before = np.concatenate([np.zeros(1), np.cumsum(weights, dtype=np.float64)])
    goal = min(goal, before[-1] / 2)
    parts = np.zeros(len(weights), np.uint16)
    part, start, first = 0, 0.0, 0
    bounds = [low]
    for entry in range(1, len(weights)):
        # a part is closed before it is empty too: what is too heavy for one part must end up in less than all of them
        if before[entry + 1] - start > goal and entry > first and part < MOST_PARTS:
            part, start, first = part + 1, before[entry], entry
            bounds.append(low + (entry << shift))
        parts[entry] = part
    bounds.append(end)
    return Map(low, shift, parts, bounds)


class Writer:
    """Appends pairs to the files of the partitions of a map.

    Parameters
    ----------
    scratch
        Folder of the files.
    name
        What their names begin with.

    Attributes
    ----------
    sums
        Sums of each file by name (:func:`bigbfs.conversion.on_disk.kernels.add_up`), where it was made a dictionary.
    """

    def __init__(self, scratch: Scratch, name: str, places: Map, workers: Workers, threads: int) -> None:
        self.map = places
        self._scratch, self._name = scratch, name
        self._workers, self._threads = workers, threads
        self._counts: dict[tuple[int, str, int, int], int] = {}
        self.sums: dict[str, np.ndarray] | None = None
        self._memory = np.empty(0, np.uint64)

    def add(self, rows: np.ndarray, values: np.ndarray, counts: np.ndarray, stream: str, *, group: int = 0) -> None:
        """Append lines; ``counts`` int64[chunk, part] says how many of each of ``ranges(lines, chunks)`` go where."""
        chunks = ranges(len(rows), len(counts))
        cursor, starts = cursors(counts[: len(chunks)])
        pairs = self._pairs(len(rows), rows.dtype)
        shape = (self.map.shift, frozen(self.map.parts))
        rows, values = frozen(rows), frozen(values)
        self._workers.each(
            len(chunks),
            lambda i: kernels.scatter_ends(rows, values, *chunks[i], *shape, cursor[i], pairs),
        )
        self._write(pairs, starts, stream, group)

    def add_pairs(self, pairs: np.ndarray, side: int, stream: str, *, group: int = 0) -> None:
        """Append pairs, to the partitions of their rows (``side`` 0) or values (1)."""
        chunks = ranges(len(pairs) // 2, 2 * self._threads)
        counts = np.zeros((len(chunks), self.map.count), np.int64)
        shape = (side, np.uint64(self.map.low), self.map.shift, frozen(self.map.parts))
        pairs = frozen(pairs)
        self._workers.each(len(chunks), lambda i: kernels.count_pairs(pairs, *chunks[i], *shape, counts[i]))
        cursor, starts = cursors(counts)
        out = self._pairs(len(pairs) // 2, pairs.dtype)
        self._workers.each(len(chunks), lambda i: kernels.scatter_pairs(pairs, *chunks[i], *shape, cursor[i], out))
        self._write(out, starts, stream, group)

    def _pairs(self, count: int, dtype: np.dtype) -> np.ndarray:
        words = -(-2 * count * dtype.itemsize // 8)
        if len(self._memory) < words:
            self._memory = np.empty(words * 5 // 4, np.uint64)
        return self._memory.view(dtype)[: 2 * count]

    def _write(self, pairs: np.ndarray, starts: np.ndarray, stream: str, group: int) -> None:
        """Append the pairs of every partition to its file: opened each time, because there may be thousands."""
        width = pairs.dtype.itemsize
        self._scratch.wrote(pairs.nbytes)

        def append(part: int) -> None:
            first, last = int(starts[part]), int(starts[part + 1])
            if first == last:
                return
            key = (part, stream, width, group)
            data, path = pairs[2 * first : 2 * last].data.cast("B"), self._path(*key)
            if self.sums is not None:
                sums = self.sums.setdefault(path.name, np.zeros(2, np.uint64))
                kernels.add_up(frozen(np.frombuffer(data, np.uint64)), sums)
            try:
                handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
                try:
                    while data:
                        data = data[os.write(handle, data) :]
                finally:
                    os.close(handle)
            except OSError as error:
                raise self._scratch.error(error) from error
            self._counts[key] = self._counts.get(key, 0) + last - first

        self._workers.each(self.map.count, append)

    def _path(self, part: int, stream: str, width: int, group: int) -> Path:
        return self._scratch.folder / f"{self._name}.{part}.{stream}.{group}.{width}"

    def partitions(self) -> list[Partition]:
        """Return what was written, in the order of the rows."""
        result = [Partition(low, end) for low, end in pairwise(self.map.bounds)]
        for key, count in sorted(self._counts.items()):
            part, stream, width, group = key
            result[part].files.append(PairFile(self._path(*key), stream, width, group, count))
        return result


class Reader:
    """Reads pair files into memory that it keeps."""

    def __init__(self, scratch: Scratch, workers: Workers) -> None:
        self._scratch, self._workers = scratch, workers
        self._memory = np.empty(0, np.uint64)

    def load(self, files: list[PairFile]) -> list[np.ndarray]:
        """Return the pairs of each file; the arrays are overwritten by the next call."""
        starts = np.cumsum([0] + [2 * file.count * file.width // 8 + 1 for file in files])
        if len(self._memory) < starts[-1]:
            self._memory = np.empty(0, np.uint64)  # the old memory goes before the new comes
            self._memory = np.empty(int(starts[-1]), np.uint64)
        arrays = [
            self._memory[start : start + 2 * file.count * file.width // 8 + 1].view(file.dtype)[: 2 * file.count]
            for start, file in zip(starts.tolist(), files, strict=False)
        ]
        stretches = [
            (file.path, array, first, last)
            for file, array in zip(files, arrays, strict=True)
            for first, last in ranges(len(array), -(-array.nbytes // (4 << 20)))
        ]
        self._workers.each(len(stretches), lambda i: self._fill(*stretches[i]))
        return arrays

    def chunks(self, file: PairFile, pairs: int) -> Iterator[np.ndarray]:
        """Read a file in stretches of at most ``pairs`` pairs; each is overwritten by the next."""
        memory = np.empty(2 * min(pairs, file.count), file.dtype)
        for first in range(0, file.count, pairs):
            count = min(pairs, file.count - first)
            self._fill(file.path, memory[: 2 * count], 0, 2 * count, 2 * first)
            yield memory[: 2 * count]

    def _fill(self, path: Path, array: np.ndarray, first: int, last: int, skip: int = 0) -> None:
        data = array[first:last].data.cast("B")
        place = (first + skip) * array.itemsize
        try:
            handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            try:
                while data:
                    got = os.preadv(handle, [data], place)
                    if got == 0:
                        raise OSError(5, "")
                    data, place = data[got:], place + got
            finally:
                os.close(handle)
        except OSError as error:
            raise self._scratch.error(error) from error
