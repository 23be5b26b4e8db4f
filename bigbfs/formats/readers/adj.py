"""Ligra's adjacency graphs (.adj): ``AdjacencyGraph``, n, m, n offsets, m neighbours, each a word of its own.

Row ``v`` is the neighbours ``offsets[v]`` to ``offsets[v + 1] - 1``; vertices are numbered from 0. In a
``WeightedAdjacencyGraph`` m weights follow, which are counted and dropped. The file does not say whether it lists every
edge in both directions. Words may stand on lines as they like. The offsets wait in a temporary file (in memory while
they are few) until their edges come, so that memory does not grow with the graph. Source: the README of Ligra.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import NamedTuple, TypeVar

import numpy as np

from bigbfs.errors import InputError
from bigbfs.formats.atomic import access_error
from bigbfs.formats.readers import numbers, tokenizer
from bigbfs.formats.readers.bad_lines import line_error, reason
from bigbfs.formats.readers.blocks import Block, BlockReader
from bigbfs.formats.readers.format import NO_RULES, Rules, of_lines, text_pieces
from bigbfs.formats.readers.headers import counts, empty_file
from bigbfs.formats.readers.numbers import _any_number, _number
from bigbfs.formats.readers.pairs import CHUNK_BYTES
from bigbfs.formats.streams.sources import Source
from bigbfs.graph.edges import EdgeList
from bigbfs.jit.later import int64, uint64
from bigbfs.jit.njit import njit
from bigbfs.jit.workers import Workers

T = TypeVar("T")

PLAIN, WEIGHTED = b"AdjacencyGraph", b"WeightedAdjacencyGraph"
_WANTED = "expected AdjacencyGraph or WeightedAdjacencyGraph, then the number of vertices, then that of edges"
_WORD = re.compile(rb"[^ \t\r\n]+")
_HELD = 64 << 20
_ROWS = 1 << 17


@njit
def _is_blank(byte):
    return byte == 10 or byte == 32 or byte == 13 or byte == 9


@njit(nogil=True, cache=True)
def count_words(buffer, cuts, chunk, words):
    """Count the words of one chunk, ``buffer[cuts[chunk]:cuts[chunk + 1]]``, into ``words[chunk]``."""
    count, blank = 0, True
    for position in range(cuts[chunk], cuts[chunk + 1]):
        before, blank = blank, _is_blank(buffer[position])
        count += before and not blank
    words[chunk] = count


@njit(nogil=True, cache=True)
def read_words(buffer, cuts, chunk, firsts, low, high, largest, values, found):
    """Read the words ``low`` to ``high - 1`` as far as one chunk, whose first is ``firsts[chunk]``, has them.

    Word w goes to ``values[w - low]``. ``found[chunk]`` receives the first bad one, and its status.
    """
    position, word = cuts[chunk], firsts[chunk]
    found[chunk, 1] = numbers.GOOD
    while position < cuts[chunk + 1] and word < high:
        if _is_blank(buffer[position]):
            position += 1
            continue
        if word < low:
            while not _is_blank(buffer[position]):
                position += 1
            word += 1
            continue
        value, digits = _number(buffer, position)
        status = numbers.GOOD
        if 0 < digits < 16:
            position += digits
        else:
            value, position, status = _any_number(buffer, position)
        if status == numbers.GOOD and not _is_blank(buffer[position]):
            status = numbers.NOT_A_NUMBER
        if status == numbers.GOOD and value > uint64(largest):
            status = numbers.OUT_OF_RANGE
        if status != numbers.GOOD:
            found[chunk, 0] = int64(word)
            found[chunk, 1] = status
            return
        values[word - low] = value
        word += 1


@dataclass(frozen=True)
class AdjacencyHeader:
    """The kind, n and m; ``words`` are all that follow."""

    vertices: int
    edges: int
    weighted: bool

    @property
    def words(self) -> int:
        """Offsets, neighbours and weights."""
        return self.vertices + self.edges * (2 if self.weighted else 1)


def read_header(reader: BlockReader) -> AdjacencyHeader:
    """Read the first three lines that are not blank.

    Raises
    ------
    InputError
        They are not the name and two counts.
    """
    lines: list[bytes | int] = []
    while len(lines) < 3:
        found = reader.next_line()
        if found is None:
            raise empty_file(reader.name, _WANTED)
        number, line = found
        if not line.strip():
            continue
        if not lines and line.strip() not in (PLAIN, WEIGHTED):
            another = ("format", "text", "for a file of another kind {}, or what it is")
            raise line_error(reader.name, number, line, _WANTED, (another,))
        lines.append(line.strip() if not lines else counts(reader.name, number, line, [line.strip()], _WANTED)[0])
    return AdjacencyHeader(int(lines[1]), int(lines[2]), lines[0] == WEIGHTED)


class _Offsets:
    """Where the row of every edge is looked up, in the order of the edges; a context manager (it owns a file)."""

    def __init__(self, name: str, header: AdjacencyHeader) -> None:
        self._name, self._header = name, header
        self._file = tempfile.SpooledTemporaryFile(_HELD)  # noqa: SIM115 - closed by __exit__
        self._row, self._ends = 0, np.empty(0, np.int64)
        self.last = self.count = 0

    def add(self, values: np.ndarray) -> int | None:
        """Keep the next offsets; return which of them is below the one before it, or None."""
        before = np.concatenate([np.array([self.last], np.int64), values[:-1]])
        falls = values < before
        if self.count == 0:
            falls[0] = values[0] != 0
        if falls.any():
            return int(falls.argmax())
        self._try(lambda: self._file.write(values.data))
        self.last, self.count = int(values[-1]), self.count + len(values)
        if self.count == self._header.vertices:
            self._file.seek(8)
        return None

    def fill(self, sources: np.ndarray, first: int) -> None:
        """Write the row of edge ``first + i`` to ``sources[i]``; called for all edges in turn."""
        done = 0
        while done < len(sources):
            over = int(np.searchsorted(self._ends, first + done, side="right"))
            self._row, self._ends = self._row + over, self._ends[over:]
            if not len(self._ends):
                self._load()
                continue
            stops = np.clip(self._ends - first, done, len(sources))
            rows = np.arange(self._row, self._row + len(stops), dtype=sources.dtype)
            sources[done : stops[-1]] = np.repeat(rows, np.diff(stops, prepend=done))
            done = int(stops[-1])

    def _load(self) -> None:
        """Read where the next rows end; the last one does where the edges do."""
        self._ends = np.frombuffer(self._try(lambda: self._file.read(8 * _ROWS)), np.int64)
        if self._row + len(self._ends) == self._header.vertices - 1:
            self._ends = np.append(self._ends, self._header.edges)

    def _try(self, action: Callable[[], T]) -> T:
        try:
            return action()
        except OSError as error:
            what = f"hold the offsets of {self._name} (TMPDIR names another folder)"
            raise access_error(tempfile.gettempdir(), error, what) from error

    def __enter__(self) -> _Offsets:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()


class _Cut(NamedTuple):
    """A block in chunks of whole lines, and the number of each chunk's first word."""

    block: Block
    cuts: np.ndarray
    firsts: np.ndarray


