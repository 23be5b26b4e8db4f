"""The graph file of rows that ranks of one machine have sorted on one state: parts of it are placed, and written.

Whoever is free places the next part in memory of its own, while that is in a core's cache takes its checksum, and
writes it where it belongs. Rank 0 puts the checksums together, writes the header and gives the file its name.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import numpy as np

from bigbfs.conversion.on_disk.work import Job, provenance_of
from bigbfs.conversion.spread.assemble import PROVENANCE, Whole, made_by_first
from bigbfs.conversion.spread.common import Common
from bigbfs.conversion.spread.common_sides import Part, Placing, parts_of
from bigbfs.engines.ranks.agreeing import together
from bigbfs.engines.ranks.group import Group
from bigbfs.formats.atomic import access_error
from bigbfs.formats.container import csrbin, layout
from bigbfs.formats.container.checksum import STRETCH, StretchSums, joined
from bigbfs.formats.container.layout import Section
from bigbfs.formats.writeback import start_writeback
from bigbfs.graph.flags import GraphFlags

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
    out = rows.sides[0]
    n, m, ids = len(out.indptr) - 1, int(out.bases[-1]), out.ids
    text = together(group, lambda: csrbin.provenance_bytes(provenance_of(job, counted, "plain")))
    flat = {PROVENANCE: text, **({} if labels is None else {"labels": labels})}
    items = [(name, array.dtype, len(array)) for name, array in flat.items()]
    for side in rows.sides:
        flat[side.prefix + "indptr"] = side.indptr.view(np.uint64)
        items += [(side.prefix + "indptr", np.dtype(np.uint64), n + 1), (side.prefix + "indices", ids, m)]
    sections = _placed(items)
    total = layout.file_bytes(sections)
    with ExitStack() as stack:
        stream, handle = made_by_first(target, total, group, stack)
        writer = _Writer(target, handle, sections)
        parts = [part for side in rows.sides for part in parts_of(side, rows.members)]
        rows.crew.each(len(parts), Placing(parts, writer.write_part).place)
        data = {i: flat[each.name].view(np.uint8) for i, each in enumerate(sections) if each.name in flat}
        stretches = [(number, at) for number, array in data.items() for at in range(0, len(array), STRETCH)]
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
        self._numbers = {section.name: number for number, section in enumerate(sections)}

    def write_part(self, part: Part, ids: np.ndarray) -> None:
        """Write a part of the rows, which has been placed."""
        low, high = part.rows
        part.side.indptr[low + 1 : high + 1] += part.begin
        number = self._numbers[part.side.prefix + "indices"]
        self.write(number, part.begin * ids.itemsize, ids.view(np.uint8).data)

    def write_stretch(self, arrays: Mapping[int, np.ndarray], number: int, at: int) -> None:
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
