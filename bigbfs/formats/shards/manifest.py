"""The folder of a graph's shards, and its manifest: a JSON object that is written last, so that it says "complete".

A machine that holds some of the shards has the manifest, ``rest.shard`` and those. Everything in the manifest can be
held against the shards: it has a hash of the first page of each, in which the checksums of its sections stand.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bigbfs.errors import FileAccessError, FormatError, UsageError
from bigbfs.formats.atomic import access_error, replacing
from bigbfs.formats.container import layout
from bigbfs.formats.container.layout import Header
from bigbfs.formats.container.parts import MANIFEST as NAME
from bigbfs.formats.container.parts import NOT_COMPLETE
from bigbfs.formats.shards.files import Shard, Wrote

REST = "rest.shard"
SUFFIX = ".shards"
"""Suffix of the folder."""
FORMAT = "bigbfs shards"
VERSION = 1


_TEMPORARY = re.compile(r"\.(\d+\.shard|rest\.shard|manifest\.json)\.[a-z0-9_]{8}\.tmp")


@dataclass(frozen=True)
class Entry:
    """A shard as the manifest has it; ``header``: SHA-256 of its first page, hexadecimal."""

    file: str
    bytes: int
    first_row: int
    rows: int
    edges: int
    header: str


@dataclass(frozen=True)
class Manifest:
    """What the shards of a folder are together.

    Attributes
    ----------
    graph
        vertices, edges, id_bytes, codec, flags, first_id, order, file_bytes and identity of the whole file.
    shards, rest
        The shards in the order of their rows, and the one without rows.
    """

    graph: dict[str, Any]
    shards: tuple[Entry, ...]
    rest: Entry


def shard_name(part: int) -> str:
    """Return the file name of a shard."""
    return f"{part:05}.shard"


def entry_of(name: str, wrote: Wrote, first_row: int = 0, rows: int = 0, edges: int = 0) -> Entry:
    """Return the manifest's entry of a shard."""
    return Entry(name, wrote.size, first_row, rows, edges, hashlib.sha256(wrote.page).hexdigest())


