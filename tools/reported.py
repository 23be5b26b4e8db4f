"""What reports publish (configs/reported.toml), joined with what we measured: `reported | ours` as Markdown tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bigbfs.config import from_table, read_toml
from bigbfs.errors import ConfigError
from bigbfs.report.rows import REFERENCE
from bigbfs.report.summary import Line
from bigbfs.report.table import cell, markdown

LIKENESS = ("same graph", "same law", "shape")
UNPUBLISHED = -1


@dataclass(frozen=True)
class ReportedRow:
    """A published graph with its figures, one for each column of the table; the fields are those of the file."""

    graph: str
    n: int
    m: int
    ours: str
    likeness: str
    values: tuple[float, ...]
    impossible: tuple[str, ...] = ()
    why: str = ""

    def __post_init__(self) -> None:
        """Refuse what cannot be compared."""
        if self.likeness not in LIKENESS:
            raise ConfigError(f"likeness is {self.likeness!r}; choose from {', '.join(LIKENESS)}")
        if self.impossible and not self.why:
            raise ConfigError(f"{self.graph}: impossible without why")


@dataclass(frozen=True)
class ReportedTable:
    """A published table; the fields are those of the file."""

    report: str
    title: str
    device: str
    gigabytes_per_second: float
    unit: str
    measures: str
    columns: tuple[str, ...]
    strategies: tuple[str, ...]
    rows: tuple[ReportedRow, ...]
    on_cpu: tuple[str, ...] = ()
    without_parents: tuple[str, ...] = ()
    ratios: bool = True
    note: str = ""

    def __post_init__(self) -> None:
        """Refuse what cannot be compared."""
        if self.unit not in ("ms", "GTEPS") or self.measures not in ("kernel", "traversal", "end_to_end"):
            raise ConfigError(f"{self.title}: unit is {self.unit!r}, measures {self.measures!r}")
        if len(self.columns) != len(self.strategies):
            raise ConfigError(f"{self.title}: {len(self.columns)} columns and {len(self.strategies)} strategies")
        for row in self.rows:
            unknown = set(row.impossible) - set(self.columns)
            if len(row.values) != len(self.columns) or unknown:
                raise ConfigError(f"{self.title}, {row.graph}: {len(row.values)} values; unknown: {sorted(unknown)}")


def read_reported(path: Path) -> list[ReportedTable]:
    """Return the tables of ``path``.

    Raises
    ------
    FileAccessError, ConfigError
        It cannot be read, or is none of ours.
    """
    found = []
    for table in read_toml(path).get("tables", []):
        where = f"{path}, {table.get('report')} {table.get('title')}"
        rows = [from_table(ReportedRow, row, f"{where}, {row.get('graph')}") for row in table.get("rows", [])]
        found.append(from_table(ReportedTable, table | {"rows": rows}, where))
    if not found:
        raise ConfigError(f"{path}: no [[tables]]")
    return found


def milliseconds(table: ReportedTable, row: ReportedRow, value: float) -> float:
    """Return a published figure as the time of a traversal."""
    return value if table.unit == "ms" else row.m / value / 1e6


def contender(table: ReportedTable, column: str) -> str:
    """Return the contender of ours that a column is compared with."""
    strategy = table.strategies[table.columns.index(column)]
    if strategy == REFERENCE:
        return "serial reference"
    if column in table.on_cpu:
        return f"{strategy} (CPU)"
    return f"{strategy} (no parents)" if column in table.without_parents else strategy


def ours(table: ReportedTable, row: ReportedRow, column: str, lines: dict[tuple[str, str], Line]) -> float | None:
    """Return our milliseconds for a published figure, None where that did not run or does not know."""
    line = lines.get((row.ours, contender(table, column)))
    seconds = None if line is None else getattr(line, table.measures)
    if seconds is None and line is not None and table.measures == "kernel":
        seconds = line.traversal  # one persistent kernel: its traversal is its kernel
    return None if seconds is None else 1e3 * seconds


def ratio(table: ReportedTable, row: ReportedRow, column: str, lines: dict[tuple[str, str], Line]) -> float | None:
    """Return how many times as fast we are; None where no comparison is honest.

    That is: another graph of the same shape, a figure that cannot be, two things that are not the same.
    """
    value, mine = row.values[table.columns.index(column)], ours(table, row, column, lines)
    if value == UNPUBLISHED or not mine or not table.ratios:
        return None
    if row.likeness == "shape" or column in row.impossible:
        return None
    return milliseconds(table, row, value) / mine


def compare(table: ReportedTable, lines: list[Line], marked: Mapping[str, str] | None = None) -> str:
    """Return a published table beside ours as Markdown: reported / ours (times as fast).

    ``marked``: graphs of ours whose names get a mark.
    """
    by_name = {(line.graph, line.contender): line for line in lines}
    measured = {line.graph for line in lines}
    headers = ["graph", "ours", "likeness", *(f"{c} / {contender(table, c)}" for c in table.columns)]
    rows = []
    for row in table.rows:
        stand_in = row.ours + (marked or {}).get(row.ours, "") if row.ours in measured else f"{row.ours} (not run)"
        rows.append([row.graph, stand_in, row.likeness, *(_cell(table, row, c, by_name) for c in table.columns)])
    reasons = dict.fromkeys(f"{row.graph}: {row.why}" for row in table.rows if row.why)
    notes = ([table.note] if table.note else []) + [f"! {reason}." for reason in reasons]
    return markdown(headers, rows) + "".join(f"\n\n{note}" for note in notes)


def _cell(table: ReportedTable, row: ReportedRow, column: str, lines: dict[tuple[str, str], Line]) -> str:
    value, mine = row.values[table.columns.index(column)], ours(table, row, column, lines)
    if value == UNPUBLISHED and mine is None:
        return "-"
    mark = "!" if column in row.impossible else ""
    left = "-" if value == UNPUBLISHED else f"{cell(round(milliseconds(table, row, value), 4))}{mark}"
    times = ratio(table, row, column, lines)
    return f"{left} / {cell(mine)}" + (f" **({times:.3g}x)**" if times is not None else "")
