"""What can be checked of the shards in a folder: each by itself, so that a machine needs to hold no others.

In: a folder with a manifest. Out: one :class:`Passed` for each check that holds; the first that does not raises
FormatError with the file. A shard that is not there is missing, unless it is said that another machine may hold it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from bigbfs.errors import FormatError
from bigbfs.formats.container import layout
from bigbfs.formats.container.passed import Passed
from bigbfs.formats.shards.files import PAGE
from bigbfs.formats.shards.layout import identity
from bigbfs.formats.shards.manifest import NAME, REST, Manifest, open_shard, read_manifest, require_no_others
from bigbfs.report.progress import SILENT, Progress

NAMED = 8
"""Missing shards that are named."""


def check_shards(folder: Path, told: Progress = SILENT, *, here: bool = False) -> Iterator[Passed]:
    """Check the manifest of ``folder``, and headers and checksums of all shards that are there.

    ``here``: others may lie elsewhere.

    Raises
    ------
    FormatError
        At the first check that does not hold; shards are missing.
    FileAccessError
        A file cannot be read.
    """
    manifest = read_manifest(folder)
    entries = [*manifest.shards, manifest.rest]
    present = [part for part, entry in enumerate(entries) if (folder / entry.file).exists()]
    told.now("check: shards", sum(entries[part].bytes for part in present), "B")
    graph = manifest.graph
    yield Passed(
        "manifest", f"{len(manifest.shards):,} shards of {graph['vertices']:,} vertices, {graph['edges']:,} edges"
    )
    require_no_others(folder, manifest)
    for part in present:
        yield _checked(folder, manifest, part, told)
    if not present:
        raise FormatError(f"{folder}: holds {NAME} and no shard; fetch them")
    missing = [entry.file for entry in entries if not (folder / entry.file).exists()]
    if missing and not here:
        more = f" and {len(missing) - NAMED:,} more" if len(missing) > NAMED else ""
        fetch = "fetch them" if len(missing) > 1 else "fetch it"
        raise FormatError(
            f"{folder}: {', '.join(missing[:NAMED])}{more}: missing, of {len(entries):,} files that {NAME} names; what "
            "is here holds",
            remedies=(fetch, ("here", True, "use {} if others lie elsewhere")),
        )
    yield Passed("here", f"{sum(part < len(manifest.shards) for part in present):,} of {len(manifest.shards):,} shards")


def _checked(folder: Path, manifest: Manifest, part: int, told: Progress) -> Passed:
    """Read a whole shard."""
    total = 0
    with open_shard(folder, manifest, part) as shard:
        for name, section in shard.sections.items():
            for stretch in shard.stretches(name):
                told.advance(stretch.nbytes)
            total += section.length
        shard.require_empty_gaps()
        if part == len(manifest.shards):
            page = shard.whole(PAGE).tobytes()
            layout.unpack(page, manifest.graph["file_bytes"], shard.path)
            if identity(page).hex() != manifest.graph["identity"]:
                raise FormatError(f"{folder / REST}: its section {PAGE} is of another graph; fetch it again")
        said = f"{len(shard.sections)} sections, {total:,} bytes"
    entry = manifest.rest if part == len(manifest.shards) else manifest.shards[part]
    return Passed(entry.file, said if part == len(manifest.shards) else f"{entry.rows:,} rows, {said}")
