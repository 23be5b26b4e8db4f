"""The sources that a run on a GPU vouches for, and their hash: everything in kernels/ and in gpu/.

The hash covers relative paths (sorted, with forward slashes) and contents (line ends as \\n), so that it is the same
on every machine and in every checkout; folders that tools leave behind do not count.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent
FOLDERS = ("gpu", "kernels")
SUFFIXES = frozenset({".py", ".cu", ".cuh"})


def source_files(package: Path = PACKAGE) -> list[Path]:
    """Return the files of ``package`` that the hash covers, in its order."""
    files = [path for folder in FOLDERS for path in (package / folder).rglob("*") if path.suffix in SUFFIXES]
    return sorted(files, key=lambda path: path.relative_to(package).as_posix())


def hash_of_sources(package: Path = PACKAGE) -> str:
    """Return the hash (SHA-256, hexadecimal) of the kernel and gpu/ sources of ``package``."""
    digest = hashlib.sha256()
    for path in source_files(package):
        text = path.read_bytes().replace(b"\r\n", b"\n")
        name = path.relative_to(package).as_posix().encode()
        digest.update(b"%d %s\n%d\n" % (len(name), name, len(text)) + text)
    return digest.hexdigest()
