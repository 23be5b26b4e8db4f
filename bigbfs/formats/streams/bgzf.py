"""BGZF, a .gz of many members that name their length: one stream for every gzip, and several threads can unpack it.

Pieces may be compressed one by one, by whatever thread. (Source: SAM specification, section 4.1.)
"""

from __future__ import annotations

import struct
import zlib
from typing import Any

_MEMBER_BYTES = 0xFF00
"""Bytes in a BGZF member: what cannot be compressed still fits the 16 bits that its length has."""
_RAW_DEFLATE = -15
_HEADER = struct.Struct("<4BIBBHBBHH")
_TRAILER = struct.Struct("<II")


def members(text: Any, level: int = 4) -> bytes:
    """Return ``text`` as BGZF members; none of them is empty, which would mean the end of the file."""
    view = memoryview(text)
    return b"".join(_member(view[first : first + _MEMBER_BYTES], level) for first in range(0, len(view), _MEMBER_BYTES))


def end() -> bytes:
    """Return the empty member that ends a BGZF file."""
    return _member(memoryview(b""), 6)


def _member(text: memoryview, level: int) -> bytes:
    squeezer = zlib.compressobj(level, zlib.DEFLATED, _RAW_DEFLATE)
    body = squeezer.compress(text) + squeezer.flush()
    size = _HEADER.size + len(body) + _TRAILER.size
    header = _HEADER.pack(0x1F, 0x8B, 8, 4, 0, 0, 0xFF, 6, ord("B"), ord("C"), 2, size - 1)
    return header + body + _TRAILER.pack(zlib.crc32(text), len(text))
