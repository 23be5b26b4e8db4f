"""A graph file whose rows are those of another graph in other numbers: all of its vertices in a new order, or some.

Rows are read where they lie (a mapping), renumbered, sorted each by itself and written in order: beside two buffers
this takes arrays of n entries, whatever the number of edges, and no file but the new one. The threads share a buffer
while the one before is written. Where the rows do not fit in the memory that may be used, a buffer takes as many as
do, in the order in which they lie in the file, so that each goes through the file once, and what was read is let go.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from bigbfs.formats.atomic import replacing
from bigbfs.formats.container import csrbin
from bigbfs.formats.container.checksum import STRETCH, StretchSums, checksum_threads
from bigbfs.formats.container.compress import RowEncoder
from bigbfs.formats.container.gatherer import Gatherer, Moved
from bigbfs.formats.container.sections import SectionFile
from bigbfs.graph.adjacency import Adjacency, PlainAdjacency
from bigbfs.graph.graph import Graph
from bigbfs.jit.workers import Workers

BUFFER = 64 << 20
"""Bytes of ids gathered at once where the rows fit in memory."""


class InOrder(Protocol):
    """Rows that come in order, a run at a time.

    Attributes
    ----------
    ptr
        int64: their offsets.
    ids
        Dtype of an id.
    """

    ptr: np.ndarray
    ids: np.dtype

    def cuts(self, most: int) -> list[tuple[int, int]]:
        """Cut all rows into runs of at most ``most`` ids, or of what has to come together."""

    def gather(self, first: int, last: int, out: np.ndarray) -> None:
        """Write the rows of a run to ``out``."""


def writing_need(n: int, longest: int, width: int) -> int:
    """Return the bytes that writing takes beside :class:`Moved` and the buffers.

    Parameters
    ----------
    n
        Vertices.
    longest
        Ids of the longest row, ``width`` bytes each: the buffers hold it whole, and sorting it takes as much again.
    """
    return 4 * 8 * (n + 1) + 3 * width * longest


@dataclass(frozen=True)
class MovedGraph:
    """What is written.

    Attributes
    ----------
    before
        Sections before the rows, by name.
    sides
        (prefix, old rows, what errors call them).
    flags
        Names of the flags.
    first_id
        Original id of vertex 0, where there are no labels.
    """

    before: dict[str, np.ndarray]
    sides: list[tuple[str, Adjacency, str]]
    flags: frozenset[str]
    first_id: int = 0


def sides_of(graph: Graph) -> list[tuple[str, Adjacency, str]]:
    """Return the rows of ``graph`` and, where they are others, its in-rows."""
    name = str(graph.path or "graph")
    sides = [("", graph.adjacency, name)]
    if not graph.flags.symmetric and graph.in_adjacency is not None:
        sides.append(("in_", graph.in_adjacency, f"{name} (in-neighbours)"))
    return sides


def save_moved(
    what: MovedGraph,
    moved: Moved,
    path: Path,
    codec: str,
    *,
    threads: int,
    room: int,
    confirm: Callable[[], object] | None = None,
    advance: Callable[[int], object] | None = None,
) -> int:
    """Write the graph, to a temporary file that is then renamed to ``path``; return its edges.

    Parameters
    ----------
    codec
        ``"plain"`` or ``"varint"``.
    room
        Bytes that the buffers and the old rows, which are mapped, may take: what does not fit is read piece by piece.
    confirm
        Called when all is written, before the file gets its name; what it raises leaves nothing behind.
    advance
        Called with the edges done since the last call; of a directed graph those of both sides.

    Raises
    ------
    FormatError
        An old row is damaged.
    FileAccessError
        It cannot be written; nothing is left behind.
    """
    mapped = sum(array.nbytes for _, old, _ in what.sides for array in old.arrays().values())
    buffer, released = max(BUFFER, threads * STRETCH), None
    if mapped + 2 * buffer > room:
        buffer, released = max(STRETCH, room // 4), max(STRETCH, room // 8)
    with replacing(path) as stream, Workers(threads) as workers, checksum_threads() as pool:
        file = SectionFile(stream)
        for name, array in what.before.items():
            file.put(name, array, pool)
        edges = 0
        for prefix, old, name in what.sides:
            rows = Gatherer(old, moved, workers, threads, name, released)
            write_rows(file, prefix, rows, codec, workers, threads, pool, buffer, advance)
            edges = int(rows.ptr[-1])
        shape: dict[str, Any] = {"n": len(moved.rows), "m": edges, "ids": moved.numbers.dtype}
        file.finish(**csrbin.fields_of(flags=what.flags, codec=codec, first_id=what.first_id, **shape))
        if confirm is not None:
            confirm()
    return edges


def write_rows(
    file: SectionFile,
    prefix: str,
    rows: InOrder,
    codec: str,
    workers: Workers,
    threads: int,
    pool: ThreadPoolExecutor,
    buffer: int,
    advance: Callable[[int], object] | None = None,
) -> None:
    """Write the sections of rows, a ``buffer`` (bytes) of ids at a time, two of which there are."""
    if codec == "plain":
        file.put(prefix + "indptr", rows.ptr.view(np.uint64), pool)
        _write_plain(file, prefix + "indices", rows, workers, pool, buffer, advance)
    else:
        _write_varint(file, prefix, rows, buffer, threads, advance)


def _write_plain(
    file: SectionFile,
    section: str,
    rows: InOrder,
    workers: Workers,
    pool: ThreadPoolExecutor,
    buffer: int,
    advance: Callable[[int], object] | None,
) -> None:
    """Write all rows to a section, summed by stretches while they are in the cache; one thread writes."""

    def write(data: memoryview, place: int) -> None:
        file.write(data, place)
        pool.submit(file.start_writeback, place, len(data))

    m, per = int(rows.ptr[-1]), STRETCH // rows.ids.itemsize
    cuts = rows.cuts(max(per, buffer // rows.ids.itemsize - per))
    file.open(section, rows.ids, m, StretchSums())
    most = max((int(rows.ptr[b] - rows.ptr[a]) for a, b in cuts), default=0)
    buffers = [np.empty(most + per, rows.ids) for _ in range(min(2, len(cuts)))]
    held, before = 0, None  # ids at the start of the buffer, of the stretch that the last one ended in
    with ThreadPoolExecutor(1, "bigbfs-writer") as writer:
        for number, (first, last) in enumerate(cuts):
            here = buffers[number % 2]
            count = int(rows.ptr[last] - rows.ptr[first])
            rows.gather(first, last, here[held : held + count])
            end = held + count
            ready = end if last == len(rows.ptr) - 1 else end // per * per
            data = here[:ready].view(np.uint8).data
            sums = _sums(data, workers)
            if before is not None:
                before.result()  # the other buffer is free from here on
            place = file.note(section, sums, len(data))
            before = writer.submit(write, data, place)
            held = end - ready
            if number + 1 < len(cuts):
                buffers[1 - number % 2][:held] = here[ready:end]
            if advance is not None:
                advance(count)
        if before is not None:
            before.result()
    file.close(section)


def _sums(data: memoryview, workers: Workers) -> list[int]:
    """Return the CRC-32 of each stretch."""
    starts = range(0, len(data), STRETCH)
    sums = [0] * len(starts)

    def work(i: int) -> None:
        sums[i] = zlib.crc32(data[starts[i] : starts[i] + STRETCH])

    workers.each(len(starts), work)
    return sums


def _write_varint(
    file: SectionFile,
    prefix: str,
    rows: InOrder,
    buffer: int,
    threads: int,
    advance: Callable[[int], object] | None,
) -> None:
    """Encode all rows, a buffer of them at a time."""
    encoder = RowEncoder(file, prefix, len(rows.ptr) - 1, int(rows.ptr[-1]), rows.ids)
    cuts = rows.cuts(max(1, buffer // rows.ids.itemsize))
    most = max((int(rows.ptr[b] - rows.ptr[a]) for a, b in cuts), default=0)
    buffers = [np.empty(most, rows.ids) for _ in range(min(2, len(cuts)))]
    before: Future[None] | None = None
    with ThreadPoolExecutor(1, "bigbfs-writer") as pool:
        for number, (first, last) in enumerate(cuts):
            start = int(rows.ptr[first])
            here = buffers[number % 2][: int(rows.ptr[last]) - start]
            rows.gather(first, last, here)
            if before is not None:
                before.result()
            part = PlainAdjacency((rows.ptr[first : last + 1] - start).view(np.uint64), here)
            before = pool.submit(encoder.add, part, first, "graph", advance, threads)
        if before is not None:
            before.result()
    encoder.close()


def gathered(moved: Moved, adjacency: Adjacency, threads: int, name: str) -> PlainAdjacency:
    """Return the rows in other numbers, in memory; FormatError where they are damaged."""
    with Workers(threads) as workers:
        return Gatherer(adjacency, moved, workers, threads, name).whole()


__all__ = ["InOrder", "Moved", "MovedGraph", "gathered", "save_moved", "sides_of", "write_rows", "writing_need"]
