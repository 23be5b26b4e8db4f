"""Bitmaps of vertices.

A bitmap is uint64 words; vertex ``v`` is bit ``v % 64`` of word ``v // 64``.

A bitmap has one word more than ``n`` vertices need; that word is 0, so that an id past the last vertex can stand for
"no vertex" and be looked up like any other.
"""

from __future__ import annotations

import numpy as np

from bigbfs.jit.njit import njit

ZERO = np.uint64(0)
ONE = np.uint64(1)
WORD = np.uint64(64)
SHIFT = np.uint64(6)
_LOW = np.uint64(63)


def words_for(n: int) -> int:
    """Return the words that hold ``n`` vertices, without the extra one."""
    return -(-n // 64)


def no_vertices(n: int) -> np.ndarray:
    """Return the bitmap, without the extra word, in which only the bits past the last of ``n`` vertices are set."""
    bitmap = np.zeros(words_for(n), np.uint64)
    if n % 64:
        bitmap[-1] = np.uint64(2**64 - 2 ** (n % 64))
    return bitmap


@njit
def bit_value(bitmap, v):
    """Return bit ``v`` of ``bitmap``: 0 or 1 (uint64)."""
    return (bitmap[v >> SHIFT] >> (v & _LOW)) & ONE


@njit
def is_set(bitmap, v):
    """Return whether bit ``v`` of ``bitmap`` is set."""
    return bit_value(bitmap, v) != ZERO


@njit
def bit_of(v):
    """Return the word in which only the bit of ``v`` is set."""
    return ONE << (v & _LOW)
