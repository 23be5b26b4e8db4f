"""The codes of a BVGraph: natural numbers at any bit of an array of bytes, the highest bit of a byte first.

Readers take the bytes (uint8, 8 of them at least) and the bit to begin at (int64); they return the number (int64), or
-1 where no number stands there (one from 2**55 on may pass for none), and the bit after it. Behind the end of the array
all bits are 0: codes that run over it end in -1, or behind it. The fast ones keep what comes next in a register, as
``seen, left, byte``: the next ``left`` bits (0 to 63) in the upper end of a word, and the byte that follows them, so
that a code costs a few instructions and no branch on how many bits are left.

Source: P. Boldi and S. Vigna, "The WebGraph Framework I" (2004) and "Codes for the World Wide Web" (2005); unary codes
are zeros closed by a one, as the documentation of dsiutils has them. F. Giesen, "Reading bits in far too many ways"
(2018), for the register.
"""

from __future__ import annotations

import numpy as np

from bigbfs.jit.bits import bytes_reversed, leading_zeros, load_word
from bigbfs.jit.njit import njit

UNARY, GAMMA, DELTA, ZETA, NIBBLE, GOLOMB = range(6)
"""Codes; a code and its parameter are one number for kernels, see :func:`packed`."""

_KIND_BITS = 3
_KINDS = 1 << _KIND_BITS
_SURE = 57
"""Bits that one look at the array shows, wherever it begins."""
_FULL = 56
"""Bits that a filled register has at least."""
_MOST = 62
"""Bits of the largest number."""


def packed(kind: int, parameter: int = 0) -> int:
    """Return a code and its parameter (k of zeta, the modulus of Golomb) as one number."""
    return parameter * _KINDS + kind


@njit(cache=True, nogil=True)
def _last_word(data, byte):
    """Return the 8 bytes from ``byte`` on where fewer are left; zeros follow the end."""
    beyond = byte + 8 - len(data)
    return bytes_reversed(load_word(data, byte - beyond)) << np.uint64(8 * beyond) if beyond < 8 else np.uint64(0)


@njit(cache=True, nogil=True, forceinline=True)
def _word(data, byte):
    """Return the 8 bytes from ``byte`` on, the first one highest."""
    if byte + 8 <= len(data):
        return bytes_reversed(load_word(data, byte))
    return _last_word(data, byte)


@njit(cache=True, nogil=True, forceinline=True)
def _look(data, position):
    """Return the bits from ``position`` on, at least ``_SURE`` of them, in the upper end of a uint64."""
    return _word(data, position >> 3) << np.uint64(position & 7)


@njit(cache=True, nogil=True, forceinline=True)
def opened(data, position):
    """Return the register (seen, left, byte) for what begins at the bit ``position``."""
    return _look(data, position), _FULL - (position & 7), (position >> 3) + 7


@njit(cache=True, nogil=True, forceinline=True)
def fill(data, seen, left, byte):
    """Return the register with ``_FULL`` bits or more; bits below those that count are what comes next, or 0."""
    return seen | (_word(data, byte) >> np.uint64(left)), left | _FULL, byte + ((63 - left) >> 3)


@njit(cache=True, nogil=True)
def _bits(data, position, count):
    """Return ``count`` bits, at most ``_MOST``."""
    value = np.uint64(0)
    while count > 0:
        here = min(count, 32)
        value = (value << np.uint64(here)) | (_look(data, position) >> np.uint64(64 - here))
        position += here
        count -= here
    return np.int64(value), position


@njit(cache=True, nogil=True)
def _unary(data, position):
    """Return the zeros before the next one."""
    zeros = np.int64(0)
    while True:
        here = np.int64(leading_zeros(_look(data, position)))
        if here < _SURE:
            return zeros + here, position + here + 1
        zeros += _SURE
        position += _SURE
        if position >= 8 * len(data):
            return np.int64(-1), position


@njit(cache=True, nogil=True)
def _gamma(data, position):
    width, position = _unary(data, position)
    if width < 0 or width >= _MOST:
        return np.int64(-1), position
    rest, position = _bits(data, position, width)
    return ((np.int64(1) << width) | rest) - 1, position


