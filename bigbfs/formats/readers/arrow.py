"""Arrow IPC, files (Feather version 2) and streams: two columns of integers or names; needs the extra ``tables``."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterator
from contextlib import contextmanager

from bigbfs.formats.readers.format import Format, Rules
from bigbfs.formats.readers.table_edges import estimate_table, has_names, read_table, sample_table
from bigbfs.formats.streams.sources import Source
from bigbfs.formats.tables.files import ArrowTable, TableFile

_EXAMPLE = (
    b"eNrNUjEOwjAMvLShVChDkBBi7MAHkPgAGxsSCwsLQhUjqMC/GBn7BEZ+Uy6uKyASOyc5jhOfz067WK9XmxnQEDcAHgEDOGToIeeOMJYxGOVcra"
    b"5AQlvq/kE+E5PAn+hZQEa77KpDeQFqyYEpRGfEOhn6UtmrbssvIv75eK32ZdB3tL7od3VC33f6keY7jLVzJ5WRWumnQIcBYydThNm2OnOKNyx+w6"
    b"n30bmP7qHvk0Z5cWw07zQ0Xxyj9037ZlLfccpMJvOqYzHnOtWeA6dWXueLD61//H5P2kL+wRcoGDMy"
)
"""Three edges, made by pyarrow: not legible in any case, so packed."""


@contextmanager
def _opened(source: Source, rules: Rules) -> Iterator[TableFile]:
    with source.seekable() as (file, path):
        yield ArrowTable(source.name, file, path, rules.columns)


FORMAT = Format(
    "arrow",
    "Arrow IPC file (Feather) or stream: two columns of integers or names (extra `tables`)",
    lambda reading: read_table(reading, _opened),
    lambda source, rules: estimate_table(source, rules, _opened),
    zlib.decompress(base64.b64decode(_EXAMPLE)),
    suffixes=(".arrow", ".feather", ".arrows", ".ipc"),
    aliases=("feather", "ipc"),
    recognize=lambda head: head.startswith((b"ARROW1\0\0", b"\xff\xff\xff\xff")),
    streams=True,
    sample=lambda source: sample_table(source, _opened),
    takes=("columns", "column_names", "names", "no_names"),
    named=lambda source, rules: has_names(source, rules, _opened),
    table=_opened,
)
