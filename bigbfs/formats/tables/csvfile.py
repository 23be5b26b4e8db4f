"""CSV and TSV whose ids are names: quotes, separators and line ends inside quotes, by way of pyarrow.

The first record is a header where its names are known ones for columns, or where nothing in it occurs again: where a
name of its two columns is an id further down, it is an edge. ``header`` says so whatever it looks like. Lines before it
that begin with ``#`` are passed over. The separator is the one of tab, comma, semicolon and bar that the first line has
first. Integers in CSV are read by the tokenizer of edge lists, which is faster.
"""

from __future__ import annotations

import csv
import io
import re
import shlex
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from bigbfs.errors import BigBfsError, InputError
from bigbfs.formats.streams.sources import Source
from bigbfs.formats.tables.columns import Columns, by_their_names, choose, left_out
from bigbfs.formats.tables.files import Batch, TableFile
from bigbfs.formats.tables.integers import LARGEST_ID
from bigbfs.formats.tables.library import library, pyarrow, reading
from bigbfs.sizes import counted, quoted

BLOCK_BYTES = 8 << 20
"""Bytes of text that are cut into records at once: also the most that one record may take."""
HEAD_BYTES = 1 << 16
_SEPARATORS = "\t,;|"
_NO_UTF8 = "\ufffd"
_SIGN = _NO_UTF8.encode()
_COUNTED = 1 << 22
"""Records that are read again to tell the line of a bad one: seconds."""
_MOST_DIGITS = 4000
"""Python makes no integers of more."""


_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_NUMBER = re.compile(r"\s*[-+]?[\d.]+([eE][-+]?\d+)?\s*")


def refuse_utf16(source: Source, head: bytes) -> None:
    """Refuse text whose first bytes say that it is UTF-16.

    Raises
    ------
    InputError
        It is.
    """
    if head.startswith(_UTF16):
        raise InputError(f"{source.name}: is UTF-16 text; convert it first: {recoding(source, 'UTF-16')}")


def recoding(source: Source, encoding: str) -> str:
    """Return the command that makes UTF-8 of text; where the source is no plain file, without its name."""
    command = f"iconv -f {encoding} -t UTF-8"
    if source.path is None or source.size is None or source.compression:
        return command
    made = source.path.with_name(f"{source.path.stem}-utf8{source.path.suffix}")
    return f"{command} {shlex.quote(str(source.path))} > {shlex.quote(str(made))}"


def is_number(text: str) -> bool:
    """Return whether a field looks like a number."""
    return _NUMBER.fullmatch(text) is not None


def has_separators(name: str) -> bool:
    """Return whether a file says by its name that it is CSV or TSV, whose names may hold blanks."""
    return any(suffix.lower() in (".csv", ".tsv") for suffix in Path(name).suffixes[-2:])


def is_name(text: str) -> bool:
    """Return whether a field is a name without anybody saying so: no number, or an integer that is too large an id."""
    if text.strip().isdigit() and text.isascii():
        return len(text.strip()) > _MOST_DIGITS or int(text) > LARGEST_ID
    return not is_number(text)


def _is_even(lines: list[str], separator: str) -> bool:
    """Return whether the first two records have as many fields, two or more."""
    try:
        records = [len(each) for each in islice(csv.reader(iter(lines), delimiter=separator), 2)]
    except csv.Error:
        return False
    return min(records, default=0) > 1 and len(set(records)) == 1


