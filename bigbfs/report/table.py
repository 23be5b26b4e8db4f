"""Plain text tables: columns as wide as their content, numbers to the right, words to the left."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any


def one_line(text: str) -> str:
    """Return ``text`` with what no terminal shows as a sign (ends of lines, escapes) as Python writes it in quotes."""
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else repr(each)[1:-1] for each in text)


def cell(value: Any) -> str:
    """Return ``value`` for people: thousands separated, four significant digits, yes / no / -."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "NO"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.1f}" if abs(value) >= 1000 else f"{value:.4g}"
    return one_line(str(value))


def table(headers: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Return a table with a header line; a column is right-aligned when a row holds a number."""
    texts = [[cell(value) for value in row] for row in rows]
    widths = [max(len(line[i]) for line in [list(headers), *texts]) for i in range(len(headers))]
    numeric = [any(isinstance(row[i], int | float) for row in rows) for i in range(len(headers))]

    def line(cells: Sequence[str]) -> str:
        padded = (
            text.rjust(width) if right else text.ljust(width)
            for text, width, right in zip(cells, widths, numeric, strict=True)
        )
        return "  ".join(padded).rstrip()

    return "\n".join(line(cells) for cells in [list(headers), *texts])


def folded(headers: Sequence[str], rows: Sequence[Sequence[Any]], width: int = 80) -> str:
    """Return the same table cut into several, one below the other, none wider than ``width`` if that can be.

    Each begins with the first column.
    """
    texts = [list(headers), *([cell(value) for value in row] for row in rows)]
    widths = [max(len(line[i]) for line in texts) for i in range(len(headers))]
    parts: list[list[int]] = [[]]
    for column in range(1, len(headers)):
        taken = widths[0] + sum(2 + widths[i] for i in parts[-1])
        if parts[-1] and taken + 2 + widths[column] > width:
            parts.append([])
        parts[-1].append(column)
    shown = [[0, *part] for part in parts]
    return "\n\n".join(table([headers[i] for i in part], [[row[i] for i in part] for row in rows]) for part in shown)


def labelled(label: str, text: str, width: int = 80) -> str:
    """Return a line of a report, ``label`` in its first column; no wider than ``width`` unless a word is."""
    return textwrap.fill(
        one_line(text),
        width,
        initial_indent=f"{label:<11} ",
        subsequent_indent=" " * 12,
        break_long_words=False,
        break_on_hyphens=False,
    )


def markdown(headers: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Return the same table in Markdown."""
    lines = ["| " + " | ".join(headers) + " |", "|" + "---|" * len(headers)]
    lines += ["| " + " | ".join(cell(value) for value in row) + " |" for row in rows]
    return "\n".join(lines)
