"""Refusing a part of a graph where a graph is wanted: a shard, or a folder of them (:mod:`bigbfs.formats.shards`)."""

from __future__ import annotations

from pathlib import Path

from bigbfs.errors import Call, FormatError, Remedy, UsageError
from bigbfs.formats.atomic import access_error
from bigbfs.formats.container.layout import SHARD_MAGIC

MANIFEST = "manifest.json"
"""The file that says that a folder holds all shards of a graph."""

NOT_COMPLETE = "the shards are not complete: fetch it, or run again what wrote them, which was stopped before its end"
"""The way out of a folder of shards without its manifest, which is written last."""

MOST = 1 << 16
"""Shards of one graph, at most."""


JOIN = "{} makes one file of the shards"
"""How the remedy :func:`joining` is worded."""


def joining(folder: Path) -> Call:
    """Return the call that makes a graph file of a folder of shards, beside it and with its name."""
    return Call("join", str(folder))


def refuse_shards(path: Path) -> None:
    """Refuse ``path`` where it is a folder of shards, or one of them.

    Raises
    ------
    UsageError
        Names the command that makes a graph file of them.
    FormatError
        A folder of shards without its manifest, which no command takes.
    """
    if path.is_dir():
        if holds_manifest(path):
            raise _refusal(path, "holds the shards of a graph", path)
        if any(map(_is_shard, path.glob("*.shard"))):
            raise FormatError(f"{path}: holds shards, but there is no {MANIFEST}; {NOT_COMPLETE}")
    elif path.suffix == ".shard" and _is_shard(path):
        raise _refusal(path, "is a shard, a part of a graph", path.parent)


def holds_manifest(path: Path) -> bool:
    """Return whether ``path`` is a folder that has the manifest of shards.

    Raises
    ------
    FileAccessError
        It is a folder that may not be entered, or lies in one.
    """
    try:
        return (path / MANIFEST).is_file()
    except OSError as error:
        raise access_error(path, error, "read") from error


def _refusal(path: Path, what: str, folder: Path) -> UsageError:
    words = f"{JOIN}; `bigbfs bfs` and `bigbfs cc` take the folder as it is"
    return UsageError(f"{path}: {what}, and no graph file", remedies=(Remedy(joining(folder), words),))


def _is_shard(path: Path) -> bool:
    try:
        with path.open("rb") as stream:
            return stream.read(len(SHARD_MAGIC)) == SHARD_MAGIC
    except OSError:
        return False
