"""Parquet: two columns of integers or names, by row groups; needs pyarrow (the extra ``tables``)."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterator
from contextlib import contextmanager

from bigbfs.formats.readers.format import Format, Rules
from bigbfs.formats.readers.table_edges import estimate_table, has_names, read_table, sample_table
from bigbfs.formats.streams.sources import Source
from bigbfs.formats.tables.files import ParquetTable, TableFile

_EXAMPLE = (
    b"eNoLcAwyFGUQVQHCqa+WPWKUEWUDctlE2WQYGBiYgJiNkRHKKhBkZIAq3X7n4TIeLEpBJDMQg7SIskjamDJIsBUnZ6TmJoqyMIgyqTIBufmlRc"
    b"mpUE5JYlF6agmDGJukjKSOGoOMKJOkKhuDJEyVKFBGLEwsTI3DU0YUZDcTg40mm6QaAxvQfGTlEHPgyuOwKBdbwyjGpsYBpBg0FAoSiwpLU0t0"
    b"kwsKdBOLivLLFcpSi4oz8/MUjMz0DPQMJXWAfgJ56ygQBwCDCADc3y/Y"
)
"""Three edges, made by pyarrow: not legible in any case, so packed."""


@contextmanager
def _opened(source: Source, rules: Rules) -> Iterator[TableFile]:
    with source.seekable() as (_, path):
        yield ParquetTable(source.name, path, rules.columns)


FORMAT = Format(
    "parquet",
    "Parquet: two columns of integers or names (extra `tables`)",
    lambda reading: read_table(reading, _opened),
    lambda source, rules: estimate_table(source, rules, _opened),
    zlib.decompress(base64.b64decode(_EXAMPLE)),
    suffixes=(".parquet", ".pq"),
    recognize=lambda head: head.startswith(b"PAR1"),
    streams=True,
    sample=lambda source: sample_table(source, _opened),
    takes=("columns", "column_names", "names", "no_names"),
    named=lambda source, rules: has_names(source, rules, _opened),
    table=_opened,
)