class Head:
    """The beginning of a CSV file.

    Attributes
    ----------
    skipped, separator
        Lines to pass over, and what separates fields: the first in the first record that gives the second as many, as a
        name may hold the others.
    names, values
        The first record and the second.
    """

    def __init__(self, head: bytes, blanks: bool = False) -> None:
        """Look at the beginning; ``blanks`` separate fields too, where nothing else does."""
        text = head.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
        lines = text.splitlines(keepends=True)
        self.skipped = 0
        while self.skipped < len(lines) and (not lines[self.skipped].strip() or lines[self.skipped].startswith("#")):
            self.skipped += 1
        first = lines[self.skipped] if self.skipped < len(lines) else ""
        found = [each for _, each in sorted((first.index(each), each) for each in _SEPARATORS if each in first)]
        found = found or [" " if blanks and " " in first.strip() else ","]
        self.separator = next((each for each in found if _is_even(lines[self.skipped :], each)), found[0])
        records = csv.reader(io.StringIO("".join(lines[self.skipped :]), newline=""), delimiter=self.separator)
        self.names: list[str] = []
        self.values: list[str] = []
        self._rest: list[list[str]] = []
        try:
            self.names, self.values = next(records, []), next(records, [])
            self._rest = list(records)
            if len(head) >= HEAD_BYTES:  # the last one may be cut
                del self._rest[-1:]
        except csv.Error:
            return

    def edge_in_front(self, wanted: Columns | None) -> str | None:
        """Return a name that shows that the first record is an edge; None: nothing does.

        It is a number, or an id again further down.
        """
        if len(self.names) < 2 or by_their_names(self.names):
            return None
        try:
            places = choose("", self.names, wanted)[:2]
        except InputError:
            return None
        numbers = [self.names[at - 1] for at in places if is_number(self.names[at - 1])]
        if numbers:
            return numbers[0]
        ids = {record[at - 1] for record in (self.values, *self._rest) for at in places if at <= len(record)}
        return next((self.names[at - 1] for at in places if self.names[at - 1] in ids), None)


_END = "\x1a"


def _end(head: Head) -> str:
    """Return a record that is put behind the last: of one field, or of too many where a quote before it is open.

    pyarrow takes the end of the text for that of a quote, so a file that is cut short would pass.
    """
    return f'"{_END}{head.separator * len(head.names)}"'


class _Stream(io.RawIOBase):
    """A source as pyarrow reads it, and what is put behind it."""

    def __init__(self, source: Source, end: str) -> None:
        self._source, self._end = source, io.BytesIO(f"\n{end}\n".encode())

    def readable(self) -> bool:
        return True

    def readinto(self, target: Any) -> int:
        return self._source.readinto(memoryview(target)) or self._end.readinto(target)


