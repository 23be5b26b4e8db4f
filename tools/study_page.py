"""Make docs/results/studies.md and its pictures from the rows of tools/study.py and tools/profile_kernels.py.

    python tools/study_page.py rows.jsonl

Of rows of one study on one graph the last one counts; profiles of several strategies are joined. The page takes in
docs/results/studies/notes.md, what was found by reading.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from bigbfs.config import read_toml
from bigbfs.errors import BigBfsError, FileAccessError, InputError
from bigbfs.formats.atomic import replacing
from bigbfs.report import pictures
from bigbfs.report.table import cell, markdown

ROOT = Path(__file__).resolve().parent.parent
Found = dict[str, dict[str, Any]]
"""Graph -> row."""

WIDTH = 640


def read(paths: Sequence[Path]) -> dict[str, Found]:
    """Return study -> graph -> row.

    Raises
    ------
    FileAccessError, InputError
        A file cannot be read; a line is no row of a study (names file and line), or there is none.
    """
    found: dict[str, Found] = {}
    for path in paths:
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
        except OSError as error:
            raise FileAccessError(f"{path}: cannot read: {error.strerror}; check the path") from error
        for number, line in enumerate(lines, 1):
            try:
                row = json.loads(line)
                of_study = found.setdefault(row["study"], {})
                of_study[row["graph"]] = _joined(of_study.get(row["graph"]), row)
            except (ValueError, KeyError, TypeError) as error:
                raise InputError(f"{path}:{number}: no row of a study: {error}; tools/study.py writes rows") from error
    if not found:
        raise InputError(f"{', '.join(map(str, paths))}: no row in it; tools/study.py writes rows")
    return found


def _joined(before: dict[str, Any] | None, row: dict[str, Any]) -> dict[str, Any]:
    """Return ``row``; of a profile with the strategies that only the row ``before`` it has."""
    if before is None or row["study"] != "profile":
        return row
    kernels = row["found"]["kernels"]
    kept = [k for k in before["found"]["kernels"] if k["strategy"] not in {k["strategy"] for k in kernels}]
    commit = ", ".join(dict.fromkeys((before["commit"], row["commit"])))
    return row | {"commit": commit, "found": {"kernels": [*kept, *kernels]}}


def frontiers(rows: Found) -> str:
    """Return the logical frontiers, all levels of a graph in one line and the widest one apart."""
    headers = ("graph", "levels", "vertices", "edges", "ends, each once", "to unreached", "new", "edges / vertex found",
               "widest level: edges", "its new")  # fmt: skip
    lines = []
    for graph, row in rows.items():
        f = row["found"]
        sums = {name: sum(f[name]) for name in ("vertices", "edges", "ends", "unreached", "new")}
        widest = max(range(len(f["edges"])), key=lambda level: f["edges"][level])
        lines.append((graph, len(f["edges"]), *sums.values(), sums["edges"] / max(1, sums["new"]),
                      f["edges"][widest], f["new"][widest]))  # fmt: skip
    return markdown(headers, lines)


def directions(rows: Found) -> str:
    """Return the edges that each way reads."""
    names = list(dict.fromkeys(name for row in rows.values() for name in row["found"]["ways"]))
    headers = ("graph", "all top-down", "all bottom-up", "best of each level", *names, "their directions")
    lines = []
    for graph, row in rows.items():
        f = row["found"]
        ways = " | ".join(dict.fromkeys(_folded(letters) for letters in f["ways"].values())).replace("|", "/")
        read = [f["read"].get(name) for name in names]
        lines.append((graph, sum(f["down"]), sum(f["up"]) if f["up"] else None, f["best"], *read, ways))
    return markdown(headers, lines)


def _folded(letters: str) -> str:
    """Return ``ttbbb`` as ``2t 3b``."""
    found: list[tuple[str, int]] = []
    for letter in letters:
        if found and found[-1][0] == letter:
            found[-1] = (letter, found[-1][1] + 1)
        else:
            found.append((letter, 1))
    return " ".join(f"{count}{letter}" for letter, count in found)


GATHERS = ("gather_serial", "gather_warp", "gather_block", "gather_scan", "gather_scan_warp", "gather_all")
LOOKUPS = ("gather_all", "look_up", "put_ends", "fused")


def _rate(found: dict[str, Any], name: str, places: Sequence[int]) -> float | None:
    """Return G ids a second over the levels at ``places``."""
    seconds = [found["seconds"][name][i] for i in places]
    edges = sum(found["edges"][i] for i in places)
    return None if None in seconds or not sum(seconds) else edges / sum(seconds) / 1e9


def gathering(rows: Found) -> str:
    """Return G ids a second of each way to read rows, over all levels and in the widest."""
    headers = ("graph", "levels", *(name.removeprefix("gather_").replace("_", " + ") for name in GATHERS))
    lines = []
    for graph, row in rows.items():
        f = row["found"]
        widest = max(range(len(f["edges"])), key=lambda i: f["edges"][i])
        lines.append((graph, "all timed", *(_rate(f, name, range(len(f["edges"]))) for name in GATHERS)))
        lines.append((graph, f"widest ({f['edges'][widest]:,} ids)", *(_rate(f, name, [widest]) for name in GATHERS)))
    return markdown(headers, lines)


def lookups(rows: Found) -> str:
    """Return what looking up statuses takes beside gathering, fused and apart."""
    headers = ("graph", "gather", "look up, from a queue", "gather into a queue", "fused", "apart / fused")
    lines = []
    for graph, row in rows.items():
        f = row["found"]
        known = [i for i in range(len(f["edges"])) if f["seconds"]["look_up"][i] is not None]
        apart = sum(f["seconds"]["put_ends"][i] + f["seconds"]["look_up"][i] for i in known)
        fused = sum(f["seconds"]["fused"][i] for i in known)
        rates = [_rate(f, name, known) for name in LOOKUPS]
        lines.append((graph, *rates, apart / fused if fused else None))
    return markdown(headers, lines)


def culling(rows: Found) -> str:
    """Return the false negatives of each filter."""
    names = list(next(iter(rows.values()))["found"]["share"])
    lines: list[tuple[Any, ...]] = [
        (f"report {row['report']}: {row['graph']}", *(_percent(row["values"].get(name)) for name in names))
        for row in reported("culling")
    ]
    for graph, row in rows.items():
        lines.append((graph, *(_percent(100 * row["found"]["share"][name]) for name in names)))
    return markdown(("graph", *names), lines)


def _percent(value: float | None) -> str | None:
    return None if value is None else f"{value:.3g} %"


def heads(rows: Found) -> str:
    """Return the milliseconds of `auto` with and without heads and hot rows."""
    ways = list(next(iter(rows.values()))["found"]["seconds"]["vram"])
    lines = []
    for graph, row in rows.items():
        for residency, seconds in row["found"]["seconds"].items():
            groups = row["found"]["head_groups"][residency]["as planned"]
            lines.append((graph, residency, 4 * groups, *(1e3 * seconds[way] for way in ways)))
    return markdown(("graph", "edges in", "heads", *(f"{way}, ms" for way in ways)), lines)


def orders(rows: Found) -> str:
    """Return the milliseconds of each way to a topological order, and the reported ones beside them."""
    ways = list(dict.fromkeys(way for row in rows.values() for way in row["found"]["seconds"]))
    lines = []
    for graph, row in rows.items():
        f = row["found"]
        shape = (graph, f["edges"], f["rounds"], f["widest"], f["thin"])
        lines.append((*shape, *(1e3 * f["seconds"][way] if way in f["seconds"] else None for way in ways)))
    own = markdown(("graph", "edges", "rounds", "widest", "thin", *(f"{way}, ms" for way in ways)), lines)
    beside = []
    for published in reported("orders"):
        seconds = rows.get(published["ours"], {}).get("found", {}).get("seconds", {})
        cells = [_beside(published, way, seconds.get(way)) for way in ("depth-first search", "GPU")]
        beside.append((published["graph"], published["ours"], published["likeness"], published["device"], *cells))
    headers = ("published graph", "ours", "likeness", "published on", "depth-first search", "topological order, GPU")
    return f"{own}\n\nReported | ours, milliseconds, and how many times as fast:\n\n{markdown(headers, beside)}"


def _beside(published: dict[str, Any], way: str, seconds: float | None) -> str:
    value = published["values"][way]
    if seconds is None:
        return f"{cell(value)} / -"
    times = "" if published["likeness"] == "shape" else f" **({value / (1e3 * seconds):.3g}x)**"
    return f"{cell(value)} / {cell(1e3 * seconds)}{times}"


def profile(rows: Found) -> str:
    """Return what the profiler counted."""
    headers = ("graph", "strategy", "kernel", "launches", "registers", "occupancy, theoretical %", "achieved %", "ms",
               "DRAM GB/s", "DRAM %", "L2 %", "compute %", "instructions / DRAM byte")  # fmt: skip
    lines = []
    for graph, row in rows.items():
        for k in (
            k for k in row["found"]["kernels"] if k["kernel"] not in ("begin_levels", "count_levels", "bfs_count")
        ):
            moved = None if None in (k["dram_read"], k["dram_write"]) else k["dram_read"] + k["dram_write"]
            time = k["nanoseconds"]
            rate = None if moved is None or not time else moved / time
            work = None if not moved or k["instructions"] is None else k["instructions"] / moved
            registers = None if k["registers"] is None else int(k["registers"])
            milliseconds = None if time is None else time / 1e6
            lines.append((graph, k["strategy"], k["kernel"], k["launches"], registers, k["theoretical"], k["achieved"],
                          milliseconds, rate, k["dram"], k["l2"], k["compute"], work))  # fmt: skip
    return markdown(headers, lines)


def reported(study: str) -> list[dict[str, Any]]:
    """Return what the reports publish on ``study``."""
    rows = read_toml(ROOT / "configs" / "reported-studies.toml")["rows"]
    return [row for row in rows if row["study"] == study]


SECTIONS: dict[str, tuple[tuple[str, str, Callable[[Found], str]], ...]] = {
    "frontiers": (
        ("Logical frontiers",
         "Edges that begin in a level, their ends, each once, and what is the next level (report 004, figure 3). "
         "From one source; counted, so the same on every device.", frontiers),
    ),
    "directions": (
        ("Edges read in either direction",
         "Bottom-up reads a row up to the first neighbour in the frontier, in stored order. Under a strategy's name: "
         "what its levels read in the directions that it took; 2t 3b: two levels top-down, then three bottom-up.",
         directions),
    ),
    "gather": (
        ("Gathering",
         "G ids a second, rows of each level's true frontier added up and nothing written (report 004, figure 5), by "
         "who reads a row; all: scan + warp + block. Plain rows; kernel time by events, median of 3.", gathering),
        ("Gathering and looking up",
         "The same frontiers in G ids a second, with the status of each end looked up in bitmask and levels (report "
         "004, figures 6 and 9): as ends are read, or apart, through a queue of them.", lookups),
    ),
    "culling": (
        ("False negatives of culling",
         "Ends that pass a filter without need, as a share of m - n (report 004, figure 8): every level of a search, "
         "on its true frontier; no filter may lose an end, which is checked. atomicOr has none, exactly.", culling),
    ),
    "heads": (
        ("Heads and hot rows",
         "`auto` with and without the table of strongest neighbours and the hot rows, median over sources.", heads),
    ),
    "orders": (
        ("Topological order",
         "Report 002, tables 3 and 4. Every way has the rounds of the reference, or is refused. thin: rounds of up to "
         "32 vertices.", orders),
    ),
    "profile": (
        ("What a profiler counts",
         "Nsight Compute, clocks as they are, caches emptied before each pass (its default): times are not those "
         "of a search. Shares and rates are means over the time of a kernel's launches (report 000, 4.1, gives for a "
         "graph that it does not name: simple mostly below 6 % of memory throughput, 22 registers; queue up to 12 %, "
         "compute below 1 %; WM and CM above 10 %, 26 to 28 registers). What begins and ends every "
         "search is left out.", profile),
    ),
}  # fmt: skip


def draw(found: dict[str, Found], folder: Path) -> dict[str, list[tuple[str, str]]]:
    """Write the pictures; return study -> (title, file) of each."""
    import altair as alt

    made: dict[str, list[tuple[str, str]]] = {}
    names = {"frontiers": ("edges", "ends", "new"), "gather": GATHERS}
    for study, columns in names.items():
        for graph, row in found.get(study, {}).items():
            f = row["found"]
            levels = f.get("level", range(len(f["edges"])))
            if not 4 <= len(f["edges"]) <= 32:
                continue
            values = [
                {"level": level, "what": name.removeprefix("gather_").replace("_", " + "), "value": value}
                for name in columns
                for i, level in enumerate(levels)
                if (value := f[name][i] if study == "frontiers" else _rate(f, name, [i]))
            ]
            what = "edges, ends, new vertices" if study == "frontiers" else "G ids a second"
            chart = alt.Chart(alt.Data(values=values)).mark_line(point=alt.OverlayMarkDef(size=22), strokeWidth=1.8)
            hues = pictures.colours(list(dict.fromkeys(value["what"] for value in values)))[0]
            scale = alt.Scale(domain=list(dict.fromkeys(value["what"] for value in values)), range=hues)
            chart = chart.encode(
                x=alt.X("level:Q", axis=alt.Axis(tickMinStep=1)),
                y=alt.Y("value:Q", scale=alt.Scale(type="log"), title=what, axis=alt.Axis(format="~s")),
                color=alt.Color("what:N", scale=scale, legend=alt.Legend(orient="bottom", title=None)),
            ).properties(width=WIDTH, height=240)
            slug = "".join(letter if letter.isalnum() else "-" for letter in graph)
            folder.mkdir(parents=True, exist_ok=True)
            pictures.save(chart, folder / f"{study}-{slug}.svg")
            made.setdefault(study, []).append((f"{graph}: {what} of each level", f"{study}-{slug}.svg"))
    return made


def page(found: dict[str, Found], drawn: dict[str, list[tuple[str, str]]], folder: str, notes: str = "") -> str:
    """Return the page; ``notes``: what somebody found in it."""
    parts = [
        "# Studies beside the comparison of strategies",
        "One question each, on the graphs of configs/studies.toml and configs/studies-orders.toml:\n\n"
        "    python tools/study.py --suite configs/studies.toml --output rows.jsonl\n"
        "    python tools/study.py --suite configs/studies-orders.toml --study orders --output rows.jsonl\n"
        "    python tools/profile_kernels.py GRAPH.csrbin --output rows.jsonl\n"
        "    python tools/study_page.py rows.jsonl",
        *([notes] if notes else []),
    ]
    for study, sections in SECTIONS.items():
        for number, (title, about, table) in enumerate(sections):
            if study not in found:
                continue
            rows = found[study]
            devices = ", ".join(dict.fromkeys(row["device"] for row in rows.values() if row.get("device")))
            commits = ", ".join(dict.fromkeys(row["commit"] or "unknown" for row in rows.values()))
            where = f"{about}\n\nOn {devices or 'the GPU'}, commit {commits}."
            parts += [f"## {title}", where, table(rows)]
            if number == 0:
                parts += [f"![{name}]({folder}/{file})\n\n{name}." for name, file in drawn.get(study, [])]
    return "\n\n".join(parts) + "\n"


def main() -> None:
    """Read rows, write page and pictures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("rows", type=Path, nargs="+")
    parser.add_argument("--output", type=Path, default=ROOT / "docs" / "results" / "studies.md")
    asked = parser.parse_args()
    pictures.require_extra()
    found = read(asked.rows)
    drawn = draw(found, folder := asked.output.with_suffix(""))
    notes = folder / "notes.md"
    with replacing(asked.output) as stream:
        said = notes.read_text(encoding="utf-8").strip() if notes.is_file() else ""
        stream.write(page(found, drawn, folder.name, said).encode())
    print(f"{asked.output}: {', '.join(found)}; {sum(map(len, drawn.values()))} pictures")


if __name__ == "__main__":
    try:
        main()
    except BigBfsError as error:
        print(f"study_page: error: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
