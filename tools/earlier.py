"""An earlier page of the strategies (docs/results/strategies.md of some commit), read for graphs that a run lacks."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from bigbfs.errors import FileAccessError, InputError
from bigbfs.report.summary import Line

MARK = " †"
"""Behind the name of a graph whose figures are of another run."""


@dataclass(frozen=True)
class Earlier:
    """What a page has of some graphs; ``sections`` are Markdown, ``overview`` cells of its first table."""

    measured: str = ""
    overview: tuple[tuple[str, ...], ...] = ()
    sections: tuple[str, ...] = ()
    lines: tuple[Line, ...] = ()

    @property
    def graphs(self) -> frozenset[str]:
        """Names."""
        return frozenset(line.graph for line in self.lines)


def _cells(line: str) -> tuple[str, ...]:
    return tuple(cell.strip() for cell in line.strip().strip("|").split(" | "))


def _tables(text: str) -> list[tuple[str, ...]]:
    """Return the rows of the first table of ``text``, its head first."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [_cells(line) for line in lines[:1] + lines[2:]]


def _number(text: str) -> float | None:
    return None if text == "-" else float(text.replace(",", ""))


def _line(graph: str, depth: int, row: dict[str, str]) -> Line:
    """Return the line of a table's row; what the table does not have is 0, or unknown."""
    times = [_number(row[f"{name} ms"]) for name in ("kernel", "traversal", "end to end")]
    kernel, traversal, ends = (None if ms is None else ms / 1e3 for ms in times)
    counts = {name: _number(row[name]) for name in ("launches", "reads")}
    launches, reads = (None if count is None else int(count) for count in counts.values())
    return Line(
        graph=graph, contender=row["strategy"], backend="", sources=int(row["sources"]), reached=0, depth=depth,
        edges=0, kernel=kernel, traversal=traversal or 0.0, end_to_end=ends or 0.0, parts={},
        gteps=_number(row["GTEPS"]) or 0.0, harmonic_gteps=_number(row["hmean"]) or 0.0, speedups={},
        launches=launches, reads=reads, checked=None, enqueued=None, redundancy=None, moved_bytes=None,
        bytes_per_second=None, registers=None, occupancy=None, disturbed=0, trials=0, verified=True, in_turn=True,
    )  # fmt: skip


def read_earlier(path: Path, known: frozenset[str]) -> Earlier:
    """Return what the page at ``path`` has of graphs other than ``known``.

    Raises
    ------
    FileAccessError, InputError
        It cannot be read, or is no such page.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise FileAccessError(f"{path}: cannot read: {error.strerror}; check the path") from error
    _, found, numbers = text.partition("\n## All numbers\n")
    first = text.partition("## The best of each graph")[2].partition("\n## ")[0]
    measured = next((line for line in text.splitlines() if line.startswith("Measured on ")), "")
    if not (found and first and measured):
        raise InputError(f"{path}: no page of tools/strategy_page.py")
    overview = [row for row in _tables(first)[1:] if row[0] not in known]
    depths = {row[0]: int(row[3].replace(",", "")) for row in overview}
    sections, lines = [], []
    for section in numbers.split("\n### ")[1:]:
        graph = section.partition("\n")[0].strip()
        if graph in depths:
            head, *rows = _tables(section)
            sections.append(f"### {graph}{MARK}{section.removeprefix(graph)}".rstrip())
            lines += [_line(graph, depths[graph], dict(zip(head, row, strict=True))) for row in rows]
    return Earlier(measured, tuple(overview), tuple(sections), tuple(lines))
