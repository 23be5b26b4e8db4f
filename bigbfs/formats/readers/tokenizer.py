"""Bytes to vertex ids: the Numba kernels that read two ids from every line, eight bytes at a time.

In: uint8 buffers that hold whole lines, each ended by ``\\n``, and at least ``PADDING`` bytes more. Out: uint32 or
uint64 ids. A chunk is a run of whole lines that one thread reads; nothing is allocated for a line.

A line is: blanks, an optional ``prefix`` letter (the ``a`` of DIMACS), an id, a separator, an id, and then the end or
a separator and more columns. A separator is a run of blanks (space, tab, carriage return at the end) with at most one
comma, semicolon or vertical bar in it. In a plain edge list an id may be quoted and may end in ``.0``; other columns
may be chosen, between which there is one ``DELIMITER`` if the file has one: then they may be empty, and hold blanks;
and lines that are ids alone must agree in their number of columns: if not, it is an adjacency list.
"""

from __future__ import annotations

from bigbfs.formats.readers.fields import _chosen
from bigbfs.formats.readers.numbers import (
    CHANGED,
    COMMENT,
    GOOD,
    NO_VALUE,
    NOT_A_NUMBER,
    ONE_COLUMN,
    OUT_OF_RANGE,
    WIDE,
    WRONG_PREFIX,
    _id,
    _number,
)
from bigbfs.formats.readers.separators import (
    COMMA,
    CR,
    LF,
    SPACE,
    TAB,
    _ends_number,
    _next_line,
    _rest_of_line,
    _skip_blanks,
    _skip_separator,
)
from bigbfs.jit.later import uint64
from bigbfs.jit.njit import njit

PADDING = 64
"""Bytes that must be readable after the last line of a buffer."""

EDGES, SKIPPED, COMMENTS, STATUS, STOPPED_AT, COLUMNS, COLUMNS_AT = range(7)
"""Columns of the table that :func:`read_pairs` fills, one row for each chunk."""
TABLE_COLUMNS = 7

PREFIX, COMMENT_1, COMMENT_2, VALUE, LOW, HIGH, PLAIN, FIRST, SECOND, DELIMITER = range(10)
"""Entries of the rules of a line; PLAIN: 1 an edge list, AGREEING one whose lines must agree in their columns."""
AGREEING = 2

_POINT, _ZERO, _NINE = 46, 48, 57


@njit(forceinline=True)
def _rest_columns(buffer, position):
    """Return (start of the next line, status, columns of the line) from behind the second id; 0: not ids alone."""
    if buffer[position] == SPACE or buffer[position] == TAB or buffer[position] == COMMA:
        _, digits = _number(buffer, position + 1)  # a weight, a time: one more number behind one separator
        if 0 < digits < 16:
            if buffer[position + 1 + digits] == LF:
                return position + 2 + digits, GOOD, 3
            if buffer[position + 1 + digits] == _POINT:
                position, status = _rest_of_line(buffer, position + 1 + digits)
                return position, status, 0
    return _more_columns(buffer, position)


@njit
def _more_columns(buffer, position):
    """Return as :func:`_rest_columns` does, for lines of any shape."""
    columns = 2
    while _ends_number(buffer[position]):
        position = _skip_separator(buffer, position)
        start = position
        while _ZERO <= buffer[position] <= _NINE:
            position += 1
        columns += position > start
        if buffer[position] == LF:
            return position + 1, GOOD, columns
        if buffer[position] == CR or position == start:
            columns = columns if buffer[position] == CR else 0
            position, status = _rest_of_line(buffer, position)
            return position, status, columns
    position, status = _rest_of_line(buffer, position)
    return position, status, 0


@njit
def _line(buffer, position, rules):
    """Read one line of any shape: return (source, target, position, status, columns as of :func:`_rest_columns`)."""
    zero, prefix, plain = uint64(0), rules[PREFIX], rules[PLAIN]
    begin = position
    position = _skip_blanks(buffer, position)
    byte = buffer[position]
    if byte in (LF, CR, rules[COMMENT_1], rules[COMMENT_2]):
        position, status = _rest_of_line(buffer, position)
        return zero, zero, position, COMMENT if status == GOOD else status, 0
    if rules[FIRST] != 0:
        source, target, position, status = _chosen(buffer, begin, rules[FIRST], rules[SECOND], rules[DELIMITER])
        return source, target, position, status, 0
    if prefix != 0:
        if byte != prefix or not (buffer[position + 1] == SPACE or buffer[position + 1] == TAB):
            return zero, zero, position, WRONG_PREFIX, 0
        position = _skip_blanks(buffer, position + 1)
    source, position, status = _id(buffer, position, plain)
    if status != GOOD:
        return zero, zero, position, status, 0
    if not _ends_number(buffer[position]):
        return zero, zero, position, NOT_A_NUMBER, 0
    position = _skip_separator(buffer, position)
    if buffer[position] == LF or buffer[position] == CR:
        return zero, zero, position, ONE_COLUMN, 0
    target, position, status = _id(buffer, position, plain)
    if status != GOOD:
        return zero, zero, position, status, 0
    position, status, columns = _after_target(buffer, position, rules[VALUE], plain)
    return source, target, position, status, columns


