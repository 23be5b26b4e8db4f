"""What the name of a file says of its format, and whether it is packed: ``x.el``, ``x.raw.csrbin``, ``x.mtx.gz``."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

import zstandard

from bigbfs.errors import UsageError
from bigbfs.formats.writers import writers

PACKED = (".gz", ".zst")
"""Suffixes of packed files that are written."""
ONLY_READ = (".bz2", ".xz", ".zstd")
"""Suffixes of packed files that are read, and not written."""
_LEVEL = 6
_ZST = 3


def packing_of(path: Path) -> str:
    """Return the suffix that says how a file is packed; empty where it is not."""
    return path.suffix.lower() if path.suffix.lower() in PACKED else ""


def require_packing(path: Path) -> None:
    """Refuse a name that says it is packed in a way in which nothing is written.

    Raises
    ------
    UsageError
        Names the file, and the ways there are.
    """
    if path.suffix.lower() in ONLY_READ:
        raise UsageError(f"{path}: nothing is packed as {path.suffix}; name it {' or '.join(PACKED)}")


def format_of(path: Path) -> str | None:
    """Return the name of the format that a file's name ends in, below ``.gz`` or ``.zst``; None for another ending."""
    name = path.name.lower()
    name = name[: len(name) - len(packing_of(path))]
    found = [writer for writer in writers().values() if name.endswith(writer.suffix)]
    return found[0].name if found else None


@contextmanager
def packed(stream: BinaryIO, packing: str, threads: int = 1) -> Iterator[BinaryIO]:
    """Yield what packs all that is written to it into ``stream``, which stays open; the bytes know no name and time.

    ``threads`` pack .zst, with the same bytes for any number of them: one frame, since many readers stop after the
    first.
    """
    if packing == ".gz":
        with gzip.GzipFile("", "wb", _LEVEL, stream, mtime=0) as squeezed:
            yield cast(BinaryIO, squeezed)
    elif packing == ".zst":
        packer = zstandard.ZstdCompressor(level=_ZST, threads=max(1, threads))
        with packer.stream_writer(stream, closefd=False) as writer:
            yield cast(BinaryIO, writer)
    else:
        yield stream