@njit(cache=True, nogil=True)
def _zeta(data, position, k):
    steps, position = _unary(data, position)
    if steps < 0 or (steps + 1) * k >= _MOST:
        return np.int64(-1), position
    left = np.int64(1) << (steps * k)
    rest, position = _bits(data, position, steps * k + k - 1)
    if rest < left:
        return rest + left - 1, position
    bit, position = _bits(data, position, np.int64(1))
    return 2 * rest + bit - 1, position


@njit(cache=True, nogil=True)
def _delta(data, position):
    width, position = _gamma(data, position)
    if width < 0 or width >= _MOST:
        return np.int64(-1), position
    rest, position = _bits(data, position, width)
    return ((np.int64(1) << width) | rest) - 1, position


@njit(cache=True, nogil=True)
def _nibble(data, position):
    value = np.int64(0)
    for _ in range(_MOST // 3):
        four, position = _bits(data, position, np.int64(4))
        value = value << 3 | (four & 7)
        if four >= 8:
            return value, position
    return np.int64(-1), position


@njit(cache=True, nogil=True)
def _golomb(data, position, modulus):
    if modulus == 0:
        return np.int64(0), position
    quotient, position = _unary(data, position)
    if quotient < 0 or quotient >= (np.int64(1) << _MOST) // modulus:
        return np.int64(-1), position
    width = 63 - np.int64(leading_zeros(np.uint64(modulus)))
    short = (np.int64(2) << width) - modulus
    rest, position = _bits(data, position, width)
    if rest >= short:
        bit, position = _bits(data, position, np.int64(1))
        rest = 2 * rest + bit - short
    return quotient * modulus + rest, position


@njit(cache=True, nogil=True)
def _slowly(data, left, byte, code):
    """Read any number in any code, bit after bit where need be; return it and the register behind it."""
    kind, parameter, position = code & (_KINDS - 1), code >> _KIND_BITS, 8 * byte - left
    if kind == UNARY:
        value, position = _unary(data, position)
    elif kind == GAMMA:
        value, position = _gamma(data, position)
    elif kind == DELTA:
        value, position = _delta(data, position)
    elif kind == ZETA:
        value, position = _zeta(data, position, parameter)
    elif kind == NIBBLE:
        value, position = _nibble(data, position)
    else:
        value, position = _golomb(data, position, parameter)
    seen, left, byte = opened(data, position)
    return value, seen, left, byte


@njit(cache=True, nogil=True, forceinline=True)
def read_number(data, seen, left, byte, code):
    """Read a number in the code that :func:`packed` made; quickly where the register holds it."""
    zeros = np.int64(leading_zeros(seen))
    if code == GAMMA:
        length = 2 * zeros + 1
        if length <= left:
            return np.int64(seen >> np.uint64(64 - length)) - 1, seen << np.uint64(length), left - length, byte
    elif code & (_KINDS - 1) == ZETA:
        k = code >> _KIND_BITS
        width = zeros * k + k  # of the longer codes with this many zeros; those that begin with k - 1 more are shorter
        if zeros + 1 + width <= left:
            behind = seen << np.uint64(zeros + 1)
            short = np.int64((behind >> np.uint64(1)) >> np.uint64(64 - k) == np.uint64(0))
            value = (np.int64(behind >> np.uint64(64 - width)) >> short) + (short << (zeros * k)) - 1
            length = zeros + 1 + width - short
            return value, seen << np.uint64(length), left - length, byte
    elif code == UNARY and zeros < left:
        return zeros, seen << np.uint64(zeros + 1), left - zeros - 1, byte
    return _slowly(data, left, byte, code)


@njit(cache=True, nogil=True)
def read_rarely(data, seen, left, byte, code):
    """Do what :func:`read_number` does, which is compiled into every place that calls it, and fill the register."""
    seen, left, byte = fill(data, seen, left, byte)
    return read_number(data, seen, left, byte, code)


@njit(cache=True, nogil=True, inline="always")
def signed(number):
    """Return the integer that a natural number stands for: 0, -1, 1, -2, 2, ..."""
    return (number >> 1) ^ -(number & 1)
