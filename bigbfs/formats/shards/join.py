"""Shards into the graph file that they are parts of: the same bytes as before they were split.

Memory: a few MiB, whatever the graph's size. Every checksum of every shard is compared on the way, and in the end those
of the whole file. It gets its name when all holds. A run that was killed is taken up behind the last shard that it
had written whole.
"""

from __future__ import annotations

import time
from contextlib import ExitStack
from pathlib import Path

from bigbfs.errors import FormatError, UsageError
from bigbfs.formats.atomic import require_writable
from bigbfs.formats.container import csrbin, layout
from bigbfs.formats.container.layout import Header, Section
from bigbfs.formats.ours import GRAPH, require_ours
from bigbfs.formats.shards.extents import row_sections
from bigbfs.formats.shards.files import PAGE, Shard
from bigbfs.formats.shards.manifest import (
    REST,
    SUFFIX,
    Manifest,
    open_shard,
    read_manifest,
    require_no_others,
)
from bigbfs.formats.shards.report import ShardsReport
from bigbfs.formats.shards.room import require_room
from bigbfs.formats.shards.under_way import UnderWay
from bigbfs.report.progress import Progress
from bigbfs.sizes import file_path, switch


def join(
    shards: str | Path, output: str | Path | None = None, *, force: bool = False, progress: bool = False
) -> ShardsReport:
    """Write the graph file of which the folder ``shards`` has all parts.

    Parameters
    ----------
    output
        .csrbin or .ccsr, as the rows are encoded; None: the folder's name with that suffix.
    force
        Replace a file that bigbfs did not write.
    progress
        Show progress on a terminal.

    Raises
    ------
    UsageError
        ``output`` has the other suffix, or is a file of somebody else's.
    FormatError
        A shard is missing, damaged, of another graph, or there twice; names it.
    FileAccessError
        A shard cannot be read, or the graph not be written. Nothing is left that could be taken for a graph.
    DoesNotFitError
        The disk has not the room.
    """
    start, folder = time.perf_counter(), file_path("shards", shards)
    force, progress = switch("force", force), switch("progress", progress)
    manifest = read_manifest(folder)
    target = _target(folder, manifest, None if output is None else file_path("output", output))
    require_writable(target)
    require_ours(target, force, replaces=GRAPH)
    told = Progress(progress)
    with ExitStack() as opened:
        parts = len(manifest.shards)
        for part in range(parts):
            open_shard(folder, manifest, part).close()
        require_no_others(folder, manifest)
        rest = opened.enter_context(open_shard(folder, manifest, parts))
        page = rest.whole(PAGE).tobytes()
        header, sections = layout.unpack(page, manifest.graph["file_bytes"], folder / REST)
        _require_described(folder, manifest, header)
        with UnderWay(target, manifest.graph["identity"], list(sections), header.file_bytes) as file:
            kept = file.parts
            require_room(target, header.file_bytes - file.bytes_there(), "what is missing of the graph takes")
            with told.step(f"join {folder}", header.file_bytes, "B"):
                told.advance(file.reached)
                for part in range(kept, parts):
                    with open_shard(folder, manifest, part) as shard:
                        _copy(shard, sections, file, told, of_rows=True)
                    file.note(part + 1)
                _copy(rest, sections, file, told, of_rows=False)
                _require_sums(folder, sections, file)
                file.finish(page)
    return ShardsReport(str(target), parts, header.n, header.m, header.file_bytes, kept, time.perf_counter() - start)


def _target(folder: Path, manifest: Manifest, output: Path | None) -> Path:
    """Return the file to write."""
    suffix = csrbin.SUFFIXES[manifest.graph["codec"]]
    if output is None:
        named = folder if folder.name not in ("", "..") else folder.resolve()
        return named.with_name(named.name.removesuffix(SUFFIX) + suffix)
    if output.suffix != suffix:
        raise UsageError(
            f"{output}: the shards in {folder} have {manifest.graph['codec']} rows, so the graph is a {suffix} file; "
            f"name it so (`bigbfs convert` makes the other kind of it)"
        )
    return output


def _require_described(folder: Path, manifest: Manifest, header: Header) -> None:
    """Refuse a first page that is not of the graph that the manifest describes."""
    if (header.n, header.m, header.codec) != tuple(manifest.graph[each] for each in ("vertices", "edges", "codec")):
        raise FormatError(
            f"{folder / REST}: is of a graph of {header.n:,} vertices and {header.m:,} edges, {header.codec}; the "
            "manifest says another; split the graph again"
        )


def _copy(shard: Shard, sections: dict[str, Section], file: UnderWay, told: Progress, *, of_rows: bool) -> None:
    """Append what a shard has of each section."""
    rows = row_sections(sections, shard.header.graph.codec)
    wanted = [name for name in sections if (name in rows) == of_rows]
    if set(wanted) != shard.sections.keys() - {PAGE}:
        odd = sorted(set(wanted) ^ (shard.sections.keys() - {PAGE}))
        raise FormatError(f"{shard.path}: section {odd[0]} is in it or in the graph, and not in both; fetch it again")
    before = {name: file.length(name) // layout.DTYPES[section.dtype] for name, section in sections.items()}
    for name in wanted:
        for stretch in shard.joined(name, before):
            data = stretch.data.cast("B")
            if file.length(name) + len(data) > sections[name].length:
                raise FormatError(f"{shard.path}: section {name} has more items than the graph; fetch it again")
            file.append(name, data, sections[name].offset)
            told.advance(len(data))


def _require_sums(folder: Path, sections: dict[str, Section], file: UnderWay) -> None:
    """Compare the checksums of all sections with those that the graph file had."""
    for name, section in sections.items():
        if (file.length(name), file.value(name)) != (section.length, section.checksum):
            raise FormatError(
                f"{folder}: section {name} comes out otherwise than it was: {file.length(name)} of {section.length} "
                "bytes, or another checksum, though each shard holds by itself; split the graph again"
            )
