"""Reads edges between names, numbers the names, and sorts them once; what does not fit goes to the disk in runs.

While names are read they get numbers of their own *epoch* and *shard*: an epoch ends when memory is full, and each
thread tells one shard of its names apart. Sorted, the names of a shard are a run. All runs are merged into the names of
the graph in byte order, and every run learns the ranks of its names. So an edge is two numbers of its epoch, 8
bytes, and becomes two ranks by two look-ups.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from bigbfs.conversion.names import sorting, table
from bigbfs.conversion.names.runs import Run, write_run
from bigbfs.conversion.on_disk.scratch import Scratch
from bigbfs.errors import DoesNotFitError
from bigbfs.jit.workers import Workers, ranges
from bigbfs.sizes import size_allowed, size_needed

PIECE_ROWS, PIECE_BYTES = 1 << 16, 1 << 22
"""Edges that are numbered at once, and bytes of their names."""
_FIRST_SLOTS = 1 << 12
_SORT_BYTES = 16
"""Bytes that sorting takes for a name."""


@dataclass(frozen=True, slots=True)
class Texts:
    """Names as they are read: ``data[offsets[i]:offsets[i + 1]]`` (uint8); ``offsets`` is int64."""

    data: np.ndarray
    offsets: np.ndarray

    def __len__(self) -> int:
        return len(self.offsets) - 1


@dataclass
class Epoch:
    """Edges whose ends are numbered alike: in memory, or as pieces of a file; ``runs`` by shard."""

    runs: list[Run] = field(default_factory=list)
    held: list[np.ndarray] = field(default_factory=list)
    pieces: list[int] = field(default_factory=list)
    file: Path | None = None

    def edges(self) -> Iterator[np.ndarray]:
        """Return arrays (uint32, shape (2, edges)) of numbers; those held in memory are forgotten on the way."""
        if self.file is not None:
            with self.file.open("rb") as stream:
                for count in self.pieces:
                    yield np.fromfile(stream, np.uint32, 2 * count).reshape(2, -1)
            self.file.unlink()
        while self.held:
            yield self.held.pop(0)


class Gather:
    """Takes edges between names.

    Parameters
    ----------
    room
        Bytes that it may take.
    scratch
        Where the rest goes.
    workers, threads
        Threads that share the work.

    Attributes
    ----------
    lines, self_loops, longest
        Edges so far, those from a vertex to itself, and the bytes of the longest name.
    """

    def __init__(self, room: int, scratch: Scratch, workers: Workers, threads: int) -> None:
        self._room, self._scratch, self._workers, self.threads = room, scratch, workers, threads
        self._seed = np.uint64(int.from_bytes(os.urandom(8), "little"))
        self._region = max(room // 8 // threads, 1 << 10)
        self.words = np.empty(self._region * threads + 8, np.uint64)  # pages that nobody writes to take no memory
        self.epochs = [Epoch()]
        self.lines = self.self_loops = self.longest = self._held = 0
        self._start()

    def _start(self) -> None:
        self._tables = [np.zeros(2 * _FIRST_SLOTS, np.uint64) for _ in range(self.threads)]
        self._states = [np.array([0, self._region * shard]) for shard in range(self.threads)]

    def _used(self) -> int:
        """Return the bytes that are taken, with what sorting will take."""
        records = sum(8 * (int(state[1]) - self._region * shard) for shard, state in enumerate(self._states))
        entries = sum(int(state[0]) for state in self._states)
        return records + sum(each.nbytes for each in self._tables) + _SORT_BYTES * entries + self._held

    def add(self, first: Texts, second: Texts) -> None:
        """Take edges from each name of ``first`` to the one of ``second`` beside it.

        Raises
        ------
        DoesNotFitError
            A name is longer than what memory there is.
        FileAccessError
            A temporary file cannot be written.
        """
        row = 0
        while row < len(first):
            end = min(row + PIECE_ROWS, *(_rows_within(side.offsets, row, PIECE_BYTES) for side in (first, second)))
            end = max(end, row + 1)
            self._add_piece([Texts(side.data, side.offsets[row : end + 1]) for side in (first, second)])
            row = end

    def _add_piece(self, sides: list[Texts]) -> None:
        sizes = [int(side.offsets[-1] - side.offsets[0]) for side in sides]
        words = sum(size // 8 + 2 * len(side) for size, side in zip(sizes, sides, strict=True))
        self._make_room(words, 2 * len(sides[0]))
        self.longest = max(self.longest, *(int(np.diff(side.offsets).max()) for side in sides))
        numbers = np.empty((2, len(sides[0])), np.uint32)
        for side, found in zip(sides, numbers, strict=True):
            self._number(side, found)
        self.lines += len(sides[0])
        self.self_loops += int(np.count_nonzero(numbers[0] == numbers[1]))
        self.epochs[-1].held.append(numbers)
        self._held += numbers.nbytes

    def _number(self, side: Texts, numbers: np.ndarray) -> None:
        hashes = np.empty(len(side), np.uint64)
        cuts = ranges(len(side), self.threads)
        self._workers.each(len(cuts), lambda i: table.hash_names(side.data, side.offsets, *cuts[i], self._seed, hashes))

        def insert(shard: int) -> None:
            state = self._states[shard]
            own = (self._tables[shard], self.words, state, numbers)
            table.insert(side.data, side.offsets, hashes, 0, len(side), shard, self.threads, *own)

        self._workers.each(self.threads, insert)

    def _make_room(self, words: int, names: int) -> None:
        """See that every shard has room for so many words and names; end the epoch where memory has none."""
        ends = [self._region * (shard + 1) for shard in range(self.threads)]
        for _ in range(2):
            full = any(int(state[1]) + words > end for state, end in zip(self._states, ends, strict=True))
            if not full and self._used() + 8 * words + self._growth(names) <= self._room:
                break
            if self._held > self._room // 4:
                self.spill_edges()
            elif any(int(state[0]) for state in self._states):
                self.end_epoch()
        if any(int(state[1]) + words > end for state, end in zip(self._states, ends, strict=True)):
            raise DoesNotFitError(
                f"a name takes up to {size_needed(8 * words)}, and {size_allowed(8 * self._region)} may be used for it",
                remedies=(("memory", None),),
            )
        for shard in range(self.threads):
            wanted = self._wanted(shard, names)
            if wanted > len(self._tables[shard]):
                larger = np.zeros(wanted, np.uint64)
                table.grow(self._tables[shard], larger)
                self._tables[shard] = larger

    def _wanted(self, shard: int, names: int) -> int:
        """Return the words of a shard's table that has room for so many more names."""
        words = len(self._tables[shard])
        while 4 * (int(self._states[shard][0]) + names) > 3 * (words // 2):
            words *= 2
        return words

    def _growth(self, names: int) -> int:
        """Return the bytes of the tables that so many names make necessary: the old ones are there until then."""
        wanted = [self._wanted(shard, names) for shard in range(self.threads)]
        return sum(8 * each for each, old in zip(wanted, self._tables, strict=True) if each > len(old))

    def spill_edges(self) -> None:
        """Write the edges held in memory to the epoch's file."""
        epoch = self.epochs[-1]
        if epoch.file is None:
            epoch.file = self._scratch.folder / f"edges-{len(self.epochs)}"
        try:
            with epoch.file.open("ab") as stream:
                for numbers in epoch.held:
                    self._scratch.wrote(numbers.nbytes)
                    stream.write(numbers.data)
                    epoch.pieces.append(numbers.shape[1])
        except OSError as error:
            raise self._scratch.error(error) from error
        epoch.held.clear()
        self._held = 0

    def kept(self) -> int:
        """Return how many names the epoch under way has."""
        return sum(int(state[0]) for state in self._states)

    def sorted_records(self, advance: Callable[[int], object] = lambda count: None) -> list[np.ndarray]:
        """Return the records of every shard in byte order, and forget the tables; ``advance`` is told of names."""
        self._tables = [np.zeros(0, np.uint64) for _ in range(self.threads)]
        records = [np.empty(int(state[0]), np.int64) for state in self._states]

        def sort(shard: int) -> None:
            table.places(self.words, self._region * shard, records[shard])
            sorting.sort_names(self.words, records[shard], np.empty(len(records[shard]), np.uint64))
            advance(len(records[shard]))

        self._workers.each(self.threads, sort)
        return records

    def end_epoch(self, advance: Callable[[int], object] = lambda count: None) -> None:
        """Write the names read so far as sorted runs, and their edges, and begin anew.

        Raises
        ------
        FileAccessError
            A temporary file cannot be written.
        """
        self.spill_edges()
        for shard, records in enumerate(self.sorted_records(advance)):
            path = self._scratch.folder / f"run-{len(self.epochs)}-{shard}"
            self.epochs[-1].runs.append(write_run(path, self.words, records, self._scratch))
        self.epochs.append(Epoch())
        self._start()


def _rows_within(offsets: np.ndarray, row: int, size: int) -> int:
    """Return the last row up to which names from ``row`` on take at most ``size`` bytes."""
    return int(np.searchsorted(offsets, int(offsets[row]) + size, side="right")) - 1
