"""A generated graph written a slice of its rows at a time, where the list of its edges does not fit in memory.

The file is the one that :func:`bigbfs.generate.assemble` and a save would make. Two passes over slices: the first finds
what is drawn more than once, and so the degrees, on which offsets and the order depend; each edge is looked at by its
larger end alone. The second makes the rows, in their order, and writes them. Each slice draws all edges again.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from bigbfs.conversion.memory import default_allowance, require
from bigbfs.conversion.options import ConvertOptions
from bigbfs.conversion.orders.degree import degree_order_by
from bigbfs.conversion.sorting.lines import BuildCounts
from bigbfs.conversion.sorting.one_bucket import Room, Tally, count_ends
from bigbfs.errors import DoesNotFitError
from bigbfs.formats.atomic import replacing
from bigbfs.formats.container import csrbin, layout
from bigbfs.formats.container.checksum import STRETCH, checksum_threads
from bigbfs.formats.container.moved import BUFFER, write_rows
from bigbfs.formats.container.sections import SectionFile
from bigbfs.generate import PROGRAM, slices
from bigbfs.generate import slice_kernels as kernels
from bigbfs.generate.arrays import Drawn
from bigbfs.generate.slices import Draws, SlicedRows, Sorter
from bigbfs.graph.adjacency import id_dtype
from bigbfs.jit.workers import Workers, ranges
from bigbfs.report.progress import Progress
from bigbfs.sizes import size_allowed, size_needed

_LEAST_KEYS = 1 << 17
"""Keys below which a slice is not worth drawing all edges for."""
_SHARE = 16
"""Part of the memory that a buffer of rows to be written may take, where that is more than the smallest."""


@dataclass(frozen=True)
class Shape:
    """What is made.

    Attributes
    ----------
    n
        Vertices.
    directed
        Rows and in-rows are made, not rows of both.
    reordered
        By descending degree.
    threads
        Which draw and sort.
    """

    n: int
    directed: bool
    reordered: bool
    threads: int

    @property
    def sides(self) -> int:
        """Out-rows, and in-rows where they are others."""
        return 2 if self.directed else 1

    def held(self) -> tuple[int, int, int]:
        """Return the bytes held for vertices: in the first pass, while they are put in order, in the second pass."""
        ids, n = id_dtype(self.n).itemsize, self.n
        counted, named = 16 * self.sides * n, self.reordered * ids * n
        return counted, counted + 2 * named + (8 * self.sides + 16) * n, 8 * self.sides * n + 2 * named

    def fixed(self) -> int:
        """Return the bytes that the program and its threads take, beside keys."""
        ids = id_dtype(self.n).itemsize
        staged = 2 * slices.BUCKETS * (kernels.LINE + 2) * 8
        return PROGRAM + self.threads * (2 * ids * slices.STRETCH + staged + (8 << slices.LINEAR_BITS))

    def need(self) -> int:
        """Return the least bytes that it can be made with."""
        first, ordering, second = self.held()
        least = self.key_bytes() * _LEAST_KEYS
        return self.fixed() + max(first + least, ordering, second + least + 4 * STRETCH)

    def key_bytes(self) -> int:
        """Return the bytes of a key, and of its share of the room in which buckets are sorted."""
        return 9 + 2 * id_dtype(self.n).itemsize * self.threads // slices.BUCKETS

    def room(self, memory: int) -> tuple[int, int, int]:
        """Return the keys of a slice in the first pass, in the second, and the bytes of a buffer of rows there."""
        first, _, second = self.held()
        left = memory - self.fixed()
        buffer = min(max(BUFFER, 2 * self.threads * STRETCH), max(STRETCH, (left - second) // _SHARE))
        each = self.key_bytes()
        return (left - first) // each, (left - second - 2 * (buffer + STRETCH)) // each, buffer

    def room_beside(self, room: int, units: np.ndarray, buffer: int | None = None) -> int:
        """Return how many keys of the ``room`` of a slice are left, where the ``units`` of rows have so many (int64).

        Each is sorted as a whole, one by a thread, and each of two buffers (of ``buffer`` bytes, else there are none)
        has to hold the longest.
        """
        ids = id_dtype(self.n).itemsize
        longest = np.sort(units)[-self.threads :]
        taken = 2 * ids * int(longest.sum())
        if buffer is not None:
            taken += 2 * max(0, ids * int(longest[-1]) - buffer)
        return room - -(-taken // self.key_bytes())


@dataclass(frozen=True)
class _Side:
    """Rows that are written: the prefix of their sections, the ends of an edge that they are of, offsets and slices."""

    prefix: str
    way: int
    ptr: np.ndarray
    parts: list[slices.Part]


class _Making:
    """One graph on its way to its file."""

    def __init__(self, drawn: Drawn, shape: Shape, memory: int, told: Progress, workers: Workers) -> None:
        self._drawn, self._shape, self._told, self._workers = drawn, shape, told, workers
        self._memory = memory
        self._rooms = shape.room(memory)
        self._units = slices.growing_units() if shape.reordered else slices.linear_units(shape.n)

    def make(self, path: Path) -> tuple[BuildCounts, int]:
        """Write the file; return what was left out, and its edges."""
        tally, counts = self._count()
        order = rank = None
        if self._shape.reordered:
            self._told.now("order the vertices", self._shape.n, "vertices")
            order, rank = degree_order_by(self._workers, self._shape.threads, tally.rows)
        sides = self._sides(tally, order)
        del tally
        return counts, self._write(path, sides, order, rank, counts.self_loops)

    def _count(self) -> tuple[Tally, BuildCounts]:
        """Find the degrees, and what is left out."""
        shape, edges, told = self._shape, self._drawn.edges, self._told
        draws = Draws(self._drawn, self._workers, shape.threads, told)
        units = slices.linear_units(shape.n)
        rows = slices.unit_rows(shape.n, units)
        way = kernels.FORWARD if shape.directed else kernels.LARGER
        counts = [np.zeros(len(rows), np.int64) for _ in range(shape.threads)]  # the last item: self-loops

        def look(src: np.ndarray, dst: np.ndarray, found: np.ndarray) -> None:
            found[-1] += kernels.count_units(src, dst, way, units, found)

        told.now("count the edges", edges, "lines")
        draws.each(look, counts)
        keys = np.sum(counts, axis=0)
        room = shape.room_beside(self._rooms[0], keys[:-1])
        parts = slices.cut(keys[:-1], rows, room)
        self._require(parts, room)
        tally = _tally(shape)
        sorter, repeats = Sorter(draws, way, units, parts), 0
        for number, part in enumerate(parts, 1):
            told.now(f"find repeated edges, slice {number} of {len(parts)}", edges + int(part.counts.sum()), "lines")
            sorter.load(part)
            found = np.zeros(len(part.counts), np.int64)

            def work(bucket: int, part: slices.Part = part, found: np.ndarray = found) -> None:
                def add(low: int, height: int, count: int, room: Room) -> None:
                    count_ends(low, height, count, room, tally)

                found[bucket] = sorter.sort(bucket, tally, add)
                told.advance(int(part.counts[bucket]))

            self._workers.each(len(part.counts), work)
            repeats += int(found.sum())
        return tally, BuildCounts(int(keys[-1]), repeats)

    def _require(self, parts: list[slices.Part], room: int) -> None:
        """Refuse rows that have to be in memory at once, and are not."""
        most = max(int(part.counts.sum()) for part in parts)
        if most > room:
            more = (most - room) * self._shape.key_bytes()
            require(self._memory + more, self._memory, what="the longest rows of this graph, drawn at once,")

    def _write(
        self, path: Path, sides: list[_Side], order: np.ndarray | None, rank: np.ndarray | None, loops: int
    ) -> int:
        """Write the file; return its edges."""
        shape, ids = self._shape, id_dtype(self._shape.n)
        m = int(sides[0].ptr[-1])
        plain = path.suffix == ".csrbin"
        if plain:
            _require_space(path, 8 * shape.n * (shape.sides + shape.reordered) + shape.sides * ids.itemsize * m)
        codec = "plain" if plain else "varint"
        options = ConvertOptions(directed=shape.directed, order="degree" if shape.reordered else "original")
        draws = Draws(self._drawn, self._workers, shape.threads, self._told, rank)
        with replacing(path) as stream, checksum_threads() as pool:
            file = SectionFile(stream)
            if order is not None:
                file.put("labels", order.astype(np.int64), pool)
                order = None
            how = (codec, self._workers, shape.threads, pool, self._rooms[2], self._told.advance)
            for side in sides:
                rows = SlicedRows(draws, side.way, self._units, side.ptr, side.parts, partial(self._say, path))
                write_rows(file, side.prefix, rows, *how)
                del rows
            symmetric = not shape.directed or _same_sides(file, codec)
            flags = csrbin.flag_names(options.flags(symmetric=symmetric, self_loops=loops))
            file.finish(**csrbin.fields_of(n=shape.n, m=m, ids=ids, first_id=0, flags=flags, codec=codec))
        return m

    def _sides(self, tally: Tally, order: np.ndarray | None) -> list[_Side]:
        """Return what rows are written, in the ``order``, and in which slices."""
        sides = []
        rows = slices.unit_rows(self._shape.n, self._units)
        which = [("", kernels.BOTH, tally.rows, tally.more_rows)]
        if self._shape.directed:
            which = [
                ("", kernels.FORWARD, tally.rows, tally.more_rows),
                ("in_", kernels.BACKWARD, tally.columns, tally.more_columns),
            ]
        for prefix, way, degrees, more in which:
            ptr, drawn = self._offsets(degrees, order), self._offsets(more, order)
            drawn += ptr
            keys = np.diff(drawn[rows])
            room = self._shape.room_beside(self._rooms[1], keys, self._rooms[2])
            parts = slices.cut(keys, rows, room)
            self._require(parts, room)
            sides.append(_Side(prefix, way, ptr, parts))
        return sides

    def _offsets(self, counts: np.ndarray, order: np.ndarray | None) -> np.ndarray:
        """Return where each row begins, in the order."""
        ptr = np.zeros(len(counts) + 1, np.int64)
        if order is None:
            np.cumsum(counts, out=ptr[1:])
            return ptr
        parts = ranges(len(order), self._shape.threads)

        def take(i: int) -> None:
            first, last = parts[i]
            np.take(counts, order[first:last], out=ptr[1 + first : 1 + last], mode="clip")

        self._workers.each(len(parts), take)
        np.cumsum(ptr, out=ptr)
        return ptr

    def _say(self, path: Path, number: int, count: int, edges: int | None) -> None:
        """Name what is done for a slice: its edges are drawn, or there."""
        if edges is None:
            self._told.now(f"draw the edges of slice {number} of {count}", self._drawn.edges, "lines")
        else:
            self._told.now(f"write {path}, slice {number} of {count}", edges, "edges")


def _tally(shape: Shape) -> Tally:
    """Return zeros to count with."""
    rows, more = np.zeros(shape.n, np.int64), np.zeros(shape.n, np.int64)
    if not shape.directed:
        return Tally(rows, rows, more, more)
    return Tally(rows, np.zeros(shape.n, np.int64), more, np.zeros(shape.n, np.int64))


def _same_sides(file: SectionFile, codec: str) -> bool:
    """Tell whether in-rows are the rows, and leave them out then."""
    from bigbfs.conversion.on_disk.writing import COMPARED

    same = all(file.same(name, f"in_{name}") for name in COMPARED[codec])
    if same:
        file.drop("in_")
    return same


def _require_space(path: Path, size: int) -> None:
    """Refuse a file for which there is no room."""
    status = os.statvfs(path.parent)
    free = status.f_bavail * status.f_frsize
    if size + layout.PAGE > free:
        raise DoesNotFitError(
            f"{path}: it will have {size_needed(size + layout.PAGE)}, and {size_allowed(free)} are free there",
            remedies=("free some", ("output", None, "write to another disk ({})")),
        )


def write_sliced(
    kind: str,
    make: Callable[[], Any],
    path: Path,
    shape: Shape,
    *,
    memory: int | None = None,
    told: Progress,
) -> tuple[int, int, BuildCounts]:
    """Write the graph file; return the lines drawn, the edges stored, and what was left out.

    Parameters
    ----------
    make
        Returns the :class:`Drawn` edges.
    memory
        Bytes that the process may take; None: half of what is free.

    Raises
    ------
    DoesNotFitError
        A few numbers of each vertex take more than that, or the rows of one; or the disk has no room for the file.
    FileAccessError
        It cannot be written; nothing is left of it.
    """
    what = f"a {kind} graph of {shape.n:,} vertices, a slice at a time,"
    require(shape.need(), memory, what=what)
    drawn: Drawn = make()
    with Workers(shape.threads) as workers:
        making = _Making(drawn, shape, default_allowance() if memory is None else memory, told, workers)
        counts, edges = making.make(path)
    return drawn.edges, edges, counts