class _Words:
    """Appends the edges to those of ``reader``, block by block."""

    def __init__(self, reader: BlockReader, header: AdjacencyHeader, offsets: _Offsets, workers: Workers) -> None:
        self.reader, self._header, self._offsets, self._workers = reader, header, offsets, workers
        self.words = 0
        if header.vertices > 2**32:
            reader.edges.widen()

    def read_block(self, block: Block, chunk_bytes: int) -> None:
        """Read all words of a block."""
        cuts = np.empty(2 + (block.stop - block.start) // chunk_bytes, np.int64)
        chunks = tokenizer.cut_lines(block.buffer, block.start, block.stop, chunk_bytes, cuts)
        words, lines = np.empty(chunks, np.int64), np.empty(chunks, np.int64)
        self._workers.each(chunks, lambda chunk: count_words(block.buffer, cuts, chunk, words))
        self._workers.each(chunks, lambda chunk: tokenizer.count_lines(block.buffer, cuts, chunk, lines))
        cut = _Cut(block, cuts[: chunks + 1], self.words + np.cumsum(words) - words)
        end, n, m = self.words + int(words.sum()), self._header.vertices, self._header.edges
        if self.words < n and end > self.words:
            values = np.empty(min(end, n) - self.words, np.int64)
            self._read(cut, self.words, min(end, n), m, values)
            if (bad := self._offsets.add(values)) is not None:
                before = "; the first is 0" if self.words + bad == 0 else ", below the one before it"
                self._refuse(cut, self.words + bad, f"offset {values[bad]} of vertex {self.words + bad}{before}")
        if self.words < n + m and end > n:
            low, high = max(self.words, n), min(end, n + m)
            sources, targets = self.reader.edges.space(high - low)
            self._read(cut, low, high, n - 1, targets)
            self._offsets.fill(sources, low - n)
            self.reader.edges.keep(high - low)
        if end > self._header.words:
            self._refuse(cut, self._header.words, f"a word after the last of {self._header.words} ({self._declares()})")
        self.words = end
        self.reader.used(block, int(lines.sum()))

    def _read(self, cut: _Cut, low: int, high: int, largest: int, values: np.ndarray) -> None:
        found = np.zeros((len(cut.firsts), 2), np.int64)
        self._workers.each(
            len(cut.firsts),
            lambda chunk: read_words(cut.block.buffer, cut.cuts, chunk, cut.firsts, low, high, largest, values, found),
        )
        bad = np.flatnonzero(found[:, 1] != numbers.GOOD)
        if len(bad):
            word, status = found[bad[0]].tolist()
            what = "an offset" if word < self._header.vertices else "a neighbour"
            why = f"{what} is outside 0 to {largest}"
            if status != numbers.OUT_OF_RANGE:
                why = reason(status, 0, largest, f"{what}, a whole number from 0 to {largest}")
            self._refuse(cut, word, why)

    def _refuse(self, cut: _Cut, word: int, why: str) -> None:
        """Raise the error that names the line of a word."""
        chunk = int(np.searchsorted(cut.firsts, word, side="right")) - 1
        start, stop = cut.cuts[chunk : chunk + 2].tolist()
        places = _WORD.finditer(cut.block.buffer[start:stop].tobytes())
        at = start + next(place.start() for i, place in enumerate(places) if cut.firsts[chunk] + i == word)
        begin = at - len(cut.block.buffer[start:at].tobytes().rpartition(b"\n")[2])
        line = cut.block.line(begin)
        raise line_error(self.reader.name, cut.block.line_number(at), line, f"{why}; correct it, or write it again")

    def _declares(self) -> str:
        weights = f", {self._header.edges} weights" if self._header.weighted else ""
        return f"{self._header.vertices} offsets, {self._header.edges} neighbours{weights}"

    def check_end(self) -> None:
        """Refuse a file that ends early."""
        if self.words != self._header.words:
            raise InputError(
                f"{self.reader.name}: the header declares {self._declares()}, but the file holds {self.words} of "
                f"{self._header.words} words (cut short?); fetch it again, or correct the header"
            )


def read_adjacency(reader: BlockReader, rules: Rules = NO_RULES, *, chunk_bytes: int | None = None) -> EdgeList:
    """Read an adjacency graph to its end. Skipping bad lines cannot help here: words count, not lines.

    Raises
    ------
    InputError
        The header or a word is bad, offsets descend, an id is out of range, or there are fewer or more words.
    FileAccessError
        The temporary file of the offsets cannot be written.
    """
    header = read_header(reader)
    if header.vertices == 0:
        raise InputError(f"{reader.name}: the header declares 0 vertices; a graph without vertices is not made")
    with Workers(reader.threads) as workers, _Offsets(reader.name, header) as offsets:
        words = _Words(reader, header, offsets, workers)
        while (block := reader.current()) is not None:
            words.read_block(block, chunk_bytes or CHUNK_BYTES)
    words.check_end()
    sources, targets = reader.edges.arrays()
    notes = (f"{reader.name}: {header.edges:,} weights dropped",) if header.weighted else ()
    return EdgeList(sources, targets, declared_n=header.vertices, input_bytes=reader.source.consumed, notes=notes)


def _declared(reader: BlockReader, rules: Rules) -> tuple[int, int]:
    header = read_header(reader)
    return header.vertices, header.edges


def _sample(source: Source) -> np.ndarray:
    """Return some of the numbers that can be vertices: neighbours, and offsets that are small."""
    words = [word for piece in text_pieces(source) for word in piece.split()[1:-1]]
    header = source.peek(100).split()[1:2]
    vertices = int(header[0]) if header and header[0].isdigit() and len(header[0]) < 19 else 0
    found = (int(word) for word in words if word.isdigit() and len(word) < 19)
    return np.array([number for number in found if number < vertices], np.uint64)


FORMAT = of_lines(
    "adj",
    "Ligra's AdjacencyGraph and WeightedAdjacencyGraph",
    read_adjacency,
    b"WeightedAdjacencyGraph\n4\n5\n0\n2\n2\n4\n1\n3\n0\n3\n2\n7\n-1\n5\n5\n9\n",
    suffixes=(".adj",),
    aliases=("ligra",),
    recognize=lambda head: head.startswith((PLAIN, WEIGHTED)),
    declared=_declared,
    sample=_sample,
)
