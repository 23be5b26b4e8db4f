"""A parser of plain edge lists in a few plain lines: what the tokenizer must find, whatever the text."""

from __future__ import annotations

import re

SEPARATOR = rb"(?:[ \t]*[,;|][ \t]*|[ \t]+)"
ID = rb"(?:(\d+)(?:\.0*)?|\"(\d+)(?:\.0*)?\"|'(\d+)(?:\.0*)?')"
DATA_LINE = re.compile(rb"[ \t]*" + ID + SEPARATOR + ID + rb"(?:[ \t,;|][^\r\0]*)?")
EXTRA_IDS = re.compile(SEPARATOR + rb"(?=\d)(\d+)")
HEADER = re.compile(rb"(?:[ \t\r]*[,;|])?[ \t\r]*[\"']*[ \t]*[A-Za-z_]")
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def lines_of(text: bytes) -> list[bytes]:
    """Return the lines without their ends; returns alone end lines where there is no other end."""
    if b"\n" not in text:
        text = text.replace(b"\r", b"\n")
    lines = text.removeprefix(BYTE_ORDER_MARK).split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    return [line.rstrip(b"\r") for line in lines]


def plain(text: bytes) -> tuple[list[tuple[int, int]], int, list[int]]:
    """Return (edges, comment and blank lines, numbers of the bad lines)."""
    edges, comments, bad = [], 0, []
    for number, line in enumerate(lines_of(text), 1):
        match = DATA_LINE.fullmatch(line)
        ids = [int(word) for word in match.groups() if word is not None] if match else []
        remark = line.lstrip(b" \t")[:1] in (b"#", b"%") and b"\r" not in line and b"\0" not in line
        if line.strip(b" \t") == b"" or remark:
            comments += 1
        elif match and max(ids) < 2**63:
            edges.append((ids[0], ids[1]))
        else:
            bad.append(number)
    return edges, comments, bad


def columns_of_ids(line: bytes) -> int:
    """Return how many columns a good line has if they are all ids; 0: some are not."""
    match = re.compile(rb"[ \t]*" + ID + SEPARATOR + ID).match(line)
    if match is None:
        return 0
    at, count = match.end(), 2
    while (found := EXTRA_IDS.match(line, at)) is not None:
        at, count = found.end(), count + 1
    return count if re.fullmatch(SEPARATOR + rb"?", line[at:]) or at == len(line) else 0


def changing_line(text: bytes, bad: list[int]) -> int | None:
    """Return the number of the first good line of ids in another number of columns than those before it."""
    known = 0
    for number, line in enumerate(lines_of(text), 1):
        columns = 0 if number in bad or line.lstrip(b" \t")[:1] in (b"", b"#", b"%") else columns_of_ids(line)
        if columns and known and columns != known:
            return number
        known = known or columns
    return None


def has_header(text: bytes) -> bool:
    """Return whether the first line that is no comment may be a header."""
    for line in lines_of(text):
        if line.strip(b" \t") and line.lstrip(b" \t")[:1] not in (b"#", b"%"):
            return HEADER.match(line) is not None
    return False
