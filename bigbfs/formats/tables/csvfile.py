"""CSV and TSV whose ids are names: quotes, separators and line ends inside quotes, by way of pyarrow.

Lines before the header that begin with ``#`` are passed over. The separator is the one of tab, comma, semicolon and bar
that the header line has first. Integers in CSV are read by the tokenizer of edge lists, which is faster.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import Any

from bigbfs.errors import InputError
from bigbfs.formats.streams.sources import Source
from bigbfs.formats.tables.columns import Columns
from bigbfs.formats.tables.files import Batch, TableFile
from bigbfs.formats.tables.library import library, pyarrow, reading

BLOCK_BYTES = 8 << 20
"""Bytes of text that are cut into records at once: also the most that one record may take."""
HEAD_BYTES = 1 << 16
_SEPARATORS = "\t,;|"


class Head:
    """The beginning of a CSV file: how many lines to pass over, its separator, and its first two records."""

    def __init__(self, head: bytes) -> None:
        text = head.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
        lines = text.splitlines(keepends=True)
        self.skipped = 0
        while self.skipped < len(lines) and (not lines[self.skipped].strip() or lines[self.skipped].startswith("#")):
            self.skipped += 1
        first = lines[self.skipped] if self.skipped < len(lines) else ""
        found = sorted((first.index(each), each) for each in _SEPARATORS if each in first)
        self.separator = found[0][1] if found else ","
        records = csv.reader(io.StringIO("".join(lines[self.skipped :]), newline=""), delimiter=self.separator)
        self.names: list[str] = []
        self.values: list[str] = []
        try:
            self.names, self.values = next(records, []), next(records, [])
        except csv.Error:
            return


class _Stream(io.RawIOBase):
    """A source as pyarrow reads it."""

    def __init__(self, source: Source) -> None:
        self._source = source

    def readable(self) -> bool:
        return True

    def readinto(self, target: Any) -> int:
        return self._source.readinto(memoryview(target))


class CsvTable(TableFile):
    """A CSV or TSV file with a header line, read from any source."""

    kind, part_name = "CSV file", "block"

    def __init__(self, source: Source, wanted: Columns | None) -> None:
        arrow = pyarrow(f"{source.name}: reading names from CSV")
        head = Head(source.peek(HEAD_BYTES))
        schema = arrow.schema([(name, arrow.string()) for name in head.names])
        super().__init__(source.name, schema, wanted)
        if self.headers.count(self.headers[0]) > 1 or any(head.names.count(each) > 1 for each in self.headers):
            raise InputError(f"{source.name}: two columns have one name ({', '.join(map(repr, self.headers))})")
        self._source, self._head, self._arrow = source, head, arrow

    def batches(self, threads: int = 1) -> Iterator[Batch]:
        """Return all edges in order, as text."""
        text = library("pyarrow.csv", self.name)
        binary = self._arrow.binary()
        with reading(self.name, self.kind):
            found = text.open_csv(
                self._arrow.PythonFile(io.BufferedReader(_Stream(self._source), 1 << 20), mode="r"),
                read_options=text.ReadOptions(
                    use_threads=threads > 1, block_size=BLOCK_BYTES, skip_rows=self._head.skipped
                ),
                parse_options=text.ParseOptions(delimiter=self._head.separator, newlines_in_values=True),
                convert_options=text.ConvertOptions(
                    check_utf8=False,
                    column_types=dict.fromkeys(self.headers, binary),
                    include_columns=list(self.headers),
                    strings_can_be_null=False,
                ),
            )
            row = 0
            for part in found:
                yield Batch(part.column(0), part.column(1), 0, row)
                row += part.num_rows

    def place(self, batch: Batch, index: int) -> str:
        """Return where entry ``index`` of a batch stands: records are counted, as quotes may hold line ends."""
        return f"{self.name}: record {batch.row + index + 1} after the header"
