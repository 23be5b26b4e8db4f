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
def _skip_column(buffer, position):
    """Return the place of the separator or line end behind a column, which may be quoted."""
    quote = buffer[position]
    if quote in (_QUOTE, _APOSTROPHE):
        position += 1
        while buffer[position] != quote and buffer[position] != LF:
            position += 1
    while not _ends_number(buffer[position]):
        position += 1
    return position


@njit
def _skip_field(buffer, position, delimiter):
    """Return the place of the ``delimiter`` or line end behind a field, in which a quote is written twice."""
    quote = buffer[position]
    if quote in (_QUOTE, _APOSTROPHE):
        position += 1
        while buffer[position] != LF and (buffer[position] != quote or buffer[position + 1] == quote):
            position += 1 + (buffer[position] == quote)
    while buffer[position] not in (delimiter, LF, CR):
        position += 1
    return position


@njit
def _in_fields(buffer, position, first, second, delimiter):
    """Return as :func:`_chosen` does, for lines whose columns stand between single delimiters."""
    source, target, column = uint64(0), uint64(0), 1
    while True:
        while buffer[position] == SPACE or (buffer[position] == TAB and delimiter != TAB):
            position += 1
        if column in (first, second):
            value, position, status = _id(buffer, position, True)
            while status == GOOD and (buffer[position] == SPACE or (buffer[position] == TAB and delimiter != TAB)):
                position += 1
            if status == GOOD and buffer[position] not in (delimiter, LF, CR):
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
            position = _skip_field(buffer, position, delimiter)
        if buffer[position] != delimiter:
            return source, target, position, NO_VALUE
        position += 1
        column += 1


@njit
def _chosen(buffer, position, first, second):
    """Read the ids in the columns ``first`` and ``second`` of a line: return (source, target, position, status)."""
    source, target, column = uint64(0), uint64(0), 1
    while True:
        if column in (first, second):
            value, position, status = _id(buffer, position, True)
            if status == GOOD and not _ends_number(buffer[position]):
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
            position = _skip_column(buffer, position)
        position = _skip_separator(buffer, position)
        if buffer[position] == LF or buffer[position] == CR:
            return source, target, position, NO_VALUE
        column += 1
