"""LEB128 as its definition says, for tests of what does it fast."""

from __future__ import annotations


def leb128(value):
    """Obvious encoder, the oracle."""
    out = []
    while value >= 128:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])
