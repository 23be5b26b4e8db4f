"""Two ids from chosen columns of a line: the Numba functions behind ``--columns`` and named columns.

In: a uint8 buffer that holds whole lines, each ended by ``\\n``. Out: ids, the place behind, a status of ``numbers``.
Columns stand between single delimiters, where the file has one: they may be empty then, and hold blanks; a field may be
quoted. Else they stand between blanks, or one of ``,;|``.
"""

from __future__ import annotations

from bigbfs.formats.readers.numbers import GOOD, NO_VALUE, NOT_A_NUMBER, _id
from bigbfs.formats.readers.separators import CR, LF, SPACE, TAB, _ends_number, _rest_of_line, _skip_separator
from bigbfs.jit.later import uint64
from bigbfs.jit.njit import njit

_QUOTE, _APOSTROPHE = 34, 39


@njit
def _skip_inside(buffer, position, delimiter):
    """Return the place behind blanks, of which a tab is none where it is the delimiter."""
    while buffer[position] == SPACE or (buffer[position] == TAB and delimiter != TAB):
        position += 1
    return position


@njit
def _ends_column(byte, delimiter):
    if delimiter == 0:
        return _ends_number(byte)
    return byte in (delimiter, LF, CR)


@njit
def _skip_column(buffer, position, delimiter):
    """Return the place of what ends a column, which may be quoted; a quote in it is written twice.

    Between delimiters an apostrophe is one, as in any CSV file.
    """
    quote = buffer[position]
    if quote == _QUOTE or (quote == _APOSTROPHE and delimiter == 0):
        position += 1
        while buffer[position] != LF and (buffer[position] != quote or buffer[position + 1] == quote):
            position += 1 + (buffer[position] == quote)
    while not _ends_column(buffer[position], delimiter):
        position += 1
    return position


@njit
def _next_column(buffer, position, delimiter):
    """Return (the place where the next column begins, whether there is one) from the end of a column."""
    if delimiter == 0:
        position = _skip_separator(buffer, position)
        return position, buffer[position] != LF and buffer[position] != CR
    if buffer[position] != delimiter:
        return position, False
    return _skip_inside(buffer, position + 1, delimiter), True


@njit
def _chosen(buffer, position, first, second, delimiter):
    """Read the ids in the columns ``first`` and ``second`` of a line: return (source, target, position, status)."""
    source, target, column = uint64(0), uint64(0), 1
    position = _skip_inside(buffer, position, delimiter)
    while True:
        if column in (first, second):
            value, position, status = _id(buffer, position, True)
            if status == GOOD and delimiter != 0:
                position = _skip_inside(buffer, position, delimiter)
            if status == GOOD and not _ends_column(buffer[position], delimiter):
                status = NOT_A_NUMBER
            if status != GOOD:
                return source, target, position, status
            if column == first:
                source = value
            else:
                target = value
            if column >= first and column >= second:
                position, status = _rest_of_line(buffer, position)
                return source, target, position, status
        else:
            position = _skip_column(buffer, position, delimiter)
        position, more = _next_column(buffer, position, delimiter)
        if not more:
            return source, target, position, NO_VALUE
        column += 1
