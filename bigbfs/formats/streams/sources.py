"""Where input bytes come from: a file or standard input, plain or compressed, as one stream of decompressed bytes."""

from __future__ import annotations

import os
import select
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, cast

from bigbfs.errors import FileAccessError, InputError
from bigbfs.formats.atomic import access_error
from bigbfs.formats.streams.decompress import MAGIC_BYTES, Decompressor, detect_compression

STANDARD_INPUT = "-"
_READ_BYTES = 1 << 20


def read_error(path: str | Path, error: OSError) -> FileAccessError:
    """Return the FileAccessError that says why ``path`` cannot be read, and the way out."""
    return access_error(path, error, "read")


class Source:
    """A stream of decompressed bytes; a context manager.

    Parameters
    ----------
    path
        A file, or ``-`` for standard input.

    Attributes
    ----------
    name
        For messages: the path, or ``standard input``.
    path
        The file, or None for standard input.
    compression
        ``gzip``, ``bzip2``, ``xz``, ``zstd`` or None.
    consumed
        Bytes read so far from the file (compressed ones where it is compressed).
    size
        Bytes of the file; None where that is unknown (standard input, pipes).

    Raises
    ------
    FileAccessError
        The file is missing, a folder, or cannot be read.
    InputError
        It is compressed in a way that is not read.
    """

    def __init__(self, path: str | Path) -> None:
        from_standard_input = str(path) == STANDARD_INPUT
        self.name = "standard input" if from_standard_input else str(path)
        self.path = None if from_standard_input else Path(path)
        self.consumed = 0
        self.size: int | None = None
        self._written = 0
        self._file = _standard_input() if self.path is None else self._open(self.path)
        self._pushed = b""
        self._decompressor: Decompressor | None = None
        self._ready: bytes | memoryview = b""
        self._taken = 0  # bytes of _ready that are gone
        try:
            while len(self._pushed) < MAGIC_BYTES and (more := self._raw(MAGIC_BYTES)):
                self._pushed += more
            self.compression = detect_compression(self._pushed)
        except InputError as error:
            self.close()
            raise InputError(f"{self.name} {error}") from None
        except BaseException:
            self.close()
            raise
        if self.compression:
            self._decompressor = Decompressor(self.compression, self._read_raw, self.name)

    def _open(self, path: Path) -> Any:
        try:
            file = path.open("rb", buffering=0)
            status = os.fstat(file.fileno())
        except OSError as error:
            raise read_error(path, error) from error
        if stat.S_ISREG(status.st_mode):
            self.size, self._written = status.st_size, status.st_mtime_ns
        return file

    def _raw(self, largest: int) -> bytes:
        data = bytearray(largest)
        return bytes(data[: self._readinto_raw(memoryview(data))])

    def _read_raw(self, largest: int) -> bytes:
        if self._pushed:
            data, self._pushed = self._pushed, b""
            return data
        return self._raw(largest)

    def readinto(self, target: memoryview) -> int:
        """Fill ``target`` as far as the stream reaches; return how many bytes (fewer than its length at the end).

        Raises
        ------
        FileAccessError, InputError
            The file cannot be read any further; the compressed stream is cut short or damaged.
        """
        filled = 0
        while filled < len(target):
            if self._decompressor is None and not self._pushed and not self._ready:
                got = self._readinto_raw(target[filled:])
            else:
                got = self._copy(target[filled:])
            if got == 0:
                break
            filled += got
        return filled

    def _readinto_raw(self, target: memoryview) -> int:
        try:
            while (got := self._file.readinto(target)) is None:
                select.select([self._file], [], [])  # a non-blocking standard input that has nothing yet
        except OSError as error:
            raise read_error(self.name, error) from error
        self.consumed += got
        return int(got)

    def changed(self) -> bool:
        """Return whether the file is no longer the one that was opened: another size, or written to meanwhile."""
        if self.path is None or self.size is None:
            return False
        status = os.fstat(self._file.fileno())
        return (status.st_size, status.st_mtime_ns) != (self.size, self._written)

    def unpack_ahead(self, threads: int, most: int) -> None:
        """Let ``threads`` threads unpack what follows, where it has parts that can be unpacked on their own.

        At most about ``most`` bytes are held unpacked.
        """
        if self._decompressor is not None:
            self._decompressor.unpack_ahead(threads, most)

    def nothing(self) -> str:
        """Return the beginning of a message about a stream of no bytes."""
        found = f"its {self.compression} stream unpacks to nothing" if self.compression else "the file is empty"
        return f"{self.name}: {found}"

    def peek(self, count: int) -> bytes:
        """Return the next ``count`` bytes (fewer at the end of the stream) without taking them."""
        while len(self._ready) - self._taken < count:
            self._ready, self._taken = bytes(self._ready[self._taken :]), 0  # a copy: the next piece may overwrite it
            if not (more := self._more()):
                break
            self._ready += bytes(more)
        return bytes(self._ready[self._taken : self._taken + count])

    def read(self, count: int) -> bytes:
        """Take ``count`` bytes (fewer at the end of the stream)."""
        data = bytearray(min(count, _READ_BYTES))
        parts = []
        while count > 0:
            got = self.readinto(memoryview(data)[: min(count, len(data))])
            if got == 0:
                break
            parts.append(bytes(data[:got]))
            count -= got
        return b"".join(parts)

    def _more(self) -> bytes | memoryview:
        return self._decompressor.read(_READ_BYTES) if self._decompressor else self._read_raw(_READ_BYTES)

    def _copy(self, target: memoryview) -> int:
        if not self._ready:
            self._ready = self._more()
        part = memoryview(self._ready)[self._taken : self._taken + len(target)]
        target[: len(part)] = part
        self._taken += len(part)
        if self._taken == len(self._ready):
            self._ready, self._taken = b"", 0
        return len(part)

    @contextmanager
    def seekable(self) -> Iterator[tuple[BinaryIO, Path]]:
        """Open the whole decompressed stream as a file: itself where it is plain, else a temporary copy.

        Raises
        ------
        FileAccessError
            The temporary copy cannot be written.
        """
        if self.path is not None and self.size is not None and self.compression is None:
            with self.path.open("rb") as file:
                self.consumed = self.size
                yield file, self.path
            return
        with tempfile.NamedTemporaryFile(prefix="bigbfs-") as copy:
            try:
                while piece := self.read(_READ_BYTES):
                    copy.write(piece)
                copy.flush()
            except OSError as error:
                if isinstance(error, FileAccessError):
                    raise
                raise access_error(copy.name, error, f"unpack {self.name} (TMPDIR names another folder)") from error
            copy.seek(0)
            yield cast(BinaryIO, copy.file), Path(copy.name)

    def close(self) -> None:
        """Close the file; standard input stays open."""
        if self._decompressor is not None:
            self._decompressor.close()
        if self.path is not None:
            self._file.close()

    def __enter__(self) -> Source:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _standard_input() -> Any:
    stream = getattr(sys.stdin, "buffer", None)
    if stream is None:
        raise FileAccessError("standard input: cannot read: it is closed; name a file instead of -")
    # a buffered read loops inside C until it has all, and a signal between two of its system calls would wait for the
    # next bytes, maybe for ever
    return getattr(stream, "raw", stream)
