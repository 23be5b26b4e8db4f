"""Bytes to vertex ids: the Numba kernels that read two ids from every line, eight bytes at a time.

In: uint8 buffers that hold whole lines, each ended by ``\\n``, and at least ``PADDING`` bytes more. Out: uint32 or
uint64 ids. A chunk is a run of whole lines that one thread reads; nothing is allocated for a line.

A line is: blanks, an optional ``prefix`` letter (the ``a`` of DIMACS), an id, a separator, an id, and then the end or
a separator and columns that are not looked at. A separator is a run of blanks (space, tab, carriage return at the end)
with at most one comma or semicolon in it.
"""

from __future__ import annotations

import numpy as np
from numba import int64, uint64

from bigbfs.jit.bits import load_word, trailing_zeros
from bigbfs.jit.njit import njit

PADDING = 64
"""Bytes that must be readable after the last line of a buffer."""

GOOD, COMMENT, WIDE = 0, 1, 2
"""An edge; a comment or blank line; an id that needs uint64 (only where ids are uint32)."""
NOT_A_NUMBER, NEGATIVE, TOO_BIG, ONE_COLUMN, OUT_OF_RANGE, LONE_RETURN, NUL_BYTE, NO_VALUE, WRONG_PREFIX = range(3, 12)
"""What is wrong with a bad line."""

EDGES, SKIPPED, COMMENTS, STATUS, STOPPED_AT = range(5)
"""Columns of the table that :func:`read_pairs` fills, one row for each chunk."""
TABLE_COLUMNS = 5

_TAB, _LF, _CR, _SPACE, _COMMA, _MINUS, _SEMICOLON = 9, 10, 13, 32, 44, 45, 59
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
def _skip_blanks(buffer, position):
    while buffer[position] == _SPACE or buffer[position] == _TAB:
        position += 1
    return position


@njit
def _skip_separator(buffer, position):
    position = _skip_blanks(buffer, position)
    if buffer[position] == _COMMA or buffer[position] == _SEMICOLON:
        position = _skip_blanks(buffer, position + 1)
    return position


@njit
def _rest_of_line(buffer, position):
    """Return (start of the next line, status) of the columns from ``position`` on, which are not looked at."""
    while buffer[position] != _LF:
        if buffer[position] == 0:
            return position, NUL_BYTE
        if buffer[position] == _CR:
            while buffer[position] == _CR:
                position += 1
            if buffer[position] != _LF:
                return position, LONE_RETURN
            break
        position += 1
    return position + 1, GOOD


@njit
def _ends_number(byte):
    return byte in (_SPACE, _TAB, _COMMA, _SEMICOLON, _CR, _LF)


@njit
def _line(buffer, position, prefix, comment_1, comment_2, value_column):
    """Read one line of any shape: return (source, target, position, status)."""
    zero = uint64(0)
    position = _skip_blanks(buffer, position)
    byte = buffer[position]
    if byte in (_LF, _CR, comment_1, comment_2):
        position, status = _rest_of_line(buffer, position)
        return zero, zero, position, COMMENT if status == GOOD else status
    if prefix != 0:
        if byte != prefix or not (buffer[position + 1] == _SPACE or buffer[position + 1] == _TAB):
            return zero, zero, position, WRONG_PREFIX
        position = _skip_blanks(buffer, position + 1)
    source, position, status = _any_number(buffer, position)
    if status != GOOD:
        return zero, zero, position, status
    if not _ends_number(buffer[position]):
        return zero, zero, position, NOT_A_NUMBER
    position = _skip_separator(buffer, position)
    if buffer[position] == _LF or buffer[position] == _CR:
        return zero, zero, position, ONE_COLUMN
    target, position, status = _any_number(buffer, position)
    if status != GOOD:
        return zero, zero, position, status
    position, status = _after_target(buffer, position, value_column)
    return source, target, position, status


@njit
def _after_target(buffer, position, value_column):
    """Return (start of the next line, status) of what follows the second id."""
    if not _ends_number(buffer[position]):
        return position, NOT_A_NUMBER
    if value_column:
        position = _skip_separator(buffer, position)
        if buffer[position] == _LF or buffer[position] == _CR:
            return position, NO_VALUE
    return _rest_of_line(buffer, position)


