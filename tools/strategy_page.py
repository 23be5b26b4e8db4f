"""Make docs/results/strategies.md and its pictures from the rows of `bigbfs bench bfs --output`.

    BIGBFS_DATA=... bigbfs bench bfs --suite configs/bench-strategies.toml --output rows.jsonl --report report.html
    BIGBFS_DATA=... bigbfs bench bfs --suite configs/bench-strategies-places.toml --output places.jsonl
    python tools/strategy_page.py rows.jsonl --places places.jsonl [--earlier PAGE.md]

Rows of other places, encodings and orders have tables of their own and are in no picture. The pictures are those of the
report, as SVG that is readable on light and on dark. Graphs that the rows lack are taken from an earlier page, with a
mark. What was found by reading stands in docs/results/strategies/notes.md and becomes a part of the page.
"""

import argparse
import dataclasses
import sys
from pathlib import Path
from typing import Any

import strategy_sections as sections
from earlier import MARK, Earlier, read_earlier
from reported import compare, read_reported
from sentences import in_words, read_sentences

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

ABOUT_LEVELS = """Microseconds of a traversal over its levels, graphs of many: what launches, read-backs and barriers
cost. `auto` and `topdown` go from level to level inside a launch."""

ABOUT_REDUNDANT = """Ids taken from rows over the edges of what is reached: 1 is without redundancy. Report 004, figure
7: 4.2 on grid5pt.5000 by labels alone, on kron_g500-logn20 it does not finish; below 1.05 everywhere with all culling.
Worst level: of the first source, of those with 1,000 edges and more."""

ABOUT_DISTANCES = """Report 004, table 2, gives distances and predecessors: predecessors cost it up to 19 % (from its
rounded rates: 21 %)."""

ABOUT_PLACES = """Milliseconds of a traversal, by `bigbfs bench bfs --suite configs/bench-strategies-places.toml`. vram,
mapped: edges in GPU memory, or in host memory and read in place."""

ABOUT_SIZES = """Milliseconds of a traversal, and its rate, by `bigbfs bench bfs --suite
configs/bench-strategies-sizes.toml`: the lattices that report 004 sets beside Luo's program, without a time of it, and
uniform graphs by vertices and mean degree, as in its figure 12, a drawing of several GPUs."""

ABOUT_COMPONENTS = """Connected components: milliseconds reported, and ours of another run, each with its commit
(docs/results/gpu-h200.jsonl, tools/bench_gpu.py). Edges in host memory, there and here; ours with 5.8 GiB of device
memory. No ratio: another graph of the same shape, and the reported Afforest loses links, where ours is exact and
proved. Report 003 gives 46 s until convergence."""

ABOUT_WORDS = """What reports say in sentences and drawings; a ratio of ours is of times of a traversal."""

COMPONENTS = ROOT / "docs/results/gpu-h200.jsonl"

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


def overview(record: Record, lines: list[Line], earlier: Earlier) -> str:
    """Return the best of each graph as a table, from shallow to deep."""
    best = fastest(lines)
    headers = ("graph", "vertices", "edges", "depth", "best", "ms", "GTEPS", *(f"x {name}" for name in DIVISORS[:3]))
    rows: list[tuple[Any, ...]] = [(row[0] + MARK, *row[1:3], _count(row[3]), *row[4:]) for row in earlier.overview]
    for graph in charts.by_depth(lines):
        line, about = best[graph], record.graphs[graph]
        ratios = [line.speedups.get(name) for name in DIVISORS[:3]]
        rows.append(
            (graph, about.vertices, about.edges, line.depth, line.contender, 1e3 * line.traversal, line.gteps, *ratios)
        )
    return markdown(headers, sorted(rows, key=lambda row: row[3]))


def _count(text: str) -> int:
    return int(text.replace(",", ""))


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


def further(record: Record, lines: list[Line], sources: "Sources") -> list[str]:
    """Return the sections between the pictures and what is reported."""
    places, earlier = sources.places, sources.earlier
    before = [dataclasses.replace(line, graph=line.graph + MARK) for line in earlier.lines]
    known = (
        ("What a level takes", ABOUT_LEVELS, sections.thin_levels([*lines, *before])),
        ("Redundant expansion", ABOUT_REDUNDANT, sections.redundant(record, lines)),
        ("Levels alone", ABOUT_DISTANCES, sections.distances([*lines, *places])),
        ("Encodings, residencies, orders", ABOUT_PLACES, sections.places(places)),
        ("Lattices and sizes", ABOUT_SIZES, sections.sizes(sources.sizes) if sources.sizes else ""),
    )
    return [part for title, about, text in known if text for part in (f"## {title}", about, text)]


NONE = Earlier()


@dataclasses.dataclass(frozen=True)
class Sources:
    """What a page is made of beside its rows; ``places``: lines of other places, encodings, orders."""

    reported: Path
    made_by: str
    earlier: Earlier = NONE
    notes: str = ""
    places: tuple[Line, ...] = ()
    sizes: Record | None = None


