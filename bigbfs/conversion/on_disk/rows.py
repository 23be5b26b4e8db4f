"""From partitions to sorted rows, one partition in memory at a time.

A partition that is too large is cut by rows, one that is a single row by values, and one that is a single edge, given
more often than memory can hold, is counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from bigbfs.conversion.numbering.rules import Rules
from bigbfs.conversion.on_disk import kernels
from bigbfs.conversion.on_disk.numbering import Numbering
from bigbfs.conversion.on_disk.plan import Plan
from bigbfs.conversion.on_disk.scratch import Scratch
from bigbfs.conversion.on_disk.spill import PairFile, Partition, Reader, Writer, map_by_weight
from bigbfs.conversion.sorting.buckets import Layout, buckets_of, layout_of, sorted_values
from bigbfs.conversion.sorting.keys import Loops, count_pairs, scatter_pairs
from bigbfs.conversion.sorting.rule import Rule, repeated, stored, turned
from bigbfs.graph.adjacency import id_dtype
from bigbfs.graph.transposing import EDGES_PER_BUCKET, MAX_BUCKETS
from bigbfs.graph.views import frozen
from bigbfs.jit.workers import Workers, cursors, ranges

BINS = 1 << 12
"""Ranges that are counted before a partition is cut."""


@dataclass(frozen=True)
class Part:
    """Pairs that belong to the wanted rows.

    All of ``stream``, or those of some ``groups`` of inputs; ``backward``: the lines ran against the direction of the
    row; ``loops``: self-loops count.
    """

    stream: str
    groups: frozenset[int] | None = None
    backward: bool = False
    loops: bool = False


@dataclass(frozen=True)
class Rows:
    """Sorted rows: ``degrees`` (int64) and ``indices`` (ids), which are overwritten two steps later.

    ``degrees`` None: the indices belong to one row, which goes on in the next ``Rows`` until one with ``ends`` True.
    """

    degrees: np.ndarray | None
    indices: np.ndarray
    ends: bool = True
    pairs: int = 0


class Sorter:
    """Turns partitions into rows.

    Parameters
    ----------
    numbering
        How ids become numbers of vertices.
    copies
        Of :mod:`bigbfs.conversion.sorting.rule`: ``ONCE``, ``AS_GIVEN`` or ``LARGER_DIRECTION``.

    Attributes
    ----------
    found
        int64[2], so far: forward lines that repeated an earlier one; edges given in both directions, at each end.
    """

    def __init__(
        self, plan: Plan, scratch: Scratch, workers: Workers, threads: int, numbering: Numbering, copies: int
    ) -> None:
        self._plan, self._scratch, self._workers, self._threads = plan, scratch, workers, threads
        self._numbering, self._copies = numbering, copies
        self._reader = Reader(scratch, workers)
        self._ids = id_dtype(numbering.n)
        self._keys = np.empty(0, np.uint64)
        self._out = [np.empty(0, self._ids), np.empty(0, self._ids)]
        self._turn = 0
        self._cuts = 0
        self.found = np.zeros(2, np.int64)

    def counts(self) -> dict[str, int]:
        """Return what was found in all rows, as it is reported."""
        repeats, turns = self.found.tolist()
        return {"duplicates": repeats, "reversed": turns // 2}  # an edge is in the rows of both its ends

    def rows(self, partitions: list[Partition], parts: list[Part], *, remove: bool) -> Iterator[Rows]:
        """Return the rows of all partitions in order; with ``remove`` their files go as soon as they are read."""
        for partition in partitions:
            wanted = select(partition, parts)
            selected = replace(partition, files=list({id(file): file for file, _ in wanted}.values()))
            yield from self._leaf(selected, parts, remove=remove)
            if remove:
                partition.remove()

    def _leaf(self, partition: Partition, parts: list[Part], *, remove: bool) -> Iterator[Rows]:
        low, end = partition.low, partition.end
        pairs = sum(file.count for file, _ in select(partition, parts))
        rows = self._numbering.rank(end) - self._numbering.rank(low)
        if pairs == 0 and not partition.part_of_row:
            for first, last in ranges(rows, -(-rows // self._plan.rows)) if rows else []:
                yield Rows(np.zeros(last - first, np.int64), np.empty(0, self._ids))
        elif (pairs <= self._plan.pairs and rows <= self._plan.rows and self._bits(partition) <= 63) or pairs == 0:
            yield self._sorted(partition, parts, rows)
        elif end - low > 1:
            for child in self._cut(partition, remove=remove):
                yield from self._leaf(child, parts, remove=True)
                child.remove()
        elif partition.part_of_row and partition.value_end - partition.value_low == 1:
            yield from self._repeated(partition, parts)
        else:
            whole = not partition.part_of_row
            values = partition if not whole else replace(partition, value_end=self._numbering.values)
            for child in self._cut(values, remove=remove):
                yield from self._leaf(child, parts, remove=True)
                child.remove()
            if whole:
                yield Rows(None, np.empty(0, self._ids), ends=True)

    def _bits(self, partition: Partition) -> int:
        """Return the bits of an edge in this partition."""
        if partition.part_of_row:
            return (partition.value_end - partition.value_low - 1).bit_length()
        span = self._numbering.span(partition.low, partition.end)
        return max(span - 1, 0).bit_length() + max(self._numbering.values - 1, 0).bit_length()

    def _cut(self, partition: Partition, *, remove: bool) -> list[Partition]:
        """Spread a partition over smaller ones, by rows or, where it is a part of one row, by values."""
        side = int(partition.part_of_row)
        low, end = (partition.value_low, partition.value_end) if side else (partition.low, partition.end)
        shift = max(0, (end - 1 - low).bit_length() - (BINS.bit_length() - 1))
        bins = np.zeros(((end - 1 - low) >> shift) + 1, np.int64)
        every = np.arange(len(bins), dtype=np.uint16)
        for file in partition.files:
            for pairs in self._reader.chunks(file, self._plan.pairs // 4):
                self._count(pairs, side, low, shift, every, bins)
        weights = bins.astype(np.float64)
        if not side:
            bounds = [self._numbering.rank(min(low + (i << shift), end)) for i in range(len(bins) + 1)]
            weights += np.diff(bounds) * (self._plan.pairs / self._plan.rows)
        self._cuts += 1
        places = map_by_weight(low, end, shift, weights, 0.8 * self._plan.pairs)
        writer = Writer(self._scratch, f"cut{self._cuts}", places, self._workers, self._threads)
        for file in partition.files:
            for pairs in self._reader.chunks(file, self._plan.pairs // 4):
                writer.add_pairs(pairs, side, file.stream, group=file.group)
        if remove:
            partition.remove()
        children = writer.partitions()
        if side:
            return [replace(partition, files=c.files, value_low=c.low, value_end=c.end) for c in children if c.files]
        return children

    def _count(self, pairs: np.ndarray, side: int, low: int, shift: int, every: np.ndarray, bins: np.ndarray) -> None:
        chunks = ranges(len(pairs) // 2, self._threads)
        counts = np.zeros((len(chunks), len(bins)), np.int64)
        shape = (side, np.uint64(low), shift, frozen(every))
        self._workers.each(len(chunks), lambda i: kernels.count_pairs(frozen(pairs), *chunks[i], *shape, counts[i]))
        bins += counts.sum(axis=0)

    def _sorted(self, partition: Partition, parts: list[Part], rows: int) -> Rows:
        """Sort what fits in memory."""
        wanted = select(partition, parts)
        arrays = self._reader.load([file for file, _ in wanted])
        rules = self._numbering.rules(partition.low, partition.end)
        part_of_row = partition.part_of_row
        values = partition.value_end - partition.value_low if part_of_row else self._numbering.values
        bits = self._bits(partition)
        total = sum(len(array) // 2 for array in arrays)
        shift = max(0, bits - min(MAX_BUCKETS, max(1, total // EDGES_PER_BUCKET)).bit_length() + 1)
        work = [
            (array, first, last, part)
            for array, (_, part) in zip(arrays, wanted, strict=True)
            for first, last in (ranges(len(array) // 2, 2 * self._threads) if len(array) else [])
        ]
        low = int(rules.low)
        if len(rules.labels):  # rows, which are ids, become places among the labels of the partition
            self._workers.each(
                len(work), lambda i: kernels.find_rows(*work[i][:3], rules, np.uint64(0), False, work[i][0])
            )
            low = 0
        layout = layout_of(low, partition.value_low, max(values - 1, 0).bit_length(), shift)
        degrees = np.zeros(0 if part_of_row else rows, np.int64)
        starts, keys = self._keys_of(work, layout, rules, 1 << (bits - shift))
        indices, found = sorted_values(
            buckets_of(starts, keys, self._ids),
            layout,
            rules,
            Rule(self._copies, apart=False),
            degrees,
            self._room_for_values,
            self._workers,
            self._threads,
        )
        self.found += found
        return Rows(None if part_of_row else degrees, indices, ends=not part_of_row, pairs=total)

    def _keys_of(
        self, work: list[tuple[np.ndarray, int, int, Part]], layout: Layout, rules: Rules, buckets: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Write the keys of all pairs, bucket by bucket; return (start of each bucket, keys)."""
        counts = np.zeros((max(1, len(work)), buckets), np.int64)

        def count(i: int) -> None:
            pairs, first, last, part = work[i]
            count_pairs(frozen(pairs), first, last, Loops(rules.loop, part.loops), layout, counts[i])

        def scatter(i: int) -> None:
            pairs, first, last, part = work[i]
            loops = Loops(rules.loop, part.loops)
            scatter_pairs(frozen(pairs), first, last, loops, part.backward, layout, cursor[i], keys)

        self._workers.each(len(work), count)
        cursor, starts = cursors(counts)
        keys = self._room_for_keys(int(starts[-1]))
        self._workers.each(len(work), scatter)
        return starts, keys

    def _room_for_keys(self, count: int) -> np.ndarray:
        if len(self._keys) < count:
            self._keys = np.empty(0, np.uint64)
            self._keys = np.empty(count, np.uint64)
        return self._keys[:count]

    def _room_for_values(self, count: int) -> np.ndarray:
        self._turn = 1 - self._turn
        if len(self._out[self._turn]) < count:
            self._out[self._turn] = np.empty(0, self._ids)
            self._out[self._turn] = np.empty(count * 9 // 8, self._ids)
        return self._out[self._turn][:count]

    def _repeated(self, partition: Partition, parts: list[Part]) -> Iterator[Rows]:
        """Return one edge as often as it is to be stored, however often it was given."""
        number = self._numbering.rank(partition.low)
        labelled = bool(self._numbering.rules(partition.low, partition.end).labels.size)
        loop = partition.value_low == (number if labelled else partition.low)
        given = [0, 0]
        for file, part in select(partition, parts):
            if part.loops or not loop:
                given[part.backward] += file.count
        if not loop:
            self.found += repeated(False, *given), turned(*given)
        times = stored(self._copies, *given)
        value = partition.value_low if labelled else self._numbering.rank(partition.value_low)
        for first in range(0, times, self._plan.pairs):
            yield Rows(None, np.full(min(self._plan.pairs, times - first), value, self._ids), ends=False)


def select(partition: Partition, parts: list[Part]) -> list[tuple[PairFile, Part]]:
    """Return the files of a partition that ``parts`` ask for, each with what it is to them."""
    return [
        (file, part)
        for part in parts
        for file in partition.files
        if file.stream == part.stream and (part.groups is None or file.group in part.groups)
    ]
