"""The report of a comparison: one HTML file that needs no network, with its charts, its table and its scripts inside.

Made from a record of rows by Jinja (templates/) and Altair; needs the extra ``report``.
"""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path
from statistics import median
from typing import Any

from bigbfs.errors import UsageError, naming
from bigbfs.formats.atomic import replacing
from bigbfs.report import charts, level_charts
from bigbfs.report.pictures import VEGA_LITE, specification
from bigbfs.report.rows import REFERENCE, Record
from bigbfs.report.summary import DIVISORS, Line, fastest, summarize
from bigbfs.report.table import cell
from bigbfs.sizes import format_size

TEMPLATES = Path(__file__).resolve().parent / "templates"

MOST_BYTES = 2_000_000
"""Of a report; its lines over levels get fewer points until it fits."""

FEWEST_POINTS = 8

DIGITS = 6
"""Of a number in a chart or in what the table is sorted by."""


def require_extra() -> None:
    """Refuse to make a report without what it takes.

    Raises
    ------
    UsageError
        Jinja, Altair or vl-convert is not installed; the message names the extra.
    """
    missing = [name for name in ("jinja2", "altair", "vl_convert") if find_spec(name) is None]
    if missing:
        raise UsageError(f"reports need {' and '.join(missing)}: pip install 'bigbfs[report]'")


def write_page(record: Record, path: Path) -> int:
    """Write the report of ``record`` to ``path``; return its bytes.

    Raises
    ------
    UsageError
        The extra ``report`` is not installed.
    FileAccessError
        The file cannot be written.
    """
    require_extra()
    points = level_charts.POINTS
    text = render(record, points).encode()
    while len(text) > MOST_BYTES and points > FEWEST_POINTS:
        points //= 2
        text = render(record, points).encode()
    with naming(output="report"), replacing(path) as stream:
        stream.write(text)
    return len(text)


def render(record: Record, points: int = level_charts.POINTS) -> str:
    """Return the HTML of the report, its lines over levels of at most ``points`` points."""
    import jinja2

    lines = summarize(record)
    values = level_charts.level_values(record, points) + level_charts.way_values(record, points)
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters["moment"] = _moment
    page: str = environment.get_template("page.html.j2").render(
        bundle=_bundle(),
        record=record,
        session=record.sessions[-1] if record.sessions else None,
        sessions=record.sessions,
        summary=_summary(record, lines),
        graphs=[record.graphs[name] for name in charts.by_depth(lines) if name in record.graphs],
        first=_first_graph(record, lines),
        specs=_specs(record, lines, values),
        levels=_series(values),
        columns=COLUMNS,
        lines=[_cells(line, _limit(record, line)) for line in lines],
        format_size=format_size,
    )
    return page


def _moment(text: str) -> str:
    """Return a time in ISO 8601 as people write it: ``2026-11-22 03:00 UTC``."""
    return f"{datetime.fromisoformat(text).astimezone(UTC):%Y-%m-%d %H:%M} UTC"


@cache
def _bundle() -> str:
    """Return the scripts that draw the charts in a browser."""
    import vl_convert

    text: str = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", VEGA_LITE)
    return text


def _first_graph(record: Record, lines: list[Line]) -> str:
    """Return the graph that the charts of one graph begin with: the one with the most contenders."""
    names = [line.graph for line in lines]
    return max(dict.fromkeys(names), key=names.count)


