"""The codes of a BVGraph: natural numbers at any bit of an array of bytes, the highest bit of a byte first.

Readers take the bytes (uint8, 8 of them at least) and the bit to begin at (int64); they return the number (int64), or
-1 where no number stands there (one from 2**55 on may pass for none), and the bit after it. Behind the end of the array
all bits are 0: codes that run over it end in -1, or behind it. The fast ones hand on what they have seen already, the
bits from ``position`` on in the upper end of a word, and how many of them are sure, so that several short codes cost
one look at the array.

Source: P. Boldi and S. Vigna, "The WebGraph Framework I" (2004) and "Codes for the World Wide Web" (2005); unary codes
are zeros closed by a one, as the documentation of dsiutils has them.
"""

from __future__ import annotations

import numpy as np

from bigbfs.jit.bits import bytes_reversed, leading_zeros, load_word
from bigbfs.jit.njit import njit

UNARY, GAMMA, DELTA, ZETA, NIBBLE, GOLOMB = range(6)
"""Codes; a code and its parameter are one number for kernels, see :func:`packed`."""

_KIND_BITS = 3
_KINDS = 1 << _KIND_BITS
SURE = 57
"""Bits that one look at the array shows, wherever it begins."""
_MOST = 62
"""Bits of the largest number."""


def packed(kind: int, parameter: int = 0) -> int:
    """Return a code and its parameter (k of zeta, the modulus of Golomb) as one number."""
    return parameter * _KINDS + kind


@njit(cache=True, nogil=True, inline="always")
def look(data, position):
    """Return the bits from ``position`` on, at least ``SURE`` of them, in the upper end of a uint64."""
    byte = position >> 3
    beyond = max(np.int64(0), byte + 8 - len(data))  # zeros follow the end
    word = bytes_reversed(load_word(data, byte - beyond)) if beyond < 8 else np.uint64(0)
    return word << np.uint64((8 * beyond & 63) + (position & 7))


@njit(cache=True, nogil=True)
def read_bits(data, position, count):
    """Return ``count`` bits, at most ``_MOST``."""
    value = np.uint64(0)
    while count > 0:
        here = min(count, 32)
        value = (value << np.uint64(here)) | (look(data, position) >> np.uint64(64 - here))
        position += here
        count -= here
    return np.int64(value), position


@njit(cache=True, nogil=True)
def read_unary(data, position):
    """Return the zeros before the next one."""
    zeros = np.int64(0)
    while True:
        here = np.int64(leading_zeros(look(data, position)))
        if here < SURE:
            return zeros + here, position + here + 1
        zeros += SURE
        position += SURE
        if position >= 8 * len(data):
            return np.int64(-1), position


@njit(cache=True, nogil=True)
def _long_gamma(data, position):
    width, position = read_unary(data, position)
    if width < 0 or width >= _MOST:
        return np.int64(-1), position
    rest, position = read_bits(data, position, width)
    return ((np.int64(1) << width) | rest) - 1, position


@njit(cache=True, nogil=True, forceinline=True)
def read_gamma(data, seen, left, position):
    """Read a number in gamma code."""
    length = 2 * np.int64(leading_zeros(seen)) + 1
    if length > left:
        seen, left = look(data, position), SURE
        length = 2 * np.int64(leading_zeros(seen)) + 1
    if length > left:
        value, position = _long_gamma(data, position)
        return value, look(data, position), SURE, position
    return np.int64(seen >> np.uint64(64 - length)) - 1, seen << np.uint64(length), left - length, position + length


@njit(cache=True, nogil=True)
def _long_zeta(data, position, k):
    steps, position = read_unary(data, position)
    if steps < 0 or (steps + 1) * k >= _MOST:
        return np.int64(-1), position
    left = np.int64(1) << (steps * k)
    rest, position = read_bits(data, position, steps * k + k - 1)
    if rest < left:
        return rest + left - 1, position
    bit, position = read_bits(data, position, np.int64(1))
    return 2 * rest + bit - 1, position


@njit(cache=True, nogil=True, forceinline=True)
def read_zeta(data, seen, left, position, k):
    """Read a number in zeta code with parameter ``k``."""
    steps = np.int64(leading_zeros(seen))
    if steps + 1 + steps * k + k > left:
        seen, left = look(data, position), SURE
        steps = np.int64(leading_zeros(seen))
    width = steps * k + k  # of the longer codes of this many steps
    if steps + 1 + width > left:
        value, position = _long_zeta(data, position, k)
        return value, look(data, position), SURE, position
    longer = np.int64((seen << np.uint64(steps + 1)) >> np.uint64(64 - width))
    least = np.int64(1) << (steps * k)
    short = (longer >> 1) < least
    value = (longer >> 1) + least if short else longer
    length = steps + 1 + width - np.int64(short)
    return value - 1, seen << np.uint64(length), left - length, position + length


@njit(cache=True, nogil=True)
def _delta(data, position):
    width, _, _, position = read_gamma(data, look(data, position), SURE, position)
    if width < 0 or width >= _MOST:
        return np.int64(-1), position
    rest, position = read_bits(data, position, width)
    return ((np.int64(1) << width) | rest) - 1, position


@njit(cache=True, nogil=True)
def _nibble(data, position):
    value = np.int64(0)
    for _ in range(_MOST // 3):
        four, position = read_bits(data, position, np.int64(4))
        value = value << 3 | (four & 7)
        if four >= 8:
            return value, position
    return np.int64(-1), position


@njit(cache=True, nogil=True)
def _golomb(data, position, modulus):
    if modulus == 0:
        return np.int64(0), position
    quotient, position = read_unary(data, position)
    if quotient < 0 or quotient >= (np.int64(1) << _MOST) // modulus:
        return np.int64(-1), position
    width = 63 - np.int64(leading_zeros(np.uint64(modulus)))
    short = (np.int64(2) << width) - modulus
    rest, position = read_bits(data, position, width)
    if rest >= short:
        bit, position = read_bits(data, position, np.int64(1))
        rest = 2 * rest + bit - short
    return quotient * modulus + rest, position


@njit(cache=True, nogil=True)
def _other(data, position, code):
    kind, parameter = code & (_KINDS - 1), code >> _KIND_BITS
    if kind == UNARY:
        return read_unary(data, position)
    if kind == DELTA:
        return _delta(data, position)
    if kind == NIBBLE:
        return _nibble(data, position)
    return _golomb(data, position, parameter)


@njit(cache=True, nogil=True, forceinline=True)
def read_number(data, seen, left, position, code):
    """Read a number in the code that :func:`packed` made."""
    if code == GAMMA:
        return read_gamma(data, seen, left, position)
    if code & (_KINDS - 1) == ZETA:
        return read_zeta(data, seen, left, position, code >> _KIND_BITS)
    if code == UNARY and np.int64(leading_zeros(seen)) < left:
        length = np.int64(leading_zeros(seen)) + 1
        return length - 1, seen << np.uint64(length), left - length, position + length
    value, position = _other(data, position, code)
    return value, look(data, position), SURE, position


@njit(cache=True, nogil=True)
def read_rarely(data, seen, left, position, code):
    """Do what :func:`read_number` does, which is compiled into every place that calls it."""
    return read_number(data, seen, left, position, code)


@njit(cache=True, nogil=True, inline="always")
def signed(number):
    """Return the integer that a natural number stands for: 0, -1, 1, -2, 2, ..."""
    return (number >> 1) ^ -(number & 1)