class CsvTable(TableFile):
    """A CSV or TSV file with a header line, read from any source."""

    kind, part_name = "CSV file", "block"

    def __init__(self, source: Source, wanted: Columns | None, header: bool | None = None) -> None:
        arrow = pyarrow(f"{source.name}: reading names from CSV")
        refuse_utf16(source, source.peek(HEAD_BYTES))
        self.recode = (f"if it is Latin-1, convert it first: {recoding(source, 'LATIN1')}",)
        head = Head(source.peek(HEAD_BYTES), blanks=not has_separators(source.name))
        by_name = wanted is not None and any(isinstance(each, str) for each in wanted)
        again = None if by_name or header is not None else head.edge_in_front(wanted)
        self._headed = header is True or by_name or (header is None and again is None)
        names = head.names if self._headed else [f"column {place}" for place, _ in enumerate(head.names, 1)]
        schema = arrow.schema([(name, arrow.string()) for name in names])
        super().__init__(source.name, schema, wanted)
        self.note = self._told(head, again, by_name or header is not None)
        if self._headed and any(_NO_UTF8 in each for each in self.headers) and _SIGN not in source.peek(HEAD_BYTES):
            shown = ", ".join(map(quoted, self.headers))
            raise InputError(f"{source.name}: a column's name is no UTF-8 ({shown})", remedies=self.recode)
        if self.headers.count(self.headers[0]) > 1 or any(names.count(each) > 1 for each in self.headers):
            raise InputError(f"{source.name}: two columns have one name ({', '.join(map(repr, self.headers))})")
        self.only = f", only a header, line {head.skipped + 1}" if self._headed else ""
        self._source, self._head, self._arrow, self._names = source, head, arrow, names

    def _told(self, head: Head, again: str | None, sure: bool) -> str | None:
        """Return what to tell of the first record, and of the columns that were guessed."""
        first, second = (head.names[at - 1] for at in self.places)
        if again is not None:
            why = "is a number" if is_number(again) else "occurs again further down"
            told = f"{self.name}: no header: its first record is an edge, since {quoted(again)} {why}"
            if self.note is None or not (more := left_out(len(head.names), self.places)):
                return told
            return f"{told}; the ids are read from the columns {self.places[0]} and {self.places[1]}{more}"
        if not self._headed and len(head.names) == 2:
            return None
        if sure or self.note is None or by_their_names(head.names):
            return self.note
        header = f"{quoted(first)} and {quoted(second)} are taken for a header, not for an edge"
        return f"{self.note}; {header}: header=False makes them one"

    def batches(self, threads: int = 1) -> Iterator[Batch]:
        """Return all edges in order, as text."""
        odd: list[Any] = []
        end = _end(self._head)

        def refuse(record: Any) -> str:
            if record.text == end:
                return "skip"
            odd.append(record)
            return "error"

        try:
            yield from self._batches(threads, refuse)
        except InputError as error:
            raise (self._uneven(odd[0]) if odd else error) from None

    def _uneven(self, record: Any) -> InputError:
        """Return the error for a record that has not as many fields as the first one."""
        text, cut, _ = record.text.partition(f'\n"{_END}')
        if cut:
            raise InputError(
                f"{self.name}: a quote in the last record is not closed: {quoted(text.rstrip())}",
                remedies=("correct it", "fetch the file again where it has been cut short"),
            )
        number = "a record" if record.number is None else f"record {record.number}"
        fields = counted(record.actual_columns, "field")
        return InputError(
            f"{self.name}: {number} has {fields}, and {record.expected_columns} are expected: {quoted(record.text)}",
            remedies=("correct it: a field in which there is a separator or an end of line (a carriage return alone is "
                      "one) needs quotes around it",),
        )  # fmt: skip

    def _batches(self, threads: int, refuse: Callable[[Any], str]) -> Iterator[Batch]:
        text = library("pyarrow.csv", self.name)
        binary = self._arrow.binary()
        with reading(self.name, self.kind):
            found = text.open_csv(
                self._arrow.PythonFile(io.BufferedReader(_Stream(self._source, _end(self._head)), 1 << 20), mode="r"),
                read_options=text.ReadOptions(
                    use_threads=threads > 1,
                    block_size=BLOCK_BYTES,
                    skip_rows=self._head.skipped,
                    column_names=None if self._headed else self._names,
                ),
                parse_options=text.ParseOptions(
                    delimiter=self._head.separator, newlines_in_values=True, invalid_row_handler=refuse
                ),
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
        """Return where entry ``index`` of a batch stands: its line, or its record, where that takes long to find out.

        Records are what was counted: quotes may hold line ends.
        """
        record = batch.row + index
        line = self._line(record, [batch.first[index].as_py(), batch.second[index].as_py()])
        if line is not None:
            return f"{self.name}: line {line}"
        return f"{self.name}: record {record + 1}" + (" after the header" if self._headed else "")

    def _line(self, record: int, values: list[bytes]) -> int | None:
        """Return the line in which a record with these ids begins, from 1 on; None: nobody knows."""
        source, skipped = self._source, self._head.skipped
        if source.path is None or source.size is None or record >= _COUNTED:
            return None
        try:
            with Source(source.path) as again:
                lines = io.TextIOWrapper(io.BufferedReader(_Stream(again, "")), "latin-1", newline="")
                records = csv.reader(islice(lines, skipped, None), delimiter=self._head.separator)
                before, left = skipped, record + self._headed
                for row in records:
                    if row and left == 0:
                        found = [row[at - 1].encode("latin-1") for at in self.places if at <= len(row)]
                        return before + 1 if found == values else None
                    left -= bool(row)
                    before = skipped + records.line_num
        except (csv.Error, BigBfsError):
            pass
        return None
