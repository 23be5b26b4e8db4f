"""Files that commands write beside what they print: refused before any work, written whole, and said."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

import click
import numpy as np

from bigbfs.cli.notes import note
from bigbfs.cli.wording import printable
from bigbfs.errors import BigBfsError, UsageError, naming
from bigbfs.formats.atomic import replacing, require_writable
from bigbfs.formats.ours import array_header, require_ours
from bigbfs.formats.tables import results
from bigbfs.formats.tables.results import KINDS, require_library
from bigbfs.graph.graph import Graph
from bigbfs.graph.names import Names
from bigbfs.graph.original_ids import VertexIds
from bigbfs.measures.rows_room import Rows, require_room_for_rows
from bigbfs.sizes import counted, format_size

STANDARD_OUTPUT = "-"

force_option = click.option("--force", is_flag=True, help="Replace files that bigbfs did not write.")


@dataclass(frozen=True, slots=True)
class Written:
    """A file that was written: its path and bytes, of an array dtype and count, of a table the rows."""

    path: str
    bytes: int
    dtype: str | None = None
    count: int | None = None

    def line(self) -> str:
        """Return what people are told."""
        what = format_size(self.bytes) if self.dtype is None else f"{self.dtype}, {counted(self.count or 0, 'value')}"
        if self.dtype is None and self.count is not None:
            what += f", {counted(self.count, 'row')}"
        return f"wrote       {printable(self.path)}: {what}"


def check_output(path: Path | None, argument: str, force: bool, replaces: str = "") -> None:
    """Refuse, before any work is done, an output path, that of ``argument``, that cannot or may not be written.

    ``replaces`` is that of :func:`bigbfs.formats.ours.require_ours`.

    Raises
    ------
    UsageError
        There is a file of somebody else's, or a graph, and no ``force``.
    FileAccessError
        It cannot be written.
    """
    if path is not None:
        with naming(output=argument):
            require_writable(path)
            require_ours(path, force, replaces=replaces)


def check_array(path: Path | None, argument: str, force: bool) -> None:
    """Do what :func:`check_output` does for results of each vertex: an array, or a table; ``-`` is standard output.

    Raises
    ------
    UsageError, FileAccessError
        As there, or it has another name, or pyarrow, which it takes, is not installed.
    """
    if path is None or str(path) == STANDARD_OUTPUT:
        return
    if path.suffix not in (".npy", *KINDS):
        kinds = f"NumPy .npy, or a table: {', '.join(KINDS)}, or as CSV to standard output: {STANDARD_OUTPUT}"
        why = f"a result is written, by its suffix, as {kinds}; name it {path.stem}.npy"
        raise UsageError(why, about=((argument, path),))
    if path.suffix in KINDS:
        require_library(KINDS[path.suffix])
    check_output(path, argument, force)


def check_different(paths: dict[str, Path | None]) -> None:
    """Refuse two outputs, by their options, that are one file.

    Raises
    ------
    UsageError
        With both options.
    """
    seen: dict[Path, str] = {}
    for option, path in paths.items():
        if path is None:
            continue
        other = seen.setdefault(path.resolve(), option)
        if other != option:
            raise UsageError(f"{other} and {option} both name {path}; give each its own file")


def check_streams(paths: Sequence[Path | None], as_json: bool) -> None:
    """Refuse more than one thing on standard output.

    Raises
    ------
    UsageError
        Two results, or a result and the JSON object, go there.
    """
    count = sum(str(path) == STANDARD_OUTPUT for path in paths)
    if count > 1 or (count and as_json):
        raise UsageError("only one of them goes to standard output (-); name a file for the other")


def look_at_disk(graph: Graph, *results: Rows) -> None:
    """Look, before any work is done, whether the disk has room for results of each vertex of ``graph``.

    Raises
    ------
    DoesNotFitError
        Surely not; that it may have too little is a note.
    """
    for said in require_room_for_rows(graph, results):
        note(said)


@contextmanager
def writing(write: Callable[[], Iterable[Written | None]]) -> Iterator[list[Written]]:
    """Yield what ``write`` has written until it failed: that is raised once the rest has been said.

    What took hours to find is lost with a full disk else, and its first lines tell most of it.

    Raises
    ------
    FileAccessError
        A file cannot be written; and whatever else ``write`` fails by.
    """
    failed: Exception | None = None
    wrote: list[Written] = []
    try:
        for file in write():
            if file is not None:
                wrote.append(file)
    except BrokenPipeError:  # its reader has gone, and wants no more
        raise
    except (BigBfsError, OSError) as error:
        failed = error
    yield wrote
    if failed is not None:
        raise failed


@contextmanager
def report_beside(paths: Sequence[Path | None]) -> Iterator[None]:
    """Print to standard error while standard output is for a result."""
    if not any(str(path) == STANDARD_OUTPUT for path in paths):
        yield
        return
    with redirect_stdout(sys.stderr):
        yield


def write_result(
    path: Path, argument: str, values: np.ndarray, column: str, vertices: VertexIds | None, *, speaks: bool = False
) -> Written | None:
    """Write one result of each vertex: an array, or a table with a column of ids or names; None on standard output.

    Parameters
    ----------
    values, column
        The result, and its name in a table; ``speaks``: it holds original ids.
    vertices
        The ids of the rows.

    Raises
    ------
    FileAccessError
        The file cannot be written; nothing is left behind.
    """
    if path.suffix == ".npy":
        return write_array(path, values, argument)
    told = (column,) if speaks else ()
    return _put(path, argument, len(values), lambda to, kind: results.write(to, kind, vertices, {column: values}, told))


def write_sizes(
    path: Path, argument: str, smallest: np.ndarray, counts: np.ndarray, names: Names | None
) -> Written | None:
    """Write every component, called by its smallest vertex, with its vertices; as :func:`write_result` does.

    Raises
    ------
    FileAccessError
        The file cannot be written; nothing is left behind.
    """
    if path.suffix == ".npy":
        return write_array(path, counts, argument)
    return write_table(path, argument, {"component": smallest, "vertices": counts}, "component", names)


def write_table(
    path: Path, argument: str, columns: dict[str, np.ndarray], speaks: str, names: Names | None
) -> Written | None:
    """Write columns whose rows are no vertices in order; ``speaks`` is the one that holds original ids.

    Raises
    ------
    FileAccessError
        The file cannot be written; nothing is left behind.
    """
    rows = len(columns[speaks])
    return _put(path, argument, rows, lambda to, kind: results.write_columns(to, kind, columns, (speaks,), names))


def write_columns(
    path: Path, argument: str, columns: dict[str, np.ndarray], speaks: tuple[str, ...] = (), names: Names | None = None
) -> Written | None:
    """Write columns, of which those that ``speaks`` names hold original ids, if any does; as :func:`write_result` does.

    Raises
    ------
    FileAccessError
        The file cannot be written; nothing is left behind.
    """
    rows = len(next(iter(columns.values())))
    return _put(path, argument, rows, lambda to, kind: results.write_columns(to, kind, columns, speaks, names))


def _put(path: Path, argument: str, rows: int, put: Callable[[BinaryIO, str], None]) -> Written | None:
    """Have ``put`` write a table, of the kind that the suffix says, to standard output or to ``path``."""
    kind = KINDS.get(path.suffix, "csv")
    if str(path) == STANDARD_OUTPUT:
        put(sys.stdout.buffer, kind)
        sys.stdout.flush()
        return None
    with naming(output=argument), replacing(path) as stream:
        put(stream, kind)
    return replace(written(path), count=rows)


def write_order(path: Path, argument: str, order: np.ndarray, vertices: VertexIds | None) -> Written | None:
    """Write vertices in an order of their own, as :func:`write_result` does.

    Raises
    ------
    FileAccessError
        The file cannot be written; nothing is left behind.
    """
    if path.suffix == ".npy":
        return write_array(path, order, argument)
    return write_table(path, argument, {"id": order}, "id", None if vertices is None else vertices.names)


def write_array(path: Path, values: np.ndarray, argument: str) -> Written:
    """Write ``values`` to ``path``, which ``argument`` names, whole or not at all.

    Raises
    ------
    FileAccessError
        The file cannot be written.
    """
    array = np.ascontiguousarray(values)
    with naming(output=argument), replacing(path) as stream:
        stream.write(array_header(array))
        stream.write(array.view(np.uint8).data)  # NumPy's own write forgets why a disk takes no more
    return Written(str(path), path.stat().st_size, array.dtype.name, array.size)


def written(path: Path) -> Written:
    """Return what there is to say of a file that is not an array."""
    return Written(str(path), path.stat().st_size)


def written_array(path: Path) -> Written:
    """Return what there is to say of an array, or a table, that was written piece by piece."""
    if path.suffix != ".npy":
        return written(path)
    array = np.load(path, mmap_mode="r")
    return Written(str(path), path.stat().st_size, array.dtype.name, array.size)


def as_json(files: list[Written]) -> list[dict[str, Any]]:
    """Return the files as ``wrote`` of a JSON object has them."""
    return [asdict(file) for file in files]
