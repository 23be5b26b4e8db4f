"""Plain edge lists: two vertex ids on each line, as SNAP, KONECT and the Network Repository publish them.

``#`` and ``%`` start comment lines; blanks, tabs, a comma or a semicolon separate; line ends are LF or CRLF; columns
after the second are not looked at (weights, times, words); the last line may lack its end. A vertex exists because its
id occurs. Nothing is guessed: a header line, a float, a sign, a quote or a single column is an error.
"""

from __future__ import annotations

from bigbfs.errors import InputError
from bigbfs.formats.readers.blocks import BlockReader
from bigbfs.formats.readers.format import NO_RULES, Rules, of_lines
from bigbfs.formats.readers.pairs import PairReader, PairRules
from bigbfs.graph.edges import EdgeList

RULES = PairRules("two vertex ids separated by blanks, a tab or a comma")


def read_text(reader: BlockReader, rules: Rules = NO_RULES, *, chunk_bytes: int | None = None) -> EdgeList:
    """Read an edge list to its end.

    Raises
    ------
    InputError
        A line is bad and no more may be skipped, or there is no edge at all.
    """
    pairs = PairReader(reader, RULES, rules.skip_bad_lines, chunk_bytes)
    pairs.read_all()
    source = reader.source
    if pairs.edges.size == 0:
        if not pairs.comment_lines and not pairs.skipped_lines:
            raise InputError(f"{source.nothing()}; an edge list needs at least one line with two ids")
        found = f"{pairs.comment_lines} comment and blank lines"
        if pairs.skipped_lines:
            found += f" and {pairs.skipped_lines} skipped bad lines"
        raise InputError(f"{source.name}: no edge in it, only {found}; an edge list needs a line with two ids")
    sources, targets = pairs.edges.arrays()
    return EdgeList(
        sources,
        targets,
        comment_lines=pairs.comment_lines,
        skipped_lines=pairs.skipped_lines,
        input_bytes=source.consumed,
    )


FORMAT = of_lines(
    "text",
    "edge list: two ids on each line (SNAP, KONECT, Network Repository, CSV)",
    read_text,
    b"# c\n1 2\r\n3,4 0.5\n\n5\t6\n000007 ; 8 x\n70000000000 8\n% d\n12345678 123456789\n9223372036854775807 1",
    suffixes=(".txt", ".el", ".wel", ".edges", ".edgelist", ".tsv", ".csv", ".snap", ".net", ".dat"),
    aliases=("el", "txt", "snap"),
)
