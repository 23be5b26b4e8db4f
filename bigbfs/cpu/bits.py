"""Bitmaps of vertices, and the bit operations that Numba lacks, each one LLVM instruction.

A bitmap is uint64 words; vertex ``v`` is bit ``v % 64`` of word ``v // 64``.

A bitmap has one word more than ``n`` vertices need; that word is 0, so that an id past the last vertex can stand for
"no vertex" and be looked up like any other.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numba.core import types
from numba.extending import intrinsic

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


@intrinsic
def trailing_zeros(typing_context, word):
    """Return the position (uint64) of the lowest set bit of a uint64 that is not 0."""

    def generate(context, builder, signature, arguments):
        return builder.cttz(arguments[0], context.get_constant(types.boolean, True))

    return types.uint64(types.uint64), generate


@intrinsic
def leading_zeros(typing_context, word):
    """Return the number (uint64) of zero bits above the highest set bit of a uint64 that is not 0."""

    def generate(context, builder, signature, arguments):
        return builder.ctlz(arguments[0], context.get_constant(types.boolean, True))

    return types.uint64(types.uint64), generate


@intrinsic
def population(typing_context, word):
    """Return the number (uint64) of set bits of a uint64."""

    def generate(context, builder, signature, arguments):
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate


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
