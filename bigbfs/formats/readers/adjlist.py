"""Adjacency lists: a line is a vertex and its neighbours, as NetworkX writes them (.adjlist) and many tools do.

``#`` and ``%`` start comment lines; blanks, tabs, a comma, a semicolon or a vertical bar separate. A line of one id is
a vertex that need not have an edge. Whether an edge stands at both its ends the file does not say, so it is read as any
list of edges is.
"""

from __future__ import annotations

import numpy as np

from bigbfs.errors import InputError
from bigbfs.formats.readers import numbers, tokenizer
from bigbfs.formats.readers.bad_lines import line_error, reason
from bigbfs.formats.readers.blocks import LONGEST_LINE, Block, BlockReader
from bigbfs.formats.readers.format import NO_RULES, Rules, of_lines
from bigbfs.formats.readers.numbers import _any_number
from bigbfs.formats.readers.pairs import CHUNK_BYTES, LARGEST_ID, close_gaps
from bigbfs.formats.readers.separators import _ends_number, _next_line, _rest_of_line, _skip_blanks, _skip_separator
from bigbfs.graph.edges import EdgeList
from bigbfs.jit.later import uint64
from bigbfs.jit.njit import njit
from bigbfs.jit.workers import Workers
from bigbfs.sizes import free_memory

LINES, WORDS, EDGES, ALONE, STATUS, STOPPED_AT = range(6)
"""Columns of the table, one row for each chunk."""
_COLUMNS = 6


@njit
def _is_comment(byte):
    return byte == 35 or byte == 37


@njit
def _ends_line(byte):
    return byte == 10 or byte == 13


@njit(nogil=True, cache=True)
def count_words(buffer, cuts, chunk, table):
    """Count lines with a vertex, and their words, in one chunk, ``buffer[cuts[chunk]:cuts[chunk + 1]]``."""
    position, lines, words = cuts[chunk], 0, 0
    while position < cuts[chunk + 1]:
        position = _skip_blanks(buffer, position)
        if not _is_comment(buffer[position]) and not _ends_line(buffer[position]):
            lines += 1
            while buffer[position] != 10:
                inside = not _ends_number(buffer[position])
                position += 1
                words += inside and _ends_number(buffer[position])
        position = _next_line(buffer, position)
    table[chunk, LINES] = lines
    table[chunk, WORDS] = words


@njit
def _read_vertex(buffer, position, sources, targets, edge):
    """Read the line of one vertex: return (vertex, edge after it, place, status)."""
    narrow = targets.itemsize == 4
    vertex, first = uint64(0), True
    while True:
        value, position, status = _any_number(buffer, position)
        if status == numbers.GOOD and not _ends_number(buffer[position]):
            status = numbers.NOT_A_NUMBER
        if status == numbers.GOOD and narrow and value >> uint64(32) != uint64(0):
            status = numbers.WIDE
        if status != numbers.GOOD:
            return vertex, edge, position, status
        if first:
            vertex, first = value, False
        else:
            sources[edge] = vertex
            targets[edge] = value
            edge += 1
        position = _skip_separator(buffer, position)
        if _ends_line(buffer[position]):
            position, status = _rest_of_line(buffer, position)
            return vertex, edge, position, status


@njit(nogil=True, cache=True)
def read_vertices(buffer, cuts, chunk, sources, targets, firsts, alone, alone_firsts, table):
    """Read one chunk: edges from ``firsts[chunk]`` on, vertices that stand alone from ``alone_firsts[chunk]`` on."""
    position, edge, single = cuts[chunk], firsts[chunk], alone_firsts[chunk]
    table[chunk, STATUS] = numbers.GOOD
    while position < cuts[chunk + 1]:
        line, before = position, edge
        position = _skip_blanks(buffer, position)
        if _is_comment(buffer[position]) or _ends_line(buffer[position]):
            position, status = _rest_of_line(buffer, position)
        else:
            vertex, edge, position, status = _read_vertex(buffer, position, sources, targets, edge)
            if edge == before and status == numbers.GOOD:
                alone[single] = vertex
                single += 1
        if status != numbers.GOOD:
            table[chunk, STATUS] = status
            table[chunk, STOPPED_AT] = line
            break
    table[chunk, EDGES] = edge - firsts[chunk]
    table[chunk, ALONE] = single - alone_firsts[chunk]


