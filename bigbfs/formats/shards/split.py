"""A graph file into shards: ranges of rows of about equal work, each a file of its own.

Memory: a few MiB, whatever the graph's size. The manifest is written last. A run that was killed is taken up where it
was: shards that are there already, of this graph and these rows, stay.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np

from bigbfs.errors import FileAccessError, FormatError, UsageError
from bigbfs.formats.atomic import access_error
from bigbfs.formats.container import csrbin, layout
from bigbfs.formats.container.check import require_empty_gaps
from bigbfs.formats.container.checksum import RunningChecksum
from bigbfs.formats.container.csrbin import Container
from bigbfs.formats.container.parts import MOST
from bigbfs.formats.shards.extents import Extent, cut_rows, extents, row_sections
from bigbfs.formats.shards.files import PAGE, Content, PieceReader, Shard, Wrote, write_shard
from bigbfs.formats.shards.layout import EDGES, ShardHeader, identity
from bigbfs.formats.shards.manifest import (
    NAME,
    REST,
    SUFFIX,
    Manifest,
    alone_in,
    clear,
    entry_of,
    facts,
    open_shard,
    read_manifest,
    shard_name,
    write_manifest,
)
from bigbfs.formats.shards.report import ShardsReport
from bigbfs.formats.shards.room import require_room
from bigbfs.report.progress import Progress
from bigbfs.sizes import file_path, integer, switch

_DEGREES = 1 << 20
"""Degrees that are added up at once."""


def shards_path(graph: Path) -> Path:
    """Return the folder that the shards of a graph file go to where nobody names one."""
    return graph.with_suffix(SUFFIX)


def split(
    graph: str | Path,
    output: str | Path | None = None,
    *,
    shards: int = 64,
    force: bool = False,
    progress: bool = False,
) -> ShardsReport:
    """Write the rows of a graph file as ``shards`` files in the folder ``output``; see docs/formats.md.

    Parameters
    ----------
    graph
        A .csrbin or .ccsr.
    output
        Folder, made if need be, of any name but a graph file's; None: the name of the graph with .shards.
    shards
        How many, 1 to 65,536; some have no row where the graph has few.
    force
        Replace the shards of another graph, or another number of them.
    progress
        Show progress on a terminal.

    Raises
    ------
    UsageError
        ``shards`` is out of range; the folder holds something else; another process writes there.
    FormatError
        The graph file is none of ours, or damaged.
    FileAccessError
        It cannot be read, or the shards not be written.
    DoesNotFitError
        The disk has not the room.
    """
    start, path = time.perf_counter(), file_path("graph", graph)
    folder = shards_path(path) if output is None else file_path("output", output)
    force, progress = switch("force", force), switch("progress", progress)
    shards = integer("shards", shards, 1, MOST)
    container = csrbin.open_container(path)
    try:
        require_name(folder)
        made = make_folder(folder)
        try:
            with alone_in(folder):
                done, kept = _split(container, folder, shards, force, Progress(progress))
        except BaseException:
            if made:
                with suppress(OSError):  # shards that are done stay for the next run
                    folder.rmdir()
            raise
    finally:
        container.mapped.close()
    size = sum(entry.bytes for entry in (*done.shards, done.rest))
    header = container.header
    return ShardsReport(str(folder), shards, header.n, header.m, size, kept, time.perf_counter() - start)


def write_some(graph: Path, folder: Path, shards: int, parts: range) -> None:
    """Write some of the ``shards`` shards of a sound graph file, those that are not there; :func:`split` does the rest.

    Raises
    ------
    FormatError, FileAccessError
        As :func:`split`.
    """
    container = csrbin.open_container(graph)
    reader = PieceReader(graph)
    try:
        for header in _headers(container, shards, identity(container.mapped.start(layout.PAGE)))[
            parts.start : parts.stop
        ]:
            if _there(folder, header) is None:
                pieces = extents(container, header.first_row, header.first_row + header.rows)
                write_shard(folder / shard_name(header.part), header, _rows(container, reader, pieces))
    finally:
        reader.close()
        container.mapped.close()


def _split(container: Container, folder: Path, shards: int, force: bool, told: Progress) -> tuple[Manifest, int]:
    """Write what is missing; return the manifest, and how many shards were there already."""
    page = container.mapped.start(layout.PAGE)
    whose, path = identity(page), container.mapped.path
    done = _complete(folder, whose, shards, force)
    if done is not None:
        return done, shards
    total = container.header.file_bytes
    reader = PieceReader(path)
    try:
        with told.step(f"check the checksums of {path}", total, "B"):
            _require_sound(container, reader, told)
        headers = _headers(container, shards, whose)
        there = {shard_name(header.part): wrote for header in headers if (wrote := _there(folder, header)) is not None}
        clear(folder, list(there))
        require_room(folder, total - sum(wrote.size for wrote in there.values()), "the shards take")
        entries = []
        with told.step(f"split {path}", total - sum(wrote.size for wrote in there.values()), "B"):
            for header in headers:
                name, pieces = (
                    shard_name(header.part),
                    extents(container, header.first_row, header.first_row + header.rows),
                )
                wrote = there.get(name)
                if wrote is None:
                    wrote = write_shard(folder / name, header, _rows(container, reader, pieces), told.advance)
                edges = _edges(container, header)
                entries.append(entry_of(name, wrote, header.first_row, header.rows, edges))
            header = ShardHeader(container.header, shards, shards, 0, 0, whose)
            rest = write_shard(folder / REST, header, _rest(container, reader, page), told.advance)
    finally:
        reader.close()
    graph = facts(container.header, whose, _order(path))
    manifest = Manifest(graph, tuple(entries), entry_of(REST, rest))
    write_manifest(folder, manifest)
    return manifest, len(there)


def _require_sound(container: Container, reader: PieceReader, told: Progress) -> None:
    """Compare all checksums: the shards get some of their own, and damage must not become sound by them."""
    for name, section in container.sections.items():
        sums = RunningChecksum()
        for stretch in reader.items(section, 0, section.count):
            sums.add(stretch.data.cast("B"))
            told.advance(stretch.nbytes)
        if sums.value() != section.checksum:
            csrbin.require_checksum(container, name)  # says so
    require_empty_gaps(container)


def _headers(container: Container, shards: int, whose: bytes) -> list[ShardHeader]:
    """Return what the header of each shard will say, but for its length."""
    bounds = cut_rows(container, shards)
    if bounds != sorted(bounds):
        raise FormatError(f"{container.mapped.path}: the offsets descend; `bigbfs check` names the place")
    return [
        ShardHeader(container.header, part, shards, first, last - first, whose)
        for part, (first, last) in enumerate(pairwise(bounds))
    ]


def _there(folder: Path, header: ShardHeader) -> Wrote | None:
    """Return the shard with this header that is there already, whole; None: there is none."""
    try:
        with Shard(folder / shard_name(header.part)) as shard:
            found = replace(shard.header, graph=header.graph)
            return Wrote(shard.header.graph.file_bytes, shard.page) if found == header else None
    except (FormatError, FileAccessError):
        return None


def _rows(container: Container, reader: PieceReader, pieces: dict[str, Extent]) -> Iterator[Content]:
    """Return the sections of a shard."""
    for name, piece in pieces.items():
        section = container.sections[name]
        stretches = reader.items(section, piece.first, piece.last)
        if piece.base:
            stretches = (stretch - np.uint64(piece.base) for stretch in stretches)
        kind = np.dtype(section.dtype)
        within = piece.first * kind.itemsize if name in EDGES else 0
        yield name, kind, piece.last - piece.first, within, stretches


def _rest(container: Container, reader: PieceReader, page: bytes) -> Iterator[Content]:
    """Return the sections of the rest: the first page, and whatever is not of rows."""
    yield PAGE, np.dtype(np.uint8), layout.PAGE, 0, [np.frombuffer(page, np.uint8)]
    of_rows = row_sections(container.sections, container.header.codec)
    for name, section in container.sections.items():
        if name not in of_rows:
            yield name, np.dtype(section.dtype), section.count, 0, reader.items(section, 0, section.count)


def _edges(container: Container, header: ShardHeader) -> int:
    """Return the edges of a shard's rows."""
    first, last = header.first_row, header.first_row + header.rows
    if container.header.codec == "plain":
        indptr = container.array("indptr")
        return int(indptr[last]) - int(indptr[first])
    degree = container.array("degree")
    return sum(int(degree[at : min(at + _DEGREES, last)].sum(dtype=np.int64)) for at in range(first, last, _DEGREES))


