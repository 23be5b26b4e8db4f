"""Which number a vertex gets, where the ids do not have to fit in memory.

Vertices are numbered in ascending order of id, as :mod:`bigbfs.conversion.in_memory.relabel` numbers them. Three ways:
ids without gaps lose the first one (``Consecutive``); ids of moderate size are looked up in a table with one bit for
each (``Present``); all others are joined, partition by partition, with a sorted list of them on disk (``Labelled``).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from bigbfs.conversion.numbering.rules import LABELLED, OFFSET, PRESENT, Rules, rules_of
from bigbfs.conversion.numbering.table import list_marked, place_ranks
from bigbfs.conversion.on_disk import kernels
from bigbfs.graph.views import frozen
from bigbfs.jit.workers import Workers

CHUNK = 1 << 16


class Consecutive:
    """Ids ``first_id`` to ``first_id + n - 1``."""

    def __init__(self, first_id: int, n: int) -> None:
        self.n, self.first_id = n, first_id
        self.values = first_id + n

    def rank(self, identifier: int) -> int:
        """Return how many vertices have a smaller id."""
        return min(max(identifier - self.first_id, 0), self.n)

    def span(self, low: int, end: int) -> int:
        """Return how many rows the kernels see between two ids."""
        return end - low

    def rules(self, low: int, end: int) -> Rules:
        """Return the rules for the partition with these ids."""
        return rules_of(OFFSET, low, self.first_id, low)

    def extent(self) -> tuple[int, int]:
        """Return the smallest id and the largest plus one."""
        return self.first_id, self.first_id + self.n

    def labels(self) -> Iterator[np.ndarray] | None:
        """Return the ids in the order of the vertices (int64, in stretches); None where ``first_id`` says it all."""
        return None


class Present:
    """Ids that are marked in a table in memory; ``present`` receives the ranks beside the bits."""

    first_id = 0

    def __init__(self, present: np.ndarray, workers: Workers, threads: int) -> None:
        self.n = place_ranks(present, workers, threads)
        self.values = 32 * len(present)
        self._present = frozen(present)

    def rank(self, identifier: int) -> int:
        """Return how many vertices have a smaller id."""
        if identifier >= self.values:
            return self.n
        bits, before = self._present[2 * (identifier // 64) :][:2].tolist()
        return int(before) + (bits & ((1 << identifier % 64) - 1)).bit_count()

    def span(self, low: int, end: int) -> int:
        """Return how many rows the kernels see between two ids."""
        return end - low

    def rules(self, low: int, end: int) -> Rules:
        """Return the rules for the partition with these ids."""
        return rules_of(PRESENT, low, self.rank(low), low, self._present)

    def labels(self) -> Iterator[np.ndarray]:
        """Return the ids in the order of the vertices: int64, in stretches."""
        for first in range(0, len(self._present) // 2, CHUNK // 64):
            labels = np.empty(CHUNK, np.int64)
            last = min(first + CHUNK // 64, len(self._present) // 2)
            yield labels[: list_marked(first, last, np.uint64(0), self._present, labels)]

    def extent(self) -> tuple[int, int]:
        """Return the smallest id and the largest plus one; (0, 0) where there is none."""
        words = np.flatnonzero(self._present[::2])
        if not len(words):
            return 0, 0
        first, last = int(words[0]), int(words[-1])
        low, high = int(self._present[2 * first]), int(self._present[2 * last])
        return 64 * first + (low & -low).bit_length() - 1, 64 * last + high.bit_length()

    def simplest(self) -> Present | Consecutive:
        """Return itself, or where the ids have no gap, what does without a table."""
        low, end = self.extent()
        return Consecutive(low, self.n) if self.n == end - low else self


class Labelled:
    """Ids in an ascending list on disk (uint64); the values of all pairs are numbers already."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.n = self.values = path.stat().st_size // 8
        low, end = self.extent()
        self.first_id = low if end - low == self.n else 0
        self._gaps = end - low != self.n

    def read(self, first: int, last: int) -> np.ndarray:
        """Return the ids of the vertices ``first`` to ``last - 1``: uint64."""
        with self._path.open("rb", buffering=0) as file:
            return np.frombuffer(os.pread(file.fileno(), 8 * (last - first), 8 * first), np.uint64)

    def rank(self, identifier: int) -> int:
        """Return how many vertices have a smaller id."""
        first, last = 0, self.n
        with self._path.open("rb", buffering=0) as file:
            while first < last:
                middle = (first + last) // 2
                if int.from_bytes(os.pread(file.fileno(), 8, 8 * middle), "little") < identifier:
                    first = middle + 1
                else:
                    last = middle
        return first

    def span(self, low: int, end: int) -> int:
        """Return how many rows the kernels see between two ids."""
        return self.rank(end) - self.rank(low)

    def rules(self, low: int, end: int) -> Rules:
        """Return the rules for the partition with these ids."""
        base = self.rank(low)
        labels = self.read(base, self.rank(end))
        return labelled_rules(labels, base)

    def extent(self) -> tuple[int, int]:
        """Return the smallest id and the largest plus one."""
        return (int(self.read(0, 1)[0]), int(self.read(self.n - 1, self.n)[0]) + 1) if self.n else (0, 0)

    def labels(self) -> Iterator[np.ndarray] | None:
        """Return the ids in the order of the vertices (int64, in stretches); None where ``first_id`` says it all."""
        if not self._gaps:
            return None
        stretches = range(0, self.n, CHUNK)
        return (self.read(first, min(first + CHUNK, self.n)).view(np.int64) for first in stretches)


Numbering = Consecutive | Present | Labelled


def labelled_rules(labels: np.ndarray, base: int) -> Rules:
    """Return the rules for ids that are listed in ``labels`` (uint64, ascending); the first has the number ``base``."""
    low = int(labels[0]) if len(labels) else 0
    width = int(labels[-1]) - low if len(labels) else 0
    shift = max(0, width.bit_length() - max(1, len(labels).bit_length()))
    directory = np.empty((width >> shift) + 2, np.int64)
    kernels.fill_directory(frozen(labels), np.uint64(low), shift, directory)
    rules = rules_of(LABELLED, low, base, base)
    return rules._replace(labels=frozen(labels), directory=frozen(directory), shift=np.uint64(shift))
