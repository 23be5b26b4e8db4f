"""Where sorted rows go: the sections of a .csrbin, those of a .ccsr, or a temporary file that is read once more."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bigbfs.conversion.on_disk.rows import Rows
from bigbfs.conversion.on_disk.scratch import Scratch
from bigbfs.formats.container.sections import SectionFile
from bigbfs.graph import varint
from bigbfs.graph.adjacency import BLOCK_IDS, PlainAdjacency

_COPY = 1 << 17
_ZERO = np.zeros(1, np.uint64)


class PlainSink:
    """Writes ``indptr`` and ``indices``.

    Parameters
    ----------
    prefix
        "" or "in_".
    n, m
        Vertices, and about how many edges.
    """

    def __init__(self, file: SectionFile, prefix: str, n: int, m: int, ids: np.dtype) -> None:
        self._file, self._indptr, self._indices = file, prefix + "indptr", prefix + "indices"
        file.open(self._indptr, np.uint64, n + 1)
        file.open(self._indices, ids, m)
        file.append(self._indptr, _ZERO)
        self.edges = 0

    def add(self, rows: Rows) -> None:
        """Append rows, or a part of one."""
        self._file.append(self._indices, rows.indices)
        if rows.degrees is not None:
            self._file.append(self._indptr, np.cumsum(rows.degrees).astype(np.uint64) + np.uint64(self.edges))
        self.edges += len(rows.indices)
        if rows.degrees is None and rows.ends:
            self._file.append(self._indptr, np.array([self.edges], np.uint64))

    def close(self) -> None:
        """Complete the sections."""
        self._file.close(self._indices)


class _Column:
    """Items kept in a temporary file until their section can be placed."""

    def __init__(self, scratch: Scratch, name: str, dtype: np.dtype) -> None:
        self._scratch, self._path, self._dtype = scratch, scratch.folder / name, dtype
        self._path.touch()
        self.count = 0

    def append(self, array: np.ndarray) -> None:
        """Append items."""
        self._scratch.wrote(len(array) * self._dtype.itemsize)
        try:
            with self._path.open("ab") as file:
                file.write(np.ascontiguousarray(array, self._dtype).data)
        except OSError as error:
            raise self._scratch.error(error) from error
        self.count += len(array)

    def read(self, count: int) -> Iterator[np.ndarray]:
        """Return everything, at most ``count`` items at a time."""
        try:
            with self._path.open("rb") as source:
                while data := source.read(count * self._dtype.itemsize):
                    yield np.frombuffer(data, self._dtype)
        except OSError as error:
            raise self._scratch.error(error) from error

    def remove(self) -> None:
        """Delete the file."""
        self._path.unlink()

    def move_to(self, file: SectionFile, name: str) -> None:
        """Write everything to the section ``name``."""
        file.open(name, self._dtype, self.count)
        for items in self.read(_COPY):
            file.append(name, items)
        self.remove()


class CompressedSink:
    """Encodes rows as they come and writes the sections of a compressed adjacency; parameters as of PlainSink.

    ``first``: which vertex of the graph the first row is.
    """

    def __init__(
        self, file: SectionFile, scratch: Scratch, prefix: str, n: int, m: int, ids: np.dtype, *, first: int = 0
    ) -> None:
        self._file, self._prefix, self._ids = file, prefix, ids
        file.open(prefix + "indptr", np.uint64, n + 1)
        file.open(prefix + "degree", ids, n)
        file.open(prefix + "blob", np.uint8, m)
        file.append(prefix + "indptr", _ZERO)
        kinds = {"hubs": ids, "hub_ptr": np.dtype(np.uint64), "block_ptr": np.dtype(np.uint64)}
        self._columns = {name: _Column(scratch, prefix + name, kind) for name, kind in kinds.items()}
        self._columns["hub_ptr"].append(_ZERO)
        self._row, self._bytes, self._blocks = first, 0, 0
        self._pending = np.empty(0, ids)
        self._row_edges = 0

    def add(self, rows: Rows) -> None:
        """Encode and append rows, or a part of one."""
        if rows.degrees is None:
            self._add_part(rows.indices)
            if rows.ends:
                self._end_row()
            return
        indptr = np.zeros(len(rows.degrees) + 1, np.uint64)
        np.cumsum(rows.degrees, out=indptr[1:].view(np.int64))
        code = varint.encode(PlainAdjacency(indptr, rows.indices))
        base = np.uint64(self._bytes)
        self._file.append(self._prefix + "indptr", code.indptr[1:] + base)
        self._file.append(self._prefix + "degree", code.degree)
        self._file.append(self._prefix + "blob", code.blob)
        self._columns["hubs"].append(code.hubs.astype(np.uint64) + np.uint64(self._row))
        self._columns["hub_ptr"].append(code.hub_ptr[1:] + np.uint64(self._blocks))
        self._columns["block_ptr"].append(code.block_ptr + base)
        self._row += len(rows.degrees)
        self._bytes += len(code.blob)
        self._blocks += len(code.block_ptr)

    def _add_part(self, indices: np.ndarray) -> None:
        """Encode whole blocks of a row that comes in parts; hold what may belong to a block with what follows."""
        ids = np.concatenate([self._pending, indices])
        self._row_edges += len(indices)
        whole = len(ids) // BLOCK_IDS * BLOCK_IDS if self._row_edges > BLOCK_IDS else 0
        self._write_blocks(ids[:whole])
        self._pending = ids[whole:].copy()

    def _write_blocks(self, ids: np.ndarray) -> None:
        if len(ids) == 0:
            return
        code = varint.encode(PlainAdjacency(np.array([0, len(ids)], np.uint64), ids))
        blocks = code.block_ptr if len(ids) > BLOCK_IDS else _ZERO
        self._columns["block_ptr"].append(blocks + np.uint64(self._bytes))
        self._file.append(self._prefix + "blob", code.blob)
        self._blocks += len(blocks)
        self._bytes += len(code.blob)

    def _end_row(self) -> None:
        if self._row_edges <= BLOCK_IDS:
            ids, self._pending, self._row_edges = self._pending, self._pending[:0], 0
            self.add(Rows(np.array([len(ids)], np.int64), ids))
            return
        self._write_blocks(self._pending)
        self._columns["hubs"].append(np.array([self._row], np.uint64))
        self._columns["hub_ptr"].append(np.array([self._blocks], np.uint64))
        self._file.append(self._prefix + "indptr", np.array([self._bytes], np.uint64))
        self._file.append(self._prefix + "degree", np.array([self._row_edges], np.uint64))
        self._row += 1
        self._row_edges = 0
        self._pending = self._pending[:0]

    def close(self) -> None:
        """Complete the sections."""
        self._file.close(self._prefix + "blob")
        for name, column in self._columns.items():
            column.move_to(self._file, self._prefix + name)


class StageSink:
    """Keeps the ids in a temporary file and the degrees in memory, to be read again in another order."""

    def __init__(self, scratch: Scratch, ids: np.dtype) -> None:
        self._column = _Column(scratch, "stage", ids)
        self._degrees: list[np.ndarray] = []
        self._row_edges = 0
        self.edges = 0

    def add(self, rows: Rows) -> None:
        """Keep rows, or a part of one."""
        self._column.append(rows.indices)
        self.edges += len(rows.indices)
        if rows.degrees is not None:
            self._degrees.append(rows.degrees)
            return
        self._row_edges += len(rows.indices)
        if rows.ends:
            self._degrees.append(np.array([self._row_edges], np.int64))
            self._row_edges = 0

    def degrees(self) -> np.ndarray:
        """Return the degree of every vertex (int64), and forget them."""
        degrees = np.concatenate(self._degrees) if self._degrees else np.empty(0, np.int64)
        self._degrees = []
        return degrees

    def chunks(self, count: int) -> Iterator[tuple[int, np.ndarray]]:
        """Read the ids again, ``count`` at a time, each time with the number of the first edge."""
        place = 0
        for indices in self._column.read(count):
            yield place, indices
            place += len(indices)

    def remove(self) -> None:
        """Delete the temporary file."""
        self._column.remove()