def _order(path: Path) -> str | None:
    """Return the order of the vertices, as the graph file says it was made."""
    known = csrbin.read_provenance(path) or {}
    options = known.get("options")
    return options.get("order") if isinstance(options, dict) else None


def require_name(folder: Path) -> None:
    """Refuse the name of a graph file for a folder of shards; any other will do, since the manifest says what it is.

    Raises
    ------
    UsageError
        Offers a name.
    """
    if folder.suffix in csrbin.SUFFIXES.values():
        raise UsageError(
            f"{folder}: shards go to a folder, and {folder.suffix} is the name of a graph file",
            remedies=(("output", str(folder.with_suffix(SUFFIX)), "name the folder with {}"),),
        )


def make_folder(folder: Path) -> bool:
    """Make the folder of shards where there is none; return whether there was none.

    Raises
    ------
    FileAccessError
        It cannot be made, or is no folder.
    """
    if folder.exists() and not folder.is_dir():
        raise FileAccessError(f"{folder}: cannot write shards there: it is no folder; name another one")
    try:
        folder.mkdir(exist_ok=False)
    except FileExistsError:
        return False
    except OSError as error:
        raise access_error(folder, error, "make") from error
    return True


def require_ours(folder: Path) -> None:
    """Refuse a folder in which anything but shards lies.

    Raises
    ------
    UsageError
        Names it.
    """
    for path in folder.iterdir():
        if path.is_dir() or not (is_ours(path) or path.name.startswith(".")):
            raise UsageError(
                f"{folder}: holds {path.name}, which is no shard of a graph",
                remedies=(("output", None, "name a folder for shards alone with {}"),),
            )


