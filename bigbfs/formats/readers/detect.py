"""Which format an input has: by what it holds where that is certain, else by its suffix, else a plain edge list."""

from __future__ import annotations

from pathlib import PurePath

from bigbfs.errors import InputError, UsageError
from bigbfs.formats.readers import formats

COMPRESSION_SUFFIXES = (".gz", ".bz2", ".xz", ".zst", ".zstd")
_TAR_MAGIC, _TAR_OFFSET = b"ustar", 257


def checked_format(name: str) -> str:
    """Return the format that ``name`` (or an alias of it) means.

    Raises
    ------
    UsageError
        There is no such format.
    """
    known = formats()
    meant = {alias: found.name for found in known.values() for alias in (found.name, *found.aliases)}
    if name.lower() not in meant:
        raise UsageError(f"no format {name!r}; choose one of {', '.join(known)}")
    return meant[name.lower()]


def format_of_suffix(name: str) -> str:
    """Return the format that a file name means, a compression suffix taken off: ``text`` where it says nothing."""
    path = PurePath(name.lower())
    if path.suffix in COMPRESSION_SUFFIXES:
        path = path.with_suffix("")
    return next((found.name for found in formats().values() if path.suffix in found.suffixes), "text")


def detect_format(name: str, head: bytes) -> str:
    """Return the format of a file called ``name`` whose first (decompressed) bytes are ``head``.

    Raises
    ------
    InputError
        It is an archive of files.
    """
    for found in formats().values():
        if found.recognize is not None and found.recognize(head):
            return found.name
    if head[_TAR_OFFSET : _TAR_OFFSET + len(_TAR_MAGIC)] == _TAR_MAGIC:
        raise InputError(f"{name}: is a tar archive; unpack it (tar xf) and give the files in it")
    return format_of_suffix(name)
