"""DIMACS graphs: shortest-path .gr (``p sp n m``, arcs ``a u v w``) and coloring .col (``p edge n m``, ``e u v``).

Comment lines start with ``c``; ids are 1-based; weights are not looked at. Also PACE ``.gr`` (``p tw n m``, bare
``u v``). Arcs are one-way, edges of the other two kinds stand for both directions. Sources: the 9th and 2nd DIMACS
implementation challenges.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from bigbfs.errors import InputError
from bigbfs.formats.readers.bad_lines import line_error
from bigbfs.formats.readers.blocks import BlockReader
from bigbfs.formats.readers.format import NO_RULES, Rules, of_lines
from bigbfs.formats.readers.headers import check_entries, counts, edge_list, next_data_line
from bigbfs.formats.readers.pairs import PairReader, PairRules
from bigbfs.graph.edges import EdgeList

PROBLEM_LINE = re.compile(rb"[ \t]*p[ \t]+(sp|edge|edges|col|tw)[ \t]+\d")
_WANTED = "expected the problem line 'p sp vertices arcs' (or 'p edge', 'p col', 'p tw')"
_RULES = {
    b"sp": PairRules("'a from to weight'", prefix="a", comments="c", value=True),
    b"edge": PairRules("'e from to'", prefix="e", comments="c"),
    b"tw": PairRules("'from to'", comments="c"),
}
_RULES |= {b"edges": _RULES[b"edge"], b"col": _RULES[b"edge"]}


@dataclass(frozen=True)
class ProblemLine:
    """``p kind vertices entries``."""

    kind: bytes
    vertices: int
    entries: int
    comment_lines: int


def read_header(reader: BlockReader) -> ProblemLine:
    """Read comments and the problem line.

    Raises
    ------
    InputError
        It is missing, of another kind, or has no counts.
    """
    number, line, comments = next_data_line(reader, b"c", _WANTED)
    fields = line.split()
    if len(fields) != 4 or fields[0] != b"p" or fields[1] not in _RULES:
        raise line_error(reader.name, number, line, _WANTED)
    vertices, entries = counts(reader.name, number, line, fields[2:], _WANTED)
    return ProblemLine(fields[1], vertices, entries, comments)


def read_dimacs(reader: BlockReader, rules: Rules = NO_RULES, *, chunk_bytes: int | None = None) -> EdgeList:
    """Read a DIMACS graph to its end.

    Raises
    ------
    InputError
        The problem line or a line is bad, an id is out of range, or the number of arcs differs from the declared one.
    """
    header = read_header(reader)
    if header.vertices == 0:
        raise InputError(f"{reader.name}: the problem line declares 0 vertices; a graph without vertices is not made")
    template = _RULES[header.kind]
    line = PairRules(template.expected, template.prefix, template.comments, template.value, 1, header.vertices)
    pairs = PairReader(reader, line, rules.skip_bad_lines, chunk_bytes)
    pairs.read_all()
    # coloring instances are known to list every edge twice and declare it once
    allowed = {header.entries} | ({2 * header.entries} if template.prefix == "e" else set())
    check_entries(
        pairs, allowed, f"the problem line declares {header.entries} {'arcs' if template.prefix == 'a' else 'edges'}"
    )
    return edge_list(pairs, header.vertices, header.comment_lines, both=header.kind != b"sp")


def _recognized(head: bytes) -> bool:
    """Return whether the first line that is no ``c`` comment is a problem line."""
    if head[:1] not in (b"c", b"p"):
        return False
    for line in head.split(b"\n"):
        text = line.strip()
        if text and text != b"c" and not text.startswith((b"c ", b"c\t")):
            return PROBLEM_LINE.match(line) is not None
    return False


def _declared(reader: BlockReader, rules: Rules) -> tuple[int, int]:
    problem = read_header(reader)
    return problem.vertices, problem.entries * (1 if problem.kind == b"sp" else 2)


FORMAT = of_lines(
    "dimacs",
    "DIMACS: shortest paths (.gr), coloring (.col), PACE",
    read_dimacs,
    b"c x\np sp 4 3\na 1 2 5\na 2 3 6\na 4 4 7\n",
    suffixes=(".gr", ".col"),
    aliases=("gr", "col"),
    recognize=_recognized,
    declared=_declared,
    letters=(b"a", b"e"),
    takes=("skip_bad_lines",),
)