@njit(forceinline=True)
def _after_target(buffer, position, value_column, plain):
    """Return (start of the next line, status, columns) of what follows the second id."""
    if not _ends_number(buffer[position]):
        return position, NOT_A_NUMBER, 0
    if plain == AGREEING:
        return _rest_columns(buffer, position)
    if value_column:
        position = _skip_separator(buffer, position)
        if buffer[position] == LF or buffer[position] == CR:
            return position, NO_VALUE, 0
    position, status = _rest_of_line(buffer, position)
    return position, status, 0


@njit(forceinline=True)
def _two_numbers(buffer, position, prefix):
    """Return (source, target, place behind them) of a line as nearly every one is: two numbers of at most 15 digits
    with one separator between them. The place is 0 where it is another.
    """
    if prefix != 0:
        if buffer[position] != prefix or buffer[position + 1] != SPACE:
            return uint64(0), uint64(0), 0
        position += 2
    source, digits = _number(buffer, position)
    position += digits
    if not (0 < digits < 16 and buffer[position] in (TAB, SPACE, COMMA)):
        return source, uint64(0), 0
    target, digits = _number(buffer, position + 1)
    return source, target, position + 1 + digits if 0 < digits < 16 else 0


@njit
def _read_chunk(buffer, start, stop, rules, allowed, sources, targets, first, row):
    """Read the lines ``buffer[start:stop]``, write edges from index ``first``, and fill ``row`` of the table."""
    prefix, value_column, plain = rules[PREFIX], rules[VALUE], rules[PLAIN]
    low, span = uint64(rules[LOW]), uint64(rules[HIGH]) - uint64(rules[LOW])
    narrow = sources.itemsize == 4
    quick = rules[FIRST] == 0
    position, edge, skipped, comments = start, first, 0, 0
    agreed = 0 if plain == AGREEING else 2  # columns of the lines of ids so far
    row[STATUS] = GOOD
    row[COLUMNS] = 0
    while position < stop:
        source, target, begin = _two_numbers(buffer, position, prefix)
        fits = begin > 0 and quick and source - low <= span and target - low <= span
        if fits and not (narrow and (source | target) >> uint64(32) != uint64(0)):
            if buffer[begin] == LF and not value_column:
                after, status, columns = begin + 1, GOOD, 2
            else:
                after, status, columns = _after_target(buffer, begin, value_column, plain)
            if status == GOOD and (columns == agreed or columns == 0):
                sources[edge] = source
                targets[edge] = target
                edge += 1
                position = after
                continue
        line = position
        source, target, position, status, columns = _line(buffer, line, rules)
        if status == COMMENT:
            comments += 1
            continue
        if status == GOOD and (source - low > span or target - low > span):
            status = OUT_OF_RANGE
        if status == GOOD and columns != 0 and columns != agreed:
            if agreed != 0:
                row[STATUS] = CHANGED
                row[STOPPED_AT] = line
                break
            agreed = columns
            row[COLUMNS] = columns
            row[COLUMNS_AT] = line
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
    ``rules`` (int64): prefix byte or 0, two comment bytes, 1 where a third column is required, smallest and largest id,
    PLAIN, the columns of the ids, or 0 twice for the first two, and the byte between them or 0. ``allowed`` bad lines
    are skipped; the chunk ends at the next one, and at a line whose columns change.
    """
    _read_chunk(buffer, cuts[chunk], cuts[chunk + 1], rules, allowed, sources, targets, firsts[chunk], table[chunk])


@njit(nogil=True, cache=True)
def count_lines(buffer, cuts, chunk, lines):
    """Count the line ends in ``buffer[cuts[chunk]:cuts[chunk + 1]]`` into ``lines[chunk]``."""
    count = 0
    for byte in buffer[cuts[chunk] : cuts[chunk + 1]]:
        count += byte == LF
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
