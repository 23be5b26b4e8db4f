"""Which format an input has: by what it holds where that is certain, else by its suffix, else a plain edge list."""

from __future__ import annotations

import re
from pathlib import PurePath

from bigbfs.errors import InputError, UsageError
from bigbfs.formats.readers import formats

COMPRESSION_SUFFIXES = (".gz", ".bz2", ".xz", ".zst", ".zstd")
_AS_EDGES = "write its edges as lines of two ids, or as a NumPy array"
_REFUSED = {
    (257, b"ustar"): "is a tar archive; unpack it (tar xf) and give the files in it",
    (0, b"FEA1"): "is Feather version 1, which is not read; write it again as version 2, or as Parquet",
    (0, b"PARE"): f"is encrypted Parquet, which is not read; {_AS_EDGES}",
    (0, b"\x89HDF\r\n\x1a\n"): f"is HDF5, which is not read; {_AS_EDGES}",
    (0, b"SQLite format 3\0"): f"is an SQLite database, which is not read; {_AS_EDGES}",
}
_REFUSED_TEXT = tuple(
    (re.compile(rb"(?:\xef\xbb\xbf)?\s*" + pattern, re.IGNORECASE | re.DOTALL), what)
    for pattern, what in (
        (rb"(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)?<graphml\b", "GraphML"),
        (rb"(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)?<gexf\b", "GEXF"),
        (rb"[{\[]\s*[\"{\[\]}]", "JSON"),
        (rb"(?:strict\s+)?(?:di)?graph\b[^\[{\n]*\{", "DOT (Graphviz)"),
        (rb"(?:creator\b[^\n]*\n\s*)?graph\s*\[", "GML"),
        (rb"\*vertices\b", "Pajek"),
    )
)
"""What is no edge list, told by its beginning, so that it can be named in the refusal."""


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


def format_said(name: str) -> str | None:
    """Return the format that the suffix of a file name says, a compression suffix taken off; None: it says none."""
    path = PurePath(name.lower())
    if path.suffix in COMPRESSION_SUFFIXES:
        path = path.with_suffix("")
    return next((found.name for found in formats().values() if path.suffix in found.suffixes), None)


def format_of_suffix(name: str) -> str:
    """Return the format that a file name means: ``text`` where its suffix says nothing."""
    return format_said(name) or "text"


def detect_format(name: str, head: bytes) -> str:
    """Return the format of a file called ``name`` whose first (decompressed) bytes are ``head``.

    Raises
    ------
    InputError
        It is an archive of files, or of a kind that is known and not read.
    """
    for found in formats().values():
        if found.by_file_name(name) or (found.recognize is not None and found.recognize(head)):
            return found.name
    for (at, magic), what in _REFUSED.items():
        if head[at : at + len(magic)] == magic:
            raise InputError(f"{name}: {what}")
    for pattern, what in _REFUSED_TEXT:
        if pattern.match(head):
            raise InputError(f"{name}: is {what}, which is not read; {_AS_EDGES}")
    return format_of_suffix(name)
