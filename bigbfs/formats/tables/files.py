"""Parquet and Arrow files as batches of two columns, row group by row group, several of them at once.

A row group of moderate size is read as a whole, each by a thread of its own; a larger one in batches, page by page, so
that memory holds some batches whatever the file's size. A record batch of an Arrow file is always read as a whole.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from bigbfs.errors import InputError, RemedyLike
from bigbfs.formats.tables.columns import Columns, choose
from bigbfs.formats.tables.library import library, pyarrow, reading

WHOLE_BYTES = 48 << 20
"""A row group whose two columns take at most so many bytes is read at once."""
BATCH_ROWS = 1 << 16
"""Rows of a batch of a larger one; two columns of integers of so many rows fit a core's cache."""


@dataclass(frozen=True)
class Batch:
    """Some edges: two Arrow arrays of one length, and where they stand.

    Attributes
    ----------
    first, second
        Sources and targets.
    part, row
        Number of the row group or record batch; its row that is the first here.
    """

    first: Any
    second: Any
    part: int
    row: int


class TableFile:
    """An open table, of which two columns are wanted.

    Attributes
    ----------
    name
        For messages.
    kind, part_name
        ``"Parquet file"`` or ``"Arrow file"``, and what its parts are called.
    rows
        Rows in all; None: nobody knows before the end.
    part_rows
        Rows of each part; None: nobody knows, or parts cannot be read apart.
    types
        Arrow types of the two columns.
    places
        The two columns, from 1 on.
    note
        Which columns were guessed; None where they were given.
    recode
        What helps where its text is no UTF-8.
    only
        Words on all that it holds if it has no row.
    """

    kind = "table"
    part_name = "part"
    rows: int | None = None
    part_rows: list[int] | None = None
    recode: tuple[RemedyLike, ...] = ()
    only = ""

    def __init__(self, name: str, schema: Any, wanted: Columns | None) -> None:
        self.name = name
        first, second, self.note = choose(name, schema.names, wanted)
        self.places = (first, second)
        self.types = (schema.field(first - 1).type, schema.field(second - 1).type)
        self.headers = (schema.names[first - 1], schema.names[second - 1])

    def batches(self, threads: int = 1) -> Iterator[Batch]:
        """Return all edges in order.

        Raises
        ------
        InputError
            The file is damaged.
        """
        raise NotImplementedError

    def part(self, number: int) -> Iterator[Batch]:
        """Return the edges of one part; several threads may ask for different ones.

        Raises
        ------
        InputError
            The file is damaged.
        """
        raise NotImplementedError

    def other_rows(self, part: int) -> InputError:
        """Return the error for a part that has not as many rows as it declares."""
        return InputError(f"{self.name}: {self.part_name} {part} has not as many rows as it declares")

    def sample(self, rows: int, places: int) -> Iterator[Batch]:
        """Return about ``rows`` edges at up to so many places all over the file; none where that is not had cheaply."""
        return iter(())

    def place(self, batch: Batch, index: int) -> str:
        """Return where entry ``index`` of a batch stands, in words."""
        return f"{self.name}: {self.part_name} {batch.part}, row {batch.row + index}"


