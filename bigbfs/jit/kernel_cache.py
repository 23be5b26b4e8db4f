"""The compiled kernels on disk: a file for each function, signature and state of the package.

Numba's own cache has an index for each function that leads from signatures to numbered files. Two processes that
compile two signatures at the same moment both take the next number, and an entry of the index may then lead to the
machine code of the other signature (``IndexDataCacheFile.save`` of numba/core/caching.py, 0.68): every later process
crashes. Here the name of a file follows from what it is for, and its content says so again.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import zlib
from contextlib import suppress
from pathlib import Path
from typing import Any


class KernelFiles:
    """What Numba asks of the cache file of one function: ``load``, ``save`` and ``flush``.

    Parameters
    ----------
    folder
        Where the files are.
    name
        What they begin with: the function, its line, the Python.
    place
        What they are for beside that: those of other machines and environments that share the folder are left alone.
    state
        Of all that a kernel is compiled from; files of other states of this name and place are removed.
    dump
        Numba's pickler. Its content stands behind a checksum: damaged machine code would be run.
    """

    def __init__(self, folder: Path, name: str, place: object, state: object, dump: Any) -> None:
        self._folder, self._name, self._dump = folder, f"{name}.{_digest(place)}.", dump
        self._prefix = f"{self._name}{_digest(state)}."
        self.passed: list[Any] = []
        """What was saved and loaded since somebody cleared it."""

    def path(self, key: Any) -> Path:
        """Return where ``key`` lies."""
        return self._folder / f"{self._prefix}{_digest(key)}.nbc"

    def load(self, key: Any) -> Any:
        """Return what was saved for ``key``, or None."""
        try:
            content = self.path(key).read_bytes()
        except OSError:  # there is none, or it cannot be read now
            return None
        if int.from_bytes(content[:4], "little") != zlib.crc32(content[4:]):
            return None
        found, data = pickle.loads(content[4:])
        if found != key:
            return None
        self.passed.append(data)
        return data

    def save(self, key: Any, data: Any) -> None:
        """Save ``data``, whole or not at all; what other processes do at the same time does no harm."""
        path = self.path(key)
        self.passed.append(data)
        content = self._dump((key, data))
        content = zlib.crc32(content).to_bytes(4, "little") + content
        part = path.with_name(f"{path.name}.tmp.{os.urandom(8).hex()}")
        try:
            part.write_bytes(content)
            part.replace(path)
        except OSError:
            with suppress(OSError):
                part.unlink()
            raise
        self._remove(keep=self._prefix)

    def flush(self) -> None:
        """Remove every file of the function."""
        self._remove(keep=None)

    def _remove(self, keep: str | None) -> None:
        for path in self._folder.iterdir():
            if path.name.startswith(self._name) and not (keep and path.name.startswith(keep)):
                with suppress(OSError):
                    path.unlink()


def _digest(value: object) -> str:
    return hashlib.sha256(repr(value).encode()).hexdigest()[:16]
