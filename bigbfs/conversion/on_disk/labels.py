"""Numbers for ids that no table can hold: the distinct ids, sorted, on disk, joined with the pairs by partition.

The rows of the pairs of one partition are all the ids in its range. So the distinct ids of every partition, one after
the other, are the labels of the graph; and the pairs (v, u) of the stream "in" of a partition, v replaced by its
number, are the pairs (u, number of v) of the stream "out" of the partitions of u. One pass over all pairs joins them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from bigbfs.conversion.on_disk import kernels
from bigbfs.conversion.on_disk.numbering import Labelled, labelled_rules
from bigbfs.conversion.on_disk.plan import Plan
from bigbfs.conversion.on_disk.scratch import Scratch
from bigbfs.conversion.on_disk.spill import Map, Partition, Reader, Writer
from bigbfs.jit.workers import Workers, ranges

OTHER = {"out": "in", "in": "out"}


def label(
    partitions: list[Partition],
    declared: list[tuple[int, int]],
    places: Map,
    plan: Plan,
    scratch: Scratch,
    workers: Workers,
    threads: int,
    advance: Callable[[int], object] = lambda count: None,
) -> tuple[Labelled, list[Partition]]:
    """Return the numbering and the pairs with their values numbered; the files of ``partitions`` are used up.

    ``advance`` is told of partitions, each twice.

    ``declared`` are ranges (first, end) of ids that exist though no pair may name them.

    Raises
    ------
    FileAccessError
        A temporary file cannot be written.
    """
    numbering = Labelled(list_labels(partitions, declared, plan, scratch, workers, advance))
    writer = Writer(scratch, "numbered", places, workers, threads)
    number_values(partitions, numbering, writer, plan, scratch, workers, threads, advance)
    return numbering, writer.partitions()


def list_labels(
    partitions: list[Partition],
    declared: list[tuple[int, int]],
    plan: Plan,
    scratch: Scratch,
    workers: Workers,
    advance: Callable[[int], object] = lambda count: None,
) -> Path:
    """Return a file with the distinct ids of all partitions (uint64), ascending; parameters as of :func:`label`.

    Raises
    ------
    FileAccessError
        It cannot be written.
    """
    reader = Reader(scratch, workers)
    path = scratch.folder / "labels"
    try:
        with path.open("wb") as file:
            for partition in partitions:
                for ids in _distinct(partition, declared, reader, plan):
                    scratch.wrote(ids.nbytes)
                    file.write(ids.data)
                advance(1)
    except OSError as error:
        raise scratch.error(error) from error
    return path


def number_values(
    partitions: list[Partition],
    numbering: Labelled,
    writer: Writer,
    plan: Plan,
    scratch: Scratch,
    workers: Workers,
    threads: int,
    advance: Callable[[int], object] = lambda count: None,
    *,
    remove: bool = True,
) -> None:
    """Hand all pairs to ``writer``, turned round, with the number of what was their row.

    Their files are used up, unless ``remove`` is False.

    Raises
    ------
    FileAccessError
        A temporary file cannot be written or read.
    """
    reader = Reader(scratch, workers)
    for partition in partitions:
        _join(partition, numbering, reader, writer, plan, workers, threads)
        if remove:
            partition.remove()
        advance(1)


def _distinct(
    partition: Partition, declared: list[tuple[int, int]], reader: Reader, plan: Plan
) -> Iterator[np.ndarray]:
    """Return the ids of a partition, ascending, in stretches; too many for memory take several readings."""
    low = partition.low
    while low < partition.end:
        end = partition.end
        found = np.empty(0, np.uint64)
        for ids in _ids(partition, declared, reader, plan):
            found = np.union1d(found, ids[(ids >= np.uint64(low)) & (ids < np.uint64(end))])
            if len(found) > plan.rows:
                end = int(found[plan.rows])
                found = found[: plan.rows]
        if len(found):
            yield np.ascontiguousarray(found)
        low = end


def _ids(partition: Partition, declared: list[tuple[int, int]], reader: Reader, plan: Plan) -> Iterator[np.ndarray]:
    for first, end in declared:
        for low in range(max(first, partition.low), min(end, partition.end), plan.rows):
            yield np.arange(low, min(low + plan.rows, end, partition.end), dtype=np.uint64)
    for file in partition.files:
        for pairs in reader.chunks(file, plan.pairs // 4 + 1):
            yield np.unique(pairs[::2]).astype(np.uint64)


def _join(
    partition: Partition,
    numbering: Labelled,
    reader: Reader,
    writer: Writer,
    plan: Plan,
    workers: Workers,
    threads: int,
) -> None:
    """Replace the rows of all pairs by their numbers and hand them on as the values of the other stream."""
    base, last = numbering.rank(partition.low), numbering.rank(partition.end)
    for first in range(base, last, plan.rows):
        labels = numbering.read(first, min(first + plan.rows, last))
        rules = labelled_rules(labels, first)
        whole = len(labels) == last - base
        for file in partition.files:
            for pairs in reader.chunks(file, plan.pairs // 4 + 1) if file.stream in OTHER else ():
                if not whole:
                    inside = (pairs[::2] >= labels[0]) & (pairs[::2] <= labels[-1])
                    pairs = pairs.reshape(-1, 2)[inside].ravel()
                out = np.empty(len(pairs), np.uint64)
                given = pairs
                chunks = ranges(len(pairs) // 2, 2 * threads) if len(pairs) else []
                workers.each(
                    len(chunks),
                    lambda i: kernels.find_rows(given, *chunks[i], rules, np.uint64(first), True, out),
                )
                if len(chunks):
                    writer.add_pairs(out, 0, OTHER[file.stream], group=file.group)