@njit
def _next_line(buffer, position):
    while buffer[position] != _LF:
        position += 1
    return position + 1


@njit
def _read_chunk(buffer, start, stop, rules, allowed, sources, targets, first, row):
    """Read the lines ``buffer[start:stop]``, write edges from index ``first``, and fill ``row`` of the table."""
    prefix, comment_1, comment_2, value_column = rules[0], rules[1], rules[2], rules[3]
    low, span = uint64(rules[4]), uint64(rules[5]) - uint64(rules[4])
    narrow = sources.itemsize == 4
    position, edge, skipped, comments = start, first, 0, 0
    row[STATUS] = GOOD
    while position < stop:
        # nearly every line: two numbers of at most 15 digits with one separator between them
        begin = position
        prefixed = prefix == 0
        if not prefixed and buffer[position] == prefix and buffer[position + 1] == _SPACE:
            prefixed = True
            begin = position + 2
        source, digits = _number(buffer, begin)
        begin += digits
        if 0 < digits < 16 and buffer[begin] in (_TAB, _SPACE, _COMMA) and prefixed:
            target, digits = _number(buffer, begin + 1)
            begin += 1 + digits
            fits = source - low <= span and target - low <= span
            fits = fits and not (narrow and (source | target) >> uint64(32) != uint64(0))
            if 0 < digits < 16 and fits:
                if buffer[begin] == _LF and not value_column:
                    after, status = begin + 1, GOOD
                else:
                    after, status = _after_target(buffer, begin, value_column)
                if status == GOOD:
                    sources[edge] = source
                    targets[edge] = target
                    edge += 1
                    position = after
                    continue
        line = position
        source, target, position, status = _line(buffer, line, prefix, comment_1, comment_2, value_column)
        if status == COMMENT:
            comments += 1
            continue
        if status == GOOD and (source - low > span or target - low > span):
            status = OUT_OF_RANGE
        if status == GOOD:
            if narrow and (source | target) >> uint64(32) != uint64(0):
                row[STATUS] = WIDE
                return
            sources[edge] = source
            targets[edge] = target
            edge += 1
            continue
        if skipped == allowed:
            row[STATUS] = status
            row[STOPPED_AT] = line
            break
        skipped += 1
        position = _next_line(buffer, line)
    row[EDGES] = edge - first
    row[SKIPPED] = skipped
    row[COMMENTS] = comments


@njit(nogil=True, cache=True)
def read_pairs(buffer, cuts, chunk, rules, allowed, sources, targets, firsts, table):
    """Read two ids from every line of one chunk, ``buffer[cuts[chunk]:cuts[chunk + 1]]``.

    Its edges go to ``sources`` and ``targets`` from ``firsts[chunk]`` on, and what was found to ``table[chunk]``.
    ``rules`` (int64): prefix byte or 0, two comment bytes, 1 where a third column is required, smallest and largest id.
    ``allowed`` bad lines are skipped; the chunk ends at the next one.
    """
    _read_chunk(buffer, cuts[chunk], cuts[chunk + 1], rules, allowed, sources, targets, firsts[chunk], table[chunk])


@njit(nogil=True, cache=True)
def count_lines(buffer, cuts, chunk, lines):
    """Count the line ends in ``buffer[cuts[chunk]:cuts[chunk + 1]]`` into ``lines[chunk]``."""
    count = 0
    for byte in buffer[cuts[chunk] : cuts[chunk + 1]]:
        count += byte == _LF
    lines[chunk] = count


@njit(nogil=True, cache=True)
def cut_lines(buffer, start, stop, chunk_bytes, cuts):
    """Cut ``buffer[start:stop]`` into chunks of whole lines of about ``chunk_bytes``; return how many.

    ``cuts`` (int64) receives the borders and must hold ``2 + (stop - start) // chunk_bytes``.
    """
    cuts[0] = start
    count = 0
    while cuts[count] < stop:
        position = cuts[count] + chunk_bytes - 1
        position = stop if position >= stop - 1 else _next_line(buffer, position)
        count += 1
        cuts[count] = position
    return count