def facts(header: Header, identity: bytes, order: str | None) -> dict[str, Any]:
    """Return what the manifest says of the whole graph."""
    return {
        "vertices": header.n,
        "edges": header.m,
        "id_bytes": header.id_bytes,
        "codec": header.codec,
        "flags": [flag for flag in layout.FLAGS if flag in header.flags],
        "first_id": header.first_id,
        "order": order,
        "file_bytes": header.file_bytes,
        "identity": identity.hex(),
    }


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write the manifest: from now on the folder is complete.

    Raises
    ------
    FileAccessError
        It cannot be written; nothing is left behind.
    """
    content = {"format": FORMAT, "version": VERSION, **asdict(manifest)}
    with replacing(folder / NAME) as stream:
        stream.write(json.dumps(content, indent=1).encode() + b"\n")


def holds_shards(folder: Path) -> bool:
    """Return whether ``folder`` has a manifest, or shards of one that is not there yet."""
    return (folder / NAME).is_file() or any(path.suffix == ".shard" for path in folder.glob("*.shard"))


def read_manifest(folder: Path) -> Manifest:
    """Return the manifest of a folder.

    Raises
    ------
    FileAccessError
        There is no such folder.
    FormatError
        It has no manifest, or one that is damaged or newer.
    """
    if not folder.is_dir():
        what = "is no folder" if folder.exists() else "there is no such folder"
        raise FileAccessError(f"{folder}: {what}; name the folder with the shards of a graph")
    path = folder / NAME
    try:
        text = path.read_bytes()
    except FileNotFoundError:
        what = NOT_COMPLETE
        if not holds_shards(folder):
            what = "it holds no shards; `bigbfs split GRAPH` makes some"
        raise FormatError(f"{folder}: there is no {NAME}; {what}") from None
    except OSError as error:
        raise access_error(path, error, "read") from error
    try:
        return _manifest(json.loads(text), path)
    except FormatError:
        raise
    except (ValueError, TypeError, KeyError) as error:
        why = {KeyError: f"{error} is missing", TypeError: "it does not list shards"}.get(type(error), str(error))
        raise FormatError(f"{path}: is damaged: {why}; fetch it again, or split the graph again") from None


def _manifest(content: Any, path: Path) -> Manifest:
    if content["format"] != FORMAT or content["version"] != VERSION:
        raise FormatError(
            f"{path}: says {content['format']!r} version {content['version']!r}, and this bigbfs reads {FORMAT!r} "
            f"version {VERSION}; use a bigbfs that is as new as the one that wrote it"
        )
    found = Manifest(
        dict(content["graph"]), tuple(Entry(**each) for each in content["shards"]), Entry(**content["rest"])
    )
    row, edges = 0, sum(entry.edges for entry in found.shards)
    for part, entry in enumerate(found.shards):
        if (entry.file, entry.first_row) != (shard_name(part), row) or entry.rows < 0:
            raise ValueError(f"shard {part} is {entry.file} from row {entry.first_row} on")
        row += entry.rows
    bytes.fromhex(found.graph["identity"])
    if row != found.graph["vertices"] or found.rest.file != REST or not found.shards:
        raise ValueError(f"the shards have {row} rows, the graph {found.graph['vertices']}")
    if edges != found.graph["edges"]:
        raise ValueError(f"the shards have {edges} edges, the graph {found.graph['edges']}")
    return found


def open_shard(folder: Path, manifest: Manifest, part: int) -> Shard:
    """Open a shard (``part`` the number of shards: the rest), which is the one that the manifest means.

    Raises
    ------
    FormatError
        It is missing, damaged, of another graph, or another part of this one. Names the file.
    FileAccessError
        It cannot be read.
    """
    parts = len(manifest.shards)
    entry = manifest.rest if part == parts else manifest.shards[part]
    path = folder / entry.file
    called = "the rest" if part == parts else f"shard {part} of {parts}"
    if not path.exists():
        raise FormatError(f"{path}: {called} is missing; fetch it, or split the graph again")
    shard = Shard(path)
    try:
        header = shard.header
        if header.identity.hex() != manifest.graph["identity"]:
            raise FormatError(f"{path}: is of another graph than {folder / NAME}; fetch {called} again")
        if (header.part, header.parts) != (part, parts):
            where = folder / (REST if header.part == header.parts else shard_name(header.part))
            raise FormatError(
                f"{path}: holds {header.said}, which belongs in {where}, where {called} should be; fetch it again"
            )
        if hashlib.sha256(shard.page.ljust(layout.PAGE, b"\0")).hexdigest() != entry.header:
            one = called if part == parts else f"the {called}"
            raise FormatError(f"{path}: is not {one} that {folder / NAME} names; fetch both again")
    except BaseException:
        shard.close()
        raise
    return shard


def require_no_others(folder: Path, manifest: Manifest) -> None:
    """Refuse shards in a folder that its manifest does not name: a copy of one of them, or one of another graph.

    Raises
    ------
    FormatError
        Names the file, and what it doubles.
    """
    known = {entry.file for entry in (*manifest.shards, manifest.rest)}
    for path in sorted(folder.glob("*.shard")):
        if path.name in known:
            continue
        with Shard(path) as shard:
            header = shard.header
            if header.identity.hex() != manifest.graph["identity"]:
                raise FormatError(f"{path}: is of another graph than {folder / NAME}; take it out of the folder")
            raise FormatError(f"{path}: holds {header.said} a second time; take it out of the folder")


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Hold a lock on ``folder`` while shards are written there.

    Raises
    ------
    UsageError
        Another process writes there.
    """
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UsageError(f"{folder}: another process writes shards there; wait for it") from None
        except OSError:
            pass  # a file system without locks
        yield
    finally:
        os.close(handle)


def clear(folder: Path, keep: Sequence[str] = ()) -> None:
    """Take the manifest out of a folder, and every shard but those named ``keep``: it is no graph from here on.

    What killed processes have left there goes too; whoever calls this is alone in the folder.
    """
    (folder / NAME).unlink(missing_ok=True)
    for path in folder.iterdir():
        if (path.suffix == ".shard" and path.name not in keep) or _TEMPORARY.fullmatch(path.name):
            path.unlink(missing_ok=True)
