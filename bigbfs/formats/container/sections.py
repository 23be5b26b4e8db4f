"""Writes a container section by section, where lengths and header are known only at the end.

A section is placed by a guess of the lengths before it (its alignment depends on its own); :meth:`SectionFile.finish`
moves what the truth puts elsewhere, so that the file is the one that
:func:`bigbfs.formats.container.csrbin.save_graph` writes.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from bigbfs.formats.container import layout
from bigbfs.formats.container.checksum import STRETCH, Checksum, RunningChecksum, StretchSums, stretches
from bigbfs.formats.container.layout import Header, Section
from bigbfs.formats.writeback import start_writeback
from bigbfs.graph.adjacency import Adjacency

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

_COPY = 4 << 20


@dataclass
class _Open:
    """A section under way: where it starts, the bytes it is expected to have, and the checksum of those it has;
    ``within``: as of :func:`bigbfs.formats.container.layout.aligned`."""

    name: str
    dtype: np.dtype
    offset: int
    expected: int
    sums: RunningChecksum | Checksum | StretchSums = field(default_factory=RunningChecksum)
    within: int = 0

    @property
    def length(self) -> int:
        """Bytes so far."""
        return self.sums.length


class SectionFile:
    """The sections of one container, in the order in which they are opened; ``progress`` gets the bytes written."""

    def __init__(self, stream: BinaryIO, progress: Callable[[int], object] | None = None) -> None:
        self._stream = stream
        self._progress = progress
        self._handle = stream.fileno()
        self._sections: dict[str, _Open] = {}

    def open(
        self, name: str, dtype: Any, expected: int, sums: StretchSums | Checksum | None = None, within: int = 0
    ) -> None:
        """Start a section of about ``expected`` items; what came before it need not be complete.

        With ``StretchSums`` its checksums come by :meth:`note`, with ``Checksum`` its bytes by whole stretches. It is
        the part of a section from byte ``within`` of that on.
        """
        kind = np.dtype(dtype)
        length = expected * kind.itemsize
        place = layout.aligned(self._end(), length, within)
        self._sections[name] = _Open(name, kind, place, length, RunningChecksum() if sums is None else sums, within)

    def _end(self) -> int:
        ends = [s.offset + max(s.expected, s.length) + layout.PADDING for s in self._sections.values()]
        return ends[-1] if ends else layout.PAGE

    def put_all(self, arrays: dict[str, np.ndarray], pool: ThreadPoolExecutor) -> None:
        """Write whole sections by name."""
        for name, array in arrays.items():
            self.put(name, array, pool)

    def put(self, name: str, array: np.ndarray, pool: ThreadPoolExecutor) -> None:
        """Write a whole section, its checksum computed meanwhile by the threads of ``pool``."""
        kind = array.dtype
        place = layout.aligned(self._end(), array.nbytes)
        sums = Checksum(pool)
        self._sections[name] = _Open(name, kind, place, array.nbytes, sums)
        for stretch in stretches(array):
            sums.add(stretch)
            self.write(stretch, place)
            pool.submit(self.start_writeback, place, len(stretch))
            place += len(stretch)

    def put_rows(self, rows: Adjacency, pool: ThreadPoolExecutor) -> None:
        """Write the sections of rows; of those that are still to come as they come."""
        from bigbfs.graph.coming import ComingAdjacency  # its kernels, which who only reads has no use for

        if not isinstance(rows, ComingAdjacency):
            self.put_all(rows.arrays(), pool)
            return
        self.open("indptr", rows.indptr.dtype, len(rows.indptr), Checksum(pool))
        self.open("indices", rows.ids, rows.m, StretchSums())

        def take(ids: np.ndarray, checksum: int) -> None:  # one at a time: a file has one writer at a time anyway
            data = ids.data.cast("B")
            place = self.note("indices", [checksum], len(data))
            self.write(data, place)
            pool.submit(self.start_writeback, place, len(data))

        rows.come(STRETCH // rows.ids.itemsize, lambda ids: zlib.crc32(ids.data), take)
        for stretch in stretches(rows.indptr):
            self.write(stretch, self.take("indptr", stretch))

    def close(self, name: str) -> None:
        """Say that a section is complete, so that the next one is placed right behind it."""
        section = self._sections[name]
        section.expected = section.length

    def append(self, name: str, array: np.ndarray) -> None:
        """Append items to a section."""
        data = np.ascontiguousarray(array, self._sections[name].dtype).data.cast("B")
        self.write(data, self.take(name, data))

    def take(self, name: str, data: memoryview) -> int:
        """Count bytes as the next ones of a section; return the place in the file where :meth:`write` must put them.

        Takes come in the order of the section, the writes in any order, from any thread.
        """
        section = self._sections[name]
        place = section.offset + section.length
        assert not isinstance(section.sums, StretchSums)
        section.sums.add(data)
        return place

    def note(self, name: str, sums: Sequence[int], length: int) -> int:
        """Count ``length`` bytes as :meth:`take` does, of which the stretches have these checksums."""
        section = self._sections[name]
        place = section.offset + section.length
        assert isinstance(section.sums, StretchSums)
        section.sums.note(sums, length)
        return place

    def write(self, data: memoryview, place: int) -> None:
        """Write all of ``data`` at a byte of the file."""
        while data:
            done = os.pwrite(self._handle, data, place)
            data, place = data[done:], place + done
            if self._progress is not None:
                self._progress(done)

    def start_writeback(self, place: int, length: int) -> None:
        """Have bytes that were written sent to the disk from now on."""
        start_writeback(self._handle, place, length)

    def same(self, first: str, second: str) -> bool:
        """Tell whether two sections hold the same bytes."""
        one, other = self._sections[first], self._sections[second]
        if (one.length, one.sums.value()) != (other.length, other.sums.value()):
            return False
        return all(
            os.pread(self._handle, _COPY, one.offset + at)[: one.length - at]
            == os.pread(self._handle, _COPY, other.offset + at)[: one.length - at]
            for at in range(0, one.length, _COPY)
        )

    def drop(self, prefix: str) -> None:
        """Forget the sections, the last ones, whose names begin with ``prefix``."""
        self._sections = {name: s for name, s in self._sections.items() if not name.startswith(prefix)}

    def count(self, name: str) -> int:
        """Return the items of a section so far."""
        section = self._sections[name]
        return section.length // section.dtype.itemsize

    def finish(self, **header: Any) -> None:
        """Move every section to its place and write header and section table."""
        sections, total = self.settle()
        page = layout.pack(Header(file_bytes=total, **header), sections)
        self.write(memoryview(page), 0)

    def settle(self) -> tuple[list[Section], int]:
        """Move every section to its place; return the section table and the length that the file has now."""
        end = layout.PAGE
        sections = []
        moved = False
        for section in self._sections.values():
            offset = layout.aligned(end, section.length, section.within)
            moved = moved or offset != section.offset
            kind = section.dtype.newbyteorder("<").str
            count = section.length // section.dtype.itemsize
            sections.append(Section(section.name, kind, count, offset, section.length, section.sums.value()))
            end = offset + section.length + layout.PADDING
        total = layout.file_bytes(sections)
        if moved:
            self._move(sections)
        os.ftruncate(self._handle, min(total, os.fstat(self._handle).st_size))
        os.ftruncate(self._handle, total)
        if moved:
            self._clear_gaps(sections, total)
        return sections, total

    def _move(self, sections: list[Section]) -> None:
        """Move sections: first those that go down, in ascending order, then those that go up, in descending order.

        In that order none is written over another that has still to move.
        """
        pairs = list(zip(self._sections.values(), sections, strict=True))
        for old, new in pairs:
            if new.offset < old.offset:
                for at in range(0, new.length, _COPY):
                    self._copy(old.offset + at, new.offset + at, min(_COPY, new.length - at))
        for old, new in reversed(pairs):
            if new.offset > old.offset:
                for at in reversed(range(0, new.length, _COPY)):
                    self._copy(old.offset + at, new.offset + at, min(_COPY, new.length - at))

    def _copy(self, source: int, target: int, length: int) -> None:
        data = b""
        while len(data) < length and (more := os.pread(self._handle, length - len(data), source + len(data))):
            data += more
        self.write(memoryview(data), target)

    def _clear_gaps(self, sections: list[Section], total: int) -> None:
        starts = [section.offset for section in sections[1:]] + [total]
        for section, start in zip(sections, starts, strict=True):
            self.write(memoryview(bytes(start - section.offset - section.length)), section.offset + section.length)