def _specs(record: Record, lines: list[Line], values: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the charts: ``name``, ``title``, ``caption``, ``per_graph`` and the Vega-Lite ``spec``."""
    import altair as alt

    names, graph = charts.contenders(lines), _first_graph(record, lines)
    levels = alt.NamedData(name="levels")
    base = "expand-contract" if "expand-contract" in names else "auto" if "auto" in names else names[0]
    limits = {name: rate for session in record.sessions for name, rate in session.limits.items()}
    over = {
        metric: level_charts.over_levels(values, metric, [*names, *level_charts.WAYS], graph, data=levels)
        for metric in level_charts.METRICS
    }
    made = [
        ("heat", False, charts.heat(lines)),
        ("rates", False, charts.rates(lines, base, names)),
        ("frontier", True, over["frontier"]),
        ("checked", True, over["checked"]),
        ("time", True, over["ms"]),
        ("ends", True, charts.end_to_end(lines, graph)),
        ("roofline", False, charts.roofline(lines, limits, names)),
    ]
    found = []
    for name, per_graph, chart in made:
        if chart is not None:
            spec = shortened(specification(chart)) | {
                "width": "container",
                "autosize": {"type": "fit-x", "contains": "padding"},
            }
            title, caption = TEXTS[name]
            least = 180 + 52 * len({line.graph for line in lines}) if name == "heat" else 0
            found.append(
                {"name": name, "title": title, "caption": caption, "per_graph": per_graph, "spec": spec, "least": least}
            )
    return found


TEXTS = {
    "heat": (
        "Strategy by graph",
        "Milliseconds of a traversal, median over sources. Framed: the best strategy of the graph. Graphs from shallow "
        "to deep.",
    ),
    "rates": ("How many times as fast", "Traversal time against one strategy, graphs from shallow to deep."),
    "frontier": ("Frontier of each level", "Vertices expanded, from the first source. Click a name to single it out."),
    "checked": (
        "Edges checked in each level",
        "Edges read; those that find nothing new too. Beside them, what the levels read in one direction alone.",
    ),
    "time": ("Time of each level", "Where levels ran as one step there is no point."),
    "ends": (
        "From the file to the caller",
        "Open and check, start the device, place, compile or load, traverse, copy.",
    ),
    "roofline": (
        "Bytes against time",
        "Bytes that the edges read and the vertices reached take at least. On a dashed line a traversal moves them as "
        "fast as the machine copies; below it, from caches.",
    ),
}
"""Title and caption of each chart."""


def shortened(value: Any) -> Any:
    """Return ``value``, of JSON, with its numbers at ``DIGITS`` digits: no picture shows more."""
    if isinstance(value, dict):
        return {name: shortened(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [shortened(each) for each in value]
    return _short(value) if isinstance(value, float) else value


def _short(value: float) -> float:
    """Return ``value`` at ``DIGITS`` digits, a whole number as an int: JSON writes it without its point."""
    short = float(f"{value:.{DIGITS}g}")
    return int(short) if short.is_integer() else short


def _series(values: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the points by series, a graph and a contender each: an eighth of the bytes.

    ``series``: numbers of graph and contender, its points, levels from one to the next, and their directions, a letter
    each; ``frontier``, ``checked``, ``ms``: of all points, one series behind the other.
    """
    names = ("graph", "contender")
    tables = {name: list(dict.fromkeys(value[name] for value in values)) for name in names}
    places = {name: {word: i for i, word in enumerate(tables[name])} for name in names}
    series = []
    for key, points in groupby(values, key=lambda value: tuple(places[name][value[name]] for name in names)):
        own = list(points)
        width = own[1]["level"] - own[0]["level"] if len(own) > 1 else 1
        series.append([*key, len(own), width, "".join(point["direction"][0] for point in own)])
    columns = {name: [shortened(value.get(name)) for value in values] for name in level_charts.METRICS}
    return {"graphs": tables["graph"], "contenders": tables["contender"], "series": series, **columns}


def _summary(record: Record, lines: list[Line]) -> dict[str, Any]:
    """Return what the first lines of the report say."""
    best = fastest(lines)
    over_serial = [line.speedups["serial"] for line in best.values() if "serial" in line.speedups]
    wins: dict[str, int] = {}
    for line in best.values():
        wins[line.contender] = wins.get(line.contender, 0) + 1
    trials, shared = sum(line.trials for line in lines), sum(line.disturbed for line in lines)
    return {
        "best": list(best.values()),
        "wins": sorted(wins.items(), key=lambda item: -item[1]),
        "strategies": len({row.strategy for row in record.rows if row.strategy != REFERENCE}),
        "contenders": len(charts.contenders(lines)),
        "runs": trials,
        "verified": sum(row.verified for row in record.rows),
        "rows": len(record.rows),
        "over_serial": median(over_serial) if over_serial else None,
        "disturbed": shared,
        "disturbed_share": shared / max(1, trials),
        "apart": sum(not line.in_turn for line in lines),
    }


COLUMNS = (
    "graph", "strategy", "sources", "depth", "kernel ms", "traversal ms", "end to end ms", "GTEPS", "hmean GTEPS",
    *(f"x {name}" for name in DIVISORS), "launches", "reads", "edges checked", "redundancy", "GB/s", "% of limit",
    "registers", "occupancy %", "disturbed",
)  # fmt: skip


def _limit(record: Record, line: Line) -> float | None:
    """Return the bytes per second that the memory of this line's backend copies."""
    limits = {name: rate for session in record.sessions for name, rate in session.limits.items()}
    if "mapped" in line.contender:
        return limits.get("link")
    return limits.get("device memory" if line.backend == "gpu" else "host memory")


def _cells(line: Line, limit: float | None) -> list[dict[str, Any]]:
    """Return the cells of ``COLUMNS``: the ``text`` and what it is sorted by (``key``, None last)."""
    rate = line.bytes_per_second
    milliseconds = [None if s is None else 1e3 * s for s in (line.kernel, line.traversal, line.end_to_end)]
    values: list[Any] = [line.graph, line.contender, line.sources, line.depth, *milliseconds]
    values += [line.gteps, line.harmonic_gteps, *(line.speedups.get(name) for name in DIVISORS)]
    values += [line.launches, line.reads, line.checked, line.redundancy]
    values += [None if rate is None else rate / 1e9, None if rate is None or limit is None else 100 * rate / limit]
    values += [line.registers, None if line.occupancy is None else 100 * line.occupancy, line.disturbed]
    return [{"text": cell(value), "key": shortened(value)} for value in values]