def _complete(folder: Path, whose: bytes, shards: int, force: bool) -> Manifest | None:
    """Return the manifest of a folder that holds these shards already; None: there is something to do.

    Raises
    ------
    UsageError
        It holds files that are no shards, or the shards of another graph, or another number, and no ``force``.
    """
    require_ours(folder)
    if force or not (folder / NAME).exists():
        return None
    found = read_manifest(folder)
    if (found.graph["identity"], len(found.shards)) == (whose.hex(), shards) and not _missing(folder, found):
        return found
    raise UsageError(
        f"{folder}: holds the {len(found.shards)} shards of a graph of {found.graph['vertices']:,} vertices and "
        f"{found.graph['edges']:,} edges",
        remedies=(("output", None, "name another folder with {}"), ("force", True, "say {} to replace them")),
    )


def _missing(folder: Path, manifest: Manifest) -> bool:
    """Return whether a shard of a complete folder has gone, or is another one by now."""
    try:
        for part in range(len(manifest.shards) + 1):
            open_shard(folder, manifest, part).close()
    except (FormatError, FileAccessError):
        return True
    return False


def is_ours(path: Path) -> bool:
    """Return whether a file of a folder of shards is a shard, or the manifest."""
    if path.name == NAME:
        return True
    try:
        with path.open("rb") as stream:
            return path.suffix == ".shard" and stream.read(len(layout.SHARD_MAGIC)) == layout.SHARD_MAGIC
    except OSError:
        return False
