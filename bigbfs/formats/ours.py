"""Which files are ours to replace: those that bigbfs wrote, as their first bytes say.

Whoever names an output rarely means to lose a file of his own. So a command replaces what an earlier run wrote, and
asks for ``force`` before it replaces anything else, or a graph or the rows of a bench by something that is none. Every
file gets a mark beside its content, where the file system has a place for it (:mod:`bigbfs.formats.mark`). Where it has
none, graph files, generated text, rows and reports say by themselves who wrote them; an array has a header longer than
others make it (:func:`array_header`), a picture a word in its metadata. CSV, Parquet, Arrow and what is exported for
other tools do not.
"""

from __future__ import annotations

import zlib
from pathlib import Path

import numpy as np

from bigbfs.errors import UsageError
from bigbfs.formats.container.layout import MAGIC
from bigbfs.formats.mark import has_mark

HEADER = 192
"""Bytes of the header of an array of ours: a multiple of 64, as the format wants it, and one more than others take."""

SVG = b"<!-- made by bigbfs -->\n"
PNG = b"Software\0bigbfs"

GRAPH, ROWS = "a graph", "the rows of a bench"
"""What took so long to make that nothing else replaces it by mistake."""

_ROWS = b'{"kind":"session","command":"bigbfs'
_DEAR = {MAGIC: GRAPH, _ROWS: ROWS}
_STARTS = (
    MAGIC,
    SVG,
    b"# bigbfs generate ",
    b"# Measured by `bigbfs probe`",
    _ROWS,
    b'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta name="generator" content="bigbfs">',
)
_NPY = b"\x93NUMPY\x01\x00" + (HEADER - 10).to_bytes(2, "little")
_PNG = b"\x89PNG\r\n\x1a\n"
_LOOK = 256


def require_ours(path: Path, force: bool = False, *, replaces: str = "") -> None:
    """Refuse to replace a file that bigbfs did not write, or that holds what is dear, unless ``force``.

    Parameters
    ----------
    path
        Of what is going to be written.
    force
        Replace whatever is there.
    replaces
        ``GRAPH`` or ``ROWS`` where the new file is one too.

    Raises
    ------
    UsageError
        With the file, and both ways out. A file that cannot be read is none of ours.
    """
    if force or not path.is_file():
        return
    if not is_ours(path):
        why = "is there already, and nothing says that bigbfs wrote it and nobody changed it since"
    elif (dear := _dear(path)) and dear != replaces:
        why = f"holds {dear}, and something else would be written over it"
    else:
        return
    raise UsageError(f"{path}: {why}", remedies=(("output", None), ("force", True, "say {} to replace it")))


def _dear(path: Path) -> str | None:
    """Return which of the dear things a file of ours holds; None: something else."""
    with path.open("rb") as stream:
        start = stream.read(_LOOK)
    return next((what for mark, what in _DEAR.items() if start.startswith(mark)), None)


def is_ours(path: Path) -> bool:
    """Return whether the file ``path`` is empty or was written by bigbfs."""
    marked = has_mark(path)
    if marked:
        return True
    import zstandard

    try:
        with path.open("rb") as stream:
            start = stream.read(_LOOK)
            stream.seek(0)
            if start.startswith(b"\x1f\x8b"):
                import gzip

                start = gzip.GzipFile(fileobj=stream).read(_LOOK)
            elif start.startswith(zstandard.FRAME_HEADER):
                start = zstandard.ZstdDecompressor().stream_reader(stream).read(_LOOK)
    except (OSError, EOFError, zlib.error, zstandard.ZstdError):  # unreadable, or cut short within what is packed
        return False
    if start and marked is False and not start.startswith(MAGIC):  # somebody has edited what bigbfs wrote
        return False
    if start.startswith(_PNG):
        return PNG in start[: 33 + 8 + len(PNG)]
    if start.startswith(_NPY):  # NumPy itself ends the fields with a comma, and has such a long header for records
        return b", }" not in start[:HEADER] and start[len(_NPY) :].startswith(b"{'descr': '")
    return not start or start.startswith(_STARTS)


def array_header(array: np.ndarray) -> bytes:
    """Return the .npy header, version 1.0, of a contiguous ``array``, as long as those of ours are."""
    fields = {"descr": np.lib.format.dtype_to_descr(array.dtype), "fortran_order": False, "shape": array.shape}
    text = repr(fields).encode().ljust(HEADER - len(_NPY) - 1) + b"\n"
    return _NPY + text


def signed_png(picture: bytes) -> bytes:
    """Return the PNG ``picture`` with a text chunk, behind its header, that says who made it."""
    kind = b"tEXt" + PNG
    chunk = len(PNG).to_bytes(4, "big") + kind + zlib.crc32(kind).to_bytes(4, "big")
    return picture[:33] + chunk + picture[33:]
