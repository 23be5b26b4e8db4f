"""Header lines of the text formats that declare their counts: find them, read their numbers, check the counts."""

from __future__ import annotations

from bigbfs.errors import InputError
from bigbfs.formats.readers.bad_lines import line_error
from bigbfs.formats.readers.blocks import BlockReader
from bigbfs.formats.readers.pairs import PairReader
from bigbfs.graph.edges import EdgeList

LARGEST_VERTICES = 2**62
"""A header that declares more vertices is refused as damaged."""


def empty_file(name: str, wanted: str) -> InputError:
    """Return the error for a file that ends before its header."""
    return InputError(f"{name}: the file is empty or holds only comments; {wanted}")


def next_data_line(reader: BlockReader, comments: bytes, wanted: str) -> tuple[int, bytes, int]:
    """Return (line number, line, comment and blank lines passed over) of the next line that is neither.

    Raises
    ------
    InputError
        The file ends first.
    """
    passed = 0
    while (found := reader.next_line()) is not None:
        number, line = found
        text = line.strip()
        if text and text[:1] not in (comments[i : i + 1] for i in range(len(comments))):
            return number, line, passed
        passed += 1
    raise empty_file(reader.name, wanted)


def counts(name: str, number: int, line: bytes, fields: list[bytes], wanted: str) -> list[int]:
    """Return the counts in header ``fields``.

    Raises
    ------
    InputError
        One of them is not a whole number from 0 to 2^62.
    """
    values = []
    for field in fields:
        if not field.isdigit() or len(field) > 19 or int(field) > LARGEST_VERTICES:
            raise line_error(name, number, line, f"{field.decode('utf-8', 'backslashreplace')!r} is no count; {wanted}")
        values.append(int(field))
    return values


def check_entries(pairs: PairReader, declared: set[int], declares: str) -> None:
    """Compare the data lines found (skipped ones included) with what the header declares.

    Raises
    ------
    InputError
        They differ.
    """
    found = pairs.edges.size + pairs.skipped_lines
    if found not in declared:
        kind = "cut short?" if found < min(declared) else "a wrong header, or files joined?"
        raise InputError(
            f"{pairs.reader.name}: {declares}, but the file holds {found} ({kind}); "
            "fetch it again, or correct the header"
        )


def told_sides(name: str, shift: int, low: int, high: int) -> str:
    """Return the note that says how the second side of a bipartite graph is numbered."""
    return f"{name}: bipartite: {low} to {high} of the second side are {low + shift} to {high + shift} here"


def edge_list(pairs: PairReader, vertices: int, comments: int, *, both: bool) -> EdgeList:
    """Return what was read of a 1-based format that declares its ``vertices``."""
    sources, targets = pairs.edges.arrays()
    return EdgeList(
        sources,
        targets,
        first_id=1,
        declared_n=vertices,
        one_way_means_both=both,
        comment_lines=comments + pairs.comment_lines,
        skipped_lines=pairs.skipped_lines,
        input_bytes=pairs.reader.source.consumed,
    )
