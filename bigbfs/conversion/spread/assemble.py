"""Own rows, and the graph file that all ranks write together, each at its place.

The sections of own rows lie in memory, or in a temporary file as those of a shard do (docs/formats.md). When every
rank knows how long those of all are, each copies its own to where they belong; then all share the stretches of 16 MiB
for the checksums. Rank 0 writes the header and gives the file its name.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from bigbfs.conversion.on_disk.work import Job, provenance_of
from bigbfs.conversion.spread.pieces import Pieces
from bigbfs.engines.ranks.agreeing import together
from bigbfs.engines.ranks.group import Group
from bigbfs.errors import FileAccessError
from bigbfs.formats.atomic import access_error, replacing
from bigbfs.formats.container import csrbin, layout
from bigbfs.formats.container.checksum import STRETCH, StretchSums
from bigbfs.formats.container.layout import Section
from bigbfs.formats.shards.extents import OVERLAPPING, counted_by, kind_of
from bigbfs.graph.flags import GraphFlags
from bigbfs.graph.graph import Graph

PROVENANCE = "provenance"


@dataclass(frozen=True)
class Whole:
    """What was written: vertices, edges, counts (as in the provenance), partitions, temporary bytes, notes."""

    vertices: int
    edges: int
    counted: dict[str, int]
    partitions: int = 0
    spilled_bytes: int = 0
    notes: tuple[str, ...] = ()

    @classmethod
    def of_file(cls, path: Path, known: dict[str, Any]) -> Whole:
        """Return what is there already."""
        with Graph.open(path) as graph:
            return cls(graph.n, graph.m, known["counts"], notes=tuple(known.get("notes", ())))


@dataclass(frozen=True)
class OwnRows:
    """The rows of a rank, sorted.

    Attributes
    ----------
    pieces
        By codec: their sections.
    first_id, ids
        Of the whole graph: id of vertex 0 where there are no labels, dtype of an id.
    rows, edges
        Own ones.
    found
        As of :class:`Sorter`, of the out-rows.
    symmetric
        Whether in-rows are known to be the out-rows.
    partitions
        Own ones; 0: they were sorted in memory.
    """

    pieces: Mapping[str, Pieces]
    first_id: int
    ids: np.dtype
    rows: int
    edges: int
    found: np.ndarray
    symmetric: bool
    partitions: int


def assemble(
    work: Job, own: OwnRows, flags: GraphFlags, counted: dict[str, int], drop: bool, spilled: int, group: Group
) -> Whole:
    """Write the graph files, all ranks together; with ``drop`` the in-rows are left out. Return what was written.

    ``spilled``: bytes of temporary files that this rank has written.

    Raises
    ------
    FileAccessError
        A file cannot be written, or not by all ranks. Nothing is left behind.
    """
    n, m, partitions, spilled = group.sum([own.rows, own.edges, own.partitions, spilled]).tolist()
    fields = {"n": n, "m": m, "ids": own.ids, "first_id": own.first_id, "flags": csrbin.flag_names(flags)}
    for codec, target in (("plain", work.targets.plain), ("varint", work.targets.compressed)):
        if target is not None:
            phase = "write" if codec == "plain" else "compress"
            with work.watch.phase(phase), work.told(0, "", f"write {target}"):
                _write(work, target, codec, own, fields, counted, drop, group)
    return Whole(n, m, counted, partitions, spilled, tuple(work.notes))


def _write(
    work: Job,
    target: Path,
    codec: str,
    own: OwnRows,
    fields: dict[str, Any],
    counted: dict[str, int],
    drop: bool,
    group: Group,
) -> None:
    pieces = own.pieces[codec]
    mine = pieces.table
    if drop:
        mine = [section for section in mine if not section.name.startswith("in_")]
    first = group.rank == 0
    text = together(group, lambda: csrbin.provenance_bytes(provenance_of(work, counted, codec)))
    everyone = group.objects({section.name: section.count for section in mine})
    sections, before = _places(mine, everyone, len(text), codec, group.rank)
    total = layout.file_bytes(sections)
    with ExitStack() as stack:
        stream, handle = made_by_first(target, total, group, stack)

        def put() -> None:
            try:
                if first:
                    os.pwrite(handle, text.tobytes(), sections[0].offset)
                _put(handle, pieces, mine, {section.name: section for section in sections}, before, codec)
                if not group.one_host:  # rank 0 syncs what all have written on its machine
                    os.fsync(handle)
            except OSError as error:
                if isinstance(error, FileAccessError):
                    raise
                raise access_error(target, error, "write") from error

        def finish() -> None:
            if stream is not None:
                header = layout.Header(file_bytes=total, **csrbin.fields_of(codec=codec, **fields))
                os.pwrite(stream.fileno(), layout.pack(header, sections), 0)
            stack.close()

        together(group, put)
        sections = _summed(handle, sections, group)
        together(group, finish)


def made_by_first(target: Path, total: int, group: Group, stack: ExitStack) -> tuple[BinaryIO | None, int]:
    """Return a new file of ``total`` bytes as rank 0 holds it (None on others), and as this rank has opened it.

    When ``stack`` ends it gets the name ``target``, or goes where that ends with an error.

    Raises
    ------
    Agreed
        It cannot be made, or not be opened by all ranks.
    """

    def made() -> BinaryIO | None:
        if group.rank:
            return None
        stream = stack.enter_context(replacing(target))
        stream.truncate(total)
        return stream

    stream = together(group, made)
    name = None if stream is None else str(Path(f"/proc/self/fd/{stream.fileno()}").readlink())
    name = group.objects(name)[0]
    handle = together(group, lambda: _opened(name, target, group))
    stack.callback(os.close, handle)
    return stream, handle


def _places(
    mine: list[Section], everyone: list[dict[str, int]], provenance: int, codec: str, rank: int
) -> tuple[list[Section], dict[str, int]]:
    """Return the section table, checksums aside, and how many items of each section stand before this rank's."""
    before: dict[str, int] = {}
    sections = [Section(PROVENANCE, "|u1", provenance, layout.aligned(layout.PAGE, provenance), provenance, 0)]
    for section in mine:
        less = int(kind_of(section.name) in OVERLAPPING)
        counts = [counts[section.name] - (less if number else 0) for number, counts in enumerate(everyone)]
        before[section.name], count = sum(counts[:rank]), sum(counts)
        length = count * layout.DTYPES[section.dtype]
        end = sections[-1].offset + sections[-1].length + layout.PADDING
        sections.append(Section(section.name, section.dtype, count, layout.aligned(end, length), length, 0))
    return sections, before


