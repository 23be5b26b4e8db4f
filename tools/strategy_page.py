"""Make docs/results/strategies.md and its pictures from the rows of `bigbfs bench bfs --output`.

    BIGBFS_DATA=... bigbfs bench bfs --suite configs/bench-strategies.toml --output rows.jsonl --report report.html
    python tools/strategy_page.py rows.jsonl

The pictures are those of the report, as SVG that is readable on light and on dark.
"""

import argparse
import sys
from pathlib import Path
from typing import Any

from reported import compare, read_reported

from bigbfs.errors import BigBfsError
from bigbfs.formats.atomic import replacing
from bigbfs.report import charts, level_charts
from bigbfs.report.pictures import require_extra, save
from bigbfs.report.rows import Record, read_rows
from bigbfs.report.summary import DIVISORS, Line, fastest, summarize
from bigbfs.report.table import markdown

ROOT = Path(__file__).resolve().parent.parent
WIDTH = 760
POINTS = 64
"""Of a line over levels."""

ABOUT = """All strategies run in turn, trial by trial, from the same sources; every source is proved right before it
is timed. Times are medians over sources of medians over trials. kernel: by events; traversal: host loop and reset too;
end to end: from opening the file to arrays of the caller. x: how many times as fast as the quadratic strategy, the
serial reference, the CPU engine, auto. redundancy: queue entries to vertices reached. GB/s: bytes that the edges and
vertices take at least, over the time. A dash: unknown."""

ABOUT_REPORTED = """A cell is: reported / ours, in milliseconds, and how many times as fast in bold. No ratio is made
for another graph of the same shape ("shape"), for a figure that cannot be what it says (!), or where two things are
measured."""

MOST_LEVELS_PAGES = 3
"""Graphs whose levels are drawn: a shallow, a middling and a deep one."""


