"""Matrix Market coordinate files (.mtx): entry (i, j) is the edge i -> j, 1-based, of a square matrix.

Read: pattern, real, integer and complex; general, symmetric, skew-symmetric and hermitian (the last three: each entry
stands for both directions). Values are not looked at, but their column must be there. Explicit zeros are edges.
Source: the NIST description of the exchange formats.
"""

from __future__ import annotations

from dataclasses import dataclass

from bigbfs.errors import InputError
from bigbfs.formats.readers.bad_lines import line_error
from bigbfs.formats.readers.blocks import BlockReader
from bigbfs.formats.readers.format import NO_RULES, Rules, of_lines
from bigbfs.formats.readers.headers import check_entries, counts, edge_list, empty_file, next_data_line, told_sides
from bigbfs.formats.readers.pairs import PairReader, PairRules
from bigbfs.graph.edges import EdgeList

BANNER = b"%%matrixmarket"
_WANTED_BANNER = "expected '%%MatrixMarket matrix coordinate pattern|real|integer|complex general|symmetric'"
_WANTED_SIZE = "expected the size line 'rows columns entries'"
_NO_SIDES = (("bipartite", True, "leave {} out"),)
_FIELDS = ("pattern", "real", "integer", "complex", "double")
_SYMMETRIES = ("general", "symmetric", "skew-symmetric", "hermitian")


@dataclass(frozen=True)
class MatrixHeader:
    """Banner and size line: ``vertices`` rows and columns, ``entries`` lines, ``values`` (a third column), symmetry."""

    vertices: int
    entries: int
    values: bool
    symmetric: bool
    comment_lines: int
    sides: tuple[int, int] | None = None


def read_header(reader: BlockReader, rules: Rules = NO_RULES) -> MatrixHeader:
    """Read banner, comments and size line.

    Raises
    ------
    InputError
        The banner is missing or of another kind, or the size line is no size of a square matrix.
    """
    field, symmetry = _read_banner(reader)
    number, line, comments = next_data_line(reader, b"%", _WANTED_SIZE)
    fields = line.split()
    if len(fields) != 3:
        raise line_error(reader.name, number, line, _WANTED_SIZE)
    rows, columns, entries = counts(reader.name, number, line, fields, _WANTED_SIZE)
    if rows != columns and not rules.bipartite:
        raise line_error(
            reader.name,
            number,
            line,
            f"the matrix is {rows} x {columns}; an adjacency matrix is square",
            (("bipartite", True, "number the columns after the rows with {}"),),
        )
    sides = (rows, columns) if rules.bipartite else None
    if sides is not None and symmetry != "general":
        raise line_error(reader.name, number, line, f"a {symmetry} matrix has no two sides", _NO_SIDES)
    vertices = rows + columns if rules.bipartite else rows
    return MatrixHeader(vertices, entries, field != "pattern", symmetry != "general", comments, sides)


def _read_banner(reader: BlockReader) -> tuple[str, str]:
    """Return (field, symmetry)."""
    found = reader.next_line()
    if found is None:
        raise empty_file(reader.name, _WANTED_BANNER)
    number, line = found
    words = line.decode("utf-8", "backslashreplace").lower().split()
    if not words or words[0].encode() != BANNER:
        as_text = ("format", "text", "for a plain edge list of that name, {}")
        raise line_error(reader.name, number, line, _WANTED_BANNER, (as_text,))
    if words[1:2] != ["matrix"] or len(words) != 5:
        raise line_error(reader.name, number, line, _WANTED_BANNER)
    if words[2] != "coordinate":
        raise line_error(reader.name, number, line, f"a dense ({words[2]}) matrix is no edge list; {_WANTED_BANNER}")
    if words[3] not in _FIELDS or words[4] not in _SYMMETRIES:
        raise line_error(reader.name, number, line, _WANTED_BANNER)
    return words[3], words[4]


def read_matrix_market(reader: BlockReader, rules: Rules = NO_RULES, *, chunk_bytes: int | None = None) -> EdgeList:
    """Read a coordinate file to its end.

    Raises
    ------
    InputError
        The header is bad, an index is outside the matrix, a line is bad, or the number of entries differs.
    """
    header = read_header(reader, rules)
    if header.vertices == 0:
        raise InputError(f"{reader.name}: the matrix is 0 x 0; a graph without vertices is not made")
    expected = "row and column" + (" and value" if header.values else "")
    line = PairRules(expected, comments="%", value=header.values, low=1, high=header.vertices, sides=header.sides)
    pairs = PairReader(reader, line, rules.skip_bad_lines, chunk_bytes)
    pairs.read_all()
    check_entries(pairs, {header.entries}, f"the size line declares {header.entries} entries")
    edges = edge_list(pairs, header.vertices, header.comment_lines, both=header.symmetric)
    if header.sides is not None:
        edges.notes = (told_sides(reader.name, header.sides[0], 1, header.sides[1]),)
    return edges


def _declared(reader: BlockReader, rules: Rules) -> tuple[int, int]:
    header = read_header(reader, rules)
    return header.vertices, header.entries


FORMAT = of_lines(
    "mtx",
    "Matrix Market, coordinate",
    read_matrix_market,
    b"%%MatrixMarket matrix coordinate real symmetric\n% c\n5 5 3\n1 2 0.5\n3 4 1\n5 5 2\n",
    suffixes=(".mtx",),
    recognize=lambda head: head[: len(BANNER)].lower() == BANNER,
    declared=_declared,
    takes=("bipartite", "skip_bad_lines"),
)
