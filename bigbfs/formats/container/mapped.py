"""A file mapped read-only, and arrays that look into the mapping."""

from __future__ import annotations

import mmap
import os
import stat
import weakref
from contextlib import suppress
from pathlib import Path

import numpy as np

from bigbfs.errors import FileAccessError, FormatError
from bigbfs.formats.atomic import access_error


class FileMap(mmap.mmap):
    """A mapping from the first byte of a file on, and ``handle``, an open descriptor of that file.

    The descriptor lives as long as the mapping: who wants to read the same bytes another way needs no path, behind
    which another file may stand by now.
    """

    handle: int


class MappedFile:
    """The whole of ``path`` as read-only memory; no byte is read before an array is.

    The mapping lives as long as this object is open or any array of it is alive: :meth:`close` unmaps at once when
    the arrays are gone, else the last array to go does, so that no array can ever point at unmapped memory. A file
    that another program cuts short while it is mapped ends the process with SIGBUS when the lost part is touched;
    bigbfs itself replaces files by renaming and never changes one in place.

    Raises
    ------
    FileAccessError
        Missing, a folder, no permission, no regular file.
    FormatError
        Empty.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)  # a pipe must not block
        except OSError as error:
            raise access_error(path, error, "open") from error
        try:
            status = os.fstat(handle)
            if stat.S_ISDIR(status.st_mode):
                raise FileAccessError(f"{path}: cannot open: it is a folder; name a graph file in it")
            if not stat.S_ISREG(status.st_mode):
                raise FileAccessError(f"{path}: cannot open: it is no regular file, so it cannot be mapped")
            self.size = status.st_size
            if self.size == 0:
                raise FormatError(f"{path}: the file is empty; convert the graph again")
            self._map = FileMap(handle, self.size, access=mmap.ACCESS_READ)
        except BaseException as error:
            os.close(handle)
            if isinstance(error, OSError) and not isinstance(error, FileAccessError):
                raise access_error(path, error, "map") from error
            raise
        self._map.handle = handle
        self._closing = weakref.finalize(self._map, os.close, handle)

    def start(self, length: int) -> bytes:
        """Return a copy of the first ``length`` bytes (all of a shorter file)."""
        return self._map[:length]

    def array(self, dtype: str, count: int, offset: int) -> np.ndarray:
        """Return ``count`` items at byte ``offset``, in place and read-only; the caller has checked that they exist."""
        if count == 0:
            return np.zeros(0, dtype)
        return np.frombuffer(self._map, dtype, count, offset)

    def close(self) -> None:
        """Unmap, now or when the last array is gone."""
        with suppress(BufferError):
            self._map.close()
            self._closing()
