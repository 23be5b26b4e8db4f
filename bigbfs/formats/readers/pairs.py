"""Reads the formats that hold one edge on each line (text, Matrix Market, DIMACS) with the parallel tokenizer."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from bigbfs.errors import InputError, RemedyLike
from bigbfs.formats.readers import numbers, tokenizer
from bigbfs.formats.readers.bad_lines import (
    are_names,
    bad_line,
    columns_of,
    holds_ids_behind,
    lacks_a_name,
    line_error,
    may_be_names,
    no_column,
    reason,
)
from bigbfs.formats.readers.blocks import Block, BlockReader
from bigbfs.formats.tables.columns import choose
from bigbfs.jit.workers import Workers

CHUNK_BYTES = 256 << 10
LARGEST_ID = 2**63 - 1
BLANKS = b" \t\r\n"
SEPARATORS = re.compile(rb"[ \t]*[,;|][ \t]*|[ \t]+")
"""What stands between two columns."""


@dataclass(frozen=True)
class PairRules:
    """What a line looks like.

    Attributes
    ----------
    expected
        A data line in words, for messages.
    prefix
        Letter that every data line starts with, or "".
    comments
        The one or two characters that start a comment line.
    value
        Whether a third column must be there.
    low, high
        Smallest and largest id allowed.
    plain
        A plain edge list: ids may be quoted or written ``1.0``. Without ``columns`` its lines of ids alone must agree
        in their number of columns.
    columns
        Where the ids stand, from 1 on; None: the first two columns.
    delimiter
        What stands between two columns, of which some may be empty or hold blanks; "": blanks, or one of ",;|".
    sides
        Vertices on the two sides of a bipartite graph, each numbered from 1; the second side comes after the first.
    names
        What a header line calls the columns; (): there is none.
    """

    expected: str
    prefix: str = ""
    comments: str = "#%"
    value: bool = False
    low: int = 0
    high: int = LARGEST_ID
    plain: bool = False
    columns: tuple[int, int] | None = None
    delimiter: str = ""
    sides: tuple[int, int] | None = None
    names: tuple[str, ...] = ()

    def as_array(self) -> np.ndarray:
        """Return the rules as :func:`tokenizer.read_pairs` wants them."""
        prefix = ord(self.prefix) if self.prefix else 0
        comments = ord(self.comments[0]), ord(self.comments[-1])
        plain = tokenizer.AGREEING if self.plain and self.columns is None else int(self.plain)
        columns = (0, 0) if self.columns in (None, (1, 2)) else self.columns
        between = ord(self.delimiter) if self.delimiter else 0
        return np.array([prefix, *comments, self.value, self.low, self.high, plain, *columns, between], np.int64)


class PairReader:
    """Appends the edges of a file to ``edges``.

    Attributes
    ----------
    edges
        What was read so far.
    comment_lines, skipped_lines
        Comments and blank lines; bad lines let pass.
    columns
        Columns of the lines of ids alone so far; 0: there was none.
    """

    def __init__(self, reader: BlockReader, rules: PairRules, skip_bad_lines: int, chunk_bytes: int | None = None):
        self.reader, self.rules, self._allowed = reader, rules, skip_bad_lines
        self._chunk_bytes = chunk_bytes or CHUNK_BYTES
        self._rules = rules.as_array()
        self.edges = reader.edges
        self.comment_lines = 0
        self.skipped_lines = 0
        self.columns = 0
        if rules.sides is not None and sum(rules.sides) >= 2**32:
            self.edges.widen()

    def read_all(self) -> None:
        """Read to the end of the file.

        Raises
        ------
        InputError
            A line is bad and no more may be skipped; the source is cut short or damaged.
        DoesNotFitError
            The edges take more memory than they may.
        """
        with Workers(self.reader.threads) as workers:
            while (block := self.reader.current()) is not None:
                self._read_block(block, workers)

    def _read_block(self, block: Block, workers: Workers) -> None:
        cuts = np.empty(2 + (block.stop - block.start) // self._chunk_bytes, np.int64)
        chunks = tokenizer.cut_lines(block.buffer, block.start, block.stop, self._chunk_bytes, cuts)
        cuts = cuts[: chunks + 1]
        lines = np.empty(chunks, np.int64)
        workers.each(chunks, lambda chunk: tokenizer.count_lines(block.buffer, cuts, chunk, lines))
        firsts = np.cumsum(lines) - lines
        table = self._tokenize(block, cuts, firsts, int(lines.sum()), workers)
        self._stop_at_bad_line(block, cuts, table)
        sources, targets = self.edges.space(int(lines.sum()))
        found = close_gaps(sources, targets, firsts, table[:, tokenizer.EDGES])
        if self.rules.sides is not None:
            self._put_behind(sources[:found], targets[:found], self.rules.sides)
        self.edges.keep(found)
        self.comment_lines += int(table[:, tokenizer.COMMENTS].sum())
        self.skipped_lines += int(table[:, tokenizer.SKIPPED].sum())
        self.reader.used(block, int(lines.sum()))

    def _tokenize(self, block: Block, cuts: np.ndarray, firsts: np.ndarray, lines: int, workers: Workers) -> np.ndarray:
        """Run the kernel, once more with wider ids where one needs that; return its table."""
        table = np.zeros((len(firsts), tokenizer.TABLE_COLUMNS), np.int64)
        for _ in range(2):
            self._fill(block, cuts, firsts, lines, table, workers)
            if not (table[:, tokenizer.STATUS] == numbers.WIDE).any():
                break
            self.edges.widen()
        return table

    def _fill(
        self, block: Block, cuts: np.ndarray, firsts: np.ndarray, lines: int, table: np.ndarray, workers: Workers
    ) -> None:
        sources, targets = self.edges.space(lines)
        allowed = self._allowed - self.skipped_lines
        workers.each(
            len(firsts),
            lambda chunk: tokenizer.read_pairs(
                block.buffer, cuts, chunk, self._rules, allowed, sources, targets, firsts, table
            ),
        )

    def _stop_at_bad_line(self, block: Block, cuts: np.ndarray, table: np.ndarray) -> None:
        """Raise the error of the first bad line, in the order of the file, that is one too many."""
        allowed = self._allowed - self.skipped_lines
        status = table[:, tokenizer.STATUS]
        skipped = np.cumsum(table[:, tokenizer.SKIPPED])
        beyond = np.flatnonzero((status != numbers.GOOD) & (status != numbers.CHANGED) | (skipped > allowed))
        self._stop_at_other_columns(block, table, int(beyond[0]) if len(beyond) else len(table))
        if not len(beyond):
            return
        chunk = int(beyond[0])
        left = allowed - int(skipped[chunk] - table[chunk, tokenizer.SKIPPED])
        row = np.zeros((1, tokenizer.TABLE_COLUMNS), np.int64)
        sources, targets = self.edges.space(int(cuts[chunk + 1] - cuts[chunk]))
        first = np.zeros(1, np.int64)
        tokenizer.read_pairs(block.buffer, cuts[chunk : chunk + 2], 0, self._rules, left, sources, targets, first, row)
        self._stop_at_other_columns(block, row, 1)
        position = int(row[0, tokenizer.STOPPED_AT])
        rules = self.rules
        stopped = int(row[0, tokenizer.STATUS])
        why = reason(stopped, rules.low, rules.high, rules.expected)
        line = block.line(position)
        if stopped == numbers.NUL_BYTE or b"\0" in line:
            why += f" (NUL at byte {block.bytes_before + position + line.find(0)})"
        number = block.line_number(position)
        if rules.columns is not None and not self.edges.size and position == block.start:
            self._require_columns(number, line, rules.columns)
        front, last = self._as_names(line, stopped)
        raise bad_line(self.reader.name, number, line, why, self._allowed, front, last)

    def _require_columns(self, number: int, line: bytes, columns: tuple[int, int]) -> None:
        """Refuse columns that neither the first line of edges has nor a header: no other line is any better."""
        words, names = columns_of(line, self.rules.delimiter), self.rules.names
        if max(columns) <= max(len(words), len(names)):
            return
        if names:
            choose(self.reader.name, names, columns)
        raise no_column(self.reader.name, number, line, len(words), max(columns))

    def _as_names(self, line: bytes, status: int) -> tuple[tuple[RemedyLike, ...], tuple[RemedyLike, ...]]:
        """Return what may help against a bad line of an edge list, to be offered first, and last."""
        rules = self.rules
        named: tuple[RemedyLike, ...] = (("names", True, "read every id as a name with {}"),)
        if not rules.plain or lacks_a_name(line, rules.delimiter, rules.columns):
            named = ()
        front = named if are_names(line) else ()
        if rules.plain and rules.columns is None and holds_ids_behind(line):
            front = (("columns", (2, 3), "read the ids from the columns behind it with {}"), *front)
        return front, named if not front and may_be_names(line, status) else ()

    def _stop_at_other_columns(self, block: Block, table: np.ndarray, end: int) -> None:
        """Raise the error of the first line of ids, before chunk ``end``, in other columns than those before it."""
        for chunk in range(end):
            columns, at = table[chunk, [tokenizer.COLUMNS, tokenizer.COLUMNS_AT]].tolist()
            if columns and self.columns and columns != self.columns:
                raise self._other_columns(block, at)
            self.columns = columns or self.columns
            if table[chunk, tokenizer.STATUS] == numbers.CHANGED:
                raise self._other_columns(block, int(table[chunk, tokenizer.STOPPED_AT]))

    def _other_columns(self, block: Block, at: int) -> InputError:
        line = block.line(at)
        here = len([word for word in SEPARATORS.split(line.strip(BLANKS)) if word])
        return line_error(
            self.reader.name,
            block.line_number(at),
            line,
            f"{here} ids where the lines before have {self.columns}, as in an adjacency list",
            (
                ("format", "adjlist", "read it with {} (or metis)"),
                ("columns", (1, 2), "insist on an edge list with {}"),
            ),
        )

    def _put_behind(self, sources: np.ndarray, targets: np.ndarray, sides: tuple[int, int]) -> None:
        """Number the second side after the first."""
        for side, count, name in ((sources, sides[0], "first"), (targets, sides[1], "second")):
            if len(side) and not 1 <= int(side.min()) <= int(side.max()) <= count:
                wrong = int(side.max()) if int(side.min()) else 0
                raise InputError(
                    f"{self.reader.name}: vertex {wrong} of the {name} side is outside 1 to {count}, which the header "
                    "declares; correct the header, or fetch the file again"
                )
        targets += targets.dtype.type(sides[0])


def close_gaps(sources: np.ndarray, targets: np.ndarray, firsts: np.ndarray, counts: np.ndarray) -> int:
    """Move the edges of every chunk down behind those of the chunk before; return how many edges there are.

    Chunk ``i`` wrote ``counts[i]`` edges from index ``firsts[i]`` on; comments and blank lines left gaps.
    """
    end = 0
    for first, count in zip(firsts.tolist(), counts.tolist(), strict=True):
        if first != end:
            for side in (sources, targets):
                side[end : end + count] = side[first : first + count]
        end += count
    return end
