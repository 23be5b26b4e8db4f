"""Decompressors with one shape for .gz, .bz2, .xz and .zst: bytes in, bytes out, never more at once than asked for.

Files of several members or frames (``cat a.gz b.gz``, pbzip2, pzstd) are one stream; frames of .zst and members of
BGZF can be unpacked by several threads. Compression is told by the first bytes, never by the name. Where the package
isal is installed (``pip install 'bigbfs[fast]'``) it unpacks .gz, about twice as fast as zlib. rapidgzip does not: it
takes the first half of a file for a whole one (0.16.1).
"""

from __future__ import annotations

import bz2
import lzma
import zlib
from collections.abc import Callable
from functools import cache, partial
from importlib import import_module
from typing import Any, Protocol

import zstandard

from bigbfs.errors import InputError
from bigbfs.formats.streams.units import CUTTERS, ZstdUnpacker, unpack_bgzf
from bigbfs.formats.streams.unpack import Unpack, UnpackAhead

FEED_BYTES = {"gzip": 1 << 16, "bzip2": 1 << 16, "xz": 1 << 16, "zstd": 1 << 12}
"""Compressed bytes given to the decompressor at once; zstd cannot bound its output, so it gets little."""

_ZSTD_WINDOW = 2**31
_MAGIC = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "zstd"}
_UNREADABLE = {
    b"\x1f\x9d": "compress (.Z)",
    b"\x04\x22\x4d\x18": "LZ4",
    b"7z\xbc\xaf\x27\x1c": "7-Zip",
    b"Rar!\x1a\x07": "RAR",
}
MAGIC_BYTES = 16
_GZIP_HEADER = 1 << 12
"""Bytes that a gzip member is begun with, where there are as many: the whole of any header in practice."""


class _Member(Protocol):
    """What the decompressors of the standard library have in common."""

    @property
    def eof(self) -> bool:
        """Whether the member is complete."""

    @property
    def unused_data(self) -> bytes:
        """What followed the end of the member."""

    def decompress(self, data: bytes) -> bytes:
        """Return what ``data`` decompresses to."""


def detect_compression(head: bytes) -> str | None:
    """Return ``gzip``, ``bzip2``, ``xz``, ``zstd``, or None for a stream that is not compressed.

    Raises
    ------
    InputError
        The stream is of a compression that cannot be read; the message starts with "is" for the caller's file name.
    """
    for magic, kind in _UNREADABLE.items():
        if head.startswith(magic):
            raise InputError(f"is compressed with {kind}, which is not read; unpack it first")
    if len(head) >= 4 and head[1:4] == b"\x2a\x4d\x18" and head[0] & 0xF0 == 0x50:
        return "zstd"  # a skippable frame first, as pzstd writes
    if head.startswith(b"BZh") and head[4:10] not in (b"1AY&SY", b"\x17rE8P\x90"):
        return None  # text that starts with BZh
    return next((kind for magic, kind in _MAGIC.items() if head.startswith(magic)), None)


class _Bounded:
    """A member whose ``decompress`` hands out at most ``largest`` bytes and keeps the rest of the input."""

    def __init__(self, inner: Any, largest: int) -> None:
        self._inner, self._largest, self._tail = inner, largest, b""

    eof = property(lambda self: self._inner.eof)
    unused_data = property(lambda self: self._inner.unused_data)

    def decompress(self, data: bytes) -> bytes:
        """Return some of what ``data`` decompresses to."""
        inner = self._inner
        if hasattr(inner, "unconsumed_tail"):
            return inner.decompress(inner.unconsumed_tail + data, self._largest)
        return inner.decompress(data, self._largest)

    @property
    def hungry(self) -> bool:
        """Whether it can do nothing before it gets more input."""
        inner = self._inner
        return not inner.unconsumed_tail if hasattr(inner, "unconsumed_tail") else inner.needs_input


class _ZstdFrame:
    """One zstd frame; its whole output comes at once."""

    hungry = True

    def __init__(self) -> None:
        self._inner = zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW).decompressobj()

    eof = property(lambda self: self._inner.eof)
    unused_data = property(lambda self: self._inner.unused_data)

    def decompress(self, data: bytes) -> bytes:
        """Return what ``data`` decompresses to."""
        return self._inner.decompress(data) if data else b""


