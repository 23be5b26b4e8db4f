"""Read many stretches of an array at once: from the file behind it by several threads, or from memory.

In: the mapped (or ordinary) array of edges, and stretches (first byte in the array, bytes, first byte in the target).
Out: the bytes in the target. The file is read by ``pread`` through the descriptor of the mapping, so that its pages
never become pages of this process: what a run takes of host memory is its buffers, whatever the size of the graph.
"""

from __future__ import annotations

import os
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import pairwise
from types import TracebackType
from typing import Any

import numpy as np
from numba.core import types

from bigbfs.errors import FileAccessError, FormatError
from bigbfs.formats.container.mapped import FileMap
from bigbfs.jit.njit import njit
from bigbfs.jit.workers import thread_count

THREADS = 16
"""Threads at most: so many read the page cache faster than any link takes it."""

STRETCH_COST = 2048
"""Bytes that could be read in the time that a call takes, for dealing stretches out to threads."""

NO_FILE = -1

_pread = types.ExternalFunction("pread", types.int64(types.int32, types.uintp, types.uint64, types.int64))


@njit(nogil=True, cache=True)
def _read(handle, offset, source, stretches, target):
    """Fill ``target`` (uint8): stretch (from, bytes, to) comes from byte ``offset`` + from of the file, or, where
    handle is -1, from ``source`` (uint8). Return the stretch that could not be read, or -1."""
    for i in range(len(stretches)):
        start, count, at = np.int64(stretches[i, 0]), np.int64(stretches[i, 1]), np.int64(stretches[i, 2])
        if handle == NO_FILE:
            target[at : at + count] = source[start : start + count]
            continue
        done = 0
        while done < count:
            got = _pread(
                np.int32(handle),
                np.uintp(target.ctypes.data + at + done),
                np.uint64(count - done),
                np.int64(offset + start + done),
            )
            if got <= 0:
                return i
            done += got
    return -1


def mapping_of(array: np.ndarray) -> FileMap | None:
    """Return the file mapping that ``array`` is a view of; None if it is none of ours."""
    base: Any = array
    while base is not None:
        if isinstance(base, FileMap):
            return base
        base = base.obj if isinstance(base, memoryview) else getattr(base, "base", None)
    return None


class Reader:
    """Reads stretches of ``array`` until ``close``.

    Parameters
    ----------
    array
        C-contiguous, one-dimensional; it must stay alive as long as this object.
    threads
        None: every core that this process may use, ``THREADS`` at most.

    Attributes
    ----------
    kind
        ``"file"`` or ``"memory"``: where the bytes come from.
    """

    def __init__(self, array: np.ndarray, threads: int | None = None) -> None:
        self._bytes = array.view(np.uint8)
        self._offset, self._handle = 0, NO_FILE
        mapping = mapping_of(array)
        if mapping is not None and array.nbytes:
            first = np.frombuffer(mapping, np.uint8, 1).ctypes.data
            self._offset = int(array.ctypes.data) - int(first)
            # rows are read in file order: the kernel may read further ahead
            os.posix_fadvise(mapping.handle, self._offset, array.nbytes, os.POSIX_FADV_SEQUENTIAL)
            self._handle = os.dup(mapping.handle)
        self.kind = "memory" if self._handle == NO_FILE else "file"
        self._threads = threads or min(THREADS, thread_count())
        self._pool = ThreadPoolExecutor(self._threads, "bigbfs-reader")

    def start(self, stretches: np.ndarray, target: np.ndarray) -> Reading:
        """Begin to fill ``target`` (uint8) and return what waits for the end of it.

        Parameters
        ----------
        stretches
            uint64, shape (stretches, 3): first byte in the array, bytes, first byte in the target. Neither may be
            changed before the reading has ended.
        """
        costs = np.cumsum(stretches[:, 1] + np.uint64(STRETCH_COST))
        total = int(costs[-1]) if len(costs) else 0
        goals = np.array([total * part // self._threads for part in range(1, self._threads)], np.uint64)
        cuts = np.unique(np.concatenate(([0], np.searchsorted(costs, goals), [len(stretches)])))
        parts = [stretches[first:last] for first, last in pairwise(cuts.tolist())]
        return Reading(self, [(part, self._pool.submit(self._fill, part, target)) for part in parts])

    def _fill(self, part: np.ndarray, target: np.ndarray) -> int:
        return int(_read(self._handle, self._offset, self._bytes, part, target))

    def fault(self, stretch: np.ndarray) -> Exception:
        """Return the error that says why ``stretch`` cannot be read."""
        first, count = self._offset + int(stretch[0]), int(stretch[1])
        where = f"bytes {first} to {first + count} of the edges' file"
        try:
            got = len(os.pread(self._handle, count, first))
        except OSError as error:
            return FileAccessError(f"{where} cannot be read: {error.strerror}")
        return FormatError(f"{where}: only {got} are there; the file was cut short, convert the graph again")

    def close(self) -> None:
        """Let the threads end and the file go; a second call does nothing."""
        self._pool.shutdown(wait=True, cancel_futures=True)
        handle, self._handle = self._handle, NO_FILE
        if handle != NO_FILE:
            os.close(handle)

    def __enter__(self) -> Reader:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class Reading:
    """Stretches that are being read."""

    def __init__(self, reader: Reader, parts: list[tuple[np.ndarray, Future[int]]]) -> None:
        self._reader = reader
        self._parts = parts

    def wait(self) -> None:
        """Return when all bytes are there.

        Raises
        ------
        FileAccessError
            The file cannot be read.
        FormatError
            It ends too early.
        """
        for part, future in self._parts:
            failed = future.result()
            if failed >= 0:
                raise self._reader.fault(part[failed])

    def abandon(self) -> None:
        """Return when no thread writes to the target any more."""
        for _, future in self._parts:
            if not future.cancel():
                future.exception()
