"""Folders among the inputs: a folder stands for the tables in it, in the order of their names.

Programs that write tables in parts leave marks beside them; names that begin with ``_`` or ``.`` are theirs.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bigbfs.errors import FileAccessError, InputError
from bigbfs.formats.container.parts import refuse_shards
from bigbfs.formats.readers.detect import format_of_suffix
from bigbfs.formats.streams.sources import STANDARD_INPUT, read_error

TABLES = ("parquet", "arrow", "text")
"""Formats of which a folder may hold many files: tables, and text where the suffix says .csv or .tsv."""

_TEXTS = (".csv", ".tsv")


def expand(inputs: Sequence[str | Path]) -> list[str | Path]:
    """Return the inputs with every folder replaced by its tables, those in folders within it included.

    Raises
    ------
    InputError
        A folder holds tables of several formats, or beside them a file that is none.
    FileAccessError
        A folder cannot be read, or holds no table.
    UsageError
        One is a shard of a graph, or a folder of them.
    """
    found: list[str | Path] = []
    for each in inputs:
        path = Path(each)
        refuse_shards(path)
        found += _tables(path) if str(each) != STANDARD_INPUT and str(each) and path.is_dir() else [each]
    return found


def _tables(folder: Path) -> list[Path]:
    try:
        paths = sorted(path for path in folder.rglob("*") if not _marked(path.relative_to(folder)))
        files = [path for path in paths if not path.is_dir()]
    except OSError as error:
        if isinstance(error, FileAccessError):
            raise
        raise read_error(folder, error) from error
    kinds = {path: _table_format(path) for path in files}
    if not any(kinds.values()):
        raise FileAccessError(f"{folder}: is a folder without a table (.parquet, .arrow, .csv); name the files in it")
    for path, kind in kinds.items():
        if kind is None:
            what = f"{folder}: is a folder, and {path.relative_to(folder)} in it is no table (.parquet, .arrow, .csv)"
            raise InputError(what, remedies=("name the files that are meant",))
    several = sorted({str(kind) for kind in kinds.values()})
    if len(several) > 1:
        raise InputError(f"{folder}: is a folder of {' and '.join(several)} files; name those that are meant")
    return files


def _marked(path: Path) -> bool:
    return any(part.startswith(("_", ".")) for part in path.parts)


def _table_format(path: Path) -> str | None:
    kind = format_of_suffix(path.name)
    if kind == "text":
        return kind if any(suffix in _TEXTS for suffix in (each.lower() for each in path.suffixes[-2:])) else None
    return kind if kind in TABLES else None
