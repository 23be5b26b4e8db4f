"""Shards by several ranks: the graph file is made among the temporary files, and each rank writes its share of shards.

Rank 0 then splits: it keeps what is there, writes what is missing, and the manifest. What a run that is killed has
finished is kept until then.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from bigbfs.conversion import cache
from bigbfs.conversion.folders import expand
from bigbfs.conversion.into_shards import found_there, require_free, shards_target
from bigbfs.conversion.on_disk.scratch import Scratch, remove_left
from bigbfs.conversion.options import ConvertOptions
from bigbfs.conversion.report import ConvertReport, peak_rss_bytes
from bigbfs.engines.ranks.agreeing import together
from bigbfs.engines.ranks.group import Group
from bigbfs.formats.container import csrbin
from bigbfs.formats.container.parts import MANIFEST
from bigbfs.formats.shards.manifest import clear
from bigbfs.formats.shards.split import make_folder, split, write_some

Convert = Callable[[Sequence[str | Path], Path, ConvertOptions, Group, Path, ExitStack], ConvertReport]


def spread_to_shards(
    inputs: Sequence[str | Path],
    output: str | Path | None,
    options: ConvertOptions,
    group: Group,
    convert: Convert,
) -> ConvertReport:
    """Convert ``inputs`` by ``convert``, all ranks together, and write the graph as ``options.shards`` shards.

    Raises
    ------
    Agreed
        The folder has another name, or holds something else; what ``convert`` and a split refuse.
    """
    start, first = time.perf_counter(), group.rank == 0
    assert options.shards is not None
    shards, codec = options.shards, "varint" if options.compressed else "plain"
    folder = together(group, lambda: shards_target(inputs, output))

    def looked() -> ConvertReport | None:
        known = found_there(folder, inputs, options) if folder.exists() else None
        if known is None and first:
            require_free(folder, options)
        return known

    known, place = together(group, looked), options.tmp if options.tmp is not None else folder.parent
    if known is not None:
        made = together(group, lambda: cache.identify_sources(expand(inputs))), options.identity()
        together(group, lambda: remove_left(place, folder.resolve(), made))
        return replace(known, seconds=time.perf_counter() - start)
    with ExitStack() as stack:
        scratch = together(group, lambda: stack.enter_context(Scratch(place, output=folder)) if first else None)
        target = Path(
            group.objects(None if scratch is None else str(scratch.folder / f"graph{csrbin.SUFFIXES[codec]}"))[0]
        )
        one_file = replace(options, shards=None, compressed=False, force=True, tmp=place)
        report = convert(inputs, target, one_file, group, folder.resolve(), stack)
        together(group, lambda: _emptied(folder) if first else None)
        mine = range(shards * group.rank // group.size, shards * (group.rank + 1) // group.size)
        together(group, lambda: write_some(target, folder, shards, mine))
        force, told = options.force, options.progress
        done = together(
            group, lambda: split(target, folder, shards=shards, force=force, progress=told) if first else None
        )
        size = group.lengths(0 if done is None else done.output_bytes)[0]
        together(group, stack.pop_all().close)
    return replace(
        report,
        output=str(folder),
        compressed=None,
        compressed_bytes=0,
        output_bytes=size,
        shards=shards,
        seconds=time.perf_counter() - start,
        peak_rss_bytes=peak_rss_bytes(),
    )


def _emptied(folder: Path) -> None:
    """Make the folder, or let it be no graph any more: shards of another one that are in the way are replaced."""
    make_folder(folder)
    if (folder / MANIFEST).exists():
        clear(folder)
