"""Vertex ids out of text, eight bytes at a time, and what may be wrong with one: shared by all kernels of readers."""

from __future__ import annotations

import numpy as np

from bigbfs.jit.bits import load_word, trailing_zeros
from bigbfs.jit.later import int64, uint64
from bigbfs.jit.njit import njit

GOOD, COMMENT, WIDE = 0, 1, 2
"""An edge; a comment or blank line; an id that needs uint64 (only where ids are uint32)."""
NOT_A_NUMBER, NEGATIVE, TOO_BIG, ONE_COLUMN, OUT_OF_RANGE, LONE_RETURN, NUL_BYTE, NO_VALUE, WRONG_PREFIX = range(3, 12)
"""What is wrong with a bad line."""
CHANGED = 12
"""A line of ids in another number of columns than those before it."""

_MINUS, _QUOTE, _APOSTROPHE, _POINT, _ZERO = 45, 34, 39, 46, 48
_POWERS = 10 ** np.arange(9, dtype=np.uint64)


# forceinline, because inline="always" takes and drops a reference to the array for every number: a third of the speed
@njit(forceinline=True)
def _number(buffer, position):
    """Return the number at ``position`` and its digits: 0 where there is none, 16 where it has 16 or more."""
    text = load_word(buffer, position) ^ uint64(0x3030303030303030)
    other = ((text + uint64(0x7676767676767676)) | text) & uint64(0x8080808080808080)
    digits = int64(trailing_zeros(other) >> uint64(3))
    if digits == 0:
        return uint64(0), 0
    value = _eight_digits(text << uint64(64 - 8 * digits))
    if digits < 8:
        return value, digits
    text = load_word(buffer, position + 8) ^ uint64(0x3030303030303030)
    other = ((text + uint64(0x7676767676767676)) | text) & uint64(0x8080808080808080)
    digits = int64(trailing_zeros(other) >> uint64(3))
    if digits > 0:
        value = value * _POWERS[digits] + _eight_digits(text << uint64(64 - 8 * digits))
    return value, 8 + digits


@njit(forceinline=True)
def _eight_digits(digits):
    """Return the number whose decimal digits are the bytes of ``digits``, the first in the lowest byte."""
    pairs = ((digits & uint64(0x0F0F0F0F0F0F0F0F)) * uint64(2561)) >> uint64(8)
    fours = ((pairs & uint64(0x00FF00FF00FF00FF)) * uint64(6553601)) >> uint64(16)
    return ((fours & uint64(0x0000FFFF0000FFFF)) * uint64(42949672960001)) >> uint64(32)


@njit
def _any_number(buffer, position):
    """Return (value, position after it, status) of the id at ``position``, of any length."""
    start = position
    value = uint64(0)
    while 48 <= buffer[position] <= 57:
        digit = uint64(buffer[position] - 48)
        if value > uint64(922337203685477580) or (value == uint64(922337203685477580) and digit > uint64(7)):
            return value, position, TOO_BIG
        value = value * uint64(10) + digit
        position += 1
    if position > start:
        return value, position, GOOD
    if buffer[position] == _MINUS and 48 <= buffer[position + 1] <= 57:
        return value, position, NEGATIVE
    return value, position, NOT_A_NUMBER


@njit
def _id(buffer, position, plain):
    """Return as :func:`_any_number` does; in a ``plain`` edge list an id may be quoted, and be written ``1.0``."""
    if not plain:
        return _any_number(buffer, position)
    quote = buffer[position]
    quoted = quote in (_QUOTE, _APOSTROPHE)
    value, position, status = _any_number(buffer, position + quoted)
    if status == GOOD and buffer[position] == _POINT:
        position += 1
        while buffer[position] == _ZERO:
            position += 1
    if status == GOOD and quoted:
        if buffer[position] != quote:
            return value, position, NOT_A_NUMBER
        position += 1
    return value, position, status
