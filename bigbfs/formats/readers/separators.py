"""What stands between columns and at the end of a line: the Numba functions that pass over it.

In: a uint8 buffer that holds whole lines, each ended by ``\\n``, and eight bytes more. Out: places in it.
"""

from __future__ import annotations

from bigbfs.formats.readers.numbers import GOOD, LONE_RETURN, NUL_BYTE
from bigbfs.jit.bits import load_word, trailing_zeros
from bigbfs.jit.later import int64, uint64
from bigbfs.jit.njit import njit

TAB, LF, CR, SPACE, COMMA, SEMICOLON, BAR = 9, 10, 13, 32, 44, 59, 124
"""Bytes that separate."""


@njit
def _skip_blanks(buffer, position):
    while buffer[position] == SPACE or buffer[position] == TAB:
        position += 1
    return position


@njit
def _skip_separator(buffer, position):
    position = _skip_blanks(buffer, position)
    if buffer[position] == COMMA or buffer[position] == SEMICOLON or buffer[position] == BAR:
        position = _skip_blanks(buffer, position + 1)
    return position


@njit(forceinline=True)
def _zeros(word):
    """Return a bit in every byte of ``word`` that is 0, from the lowest on as far as there is but one."""
    return (word - uint64(0x0101010101010101)) & ~word & uint64(0x8080808080808080)


@njit(forceinline=True)
def _line_stops(word):
    """Return a bit in the first byte of ``word`` that is LF, CR or NUL (those above it mean nothing), or 0."""
    line_end = _zeros(word ^ uint64(0x0A0A0A0A0A0A0A0A)) | _zeros(word ^ uint64(0x0D0D0D0D0D0D0D0D))
    return line_end | _zeros(word)


@njit(forceinline=True)
def _rest_of_line(buffer, position):
    """Return (start of the next line, status) of the columns from ``position`` on, which are not looked at."""
    place = int64(position)
    stops = _line_stops(load_word(buffer, place))
    while stops == uint64(0):
        place += int64(8)
        stops = _line_stops(load_word(buffer, place))
    place += int64(trailing_zeros(stops) >> uint64(3))
    if buffer[place] == 0:
        return place, NUL_BYTE
    while buffer[place] == CR:
        place += int64(1)
    if buffer[place] != LF:
        return place, LONE_RETURN
    return place + int64(1), GOOD


@njit
def _ends_number(byte):
    return byte in (SPACE, TAB, COMMA, SEMICOLON, BAR, CR, LF)


@njit
def _next_line(buffer, position):
    while buffer[position] != LF:
        position += 1
    return position + 1