def page(record: Record, lines: list[Line], pictures: dict[str, str], sources: Sources) -> str:
    """Return the page."""
    session, earlier = record.sessions[-1], sources.earlier
    gpu = session.machine["gpu"]
    limit = session.limits.get("device memory" if gpu else "host memory", 0.0) / 1e9
    memory = f"{limit:,.0f} GB/s copied in {'its' if gpu else 'host'} memory"
    disturbed, trials = sum(line.disturbed for line in lines), sum(line.trials for line in lines)
    before = f"{MARK.strip()}: of an earlier run: m{earlier.measured[1:]}"
    parts = [
        "# BFS strategies, side by side",
        f"Measured on {gpu or session.machine['processor']} ({memory}), {session.started[:10]}, commit "
        f"{session.commit or 'unknown'}, by `{_without_folders(session.command)}`.\n"
        f"This page and its pictures: `{sources.made_by}`.",
        ABOUT + f" {disturbed} of {trials} runs had to share the cores.",
        "## The best of each graph",
        overview(record, lines, earlier),
        *([before] if earlier.lines else []),
        *([sources.notes] if sources.notes else []),
        *(f"![{title}]({name})\n\n{title}." for title, name in pictures.items()),
        *further(record, lines, sources),
        *beside([*lines, *sources.places], sources, limit if gpu else 0.0),
        "## All numbers",
    ]
    for graph in charts.by_depth(lines):
        parts += [
            f"### {graph}",
            record.graphs[graph].about + ".",
            table_of([each for each in lines if each.graph == graph]),
        ]
    return "\n\n".join([*parts, *earlier.sections]) + "\n"


def notes_of(page: Path) -> str:
    """Return what was written by hand for ``page``, in its folder of pictures; its links lead from there."""
    notes = page.with_suffix("") / "notes.md"
    return notes.read_text(encoding="utf-8").strip().replace("](../", "](") if notes.is_file() else ""


def _without_folders(command: str) -> str:
    return " ".join(Path(word).name if word.startswith("/") else word for word in command.split(" "))


def beside(lines: list[Line], sources: Sources, limit: float) -> list[str]:
    """Return the tables of the reports, with ours in them; ``limit``: GB/s of our device, 0 without one."""
    earlier = sources.earlier
    parts = ["## Reported | ours", ABOUT_REPORTED]
    own = {(line.graph, line.contender) for line in lines}
    lines = [*lines, *(line for line in earlier.lines if (line.graph, line.contender) not in own)]
    for table in read_reported(sources.reported):
        times = f", {limit / table.gigabytes_per_second:.1f} times as much here" if limit else ""
        parts += [
            f"### {table.report}, {table.title}",
            f"{table.device}, {table.gigabytes_per_second:,.0f} GB/s as published{times}.",
            compare(table, lines, dict.fromkeys(earlier.graphs, MARK)),
        ]
    words = in_words(read_sentences(sources.reported), lines)
    parts += ["### 001 and 003, Afforest", ABOUT_COMPONENTS, sections.components(COMPONENTS)]
    return [*parts, "### In words", ABOUT_WORDS, words]


def main() -> None:
    """Read rows, write page and pictures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("rows", type=Path, nargs="+", help="JSON lines of `bigbfs bench bfs --output`")
    parser.add_argument("--places", type=Path, nargs="*", default=[], help="rows of other places, encodings, orders")
    parser.add_argument("--sizes", type=Path, nargs="*", default=[], help="rows of configs/bench-strategies-sizes.toml")
    parser.add_argument("--earlier", type=Path, help="an earlier page, for graphs that the rows lack")
    parser.add_argument("--output", type=Path, default=ROOT / "docs/results/strategies.md")
    parser.add_argument("--reported", type=Path, default=ROOT / "configs/reported.toml")
    arguments = parser.parse_args()
    require_extra()
    record = read_rows(arguments.rows)
    lines = summarize(record)
    places = tuple(summarize(read_rows(arguments.places))) if arguments.places else ()
    sizes = read_rows(arguments.sizes) if arguments.sizes else None
    pictures = draw(record, lines, arguments.output.with_suffix(""))
    earlier = (
        read_earlier(arguments.earlier, frozenset(record.graphs) & {line.graph for line in lines})
        if (arguments.earlier)
        else Earlier()
    )
    words = [path.name for path in arguments.rows]
    words += ["--places", *(path.name for path in arguments.places)] if arguments.places else []
    words += ["--sizes", *(path.name for path in arguments.sizes)] if arguments.sizes else []
    words += ["--earlier", arguments.earlier.name] if arguments.earlier else []
    made_by = " ".join(["python tools/strategy_page.py", *words])
    sources = Sources(arguments.reported, made_by, earlier, notes_of(arguments.output), places, sizes)
    with replacing(arguments.output) as stream:
        stream.write(page(record, lines, pictures, sources).encode())
    print(f"{arguments.output}: {len(lines)} lines, {len(pictures)} pictures")


if __name__ == "__main__":
    try:
        main()
    except BigBfsError as error:
        print(f"strategy_page: error: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
