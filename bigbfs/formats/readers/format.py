"""Format: everything that a reader says about itself; Reading: what it is given to read.

Most formats are lines of text: :func:`of_lines` makes their entry. The others say for themselves how they read their
bytes and what that takes.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from bigbfs.errors import UsageError
from bigbfs.formats.readers.blocks import BLOCK_BYTES, LONGEST_LINE, BlockReader
from bigbfs.formats.readers.edge_buffer import EdgeBuffer
from bigbfs.formats.readers.estimates import HEAD_BYTES, InputEstimate, edges_by_lines, has_wide_id, unpacked_size
from bigbfs.formats.readers.pairs import LARGEST_ID
from bigbfs.formats.streams.sources import Source
from bigbfs.formats.tables.columns import Columns
from bigbfs.formats.tables.files import TableFile
from bigbfs.graph.edges import EdgeList

DIGITS = 19
SAMPLES, SAMPLE_BYTES = 64, 8192
_MOST_LINES = 2**62
_MOST_COLUMNS = 10**6
_NO_IDS = np.empty(0, np.uint64)


@dataclass(frozen=True, slots=True)
class Rules:
    """What a caller says about an input beyond its name.

    Attributes
    ----------
    skip_bad_lines
        How many bad lines of a line-based format to pass over (and count) before giving up.
    columns
        Columns that hold sources and targets, from 1 on, or by the names that a table or a header line has for them;
        None: those that the names say, or the first two.
    edge_index
        An array of shape (2, edges) holds sources in its first row and targets in its second.
    bipartite
        The two ends of an edge are of two sides that number their vertices apart: the second comes after the first.
    names
        Every id is a name, whatever it looks like, or none is; None: as they look.
    header
        Whether an edge list in lines begins with the names of its columns; None: as the first line looks.
    """

    skip_bad_lines: int = 0
    columns: Columns | None = None
    edge_index: bool = False
    bipartite: bool = False
    names: bool | None = None
    header: bool | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.skip_bad_lines <= _MOST_LINES:
            raise UsageError("give a number from 0 to 2^62", about=(("skip_bad_lines", self.skip_bad_lines),))
        if self.columns is not None:
            first, second = self.columns
            numbers = [each for each in self.columns if isinstance(each, int)]
            if not all(1 <= each <= _MOST_COLUMNS for each in numbers) or first == second:
                raise UsageError("give two different columns, counted from 1", about=(("columns", self.columns),))
            if "" in self.columns:
                raise UsageError("the name of a column is empty", about=(("columns", self.columns),))
        if self.columns is not None and self.edge_index:
            about = (("columns", self.columns), ("edge_index", True))
            raise UsageError("exclude each other: an edge is a row, or a column", about=about)

    def given(self) -> dict[str, Any]:
        """Return, by name, the rules that only some formats know, where they are not as by default."""
        known: dict[str, Any] = {"columns": self.columns, "edge_index": self.edge_index, "bipartite": self.bipartite}
        known["skip_bad_lines"] = self.skip_bad_lines
        for name, value in (("names", self.names), ("header", self.header)):
            known |= {name: value is True, f"no_{name}": value is False}
        return {name: value for name, value in known.items() if value}

    @property
    def numbers(self) -> tuple[int, int] | None:
        """The columns where both are given by number."""
        return None if self.columns is None or self.by_name else cast("tuple[int, int]", self.columns)

    @property
    def by_name(self) -> bool:
        """Whether a column is meant by its name."""
        return self.columns is not None and any(isinstance(each, str) for each in self.columns)


NO_RULES = Rules()


@dataclass(frozen=True)
class Reading:
    """One input on its way into an edge list: where the bytes come from, where the edges go, and by what rules.

    ``edges``, ``memory``, ``threads``, ``block_bytes`` and ``progress`` are those of
    :func:`bigbfs.formats.readers.read.read_edges`.
    """

    source: Source
    rules: Rules = NO_RULES
    edges: EdgeBuffer | None = None
    memory: int | None = None
    threads: int | None = None
    block_bytes: int | None = None
    progress: Callable[[int], object] | None = None

    def room(self) -> EdgeBuffer:
        """Return where the edges go."""
        return EdgeBuffer(self.source.name, self.memory) if self.edges is None else self.edges

    def blocks(self, longest_line: int) -> BlockReader:
        """Return the source as blocks of whole lines."""
        return BlockReader(
            self.source,
            self.block_bytes,
            self.progress,
            memory=self.memory,
            threads=self.threads,
            edges=self.edges,
            longest_line=longest_line,
        )


@dataclass(frozen=True)
class Format:
    """A format that is read.

    Attributes
    ----------
    name
        What ``--format`` takes; the module's name.
    summary
        A few words for help and docs.
    read
        Reads an input to its end.
    estimate
        What reading takes, from the beginning of a file.
    example
        A small file, good or nearly so: where fuzzing begins.
    suffixes, aliases
        Endings of file names; other names that ``--format`` takes.
    recognize
        Tells by the first (decompressed) bytes that a file has this format; None where they do not tell.
    streams
        Whether it is read block by block, so that it may be larger than memory.
    sample
        Ids (uint64) from places all over an input, in any order; empty where they are not had cheaply.
    takes
        Names of the :class:`Rules` that it knows what to do with, beyond ``skip_bad_lines``;
        ``"column_names"``: columns by name.
    one_way
        Tells by the first bytes that a file says that its edges lead one way only.
    in_own_order
        Tells by the first bytes that a file has its vertices in another order than that of their ids, and knows these.
    named
        Tells that the ids of a file are names.
    table
        Opens a file as columns, for ids that are names.
    by_file_name
        Tells by a file's name, and by what lies beside it, that it has this format.
    beside
        What lies beside ``example``: suffix and content of further files.
    """

    name: str
    summary: str
    read: Callable[[Reading], EdgeList]
    estimate: Callable[[Source, Rules], InputEstimate]
    example: bytes
    suffixes: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    recognize: Callable[[bytes], bool] | None = None
    streams: bool = False
    sample: Callable[[Source], np.ndarray] = lambda source: _NO_IDS
    takes: tuple[str, ...] = ()
    one_way: Callable[[bytes], bool] = lambda head: False
    in_own_order: Callable[[bytes], bool] = lambda head: False
    named: Callable[[Source, Rules], bool] | None = None
    table: Callable[[Source, Rules], AbstractContextManager[TableFile]] | None = None
    by_file_name: Callable[[str], bool] = lambda name: False
    beside: dict[str, bytes] = field(default_factory=dict)


def of_lines(
    name: str,
    summary: str,
    read: Callable[[BlockReader, Rules], EdgeList],
    example: bytes,
    *,
    suffixes: tuple[str, ...] = (),
    aliases: tuple[str, ...] = (),
    recognize: Callable[[bytes], bool] | None = None,
    declared: Callable[[BlockReader, Rules], tuple[int, int]] | None = None,
    longest_line: Callable[[], int] = lambda: LONGEST_LINE,
    letters: tuple[bytes, ...] = (),
    per_line: Callable[[bytes], int] = lambda line: 1,
    sample: Callable[[Source], np.ndarray] | None = None,
    takes: tuple[str, ...] = (),
    one_way: Callable[[bytes], bool] = lambda head: False,
    named: Callable[[Source, Rules], bool] | None = None,
    table: Callable[[Source, Rules], AbstractContextManager[TableFile]] | None = None,
) -> Format:
    """Return the entry of a format of lines.

    Parameters
    ----------
    read
        Reads all lines; everything else is as in :class:`Format`.
    declared
        Reads (vertices, lines with an edge) from the header.
    longest_line
        Bytes of a line that may be held.
    letters
        Words that stand before the ids of a line.
    per_line
        Edges that a line has, for the estimate where none are declared.
    sample, takes, one_way, named, table
        As in :class:`Format`; without a sample, the first two ids of some lines are taken.
    """

    def whole(reading: Reading) -> EdgeList:
        with reading.blocks(longest_line()) as reader:
            return read(reader, reading.rules)

    def estimate(source: Source, rules: Rules) -> InputEstimate:
        head = source.peek(HEAD_BYTES)
        size = unpacked_size(source, head)
        vertices, edges = None, edges_by_lines(head, size, per_line)
        if declared is not None:
            assert source.path is not None
            with Source(source.path) as again, BlockReader(again, HEAD_BYTES) as reader:
                vertices, edges = declared(reader, rules)
        edges = min(edges, size // 2 + 1)
        width = 8 if has_wide_id(head) else 4
        return InputEstimate(source.size or 0, edges, 2 * width * edges + 2 * BLOCK_BYTES, vertices)

    ids = sample or (lambda source: sample_lines(source, letters))
    known: dict[str, Any] = {"suffixes": suffixes, "aliases": aliases, "recognize": recognize, "takes": takes}
    known |= {"one_way": one_way, "named": named, "table": table}
    return Format(name, summary, whole, estimate, example, streams=True, sample=ids, **known)


def text_pieces(source: Source) -> list[bytes]:
    """Return pieces from all over a text, its beginning where it is compressed."""
    if source.compression or source.size is None or source.path is None:
        return [source.peek(SAMPLES * SAMPLE_BYTES)]
    step = max(SAMPLE_BYTES, source.size // SAMPLES)
    with source.path.open("rb", buffering=0) as file:
        return [os.pread(file.fileno(), SAMPLE_BYTES, at) for at in range(0, source.size, step)]


def sample_lines(source: Source, letters: tuple[bytes, ...]) -> np.ndarray:
    """Return the first two ids of lines all over a text."""
    return np.array([number for piece in text_pieces(source) for number in _ids_of(piece, letters)], np.uint64)


def _ids_of(piece: bytes, letters: tuple[bytes, ...]) -> list[int]:
    found = []
    for line in piece.split(b"\n")[1:-1]:
        fields = line.replace(b",", b" ").replace(b";", b" ").split()
        if fields and fields[0] in letters:
            fields = fields[1:]
        # what has more digits is no id, and Python makes no number of thousands of them
        if len(fields) >= 2 and all(field.isdigit() and len(field) <= DIGITS for field in fields[:2]):
            found += [int(fields[0]), int(fields[1])]
    return [number for number in found if number <= LARGEST_ID]
