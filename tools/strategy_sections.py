"""Sections of the page of the strategies beside its tables of one graph each: what a level takes, redundant expansion,
places and encodings, distances against predecessors. Each returns Markdown, "" where no row says anything of it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from earlier import MARK

from bigbfs.report.charts import by_depth
from bigbfs.report.rows import Record
from bigbfs.report.summary import Line, label, summarize
from bigbfs.report.table import markdown

DEEP = 90
"""Levels from which on a graph shows what a level takes at least."""

MERRILL = ("two-phase-raw", "two-phase", "expand-contract", "contract-expand", "hybrid-merrill")
LEAST_EDGES = 1000
"""Of a level whose redundancy is looked at by itself: a small one says little."""

ALONE = "no parents"


def named(contender: str) -> tuple[str, tuple[str, ...]]:
    """Return a contender's strategy, and in what it differs from the usual way to run one."""
    strategy, _, rest = contender.partition(" (")
    return strategy, tuple(rest.rstrip(")").split(", ")) if rest else ()


def thin_levels(lines: Sequence[Line]) -> str:
    """Return microseconds a level of deep graphs, with the launches and read-backs of the deepest."""
    graphs = [name for name in by_depth(list(lines)) if next(x for x in lines if x.graph == name).depth >= DEEP]
    if not graphs:
        return ""
    deepest = next((name for name in reversed(graphs) if not name.endswith(MARK)), graphs[-1])
    rows = []
    for contender in dict.fromkeys(line.contender for line in lines if line.graph in graphs):
        own = {line.graph: line for line in lines if line.contender == contender}
        taken = [1e6 * own[name].traversal / (own[name].depth + 1) if name in own else None for name in graphs]
        last = own.get(deepest)
        counts = (None, None) if last is None else (last.launches, last.reads)
        levels = 1 if last is None else last.depth + 1
        rows.append((contender, *taken, *(None if count is None else count / levels for count in counts)))
    headers = ("strategy", *graphs, f"launches a level, {deepest}", "read-backs a level")
    return markdown(headers, sorted(rows, key=lambda row: (row[len(graphs)] is None, row[len(graphs)] or 0.0)))


def redundant(record: Record, lines: Sequence[Line]) -> str:
    """Return the ids that each of the Merrill family takes, over the edges of what is reached: in all, and in the worst
    level of the first source."""
    by_name = {(line.graph, line.contender): line for line in lines}
    worst: dict[tuple[str, str], float] = {}
    for row in record.rows:
        levels = row.levels
        if levels is None or row.strategy not in MERRILL or not levels.checked:
            continue
        down = levels.down or _down(record, row.graph)
        pairs = zip(levels.checked, down, strict=False)
        ratios = [read / edges for read, edges in pairs if edges >= LEAST_EDGES]
        if ratios:
            worst[row.graph, label(row)] = max(ratios)
    rows = []
    for graph in by_depth(list(lines)):
        own = [by_name.get((graph, name)) for name in MERRILL]
        if not any(own):
            continue
        factors = [None if x is None or x.checked is None else x.checked / max(1, x.edges) for x in own]
        rows.append((graph, *factors, *(worst.get((graph, name)) for name in MERRILL[:2])))
    headers = ("graph", *MERRILL, f"worst level, {MERRILL[0]}", f"worst level, {MERRILL[1]}")
    return markdown(headers, rows) if rows else ""


def _down(record: Record, graph: str) -> tuple[int, ...]:
    """Return the edges of each level of the first source, from whichever row holds them."""
    found = (row.levels.down for row in record.rows if row.graph == graph and row.levels and row.levels.down)
    return next(found, ())


def places(lines: Sequence[Line]) -> str:
    """Return milliseconds of each strategy by residency, encoding and order, a table for each graph."""
    parts = []
    for graph in by_depth(list(lines)):
        own = [line for line in lines if line.graph == graph and line.backend == "gpu"]
        own = [line for line in own if ALONE not in named(line.contender)[1]]
        ways = list(dict.fromkeys(named(line.contender)[1] for line in own))
        if len(ways) < 2:
            continue
        times = {named(line.contender): 1e3 * line.traversal for line in own}
        strategies = dict.fromkeys(strategy for strategy, _ in times)
        rows = [(strategy, *(times.get((strategy, way)) for way in ways)) for strategy in strategies]
        parts.append(f"### {graph}\n\n" + markdown(("strategy", *(_way(way) for way in ways)), rows))
    return "\n\n".join(parts)


def _way(words: tuple[str, ...]) -> str:
    """Return the head of a column."""
    where = "mapped" if "mapped" in words else "vram"
    rows = "compressed" if "varint" in words else "plain"
    return ", ".join([where, rows, *(word for word in words if word.startswith("by "))])


def distances(lines: Sequence[Line]) -> str:
    """Return the milliseconds of levels alone beside those of levels and parents (report 004, table 2)."""
    by_name = {(line.graph, line.contender): line for line in lines}
    rows = []
    for line in lines:
        strategy, words = named(line.contender)
        both = by_name.get((line.graph, strategy))
        if words == (ALONE,) and both is not None:
            rows.append(
                (line.graph, strategy, 1e3 * line.traversal, 1e3 * both.traversal, both.traversal / line.traversal)
            )
    return markdown(("graph", "strategy", "levels alone, ms", "parents too, ms", "times"), rows) if rows else ""


def sizes(record: Record) -> str:
    """Return milliseconds and rate of each strategy on graphs of many sizes, in the order of their rows."""
    lines = summarize(record)
    names = list(dict.fromkeys(line.contender for line in lines))
    by_name = {(line.graph, line.contender): line for line in lines}
    rows = []
    for graph in dict.fromkeys(line.graph for line in lines):
        own = [by_name.get((graph, name)) for name in names]
        times = [None if line is None else 1e3 * line.traversal for line in own]
        depth = next(line.depth for line in own if line)
        about = record.graphs[graph]
        rates = (None if line is None else line.gteps for line in own)
        rows.append((graph, about.vertices, about.edges, depth, *times, *rates))
    headers = ("graph", "vertices", "edges", "depth", *(f"{n}, ms" for n in names), *(f"{n}, GTEPS" for n in names))
    return markdown(headers, rows) if rows else ""


AFFOREST = (
    ("001, plain", 21_993, "Friendster's shape", "original", "plain"),
    ("003, plain", 23_512, "Friendster's shape", "original", "plain"),
    ("003, compressed", 21_569, "Friendster's shape", "original", "varint"),
    ("003, reordered", 28_100, "Friendster's shape", "degree", "plain"),
)
"""Figures of the reports on Friendster: report and way, milliseconds; graph, order and codec of ours beside it."""


def components(rows: Path) -> str:
    """Return the Afforest figures of the reports beside those of ``rows`` of tools/bench_gpu.py."""
    known: dict[tuple[str, ...], dict[str, Any]] = {}
    for line in rows.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if row.get("algorithm") == "cc" and row["residency"] == "mapped" and row["verified"]:
            known[row["graph"], row["order"], row["codec"]] = row
    cells = []
    for what, value, *place in AFFOREST:
        ours = known.get(tuple(place))
        beside = "not measured" if ours is None else f"{1e3 * ours['seconds']:.3g}"
        cells.append((what, value, ", ".join(place), beside, None if ours is None else ours["commit"]))
    return markdown(("Friendster", "reported, ms", "ours", "ours, ms", "commit"), cells)
