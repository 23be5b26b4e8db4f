"""Reads the formats that hold one edge on each line (text, Matrix Market, DIMACS) with the parallel tokenizer."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bigbfs.errors import RemedyLike
from bigbfs.formats.readers import tokenizer
from bigbfs.formats.readers.bad_lines import bad_line, reason
from bigbfs.formats.readers.blocks import Block, BlockReader
from bigbfs.jit.workers import Workers

CHUNK_BYTES = 256 << 10
LARGEST_ID = 2**63 - 1


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
    """

    expected: str
    prefix: str = ""
    comments: str = "#%"
    value: bool = False
    low: int = 0
    high: int = LARGEST_ID

    def as_array(self) -> np.ndarray:
        """Return the rules as :func:`tokenizer.read_pairs` wants them."""
        prefix = ord(self.prefix) if self.prefix else 0
        comments = ord(self.comments[0]), ord(self.comments[-1])
        return np.array([prefix, *comments, self.value, self.low, self.high], np.int64)


class PairReader:
    """Appends the edges of a file to ``edges``.

    Attributes
    ----------
    edges
        What was read so far.
    comment_lines, skipped_lines
        Comments and blank lines; bad lines let pass.
    """

    def __init__(self, reader: BlockReader, rules: PairRules, skip_bad_lines: int, chunk_bytes: int | None = None):
        self.reader, self.rules, self._allowed = reader, rules, skip_bad_lines
        self._chunk_bytes = chunk_bytes or CHUNK_BYTES
        self._rules = rules.as_array()
        self.edges = reader.edges
        self.comment_lines = 0
        self.skipped_lines = 0

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
        self.edges.keep(found)
        self.comment_lines += int(table[:, tokenizer.COMMENTS].sum())
        self.skipped_lines += int(table[:, tokenizer.SKIPPED].sum())
        self.reader.used(block, int(lines.sum()))

    def _tokenize(self, block: Block, cuts: np.ndarray, firsts: np.ndarray, lines: int, workers: Workers) -> np.ndarray:
        """Run the kernel, once more with wider ids where one needs that; return its table."""
        table = np.zeros((len(firsts), tokenizer.TABLE_COLUMNS), np.int64)
        for _ in range(2):
            self._fill(block, cuts, firsts, lines, table, workers)
            if not (table[:, tokenizer.STATUS] == tokenizer.WIDE).any():
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
        stopped = table[:, tokenizer.STATUS] != tokenizer.GOOD
        skipped = np.cumsum(table[:, tokenizer.SKIPPED])
        beyond = np.flatnonzero(stopped | (skipped > allowed))
        if not len(beyond):
            return
        chunk = int(beyond[0])
        left = allowed - int(skipped[chunk] - table[chunk, tokenizer.SKIPPED])
        row = np.zeros((1, tokenizer.TABLE_COLUMNS), np.int64)
        sources, targets = self.edges.space(int(cuts[chunk + 1] - cuts[chunk]))
        first = np.zeros(1, np.int64)
        tokenizer.read_pairs(block.buffer, cuts[chunk : chunk + 2], 0, self._rules, left, sources, targets, first, row)
        position = int(row[0, tokenizer.STOPPED_AT])
        rules = self.rules
        why = reason(int(row[0, tokenizer.STATUS]), rules.low, rules.high, rules.expected)
        line = block.line(position)
        if row[0, tokenizer.STATUS] == tokenizer.NUL_BYTE or b"\0" in line:
            why += f" (NUL at byte {block.bytes_before + position + line.find(0)})"
        nothing_yet = self.edges.size == 0 and not table[:chunk, tokenizer.EDGES].any() and row[0, tokenizer.EDGES] == 0
        hints = _header_hint(line) if nothing_yet else ()
        raise bad_line(self.reader.name, block.line_number(position), line, why, self._allowed, hints)


def _header_hint(line: bytes) -> tuple[RemedyLike, ...]:
    """Return a way out where the line looks like the header of a CSV file."""
    letters = line.strip().replace(b'"', b"")
    words = [word for word in letters.replace(b";", b",").replace(b"\t", b",").replace(b" ", b",").split(b",") if word]
    if len(words) >= 2 and all(word[:1].isalpha() for word in words[:2]):
        return (("skip_bad_lines", 1, "{} passes over it, if it is a header line"),)
    return ()


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
