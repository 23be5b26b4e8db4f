"""Parts of a compressed stream that can be unpacked on their own, found without unpacking them.

A zstd frame says how long each of its blocks is, and a block becomes 128 KiB at most: that bounds what the frame
becomes, whatever its header declares. A gzip member says how long it is only where it has the extra field ``BC`` of
BGZF (bgzip, samtools), in which a member holds up to 64 KiB; runs of those are one unit. (Facts: RFC 8878 sections
3.1.1 and 3.1.2, RFC 1952, SAM specification 4.1.) What is none of this is left to who unpacks the stream serially.
"""

from __future__ import annotations

import struct
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import zstandard

BGZF_BYTES = 1 << 16
"""Most that a member of a BGZF file becomes."""

_MEMBERS = 32
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_ZSTD_BLOCK = 1 << 17
_LEAST = 1 << 12  # what the smallest block counts for, so that a frame of millions of empty ones is not walked through
_RAW, _REPEATED, _COMPRESSED = range(3)
_BGZF = struct.Struct("<4B4x2xH2sHH")
_BGZF_START = (0x1F, 0x8B, 8, 4, 6, b"BC", 2)


@dataclass(frozen=True)
class Unit:
    """``length`` bytes that unpack to at most ``bound``.

    Attributes
    ----------
    length, bound
        Bytes, packed and at most unpacked.
    members
        Where each member of a run ends.
    declared
        Bytes that the unit says it becomes; None where it does not.
    """

    length: int
    bound: int
    members: tuple[int, ...] = ()
    declared: int | None = None


class Incomplete(Exception):
    """The unit goes on beyond the bytes that are there."""


Cutter = Callable[[bytearray, int], "Unit | None"]
"""Returns the unit at the beginning of some bytes; None where it becomes more than so many, or there is none."""


def zstd_unit(data: bytearray, most: int) -> Unit | None:
    """Return the frame, skippable or not, at the beginning of ``data``; None where it is too large or none.

    Raises
    ------
    Incomplete
        Its end is not in ``data``.
    """
    _require(data, 18)
    if data[1:4] == b"\x2a\x4d\x18" and data[0] & 0xF0 == 0x50:
        length = 8 + int.from_bytes(data[4:8], "little")
        if length > most:
            return None
        _require(data, length)
        return Unit(length, length, declared=0)
    if data[:4] != _ZSTD_MAGIC:
        return None
    flags = data[4]
    single = flags >> 5 & 1
    size_bytes = (single, 2, 4, 8)[flags >> 6]
    at = 6 - single + (0, 1, 2, 4)[flags & 3]
    declared = None
    if size_bytes:
        declared = int.from_bytes(data[at : at + size_bytes], "little") + 256 * (size_bytes == 2)
    at += size_bytes
    bound, last = 0, 0
    while not last:
        _require(data, at + 3)
        block = int.from_bytes(data[at : at + 3], "little")
        last, kind, size = block & 1, block >> 1 & 3, block >> 3
        bound += max(size, _LEAST) if kind in (_RAW, _REPEATED) else _ZSTD_BLOCK
        if size > _ZSTD_BLOCK or kind > _COMPRESSED or bound > most:
            return None
        at += 3 + (1 if kind == _REPEATED else size)
    at += 4 * (flags >> 2 & 1)
    _require(data, at)
    return Unit(at, bound, declared=declared)


def bgzf_unit(data: bytearray, most: int) -> Unit | None:
    """Return the run of BGZF members at the beginning of ``data``; None where there is none.

    Raises
    ------
    Incomplete
        The end of the first member is not in ``data``.
    """
    ends: list[int] = []
    at = 0
    while len(ends) < min(_MEMBERS, most // BGZF_BYTES):
        if len(data) < at + _BGZF.size:
            break
        *start, size = _BGZF.unpack_from(data, at)
        if tuple(start) != _BGZF_START:
            if not ends:
                return None
            break
        if len(data) <= at + size:
            break
        at += size + 1
        ends.append(at)
    if not ends:
        if most < BGZF_BYTES:
            return None
        raise Incomplete
    return Unit(at, len(ends) * BGZF_BYTES, members=tuple(ends))


def _require(data: bytearray, length: int) -> None:
    if len(data) < length:
        raise Incomplete


CUTTERS: dict[str, Cutter] = {"zstd": zstd_unit, "gzip": bgzf_unit}


class ZstdUnpacker:
    """Unpacks frames; each thread has a decompressor of its own, whose buffers live on.

    Parameters
    ----------
    window
        Largest window of a frame.
    """

    def __init__(self, window: int) -> None:
        self._window = window
        self._own = threading.local()

    def __call__(self, packed: bytes, unit: Unit, target: memoryview) -> int:
        """Unpack a frame to ``target``, which is longer than its bound; return how much it became.

        Raises
        ------
        ValueError, zstandard.ZstdError
            It is damaged.
        """
        if not hasattr(self._own, "inner"):
            self._own.inner = zstandard.ZstdDecompressor(max_window_size=self._window)
        # with room for one byte more it reads on to the end of the frame, where the checksum is
        with self._own.inner.stream_reader(packed) as reader:
            length = int(reader.readinto(target[: unit.bound + 1]))
        if length > unit.bound or (unit.declared is not None and length != unit.declared):
            raise ValueError("the frame does not become what its header says")
        return length


def unpack_bgzf(packed: bytes, unit: Unit, target: memoryview, library: Any) -> int:
    """Unpack a run of members to ``target``, which is longer than its bound; return how much it became.

    ``library`` is zlib or has its functions.

    Raises
    ------
    ValueError, library.error
        A member is damaged, or no BGZF.
    """
    first = length = 0
    view = memoryview(packed)
    for end in unit.members:
        member = library.decompressobj(31)
        output = member.decompress(view[first:end], BGZF_BYTES + 1)
        if not member.eof or member.unused_data or len(output) > BGZF_BYTES:
            raise ValueError("the member does not end where its header says")
        target[length : length + len(output)] = output
        length += len(output)
        first = end
    return length
