"""Which format an input has: by what it holds where that is certain, else by its suffix, else a plain edge list."""

from __future__ import annotations

from pathlib import PurePath

from bigbfs.errors import InputError, UsageError
from bigbfs.formats.container import layout
from bigbfs.formats.readers.dimacs import PROBLEM_LINE
from bigbfs.formats.readers.matrix_market import BANNER

HEAD_BYTES = 1 << 16

FORMATS = ("text", "mtx", "metis", "dimacs", "npy", "npz", "csrbin", "sg")
"""Names that ``format=`` and ``--format`` take."""

_ALIASES = {"el": "text", "txt": "text", "snap": "text", "graph": "metis", "gr": "dimacs", "col": "dimacs"}
_ALIASES |= {"ccsr": "csrbin", "raw": "csrbin"}
_SUFFIXES = {
    ".mtx": "mtx",
    ".graph": "metis",
    ".metis": "metis",
    ".gr": "dimacs",
    ".col": "dimacs",
    ".npy": "npy",
    ".npz": "npz",
    ".sg": "sg",
    ".csrbin": "csrbin",
    ".ccsr": "csrbin",
}
COMPRESSION_SUFFIXES = (".gz", ".bz2", ".xz", ".zst", ".zstd")
_TAR_MAGIC, _TAR_OFFSET = b"ustar", 257


def checked_format(name: str) -> str:
    """Return the format that ``name`` (or an alias of it) means.

    Raises
    ------
    UsageError
        There is no such format.
    """
    found = _ALIASES.get(name.lower(), name.lower())
    if found not in FORMATS:
        raise UsageError(f"no format {name!r}; choose one of {', '.join(FORMATS)}")
    return found


def format_of_suffix(name: str) -> str:
    """Return the format that a file name means, a compression suffix taken off: ``text`` where it says nothing."""
    path = PurePath(name.lower())
    if path.suffix in COMPRESSION_SUFFIXES:
        path = path.with_suffix("")
    return _SUFFIXES.get(path.suffix, "text")


def detect_format(name: str, head: bytes) -> str:
    """Return the format of a file called ``name`` whose first (decompressed) bytes are ``head``.

    Raises
    ------
    InputError
        It is an archive of files.
    """
    if head.startswith(layout.MAGIC):
        return "csrbin"
    if head.startswith(b"\x93NUMPY"):
        return "npy"
    if head.startswith(b"PK\x03\x04") or head.startswith(b"PK\x05\x06"):
        return "npz"
    if head[_TAR_OFFSET : _TAR_OFFSET + len(_TAR_MAGIC)] == _TAR_MAGIC:
        raise InputError(f"{name}: is a tar archive; unpack it (tar xf) and give the files in it")
    if head[: len(BANNER)].lower() == BANNER:
        return "mtx"
    if _is_dimacs(head):
        return "dimacs"
    return format_of_suffix(name)


def _is_dimacs(head: bytes) -> bool:
    """Return whether the first line that is no ``c`` comment is a problem line."""
    if head[:1] not in (b"c", b"p"):
        return False
    for line in head.split(b"\n"):
        text = line.strip()
        if text and text != b"c" and not text.startswith((b"c ", b"c\t")):
            return PROBLEM_LINE.match(line) is not None
    return False