def _opened(name: str, target: Path, group: Group) -> int:
    """Open the file that rank 0 has made."""
    try:
        return os.open(name, os.O_RDWR | os.O_CLOEXEC)
    except OSError as error:
        raise FileAccessError(
            f"{target}: rank {group.rank} (host {group.host}) cannot open what rank 0 (host {group.hosts[0]}) has made "
            f"there: {os.strerror(error.errno or 0)}; write to a folder that all ranks see"
        ) from error


def _put(
    handle: int, pieces: Pieces, mine: list[Section], whole: dict[str, Section], before: dict[str, int], codec: str
) -> None:
    """Copy own sections to their places."""
    with pieces.opened() as items:
        for section in mine:
            target = counted_by(section.name, codec)
            base = np.uint64(0 if target is None else before[target])
            skip = int(kind_of(section.name) in OVERLAPPING and before[section.name] > 0)
            width = layout.DTYPES[section.dtype]
            place = whole[section.name].offset + before[section.name] * width
            for stretch in items(section, skip, section.count):
                data = (stretch if target is None else stretch + base).data.cast("B")
                while data:
                    done = os.pwrite(handle, data, place)
                    data, place = data[done:], place + done


def _summed(handle: int, sections: list[Section], group: Group) -> list[Section]:
    """Return the section table with the checksums, of which each rank computes its share of the stretches."""
    places = [
        (section.offset + at, min(STRETCH, section.length - at))
        for section in sections
        for at in range(0, section.length, STRETCH)
    ]

    def sums() -> np.ndarray:
        mine, memory = np.zeros(len(places), np.int64), np.empty(STRETCH, np.uint8)
        for number in range(group.rank, len(places), group.size):
            at, length = places[number]
            data = memory[:length].data
            while data and (got := os.preadv(handle, [data], at)):
                data, at = data[got:], at + got
            mine[number] = zlib.crc32(memory[:length].data)
        return mine

    found = iter(group.sum(together(group, sums)).tolist())
    summed = []
    for section in sections:
        whole = StretchSums()
        whole.note([next(found) for _ in range(0, section.length, STRETCH)], section.length)
        summed.append(replace(section, checksum=whole.value()))
    return summed
