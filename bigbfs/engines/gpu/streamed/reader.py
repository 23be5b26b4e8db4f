"""Read many stretches of an array at once: from the file behind it by several threads, or from memory.

In: the mapped (or ordinary) array of edges, and stretches (first byte in the array, bytes, first byte in the target).
Out: the bytes in the target. Long stretches of a file are read by ``pread`` through the descriptor of the mapping, so
that their pages never become pages of this process. Short ones are copied from the mapping, where they are single
rows all over the file: a system call takes ten times what such a copy does. Those pages stay the file's: the kernel
may take them away again at any time. Of shards, several files in one array, all is copied from the mapping.
"""

from __future__ import annotations

import os
from bisect import bisect_left
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import pairwise
from types import TracebackType
from typing import Any

import numpy as np
from numba.core import types

from bigbfs.engines.gpu.runtime.memory import is_file_mapping
from bigbfs.errors import FileAccessError, FormatError
from bigbfs.formats.container.mapped import FileMap
from bigbfs.jit.njit import njit
from bigbfs.jit.workers import thread_count

THREADS = 16
"""Threads at most: so many read the page cache faster than any link takes it."""

STRETCH_COST = 2048
"""Bytes that could be read in the time that a call takes, for dealing stretches out to threads."""

LEAST_SHARE = 1 << 16
"""Bytes, such costs included, for which a thread is asked: less is read before it has begun."""

COPIED = 1 << 14
"""Bytes from which on a stretch of a file is read by a call, not copied from the mapping."""

NO_FILE = -1

_pread = types.ExternalFunction("pread", types.int64(types.int32, types.uintp, types.uint64, types.int64))
_memcpy = types.ExternalFunction("memcpy", types.uintp(types.uintp, types.uintp, types.uint64))


@njit(nogil=True, cache=True)
def _read(handle, offset, source, stretches, target, base, copied):
    """Fill ``target`` (uint8): stretch (from, bytes, to) goes to ``to`` - ``base``, from byte ``offset`` + from of the
    file, or, where it has less than ``copied`` bytes, from ``source`` (uint8). Return the stretch that could not be
    read, or -1."""
    for i in range(len(stretches)):
        start, count, at = np.int64(stretches[i, 0]), np.int64(stretches[i, 1]), np.int64(stretches[i, 2]) - base
        if count < 0 or at < 0 or at + count > len(target):
            return i
        if count < copied and start >= 0 and start + count <= len(source):
            _memcpy(np.uintp(target.ctypes.data + at), np.uintp(source.ctypes.data + start), np.uint64(count))
            continue
        if handle == NO_FILE:
            return i
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
        self.kind = "file" if is_file_mapping(array) else "memory"
        self._threads = threads or min(THREADS, thread_count())
        self._pool = ThreadPoolExecutor(self._threads, "bigbfs-reader")

    def start(self, stretches: np.ndarray, target: np.ndarray) -> Reading:
        """Begin to fill ``target`` (uint8) and return what waits for the end of it.

        Parameters
        ----------
        stretches
            uint64, shape (stretches, 3): first byte in the array, bytes, first byte in the target less that of the
            first stretch, ascending. Neither may be changed before the reading has ended.
        """
        copied = self._copied()
        parts = self._shares(stretches)
        base = int(stretches[0, 2]) if len(stretches) else 0
        if len(parts) == 1:
            return Reading(self, [(parts[0], self._fill(parts[0], target, base, copied))])
        return Reading(self, [(part, self._pool.submit(self._fill, part, target, base, copied)) for part in parts])

    def _copied(self) -> int:
        """Return the bytes from which on a stretch is not copied: all is read by calls from a file that has become
        shorter, for these say so."""
        if self._handle == NO_FILE:
            return len(self._bytes) + 1
        there = os.fstat(self._handle).st_size >= self._offset + len(self._bytes)
        return COPIED if there else 0

    def _shares(self, stretches: np.ndarray) -> list[np.ndarray]:
        """Return the stretches in as many parts of like cost as there are threads, or as are worth one."""
        count = len(stretches)
        if count == 0:
            return []
        places = stretches[:, 2]
        first = int(places[0])

        def cost(i: int) -> int:
            return int(places[i]) - first + i * STRETCH_COST

        total = cost(count - 1) + int(stretches[-1, 1]) + STRETCH_COST
        shares = max(1, min(self._threads, total // LEAST_SHARE))
        inner = (bisect_left(range(count), total * part // shares, key=cost) for part in range(1, shares))
        return [stretches[low:high] for low, high in pairwise(sorted({0, count, *inner}))]

    def _fill(self, part: np.ndarray, target: np.ndarray, base: int, copied: int) -> int:
        return int(_read(self._handle, self._offset, self._bytes, part, target, base, copied))

    def fault(self, stretch: np.ndarray) -> Exception:
        """Return the error that says why ``stretch`` cannot be read."""
        first, count = self._offset + int(stretch[0]), int(stretch[1])
        where = f"bytes {first} to {first + count} of the edges' file"
        if count > len(self._bytes):
            return FormatError(f"{where}: no row is that long: offsets are damaged; `bigbfs check` says where")
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

    def __init__(self, reader: Reader, parts: list[tuple[np.ndarray, Future[int] | int]]) -> None:
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
            failed = future if isinstance(future, int) else future.result()
            if failed >= 0:
                raise self._reader.fault(part[failed])

    def abandon(self) -> None:
        """Return when no thread writes to the target any more."""
        for _, future in self._parts:
            if not isinstance(future, int) and not future.cancel():
                future.exception()