class ParquetTable(TableFile):
    """A Parquet file."""

    kind, part_name = "Parquet file", "row group"

    def __init__(self, name: str, path: Path, wanted: Columns | None) -> None:
        self._parquet = library("pyarrow.parquet", f"{name}: reading Parquet")
        self._path = path
        with reading(name, self.kind):
            file = self._open()
            self._meta = file.metadata
            schema = file.schema_arrow
        super().__init__(name, schema, wanted)
        self.rows = int(self._meta.num_rows)
        if len(set(schema.names)) != len(schema.names) and any(schema.names.count(each) > 1 for each in self.headers):
            raise InputError(f"{name}: two columns have one name ({', '.join(map(repr, self.headers))}); rename them")
        self._local = threading.local()
        declared = [int(self._meta.row_group(group).num_rows) for group in range(self._meta.num_row_groups)]
        self.part_rows = declared if min(declared, default=-1) >= 0 and sum(declared) == self.rows else None

    def _open(self, meta: Any = None) -> Any:
        return self._parquet.ParquetFile(
            str(self._path), metadata=meta, pre_buffer=False, buffer_size=1 << 20, page_checksum_verification=True
        )

    def _bytes(self, group: int) -> int:
        """Return the unpacked bytes of a row group, at least those of the two columns.

        What the file says of each column would be nearer, but pyarrow ends the process where that is damaged
        (``RowGroupMetaData.column``, 26.0.1: an exception of C++ that nobody catches).
        """
        found = self._meta.row_group(group)
        return max(found.total_byte_size, 0) + 16 * max(found.num_rows, 0)

    def _file(self) -> Any:
        """Return the reader of this thread."""
        if not hasattr(self._local, "file"):
            self._local.file = self._open(self._meta)
        return self._local.file

    def _group(self, group: int) -> Any:
        """Read a row group as a whole."""
        return self._file().read_row_group(group, columns=list(self.headers), use_threads=False)

    def _stream(self, group: int, rows: int = BATCH_ROWS) -> Iterator[Any]:
        yield from self._file().iter_batches(rows, row_groups=[group], columns=list(self.headers), use_threads=False)

    def part(self, number: int) -> Iterator[Batch]:
        """Return the edges of one row group."""
        row = 0
        with reading(self.name, self.kind):
            for part in self._stream(number):
                yield Batch(*_columns_of(part, self.headers), number, row)
                row += part.num_rows

    def batches(self, threads: int = 1) -> Iterator[Batch]:
        """Return all edges in order; ``threads`` row groups are read ahead."""
        ahead: deque[tuple[int, Future[Any] | None]] = deque()
        left = iter(range(self._meta.num_row_groups))
        with ThreadPoolExecutor(threads, "bigbfs-parquet") as pool, reading(self.name, self.kind):
            while True:
                while len(ahead) <= threads and (group := next(left, None)) is not None:
                    small = self._bytes(group) <= WHOLE_BYTES
                    ahead.append((group, pool.submit(self._group, group) if small else None))
                if not ahead:
                    return
                group, task = ahead.popleft()
                parts = self._stream(group) if task is None else iter(task.result().to_batches())
                row = 0
                for part in parts:
                    yield Batch(*_columns_of(part, self.headers), group, row)
                    row += part.num_rows
                if row != self._meta.row_group(group).num_rows:
                    raise self.other_rows(group)

    def sample(self, rows: int, places: int) -> Iterator[Batch]:
        """Return the beginnings of row groups all over the file, of the first and the last among them."""
        last = self._meta.num_row_groups - 1
        with reading(self.name, self.kind):
            for group in sorted({last * place // max(1, places - 1) for place in range(places)}) if last >= 0 else []:
                part = next(self._stream(group, rows), None)
                if part is not None:
                    yield Batch(*_columns_of(part, self.headers), group, 0)


class ArrowTable(TableFile):
    """An Arrow IPC file (Feather version 2) or stream."""

    kind, part_name = "Arrow file", "record batch"

    def __init__(self, name: str, file: BinaryIO, path: Path, wanted: Columns | None) -> None:
        arrow = pyarrow(f"{name}: reading Arrow")
        ipc = library("pyarrow.ipc", name)
        self._whole = file.read(6) == b"ARROW1"
        with reading(name, self.kind):
            self._file = arrow.OSFile(str(path))
            reader = ipc.open_file(self._file) if self._whole else ipc.open_stream(self._file)
            schema = reader.schema
            super().__init__(name, schema, wanted)
            options = ipc.IpcReadOptions(included_fields=[each - 1 for each in sorted(self.places)])
            self._file.seek(0)
            again = ipc.open_file if self._whole else ipc.open_stream
            self._reader = again(self._file, options=options)
        self._order = (0, 1) if self.places[0] < self.places[1] else (1, 0)

    def batches(self, threads: int = 1) -> Iterator[Batch]:
        """Return all edges in order."""
        first, second = self._order
        with reading(self.name, self.kind):
            parts = self._parts() if self._whole else iter(self._reader)
            for number, part in enumerate(parts):
                part.validate()
                for row in range(0, part.num_rows, BATCH_ROWS):
                    cut = part.slice(row, BATCH_ROWS)
                    yield Batch(cut.column(first), cut.column(second), number, row)

    def _parts(self) -> Iterator[Any]:
        for number in range(self._reader.num_record_batches):
            yield self._reader.get_batch(number)


def _columns_of(part: Any, headers: tuple[str, str]) -> tuple[Any, Any]:
    """Return the two columns of a record batch, which come in the order of the file."""
    names = part.schema.names
    return part.column(names.index(headers[0])), part.column(names.index(headers[1]))
