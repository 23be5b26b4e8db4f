"""Plain edge lists: two vertex ids on each line, as SNAP, KONECT and the Network Repository publish them.

``#`` and ``%`` start comment lines; blanks, tabs, a comma, a semicolon or a vertical bar separate; lines end in LF,
CRLF or CR; the last one may lack its end. An id may be quoted and may be written ``1.0``. Columns after the second are
not looked at (weights, times, words), or ``columns`` says which ones hold the ids; a header line may (see
``text_head``). A vertex exists because its id occurs. Nothing is guessed: a fraction, a sign or a single column is an
error, and so are lines of ids alone whose number changes, which are an adjacency list.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np

from bigbfs.errors import InputError
from bigbfs.formats.readers.blocks import BlockReader
from bigbfs.formats.readers.format import NO_RULES, Rules, of_lines
from bigbfs.formats.readers.headers import told_sides
from bigbfs.formats.readers.pairs import LARGEST_ID, PairReader
from bigbfs.formats.readers.text_head import Head, no_edge, one_way, read_head, wrong_sides
from bigbfs.formats.streams.sources import Source
from bigbfs.formats.tables.csvfile import CsvTable
from bigbfs.formats.tables.files import TableFile
from bigbfs.graph.edges import EdgeList


def read_text(reader: BlockReader, rules: Rules = NO_RULES, *, chunk_bytes: int | None = None) -> EdgeList:
    """Read an edge list to its end.

    Raises
    ------
    InputError
        A line is bad and no more may be skipped, ids stand in a changing number of columns, a header or KONECT's first
        line says what must be decided by ``rules``, or there is no edge at all.
    """
    head = read_head(reader, rules)
    pairs = PairReader(reader, replace(head.pair_rules(), sides=head.sides), rules.skip_bad_lines, chunk_bytes)
    pairs.comment_lines = head.comment_lines
    pairs.read_all()
    if pairs.edges.size == 0:
        raise _no_edge(pairs, head)
    sources, targets = pairs.edges.arrays()
    notes = list(head.notes)
    if rules.bipartite:
        sources, targets, note = _two_sides(pairs, sources, targets)
        notes.append(note)
    if head.one_way:
        notes.append(f"{reader.name}: says '% asym': its edges are one-way")
    if _may_be_counts(head.first, pairs.edges.size, sources, targets):
        notes.append(_told_counts(reader.name, head.first, pairs.edges.size - 1))
    return EdgeList(
        sources,
        targets,
        one_way=head.one_way,
        comment_lines=pairs.comment_lines,
        skipped_lines=pairs.skipped_lines,
        input_bytes=reader.source.consumed,
        notes=tuple(notes),
    )


def _no_edge(pairs: PairReader, head: Head) -> InputError:
    source = pairs.reader.source
    if not pairs.comment_lines and not pairs.skipped_lines:
        return InputError(f"{source.nothing()}; an edge list needs at least one line with two ids")
    return no_edge(source.name, pairs.comment_lines, pairs.skipped_lines, head)


def _may_be_counts(first: tuple[int, int] | None, lines: int, sources: np.ndarray, targets: np.ndarray) -> bool:
    """Return whether the ``first`` of so many ``lines`` can be how many vertices and edges follow, not an edge.

    Other programs write such lines. Four edges at least: of fewer many a first edge looks so.
    """
    if first is None or first[1] != lines - 1 or lines < 5:
        return False
    if len(sources) != lines:  # they went to disk: of so many lines no id is their number by chance
        return True
    return first[0] >= max(int(sources[1:].max()), int(targets[1:].max()))


def _told_counts(name: str, first: tuple[int, int] | None, lines: int) -> str:
    assert first is not None
    return (
        f"{name}: the first line, '{first[0]} {first[1]}', is read as an edge; {lines} lines follow, so it may be the "
        "numbers of vertices and edges: then convert again with header=True, which passes over it"
    )


def _two_sides(pairs: PairReader, sources: np.ndarray, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray, str]:
    """Return both ends with the second side numbered after the first, and a note; what was declared is so already."""
    name = pairs.reader.name
    if pairs.rules.sides is not None:
        return sources, targets, told_sides(name, pairs.rules.sides[0], 1, pairs.rules.sides[1])
    if len(sources) != pairs.edges.size:
        raise wrong_sides(name)
    low, high = int(targets.min()), int(targets.max())
    shift = int(sources.max()) + (low == 0)
    if high + shift > LARGEST_ID:
        raise InputError(f"{name}: id {high} of the second side plus {shift} passes 2^63-1; number the sides anew")
    dtype = np.dtype(np.uint64 if high + shift >= 2**32 else targets.dtype)
    behind = targets.astype(dtype) + dtype.type(shift)
    return sources.astype(dtype, copy=False), behind, told_sides(name, shift, low, high)


def _named(source: Source, rules: Rules) -> bool:
    from bigbfs.formats.readers.named import looks_named  # which asks the registry, and so this module

    return looks_named(source, rules)


@contextmanager
def _table(source: Source, rules: Rules) -> Iterator[TableFile]:
    yield CsvTable(source, rules.columns, rules.header)


FORMAT = of_lines(
    "text",
    "edge list: two ids on each line (SNAP, KONECT, Network Repository, CSV)",
    read_text,
    b"# c\n1 2\r\n3,4 0.5\n\n5\t6\n000007 ; 8 x\n70000000000 8\n% d\n12345678 123456789\n9223372036854775807 1",
    suffixes=(".txt", ".el", ".wel", ".edges", ".edgelist", ".tsv", ".csv", ".snap", ".net", ".dat"),
    aliases=("el", "txt", "snap", "konect", "csv", "tsv"),
    takes=("columns", "column_names", "bipartite", "names", "no_names", "header", "no_header", "skip_bad_lines"),
    named=_named,
    table=_table,
    one_way=one_way,
)
