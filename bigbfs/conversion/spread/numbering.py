"""Which number a vertex gets, where each rank knows its own range of ids alone, or all know a table of all ids.

The rows of a rank's pairs are all the ids in its range. So the distinct ids of the ranks, one after the other, are the
labels of the graph, and the first number of a rank is how many the ranks before it have. Values, whose owners are
others, are numbered by these: a second exchange of all pairs, turned round.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bigbfs.conversion.numbering.rules import Rules
from bigbfs.conversion.on_disk.labels import list_labels, number_values
from bigbfs.conversion.on_disk.numbering import Consecutive, Labelled, Present, labelled_rules
from bigbfs.conversion.on_disk.spill import Map, Partition
from bigbfs.conversion.on_disk.work import Work
from bigbfs.conversion.spread.exchange import ExchangingWriter
from bigbfs.engines.ranks.agreeing import together
from bigbfs.engines.ranks.group import Group

LABELS = "labels"
"""The file with own ids, where no table holds them."""


@dataclass
class Ids:
    """The ids that a rank has read: the largest (-1: none), and their table, as an ``Intake`` has it."""

    largest: int
    present: np.ndarray


class OwnLabels(Labelled):
    """The labels of a rank: an ascending list on disk (uint64) of its own ids, and of the others how many.

    Parameters
    ----------
    path
        Own ids.
    base, n
        The number of the first of them; the vertices of all ranks.
    low, end
        The smallest id of all ranks, and the largest plus one.
    """

    def __init__(self, path: Path, base: int, n: int, low: int, end: int) -> None:
        self._path, self.base, self._low, self._end = path, base, low, end
        self._own = path.stat().st_size // 8
        self.n = self.values = n
        self._gaps = end - low != n
        self.first_id = 0 if self._gaps else low

    def read(self, first: int, last: int) -> np.ndarray:
        """Return the ids of own vertices ``first`` to ``last - 1``: uint64."""
        with self._path.open("rb", buffering=0) as file:
            return np.frombuffer(os.pread(file.fileno(), 8 * (last - first), 8 * (first - self.base)), np.uint64)

    def rank(self, identifier: int) -> int:
        """Return the number of the first own vertex whose id is not smaller, or that behind the last one."""
        first, last = self.base, self.base + self._own
        with self._path.open("rb", buffering=0) as file:
            while first < last:
                middle = (first + last) // 2
                if int.from_bytes(os.pread(file.fileno(), 8, 8 * (middle - self.base)), "little") < identifier:
                    first = middle + 1
                else:
                    last = middle
        return first

    def rules(self, low: int, end: int) -> Rules:
        """Return the rules for the partition with these ids."""
        base = self.rank(low)
        return labelled_rules(self.read(base, self.rank(end)), base)

    def extent(self) -> tuple[int, int]:
        """Return the smallest id of all ranks and the largest plus one."""
        return self._low, self._end

    def labels(self) -> Iterator[np.ndarray] | None:
        """Return own ids (int64, in stretches); None where ``first_id`` says it all."""
        if not self._gaps:
            return None
        step, end = 1 << 16, self.base + self._own
        return (self.read(at, min(at + step, end)).view(np.int64) for at in range(self.base, end, step))


Numbering = Consecutive | Present | OwnLabels
Kept = Callable[[OwnLabels, list[Partition], dict[str, np.ndarray]], None]


def number_all(
    work: Work, ids: Ids, partitions: list[Partition], places: Map, most: int, keep: Kept | None, group: Group
) -> tuple[Numbering, list[Partition]]:
    """Return the numbering of all ids, and own partitions, those without a vertex left out.

    Parameters
    ----------
    partitions
        Own ones; where values are numbered by an exchange, others come back.
    most
        As of :class:`ExchangingWriter`.
    keep
        Is given what an exchange has made, and the checksums of its files; None: nothing is to be kept.

    Raises
    ------
    Agreed
        A temporary file cannot be written.
    """
    largest = max(group.lengths(ids.largest))
    numbering: Numbering
    if work.options.keep_ids:
        numbering = Consecutive(0, largest + 1)
    elif all(group.lengths(int(len(ids.present) > 0))):
        numbering = Present(_all_present(ids, largest, group), work.workers, work.threads).simplest()
    else:
        numbering, partitions = _labelled(work, partitions, places, most, keep, group)
    return numbering, within(partitions, numbering)


def within(partitions: list[Partition], numbering: Numbering) -> list[Partition]:
    """Return the partitions that have a vertex, cut to the ids that exist."""
    low, end = numbering.extent()
    return [Partition(max(p.low, low), min(p.end, end), p.files) for p in partitions if p.low < end and p.end > low]


def _all_present(ids: Ids, largest: int, group: Group) -> np.ndarray:
    """Return the table of the ids that any rank has read."""
    words = largest // 64 + 2
    present = np.zeros(2 * words, np.uint64)
    mine = np.zeros(words, np.uint64)
    mine[: min(words, len(ids.present) // 2)] = ids.present[::2][:words]
    for first in range(0, words, 1 << 18):
        everyone = group.gather(mine[first : first + (1 << 18)], [min(1 << 18, words - first)] * group.size)
        present[2 * first : 2 * (first + (1 << 18)) : 2] = np.bitwise_or.reduce(everyone)
    return present


def _labelled(
    work: Work, partitions: list[Partition], places: Map, most: int, keep: Kept | None, group: Group
) -> tuple[OwnLabels, list[Partition]]:
    """Number the ids that no table holds; return own labels, and own pairs with their values numbered."""
    shared = (work.plan, work.scratch, work.workers)
    path = together(group, lambda: list_labels(partitions, [], *shared))
    own = path.stat().st_size // 8
    counts = group.lengths(own)
    whole = OwnLabels(path, 0, own, 0, 0)
    ends = [whole.read(0, 1)[0], whole.read(own - 1, own)[0]] if own else [0, 0]
    lows, highs = (group.lengths(int(each)) for each in ends)
    some = [rank for rank, count in enumerate(counts) if count]
    numbering = OwnLabels(path, sum(counts[: group.rank]), sum(counts), lows[some[0]], highs[some[-1]] + 1)
    writer = ExchangingWriter(work.scratch, "numbered", places, work.workers, work.threads, group, most)
    writer.sums = None if keep is None else {}
    with writer.filling():
        number_values(partitions, numbering, writer, *shared, work.threads, remove=keep is None)
    if keep is not None and writer.sums is not None:
        keep(numbering, writer.own(), writer.sums)
    return numbering, writer.own()
