"""A conversion whose result are shards: the graph file is made among the temporary files, and split.

Killed at any moment, it leaves a folder without a manifest, which nobody takes for a graph; the next run makes the file
again, and keeps the shards that are there.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from bigbfs.conversion import cache
from bigbfs.conversion.folders import expand
from bigbfs.conversion.on_disk.scratch import Scratch, remove_left
from bigbfs.conversion.options import ConvertOptions
from bigbfs.conversion.report import ConvertReport, peak_rss_bytes
from bigbfs.conversion.targets import base_name, require_a_name
from bigbfs.errors import FileAccessError, FormatError, UsageError
from bigbfs.formats.container import csrbin
from bigbfs.formats.shards.manifest import SUFFIX, Manifest, open_shard, read_manifest
from bigbfs.formats.shards.split import require_name, require_ours, split
from bigbfs.formats.streams.sources import STANDARD_INPUT

Convert = Callable[[Sequence[str | Path], Path, ConvertOptions], ConvertReport]


def convert_to_shards(
    inputs: Sequence[str | Path], output: str | Path | None, options: ConvertOptions, convert: Convert
) -> ConvertReport:
    """Convert ``inputs`` by ``convert``, and write the graph as ``options.shards`` shards.

    Parameters
    ----------
    output
        A folder, of any name but a graph file's; None: the first input's name with .shards.

    Raises
    ------
    UsageError
        The folder is named like a graph file, or holds something else.
    BigBfsError
        As of :func:`bigbfs.conversion.convert` and :func:`bigbfs.formats.shards.split.split`.
    """
    start = time.perf_counter()
    assert options.shards is not None
    folder = shards_target(inputs, output)
    codec = "varint" if options.compressed else "plain"
    place = options.tmp if options.tmp is not None else folder.parent
    known = found_there(folder, inputs, options)
    if known is not None:
        remove_left(place, folder.resolve(), (cache.identify_sources(expand(inputs)), options.identity()))
        return replace(known, seconds=time.perf_counter() - start)
    require_free(folder, options)  # what is refused loses nothing
    remove_left(place, folder.resolve(), None)
    with Scratch(place, output=folder) as scratch:
        target = scratch.folder / f"graph{csrbin.SUFFIXES[codec]}"
        try:
            report = convert(inputs, target, replace(options, shards=None, compressed=False))
        except FileAccessError as error:
            if not error.message.startswith(f"{target}: "):
                raise
            why = error.message.removeprefix(f"{target}: ")
            where = "beside it" if place == folder.parent else f"in {place}"
            raise type(error)(f"{folder}: its graph file, {where}: {why}", remedies=(("tmp", None),)) from error
        done = split(target, folder, shards=options.shards, force=options.force, progress=options.progress)
    phases = report.phases | {"write": report.phases.get("write", 0.0) + done.seconds}
    return replace(
        report,
        output=str(folder),
        output_bytes=done.output_bytes,
        compressed=None,  # a temporary file, if there was one
        compressed_bytes=0,
        shards=done.shards,
        seconds=time.perf_counter() - start,
        phases=phases,
        peak_rss_bytes=peak_rss_bytes(),
    )


def found_there(folder: Path, inputs: Sequence[str | Path], options: ConvertOptions) -> ConvertReport | None:
    """Return the report of a folder whose shards were made of these inputs with these options; None: there is none."""
    known = _up_to_date(folder, inputs, options) if folder.is_dir() and not options.force else None
    return None if known is None else _found(folder, *known)


def require_free(folder: Path, options: ConvertOptions) -> None:
    """Refuse a folder that holds something else.

    Raises
    ------
    UsageError
        Files that are no shards; the shards of another graph, and no ``force``.
    """
    if not folder.is_dir():
        return
    require_ours(folder)
    if (folder / "manifest.json").exists() and not options.force:
        raise UsageError(
            f"{folder}: holds the shards of another graph, or another number of them",
            remedies=(("output", None, "name another folder with {}"), ("force", True, "say {} to replace them")),
        )


def shards_target(inputs: Sequence[str | Path], output: str | Path | None) -> Path:
    """Return the folder to write.

    Raises
    ------
    UsageError
        It is named like a graph file, or not named and the input has no name.
    """
    if output is None:
        first = Path(inputs[0] if inputs and str(inputs[0]) else STANDARD_INPUT)
        require_a_name(first, f"OUT{SUFFIX}")
        return first.with_name(base_name(first.name) + SUFFIX)
    require_name(Path(output))
    return Path(output)


def _up_to_date(
    folder: Path, inputs: Sequence[str | Path], options: ConvertOptions
) -> tuple[Manifest, dict[str, Any]] | None:
    """Return manifest and provenance of the folder if it was made of these inputs with these options, else None."""
    try:
        manifest = read_manifest(folder)
        with open_shard(folder, manifest, len(manifest.shards)) as rest:
            known = json.loads(rest.whole("provenance").tobytes())
        codec = "varint" if options.compressed else "plain"
        same = known["sources"] == cache.identify_sources(expand(inputs)) and known["options"] == options.identity()
        kind = (len(manifest.shards), manifest.graph["codec"]) == (options.shards, codec)
        return (manifest, known) if same and kind and known["sources"] is not None else None
    except (FormatError, FileAccessError, KeyError, ValueError, TypeError):
        return None


def _found(folder: Path, manifest: Manifest, known: dict[str, Any]) -> ConvertReport:
    """Report what is there."""
    return ConvertReport(
        output=str(folder),
        compressed=None,
        vertices=manifest.graph["vertices"],
        edges=manifest.graph["edges"],
        **{name: known["counts"][name] for name in cache.COUNTS},
        output_bytes=sum(entry.bytes for entry in (*manifest.shards, manifest.rest)),
        compressed_bytes=0,
        seconds=0.0,
        peak_rss_bytes=peak_rss_bytes(),
        shards=len(manifest.shards),
        cached=True,
        order=cache.order_of(known),
        notes=tuple(known.get("notes", ())),
    )