class _Lists:
    """Appends the edges of all lines to those of ``reader``."""

    def __init__(self, reader: BlockReader, workers: Workers) -> None:
        self.reader, self._workers = reader, workers
        self.alone = [np.empty(0, np.uint64)]
        self.comment_lines = 0

    def read_block(self, block: Block, chunk_bytes: int) -> None:
        """Read all lines of a block."""
        cuts = np.empty(2 + (block.stop - block.start) // chunk_bytes, np.int64)
        chunks = tokenizer.cut_lines(block.buffer, block.start, block.stop, chunk_bytes, cuts)
        table, lines = np.zeros((chunks, _COLUMNS), np.int64), np.empty(chunks, np.int64)
        self._workers.each(chunks, lambda chunk: tokenizer.count_lines(block.buffer, cuts, chunk, lines))
        self._workers.each(chunks, lambda chunk: count_words(block.buffer, cuts, chunk, table))
        firsts = np.cumsum(table[:, WORDS]) - table[:, WORDS]
        singles = np.cumsum(table[:, LINES]) - table[:, LINES]
        alone = np.empty(int(table[:, LINES].sum()), np.uint64)
        room = int(table[:, WORDS].sum())
        self._fill(block, cuts, room, (firsts, alone, singles, table))
        if (table[:, STATUS] == numbers.WIDE).any():
            self.reader.edges.widen()
            self._fill(block, cuts, room, (firsts, alone, singles, table))
        self._stop_at_bad_line(block, table)
        found = close_gaps(*self.reader.edges.space(room), firsts, table[:, EDGES])
        self.alone += [alone[first : first + count] for first, count in zip(singles, table[:, ALONE], strict=True)]
        self.reader.edges.keep(found)
        self.comment_lines += int(lines.sum() - table[:, LINES].sum())
        self.reader.used(block, int(lines.sum()))

    def _fill(self, block: Block, cuts: np.ndarray, room: int, rest: tuple[np.ndarray, ...]) -> None:
        sources, targets = self.reader.edges.space(room)
        self._workers.each(
            len(rest[-1]), lambda chunk: read_vertices(block.buffer, cuts, chunk, sources, targets, *rest)
        )

    def _stop_at_bad_line(self, block: Block, table: np.ndarray) -> None:
        bad = np.flatnonzero(table[:, STATUS] != numbers.GOOD)
        if not len(bad):
            return
        status, at = table[bad[0], [STATUS, STOPPED_AT]].tolist()
        why = reason(status, 0, LARGEST_ID, "a vertex id and those of its neighbours")
        raise line_error(self.reader.name, block.line_number(at), block.line(at), f"{why}; correct the line")


def read_adjacency_list(reader: BlockReader, rules: Rules = NO_RULES, *, chunk_bytes: int | None = None) -> EdgeList:
    """Read an adjacency list to its end. Bad lines are not skipped: each holds many edges.

    Raises
    ------
    InputError
        A line is bad, or there is no vertex at all.
    """
    with Workers(reader.threads) as workers:
        lists = _Lists(reader, workers)
        while (block := reader.current()) is not None:
            lists.read_block(block, chunk_bytes or CHUNK_BYTES)
    alone = np.concatenate(lists.alone)
    if not reader.edges.size and not len(alone):
        raise InputError(f"{reader.name}: no vertex in it; an adjacency list needs a line with a vertex")
    if len(alone) and reader.edges.dtype.itemsize == 4 and int(alone.max()) >= 2**32:
        reader.edges.widen()
    sources, targets = reader.edges.arrays()
    return EdgeList(
        sources,
        targets,
        isolated=np.unique(alone).astype(sources.dtype) if len(alone) else None,
        comment_lines=lists.comment_lines,
        input_bytes=reader.source.consumed,
    )


FORMAT = of_lines(
    "adjlist",
    "adjacency list: a vertex and its neighbours on each line (NetworkX)",
    read_adjacency_list,
    b"# made\n1 2 3 4\n2 3 5\r\n\n3,4\n7\n70000000000 1\n",
    suffixes=(".adjlist",),
    longest_line=lambda: max(LONGEST_LINE, free_memory() // 8),  # all neighbours of a vertex are one line
    per_line=lambda line: max(0, len(line.replace(b",", b" ").replace(b";", b" ").split()) - 1),
)
