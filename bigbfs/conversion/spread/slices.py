"""A rank's share of an input: whole lines of an edge list, edges of a .npy.

The lines before the edges (comments, a header) are read by every rank, which learns the columns from them; what follows
is cut at line ends into stretches of about equal length. What cannot be cut is read by one rank
(:mod:`bigbfs.conversion.spread.whole`), or refused by name.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bigbfs.conversion.options import ConvertOptions
from bigbfs.errors import InputError, UsageError
from bigbfs.formats.readers.blocks import BlockReader
from bigbfs.formats.readers.detect import checked_format, detect_format
from bigbfs.formats.readers.edge_buffer import EdgeBuffer
from bigbfs.formats.readers.estimates import HEAD_BYTES
from bigbfs.formats.readers.npy import by_blocks
from bigbfs.formats.readers.pair_file import pair_file
from bigbfs.formats.readers.pairs import PairReader
from bigbfs.formats.readers.text_head import Head, read_head
from bigbfs.formats.streams.sources import STANDARD_INPUT, Source
from bigbfs.graph.edges import EdgeList

SLICED = ("text", "npy")
"""Formats of which a rank can read its share."""

WHOLE = ("text", "parquet", "arrow")
"""Formats of which a rank can read a whole file; of text those that are compressed."""

WHOLE_FILE = "whole"

_WINDOW = 1 << 20


@dataclass(frozen=True)
class Share:
    """What a rank has read of an input: what a reader returns, and the columns of its lines of ids alone (0: none)."""

    edges: EdgeList
    columns: int
    found: int


class SlicedSource(Source):
    """The bytes ``start`` to ``stop - 1`` of an uncompressed file."""

    def __init__(self, path: str | Path, start: int, stop: int) -> None:
        super().__init__(path)
        self._file.seek(start)
        self._pushed, self.consumed, self._left = b"", 0, stop - start

    def _readinto_raw(self, target: memoryview) -> int:
        if not hasattr(self, "_left"):  # the first bytes of the file, by which it is told whether it is compressed
            return super()._readinto_raw(target)
        got = super()._readinto_raw(target[: self._left]) if self._left else 0
        self._left -= got
        return got


class _Nowhere(EdgeBuffer):
    """Edges that nobody wants: they are read for the error at their end."""

    def keep(self, count: int) -> None:
        """Forget them."""


def is_sliced(path: str | Path, options: ConvertOptions) -> bool:
    """Return whether ranks read shares of an input; else one of them reads it as a whole.

    Raises
    ------
    UsageError
        Its format has no form over ranks, or it is no file.
    """
    return _format_of(path, options) in SLICED


def _format_of(path: str | Path, options: ConvertOptions) -> str:
    """Return the format of an input that is cut, ``WHOLE_FILE`` for one that is not."""
    if str(path) == STANDARD_INPUT or (Path(path).exists() and not Path(path).is_file()):
        raise UsageError(f"{path}: is no file that several ranks can read; convert it without ranks")
    wanted = None if options.format is None else checked_format(options.format)
    with Source(path) as source:
        found = wanted or detect_format(source.name, source.peek(HEAD_BYTES))
        cut = not source.compression and (found == "text" or (found == "npy" and by_blocks(source, options.rules())))
        if not cut and found not in WHOLE:
            what = f"{found}, {source.compression}" if source.compression else found
            raise UsageError(
                f"{path}: is {what}, which one process reads ({' and '.join(SLICED)} are cut for ranks, and compressed "
                f"text, {' and '.join(WHOLE[1:])} dealt to them as whole files); convert it without ranks"
            )
    return found if cut else WHOLE_FILE


def read_share(
    path: str | Path,
    edges: EdgeBuffer,
    options: ConvertOptions,
    rank: int,
    size: int,
    *,
    block_bytes: int,
    progress: Callable[[int], object],
) -> Share:
    """Read the share of ``rank``, of ``size``, to ``edges``; the counts and notes of the head are rank 0's.

    Raises
    ------
    InputError
        The content is not what its format says; names file and line.
    FileAccessError
        It cannot be read.
    """
    if _format_of(path, options) == "npy":
        return _read_pairs(path, edges, options, rank, size, block_bytes=block_bytes, progress=progress)
    head, first = head_of(path, options)
    start, stop = _cut(Path(path), first, rank, size)
    try:
        return _read_lines(path, edges, options, head, start, stop, rank, block_bytes, progress)
    except InputError:
        if start == first:
            raise
    _read_lines(path, _Nowhere(str(path)), options, head, start, stop, rank, block_bytes, progress, number=True)
    raise InputError(f"{path}: changed while it was read; convert it again")


def _read_pairs(
    path: str | Path,
    edges: EdgeBuffer,
    options: ConvertOptions,
    rank: int,
    size: int,
    *,
    block_bytes: int,
    progress: Callable[[int], object],
) -> Share:
    with Source(path) as source, pair_file(source, options.rules()) as pairs:
        within = pairs.edges * rank // size, pairs.edges * (rank + 1) // size
        pairs.read_all(edges, threads=options.threads, block_bytes=block_bytes, progress=progress, within=within)
        whole = source.size or 0
    return Share(EdgeList(*edges.arrays(), input_bytes=whole if rank == 0 else 0), 0, within[1] - within[0])


def head_of(path: str | Path, options: ConvertOptions) -> tuple[Head, int]:
    """Return what the lines before the edges say, and the byte where they end."""
    with Source(path) as source, BlockReader(source, HEAD_BYTES, threads=1) as reader:
        head = read_head(reader, options.rules())
        block = reader.current()
        assert source.size is not None
        return head, source.size if block is None else block.bytes_before + block.start


def _cut(path: Path, first: int, rank: int, size: int) -> tuple[int, int]:
    """Return the bytes of a rank's lines: those that begin in its stretch."""
    whole = path.stat().st_size
    with path.open("rb", buffering=0) as file:
        if not _has_line_feeds(file.read(HEAD_BYTES)):
            return (first, whole) if rank == 0 else (whole, whole)

        def line_from(place: int) -> int:
            """Return where the first line begins that does so at ``place`` or behind it."""
            at = place - 1
            while first < place and at < whole:
                file.seek(at)
                window = file.read(_WINDOW)
                end = window.find(b"\n")
                if end >= 0:
                    return at + end + 1
                at += max(1, len(window))
            return first if place <= first else whole

        start, stop = (first + (whole - first) * each // size for each in (rank, rank + 1))
        return line_from(start), whole if rank == size - 1 else line_from(stop)


def _has_line_feeds(head: bytes) -> bool:
    """Return whether lines can be cut at line feeds: a text of old Macs has none there; one rank reads it."""
    return b"\n" in head or b"\r" not in head


def _read_lines(
    path: str | Path,
    edges: EdgeBuffer,
    options: ConvertOptions,
    head: Head,
    start: int,
    stop: int,
    rank: int,
    block_bytes: int,
    progress: Callable[[int], object],
    *,
    number: bool = False,
) -> Share:
    """Read lines to their end; with ``number`` errors name them by their place in the file."""
    found = 0
    with (
        SlicedSource(path, start, stop) as source,
        BlockReader(source, block_bytes, progress, threads=options.threads, edges=edges) as reader,
    ):
        if number or rank == 0:
            reader.lines_passed(_lines_before(Path(path), start))
        pairs = PairReader(reader, head.pair_rules(), 0)
        pairs.read_all()
        found = edges.size
    first = rank == 0
    result = EdgeList(
        *edges.arrays(),
        one_way=head.one_way,
        comment_lines=pairs.comment_lines + (head.comment_lines if first else 0),
        input_bytes=Path(path).stat().st_size if first else 0,
        notes=(*head.notes, *([f"{path}: says '% asym': its edges are one-way"] if head.one_way else [])),
    )
    return Share(result, pairs.columns, found)


def _lines_before(path: Path, place: int) -> int:
    """Return how many lines end before a byte."""
    lines = 0
    with path.open("rb", buffering=0) as file:
        while place > 0 and (window := file.read(min(_WINDOW, place))):
            lines += window.count(b"\n")
            place -= len(window)
    return lines
