"""One shard: written from stretches of its sections, and read in stretches that are held against its checksums."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

import numpy as np

from bigbfs.errors import FormatError
from bigbfs.formats.atomic import access_error, replacing
from bigbfs.formats.container import layout
from bigbfs.formats.container.checksum import RunningChecksum
from bigbfs.formats.container.layout import Section
from bigbfs.formats.container.sections import SectionFile
from bigbfs.formats.shards.extents import OVERLAPPING, counted_by, kind_of
from bigbfs.formats.shards.layout import ShardHeader, pack, unpack

CHUNK = 4 << 20
"""Bytes of a section that are held at once."""

PAGE = "page"
"""The section of the rest that holds the first page of the graph file: its header and section table."""

Content = tuple[str, np.dtype, int, int, Iterable[np.ndarray]]
"""Name, dtype, items and stretches of a section to write; before the stretches the byte of the graph's section that is
to have the same place in a page."""


class PieceReader:
    """Reads stretches of a file by its descriptor ``handle``: what is read is no memory of this process afterwards.

    Raises
    ------
    FileAccessError
        It cannot be opened.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self.handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)  # a pipe must not block
            self.size = os.fstat(self.handle).st_size
        except OSError as error:
            raise access_error(path, error, "open") from error

    def close(self) -> None:
        """Close the file."""
        os.close(self.handle)

    def read(self, place: int, length: int) -> bytes:
        """Return ``length`` bytes from ``place`` on.

        Raises
        ------
        FormatError
            The file has become shorter.
        FileAccessError
            It cannot be read.
        """
        data = b""
        while len(data) < length:
            try:
                more = os.pread(self.handle, length - len(data), place + len(data))
            except OSError as error:
                raise access_error(self.path, error, "read") from error
            if not more:
                raise FormatError(f"{self.path}: cut short while it was read; fetch it again")
            data = data + more if data else more
        return data

    def items(self, section: Section, first: int, last: int) -> Iterator[np.ndarray]:
        """Return the items ``first`` to ``last - 1`` of a section, in stretches of at most ``CHUNK`` bytes."""
        kind = np.dtype(section.dtype)
        step = CHUNK // kind.itemsize
        for start in range(first, last, step):
            count = min(step, last - start)
            yield np.frombuffer(self.read(section.offset + start * kind.itemsize, count * kind.itemsize), kind)


class Shard:
    """A shard, open: its header, its sections and their content; a context manager.

    Raises
    ------
    FormatError
        It is no shard, cut short or damaged in header or section table, or its sections do not fit its header.
    FileAccessError
        It cannot be read.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._reader = PieceReader(path)
        try:
            self.page = self._reader.read(0, min(layout.PAGE, self._reader.size))
            self.header, self.sections = unpack(self.page, self._reader.size, path)
            if self.header.part < self.header.parts:
                self._require_consistent()
            elif PAGE not in self.sections or self.sections[PAGE].length != layout.PAGE:
                raise FormatError(f"{path}: section {PAGE} is missing; split the graph again")
        except BaseException:
            self.close()
            raise

    def _require_consistent(self) -> None:
        """Refuse sections that cannot be of so many rows."""
        rows, codec = self.header.rows, self.header.graph.codec
        counts = {name: section.count for name, section in self.sections.items()}
        for name, count in counts.items():
            kind, prefix = kind_of(name), name.removesuffix(kind_of(name))
            wanted = {"labels": rows, "degree": rows, "indptr": rows + 1, "hub_ptr": counts.get(prefix + "hubs", 0) + 1}
            target = counted_by(name, codec)
            if count != wanted.get(kind, count) or (target is not None and target not in counts):
                raise FormatError(f"{self.path}: section {name} has {count} items, which do not fit {rows} rows")

    @property
    def handle(self) -> int:
        """The open file's descriptor."""
        return self._reader.handle

    def close(self) -> None:
        """Close the file."""
        self._reader.close()

    def __enter__(self) -> Shard:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def stretches(self, name: str) -> Iterator[np.ndarray]:
        """Return a section in stretches.

        Raises
        ------
        FormatError
            After the last one: the checksum does not match. Nobody may believe the stretches before.
        """
        section = self.sections[name]
        sums = RunningChecksum()
        for stretch in self._reader.items(section, 0, section.count):
            sums.add(stretch.data.cast("B"))
            yield stretch
        if sums.value() != section.checksum:
            raise damaged(self.path, self.header, name, section)

    def require_empty_gaps(self) -> None:
        """Check that whatever no section holds is zero; the first page has a hash of its own in the manifest.

        Raises
        ------
        FormatError
            Names the byte.
        """
        at = layout.PAGE
        spans = sorted((section.offset, section.length) for section in self.sections.values())
        for start, length in [*spans, (self._reader.size, 0)]:
            for place in range(at, start, CHUNK):
                gap = np.frombuffer(self._reader.read(place, min(CHUNK, start - place)), np.uint8)
                if gap.any():
                    byte = place + int(np.flatnonzero(gap)[0])
                    raise FormatError(f"{self.path}: byte {byte}, between the sections, is not zero; fetch it again")
            at = max(at, start + length)

    def whole(self, name: str) -> np.ndarray:
        """Return a small section; FormatError as of :meth:`stretches`."""
        parts = list(self.stretches(name))
        return np.concatenate(parts) if parts else np.empty(0, self.sections[name].dtype)

    def joined(self, name: str, before: dict[str, int]) -> Iterator[np.ndarray]:
        """Return a section as it stands in the whole graph; ``before``: the items of each section in earlier shards.

        Raises
        ------
        FormatError
            As of :meth:`stretches`.
        """
        target = counted_by(name, self.header.graph.codec)
        base = np.uint64(0 if target is None else before[target])
        skip = kind_of(name) in OVERLAPPING and before[name] > 0
        for stretch in self.stretches(name):
            items = stretch[1:] if skip else stretch
            skip = False
            yield items + base if target is not None else items


def damaged(path: Path, header: ShardHeader, name: str, section: Section) -> FormatError:
    """Return the error of a section whose checksum does not match."""
    end = section.offset + section.length
    return FormatError(
        f"{path}: section {name} (bytes {section.offset} to {end - 1}) of {header.said} is damaged: its checksum does "
        "not match; fetch this shard again, or split the graph again"
    )


@dataclass(frozen=True)
class Wrote:
    """A shard that was written: its bytes, and its first page."""

    size: int
    page: bytes


def write_shard(
    path: Path, header: ShardHeader, content: Iterable[Content], advance: Callable[[int], object] = lambda count: None
) -> Wrote:
    """Write a shard to a temporary file that is then renamed to ``path``; ``advance`` is told of bytes.

    Raises
    ------
    FileAccessError
        It cannot be written; nothing is left behind.
    """
    with replacing(path) as stream:
        file = SectionFile(stream, advance)
        for name, dtype, count, within, stretches in content:
            file.open(name, dtype, count, within=within)
            for stretch in stretches:
                file.append(name, stretch)
        return finish_shard(stream, file, header)


def finish_shard(stream: BinaryIO, file: SectionFile, header: ShardHeader) -> Wrote:
    """Write header and section table of a shard whose sections are all there."""
    sections, total = file.settle()
    page = pack(replace(header, graph=replace(header.graph, file_bytes=total)), sections)
    file.write(memoryview(page), 0)
    return Wrote(total, page.ljust(layout.PAGE, b"\0"))
