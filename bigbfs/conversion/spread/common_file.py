"""The graph file of rows that ranks of one machine have sorted on one state: parts of it are placed, and written.

Whoever is free places the next part in memory of its own, while that is in a core's cache takes its checksum, and
writes it where it belongs. Rank 0 puts the checksums together, writes the header and gives the file its name.
"""

from __future__ import annotations

import os
import zlib
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import numpy as np

from bigbfs.conversion.on_disk.work import Job, provenance_of
from bigbfs.conversion.spread.assemble import PROVENANCE, Whole, made_by_first
from bigbfs.conversion.spread.common import Common
from bigbfs.engines.ranks.agreeing import together
from bigbfs.engines.ranks.group import Group
from bigbfs.formats.atomic import access_error
from bigbfs.formats.container import csrbin, layout
from bigbfs.formats.container.checksum import STRETCH, StretchSums, joined
from bigbfs.formats.container.layout import Section
from bigbfs.formats.writeback import start_writeback
from bigbfs.graph.flags import GraphFlags
from bigbfs.graph.transposing import TASKS_PER_THREAD, place_columns
from bigbfs.jit.workers import balanced_ranges

PART_BYTES = 2 << 20
"""About what a thread places at once."""

Sum = tuple[int, int, int, int]
"""A piece of a stretch: number of the section, place in it, bytes, and their CRC-32."""


def write_in_common(
    job: Job,
    rows: Common,
    counted: dict[str, int],
    labels: np.ndarray | None,
    first_id: int,
    flags: GraphFlags,
    group: Group,
) -> Whole:
    """Write the graph file, all ranks together; return what was written.

    Parameters
    ----------
    counted
        As in the provenance.
    labels, first_id
        Original ids, int64, where they are not numbers in a row; the first of these, or 0.

    Raises
    ------
    Agreed
        Of a FileAccessError: it cannot be written, or not by all ranks. Nothing is left behind.
    """
    target = job.targets.plain
    assert target is not None
    n, m, ids = len(rows.indptr) - 1, int(rows.dealt.bases[-1]), rows.dealt.turn.indices.dtype
    text = together(group, lambda: csrbin.provenance_bytes(provenance_of(job, counted, "plain")))
    flat = {PROVENANCE: text, **({} if labels is None else {"labels": labels}), "indptr": rows.indptr.view(np.uint64)}
    sections = _placed([(name, array.dtype, len(array)) for name, array in flat.items()] + [("indices", ids, m)])
    total = layout.file_bytes(sections)
    with ExitStack() as stack:
        stream, handle = made_by_first(target, total, group, stack)
        writer = _Writer(target, handle, sections)
        parts = balanced_ranges(rows.dealt.bases, max(TASKS_PER_THREAD * rows.members, m * ids.itemsize // PART_BYTES))
        placing = _Placing(rows, parts, writer)
        rows.crew.each(len(parts), placing.place)
        stretches = [(number, at) for number in range(len(flat)) for at in range(0, sections[number].length, STRETCH)]
        data = [array.view(np.uint8) for array in flat.values()]
        rows.crew.each(len(stretches), lambda i: writer.write_stretch(data, *stretches[i]))
        everyone = [each for sums in group.objects(writer.sums) for each in sums]

        def finish() -> None:
            if stream is not None:
                names = csrbin.flag_names(flags)
                shape = csrbin.fields_of(n=n, m=m, ids=ids, first_id=first_id, flags=names, codec="plain")
                header = layout.Header(file_bytes=total, **shape)
                os.pwrite(stream.fileno(), layout.pack(header, _summed(sections, everyone)), 0)
            elif group.rank == 1:
                rows.crew.forget()  # while rank 0 waits for the disk
            stack.close()

        together(group, finish)
    return Whole(n, m, counted, notes=tuple(job.notes))


def _placed(items: list[tuple[str, np.dtype, int]]) -> list[Section]:
    """Return the section table, checksums aside."""
    sections, end = [], layout.PAGE
    for name, dtype, count in items:
        length = count * dtype.itemsize
        offset = layout.aligned(end, length)
        sections.append(Section(name, dtype.newbyteorder("<").str, count, offset, length, 0))
        end = offset + length + layout.PADDING
    return sections


class _Writer:
    """Writes pieces of sections, and keeps their checksums."""

    def __init__(self, target: Path, handle: int, sections: list[Section]) -> None:
        self._target, self._handle, self.sections = target, handle, sections
        self.sums: list[Sum] = []

    def write_stretch(self, arrays: list[np.ndarray], number: int, at: int) -> None:
        """Write the stretch that begins at a byte of section ``number``, of which ``arrays`` has the content."""
        self.write(number, at, arrays[number][at : at + STRETCH].data)

    def write(self, number: int, at: int, data: memoryview) -> None:
        """Write ``data`` from byte ``at`` of section ``number`` on."""
        place, whole = self.sections[number].offset + at, len(data)
        rest, here = data, at
        while rest:
            piece = rest[: STRETCH - here % STRETCH]
            self.sums.append((number, here, len(piece), zlib.crc32(piece)))
            rest, here = rest[len(piece) :], here + len(piece)
        try:
            while data:
                done = os.pwrite(self._handle, data, place + whole - len(data))
                data = data[done:]
        except OSError as error:
            raise access_error(self._target, error, "write") from error
        start_writeback(self._handle, place, whole)


class _Placing:
    """Places parts of the rows, each in memory of its thread, and hands them on."""

    def __init__(self, rows: Common, parts: list[tuple[int, int]], writer: _Writer) -> None:
        self._rows, self._parts, self._writer = rows, parts, writer
        bases = rows.dealt.bases
        self._most = max((int(bases[end] - bases[first]) for first, end in parts), default=0)
        self._free: list[np.ndarray] = []

    def place(self, part: int) -> None:
        """Place a part and write it."""
        (first, end), rows, dealt = self._parts[part], self._rows, self._rows.dealt
        begin, count = int(dealt.bases[first]), int(dealt.bases[end] - dealt.bases[first])
        try:
            out = self._free.pop()
        except IndexError:  # every thread has its own by now, or another one was faster
            out = np.empty(self._most, dealt.turn.indices.dtype)
        place_columns(first, end, dealt.turn, dealt.starts, dealt.keys, dealt.bases - begin, rows.indptr, out)
        n = len(rows.indptr) - 1
        low, high = (min(n, bucket << int(dealt.turn.shift)) for bucket in (first, end))
        rows.indptr[low + 1 : high + 1] += begin
        self._writer.write(len(self._writer.sections) - 1, begin * out.itemsize, out[:count].view(np.uint8).data)
        self._free.append(out)


def _summed(sections: list[Section], sums: list[Sum]) -> list[Section]:
    """Return the section table with checksums."""
    found = [StretchSums() for _ in sections]
    stretch: dict[tuple[int, int], tuple[int, int]] = {}
    for number, at, length, value in sorted(sums):
        key = number, at // STRETCH
        before, size = stretch.get(key, (0, 0))
        stretch[key] = joined(before, value, length), size + length
    for (number, _), (value, size) in stretch.items():
        found[number].note([value], size)
    return [replace(section, checksum=sums.value()) for section, sums in zip(sections, found, strict=True)]
