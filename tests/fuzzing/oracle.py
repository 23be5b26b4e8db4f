"""A parser of plain edge lists in a few plain lines: what the tokenizer must find, whatever the text."""

from __future__ import annotations

import re

DATA_LINE = re.compile(rb"[ \t]*(\d+)(?:[ \t]*[,;][ \t]*|[ \t]+)(\d+)(?:[ \t,;][^\r\0]*)?")
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def plain(text: bytes) -> tuple[list[tuple[int, int]], int, list[int]]:
    """Return (edges, comment and blank lines, numbers of the bad lines)."""
    edges, comments, bad = [], 0, []
    lines = text.removeprefix(BYTE_ORDER_MARK).split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    for number, line in enumerate(lines, 1):
        line = line.rstrip(b"\r")
        match = DATA_LINE.fullmatch(line)
        remark = line.lstrip(b" \t")[:1] in (b"#", b"%") and b"\r" not in line and b"\0" not in line
        if line.strip(b" \t") == b"" or remark:
            comments += 1
        elif match and int(match[1]) < 2**63 and int(match[2]) < 2**63:
            edges.append((int(match[1]), int(match[2])))
        else:
            bad.append(number)
    return edges, comments, bad