def drawn_graphs(lines: list[Line]) -> list[str]:
    """Return the graphs whose levels are drawn: shallowest, middle and deepest of those that most contenders ran."""
    names = [line.graph for line in lines]
    most = max(names.count(name) for name in names)
    full = [name for name in charts.by_depth(lines) if names.count(name) == most]
    return list(dict.fromkeys([full[0], full[len(full) // 2], full[-1]]))[:MOST_LEVELS_PAGES]


def draw(record: Record, lines: list[Line], folder: Path) -> dict[str, str]:
    """Write the pictures to ``folder``; return title -> file name."""
    names, values = (
        charts.contenders(lines),
        level_charts.level_values(record, POINTS) + level_charts.way_values(record, POINTS),
    )
    limits = {name: rate for session in record.sessions for name, rate in session.limits.items()}
    base = "expand-contract" if "expand-contract" in names else "auto"
    wanted: dict[str, tuple[str, Any]] = {
        "Milliseconds of a traversal; framed: the best of the graph": ("heat", charts.heat(lines)),
        f"Times as fast as {base}, graphs from shallow to deep": ("rates", charts.rates(lines, base, names)),
        "Bytes moved at least against time; dashed: what the machine copies": (
            "roofline",
            charts.roofline(lines, limits, names),
        ),
    }
    for graph in drawn_graphs(lines):
        own = [value for value in values if value["graph"] == graph]
        slug = "".join(letter if letter.isalnum() else "-" for letter in graph)
        for metric, what in level_charts.METRICS.items():
            wanted[f"{graph}: {what}"] = (
                f"{metric}-{slug}",
                level_charts.over_levels(own, metric, [*names, *level_charts.WAYS], graph),
            )
        ends = charts.end_to_end([line for line in lines if line.graph == graph], graph)
        wanted[f"{graph}: from the file to arrays of the caller"] = (f"ends-{slug}", ends)
    folder.mkdir(parents=True, exist_ok=True)
    found = {}
    for title, (name, chart) in wanted.items():
        if chart is not None:
            save(chart if name == "heat" else chart.properties(width=WIDTH), folder / f"{name}.svg")
            found[title] = f"{folder.name}/{name}.svg"
    return found


def overview(record: Record, lines: list[Line]) -> str:
    """Return the best of each graph as a table."""
    best = fastest([line for line in lines if line.contender != "serial reference"])
    headers = ("graph", "vertices", "edges", "depth", "best", "ms", "GTEPS", *(f"x {name}" for name in DIVISORS[:3]))
    rows = []
    for graph in charts.by_depth(lines):
        line, about = best[graph], record.graphs[graph]
        ratios = [line.speedups.get(name) for name in DIVISORS[:3]]
        rows.append(
            (graph, about.vertices, about.edges, line.depth, line.contender, 1e3 * line.traversal, line.gteps, *ratios)
        )
    return markdown(headers, rows)


def table_of(lines: list[Line]) -> str:
    """Return the lines of one graph as a table."""
    headers = (
        "strategy", "kernel ms", "traversal ms", "end to end ms", "GTEPS", "hmean", *(f"x {name}" for name in DIVISORS),
        "launches", "reads", "edges checked", "redundancy", "GB/s", "registers", "sources", "disturbed",
    )  # fmt: skip
    rows = []
    for line in sorted(lines, key=lambda line: line.traversal):
        times = [None if s is None else 1e3 * s for s in (line.kernel, line.traversal, line.end_to_end)]
        rate = None if line.bytes_per_second is None else line.bytes_per_second / 1e9
        shared = f"{line.disturbed} of {line.trials}" if line.disturbed else "no"
        ratios = [line.speedups.get(name) for name in DIVISORS]
        counts = [line.launches, line.reads, line.checked, line.redundancy, rate, line.registers, line.sources, shared]
        rows.append((line.contender, *times, line.gteps, line.harmonic_gteps, *ratios, *counts))
    return markdown(headers, rows)


def page(record: Record, lines: list[Line], pictures: dict[str, str], reported: Path, made_by: str) -> str:
    """Return the page."""
    session = record.sessions[-1]
    gpu = session.machine["gpu"]
    limit = session.limits.get("device memory" if gpu else "host memory", 0.0) / 1e9
    memory = f"{limit:,.0f} GB/s copied in {'its' if gpu else 'host'} memory"
    disturbed, trials = sum(line.disturbed for line in lines), sum(line.trials for line in lines)
    parts = [
        "# BFS strategies, side by side",
        f"Measured on {gpu or session.machine['processor']} ({memory}), {session.started[:10]}, commit "
        f"{session.commit or 'unknown'}, by `{session.command}`.\nThis page and its pictures: `{made_by}`.",
        ABOUT + f" {disturbed} of {trials} runs had to share the cores.",
        "## The best of each graph",
        overview(record, lines),
        *(f"![{title}]({name})\n\n{title}." for title, name in pictures.items()),
        "## Reported | ours",
        ABOUT_REPORTED,
    ]
    for table in read_reported(reported):
        times = f", {limit / table.gigabytes_per_second:.1f} times as much here" if gpu else ""
        parts += [
            f"### {table.report}, {table.title}",
            f"{table.device}, {table.gigabytes_per_second:,.0f} GB/s as published{times}.",
            compare(table, lines),
        ]
    parts.append("## All numbers")
    for graph in charts.by_depth(lines):
        parts += [
            f"### {graph}",
            record.graphs[graph].about + ".",
            table_of([each for each in lines if each.graph == graph]),
        ]
    return "\n\n".join(parts) + "\n"


def main() -> None:
    """Read rows, write page and pictures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("rows", type=Path, nargs="+", help="JSON lines of `bigbfs bench bfs --output`")
    parser.add_argument("--output", type=Path, default=ROOT / "docs/results/strategies.md")
    parser.add_argument("--reported", type=Path, default=ROOT / "configs/reported.toml")
    arguments = parser.parse_args()
    require_extra()
    record = read_rows(arguments.rows)
    lines = summarize(record)
    pictures = draw(record, lines, arguments.output.with_suffix(""))
    made_by = " ".join(["python tools/strategy_page.py", *(path.name for path in arguments.rows)])
    with replacing(arguments.output) as stream:
        stream.write(page(record, lines, pictures, arguments.reported, made_by).encode())
    print(f"{arguments.output}: {len(lines)} lines, {len(pictures)} pictures")


if __name__ == "__main__":
    try:
        main()
    except BigBfsError as error:
        print(f"strategy_page: error: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