@cache
def _gzip_library() -> Any:
    """Return isal's twin of zlib, or zlib itself."""
    try:
        return import_module("isal.isal_zlib")
    except ImportError:
        return zlib


def _new_member(kind: str, largest: int) -> Any:
    if kind == "gzip":
        return _Bounded(_gzip_library().decompressobj(31), largest)
    if kind == "bzip2":
        return _Bounded(bz2.BZ2Decompressor(), largest)
    if kind == "xz":
        return _Bounded(lzma.LZMADecompressor(lzma.FORMAT_XZ), largest)
    return _ZstdFrame()


class Decompressor:
    """A stream of decompressed bytes over ``read(count)``, which returns compressed ones and b"" at the end.

    Parameters
    ----------
    kind
        What :func:`detect_compression` returned.
    read
        Source of the compressed bytes.
    name
        File name for messages.
    """

    def __init__(self, kind: str, read: Callable[[int], bytes], name: str) -> None:
        self.kind, self._read, self.name = kind, read, name
        self._member: Any = None
        self._input = b""
        self._members = 0
        self._ahead: UnpackAhead | None = None
        self.produced = 0

    def unpack_ahead(self, threads: int, most: int) -> None:
        """From now on unpack frames of .zst and members of BGZF by ``threads`` threads, ``most`` bytes ahead."""
        if threads > 1 and self.kind in CUTTERS:
            unpack: Unpack = partial(unpack_bgzf, library=_gzip_library())
            if self.kind == "zstd":
                unpack = ZstdUnpacker(_ZSTD_WINDOW)
            self._ahead = UnpackAhead(CUTTERS[self.kind], unpack, threads, most)

    def close(self) -> None:
        """End the threads."""
        if self._ahead is not None:
            self._ahead.close()

    def read(self, largest: int) -> bytes | memoryview:
        """Return some bytes (about ``largest`` at most, zstd apart), or b"" at the end; good until the next call.

        Raises
        ------
        InputError
            The stream is cut short, damaged, or followed by something else.
        """
        while True:
            if self._member is None:
                if output := self._read_ahead():
                    return output
                if not self._next_member(largest):
                    return b""
            if self._member.hungry and not self._input:
                self._input = self._feed(FEED_BYTES[self.kind])
                if not self._input:
                    raise self._error("is cut short: the end of the stream is missing")
            data, self._input = self._input, b""
            try:
                unpacked: bytes = self._member.decompress(data)
            except (OSError, ValueError, EOFError, lzma.LZMAError, zstandard.ZstdError, _gzip_library().error) as error:
                raise self._error(f"is damaged ({error})") from error
            if self._member.eof:
                self._input = self._member.unused_data
                self._member = None
                self._members += 1
            if unpacked:
                self.produced += len(unpacked)
                return unpacked

    def _read_ahead(self) -> bytes | memoryview:
        """Return what the next frames or members become, b"" where one follows that has to be read serially."""
        output: memoryview | None = None
        if self._ahead is not None and not self._ahead.finished:
            self._ahead.give(self._input)
            self._input = b""
            while (output := self._ahead.next(self._read)) is not None:
                self._members += 1
                if output:
                    self.produced += len(output)
                    break
        return output or b""

    def _feed(self, count: int) -> bytes:
        """Return compressed bytes, b"" at the end of the file."""
        return (self._ahead.take(count) if self._ahead is not None else b"") or self._read(count)

    def _next_member(self, largest: int) -> bool:
        """Start the next member; False at the end of the file. Zero bytes between members are padding."""
        while True:
            if self._members:
                self._input = self._input.lstrip(b"\0")
            if self._input:
                break
            self._input = self._feed(FEED_BYTES[self.kind])
            if not self._input:
                return False
        # isal takes a gzip header with an extra field and a name for damaged where it comes in two pieces (1.9.1)
        least = _GZIP_HEADER if self.kind == "gzip" else MAGIC_BYTES
        while len(self._input) < least and (more := self._feed(least)):
            self._input += more
        try:
            same = detect_compression(self._input[:MAGIC_BYTES]) == self.kind
        except InputError:
            same = False
        if not same:
            raise self._error("has something else after the end of the compressed data")
        self._member = _new_member(self.kind, largest)
        return True

    def _error(self, reason: str) -> InputError:
        return InputError(
            f"{self.name}: the {self.kind} stream {reason}; {self.produced:,} bytes could be unpacked before; "
            "fetch the file again, or repair it"
        )
