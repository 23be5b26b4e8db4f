"""Numba kernels of the METIS reader: one line is one vertex, its tokens are vertex data and then its neighbours."""

from __future__ import annotations

from bigbfs.formats.readers.numbers import (
    GOOD,
    LONE_RETURN,
    NO_VALUE,
    NOT_A_NUMBER,
    NUL_BYTE,
    OUT_OF_RANGE,
    WIDE,
    _any_number,
)
from bigbfs.formats.readers.separators import _next_line, _skip_blanks
from bigbfs.jit.later import uint64
from bigbfs.jit.njit import njit

VERTICES, ENTRIES, COMMENTS, STATUS, STOPPED_AT = range(5)
"""Columns of the table, one row for each chunk."""
TABLE_COLUMNS = 5
TOO_MANY_LINES = 100
"""Status: a line with neighbours after the last declared vertex."""

_TAB, _LF, _CR, _SPACE, _PERCENT = 9, 10, 13, 32, 37


@njit
def _count_chunk(buffer, start, stop, row):
    """Count vertex lines and tokens."""
    position, vertices, tokens, comments = start, 0, 0, 0
    while position < stop:
        position = _skip_blanks(buffer, position)
        if buffer[position] == _PERCENT:
            comments += 1
            position = _next_line(buffer, position)
            continue
        vertices += 1
        inside = False
        while buffer[position] != _LF:
            blank = buffer[position] == _SPACE or buffer[position] == _TAB or buffer[position] == _CR
            tokens += not blank and not inside
            inside = not blank
            position += 1
        position += 1
    row[VERTICES] = vertices
    row[ENTRIES] = tokens
    row[COMMENTS] = comments


@njit(nogil=True, cache=True)
def count_vertices(buffer, cuts, chunk, table):
    """Count the vertex lines, tokens and comment lines of ``buffer[cuts[chunk]:cuts[chunk + 1]]``."""
    _count_chunk(buffer, cuts[chunk], cuts[chunk + 1], table[chunk])


@njit
def _skip_token(buffer, position):
    while not (
        buffer[position] == _SPACE or buffer[position] == _TAB or buffer[position] == _CR or buffer[position] == _LF
    ):
        position += 1
    return position


@njit
def _at_end(buffer, position):
    """Return whether a line ends at ``position``, after its blanks: 1 yes, 0 no, -1 a carriage return inside it."""
    while buffer[position] == _CR:
        position += 1
        if buffer[position] != _LF and buffer[position] != _CR:
            return -1
    return 1 if buffer[position] == _LF else 0


@njit
def _read_vertex(buffer, position, vertex, rules, sources, targets, edge):
    """Read the line of one vertex: return (edge after it, status)."""
    skipped, weighted, high = rules[0], rules[1], uint64(rules[2])
    narrow = targets.itemsize == 4
    position = _skip_blanks(buffer, position)
    end = _at_end(buffer, position)
    if end == 1:
        return edge, GOOD
    if vertex > rules[2]:
        return edge, TOO_MANY_LINES
    for _ in range(skipped):
        if _at_end(buffer, position) != 0:
            return edge, NO_VALUE
        position = _skip_blanks(buffer, _skip_token(buffer, position))
    while True:
        end = _at_end(buffer, position)
        if end != 0:
            return edge, GOOD if end == 1 else LONE_RETURN
        target, position, status = _any_number(buffer, position)
        if status != GOOD:
            return edge, NUL_BYTE if buffer[position] == 0 else status
        if _skip_token(buffer, position) != position:
            return edge, NOT_A_NUMBER
        if target - uint64(1) >= high:
            return edge, OUT_OF_RANGE
        if narrow and (target | uint64(vertex)) >> uint64(32) != uint64(0):
            return edge, WIDE
        position = _skip_blanks(buffer, position)
        if weighted:
            if _at_end(buffer, position) != 0:
                return edge, NO_VALUE
            position = _skip_blanks(buffer, _skip_token(buffer, position))
        sources[edge] = vertex
        targets[edge] = target
        edge += 1


@njit
def _read_chunk(buffer, start, stop, vertex, rules, sources, targets, first, row):
    position, edge = start, first
    row[STATUS] = GOOD
    while position < stop:
        line = position
        if buffer[_skip_blanks(buffer, position)] != _PERCENT:
            edge, status = _read_vertex(buffer, position, vertex, rules, sources, targets, edge)
            vertex += 1
            if status != GOOD:
                row[STATUS] = status
                row[STOPPED_AT] = line
                break
        position = _next_line(buffer, line)
    row[ENTRIES] = edge - first


@njit(nogil=True, cache=True)
def read_vertices(buffer, cuts, chunk, vertices, rules, sources, targets, firsts, table):
    """Read the neighbours on every line of one chunk, ``buffer[cuts[chunk]:cuts[chunk + 1]]``.

    It starts with the line of vertex ``vertices[chunk]`` (1-based); its edges go to ``firsts[chunk]`` onwards.
    ``rules`` (int64): tokens before the neighbours, 1 where each neighbour has a weight, number of vertices.
    """
    start, stop = cuts[chunk], cuts[chunk + 1]
    _read_chunk(buffer, start, stop, vertices[chunk], rules, sources, targets, firsts[chunk], table[chunk])
