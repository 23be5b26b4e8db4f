"""Results of each vertex as a table: a column of ids or names, one for each result; written piece by piece.

CSV is written without pyarrow; Parquet and Arrow need it. Where vertices have names, a column of vertices (parents,
say) holds names, and nothing where there is none; else it holds original ids, and -1.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import pairwise
from typing import Any, BinaryIO

import numpy as np

from bigbfs.formats.tables.library import library, pyarrow
from bigbfs.graph.names import Names
from bigbfs.graph.original_ids import VertexIds

KINDS = {".csv": "csv", ".parquet": "parquet", ".pq": "parquet", ".arrow": "arrow", ".feather": "arrow"}
"""What a suffix says is written."""
ROWS = 1 << 16
"""Rows at a time."""

Columns = dict[str, np.ndarray]


def require_library(kind: str) -> None:
    """Refuse, before any work is done, what cannot be written here.

    Raises
    ------
    UsageError
        pyarrow is not installed, and ``kind`` is not CSV.
    """
    if kind != "csv":
        pyarrow(f"writing {kind.capitalize()}")


def write(
    stream: BinaryIO, kind: str, vertices: VertexIds | None, columns: Columns, speaks: tuple[str, ...] = ()
) -> None:
    """Write a table.

    Parameters
    ----------
    kind
        ``"csv"``, ``"parquet"`` or ``"arrow"``.
    vertices
        The ids of the rows, which become the first column, ``id``; None: there is no such column.
    columns
        Arrays of one length, by name.
    speaks
        Those of them that hold original ids.

    Raises
    ------
    FormatError
        The names of the graph's file are damaged.
    """
    names = None if vertices is None else vertices.names
    _write(stream, kind, _pieces(vertices, columns), {"id", *speaks}, names)


def write_columns(stream: BinaryIO, kind: str, columns: Columns, speaks: tuple[str, ...], names: Names | None) -> None:
    """Write a table whose rows are no vertices in order: a topological order, the components.

    Raises
    ------
    FormatError
        As :func:`write`.
    """
    _write(stream, kind, _pieces(None, columns), set(speaks), names)


def add_lines(stream: BinaryIO, columns: Columns, speaks: tuple[str, ...], names: Names | None) -> None:
    """Append the lines of columns to a CSV file whose header has been written.

    Raises
    ------
    FormatError
        As :func:`write`.
    """
    if names is not None:
        names.hold()
    _write_csv(stream, iter([columns]), set(speaks), names, headed=True)


def write_pieces(
    stream: BinaryIO,
    kind: str,
    pieces: Iterator[Columns],
    speaks: tuple[str, ...],
    names: Names | None,
    *,
    hold: bool = True,
) -> None:
    """Write a table that comes portion by portion, one at least, each a row group or batch of its own.

    ``hold``: keep all names in memory, where there is room for them. The columns ``speaks`` hold original ids, which
    mostly differ.

    Raises
    ------
    FormatError, UsageError
        As :func:`write`; pyarrow is not installed.
    """
    _write(stream, kind, pieces, set(speaks), names, hold=hold, differ=speaks)


def _pieces(vertices: VertexIds | None, columns: Columns) -> Iterator[Columns]:
    length = len(next(iter(columns.values())))
    ids = None if vertices is None or vertices.labels is None or vertices.names is not None else vertices.array()
    for first in range(0, max(length, 1), ROWS):
        last = min(first + ROWS, length)
        found: Columns = {}
        if ids is not None:
            found["id"] = ids[first:last]
        elif vertices is not None:
            start = 0 if vertices.names is not None else vertices.first_id
            found["id"] = np.arange(start + first, start + last, dtype=np.int64)
        yield found | {name: array[first:last] for name, array in columns.items()}


def _write(
    stream: BinaryIO,
    kind: str,
    pieces: Iterator[Columns],
    speaks: set[str],
    names: Names | None,
    *,
    hold: bool = True,
    differ: tuple[str, ...] = ("id",),
) -> None:
    if names is not None and hold and speaks != {"id"}:
        names.hold()
    if kind == "csv":
        _write_csv(stream, pieces, speaks, names)
        return
    arrow = pyarrow(f"writing {kind.capitalize()}")
    with ExitStack() as files:
        put: Callable[[Any], object] | None = None
        for piece in pieces:
            arrays = {name: _array(arrow, each, names if name in speaks else None) for name, each in piece.items()}
            table = arrow.table(arrays)
            if put is None:
                writer = _opened(kind, stream, table.schema, differ if names is None else ())
                put = files.enter_context(writer).write_table
            put(table)


def _opened(kind: str, stream: BinaryIO, schema: Any, differ: tuple[str, ...]) -> Any:
    """Open a writer; ``differ``: columns of numbers that a dictionary, which has each of them, would make larger."""
    if kind == "parquet":
        words = [name for name in schema.names if name not in differ]
        parquet = library("pyarrow.parquet", "writing Parquet")
        return parquet.ParquetWriter(stream, schema, compression="zstd", use_dictionary=words or False)
    return library("pyarrow.ipc", "writing Arrow").new_file(stream, schema)


def _array(arrow: Any, values: np.ndarray, names: Names | None) -> Any:
    """Return values as an Arrow array: of text where they are the ranks of names."""
    if names is None:
        return arrow.array(np.ascontiguousarray(values))
    data, places = names.taken(values)
    missing = np.asarray(values) < 0
    valid = None
    if missing.any():
        valid = arrow.py_buffer(np.packbits(~missing, bitorder="little"))
    parts = [arrow.py_buffer(np.ascontiguousarray(each)) for each in (places, data)]
    return arrow.LargeStringArray.from_buffers(len(values), *parts, valid, int(missing.sum()))


def _write_csv(
    stream: BinaryIO, pieces: Iterator[Columns], speaks: set[str], names: Names | None, headed: bool = False
) -> None:
    for piece in pieces:
        text = io.StringIO(newline="")
        writer = csv.writer(text, lineterminator="\n")
        if not headed:
            writer.writerow(piece)
            headed = True
        named = speaks if names is not None else set()
        columns = [_texts(each, names) if name in named else each.tolist() for name, each in piece.items()]  # type: ignore[arg-type]
        if any("\r" in word for name, column in zip(piece, columns, strict=True) if name in named for word in column):
            writer = csv.writer(text, _Quoted)
        writer.writerows(zip(*columns, strict=True))
        stream.write(text.getvalue().encode("utf-8", "surrogateescape"))


def _texts(values: np.ndarray, names: Names) -> list[str]:
    data, places = names.taken(values)
    whole, ends = data.tobytes(), places.tolist()
    return [whole[begin:end].decode("utf-8", "surrogateescape") for begin, end in pairwise(ends)]


class _Quoted(csv.excel):
    """Everything quoted: csv leaves a lone carriage return bare before Python 3.13."""

    quoting = csv.QUOTE_ALL
    lineterminator = "\n"


def to_arrow(vertices: VertexIds | None, columns: Columns, speaks: tuple[str, ...] = ()) -> Any:
    """Return a table as a ``pyarrow.Table``; see :func:`write`.

    Raises
    ------
    UsageError
        pyarrow is not installed.
    """
    arrow = pyarrow("to_arrow")
    names = None if vertices is None else vertices.names
    if names is not None and speaks:
        names.hold()
    speak = {"id", *speaks}
    parts = [
        arrow.table({name: _array(arrow, each, names if name in speak else None) for name, each in piece.items()})
        for piece in _pieces(vertices, columns)
    ]
    return arrow.concat_tables(parts)
