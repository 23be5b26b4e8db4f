"""``make results``: convert, traverse and verify every real graph, compare with its published counts, make the table.

The folder of the graphs (``--data``, BIGBFS_DATA, or shared/data beside the repository) holds the files and a README.md
whose table gives, for each, the counts found by independent means. A count that differs ends the run with exit 3.
``--json FILE`` keeps the rows of this machine; ``--table OUT FILE...`` makes the Markdown table of kept rows.
"""

import argparse
import json
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from bigbfs import api
from bigbfs.algorithms.bfs.validate import validate_tree
from bigbfs.algorithms.components.validate import validate_labels
from bigbfs.algorithms.internal import internal_engine
from bigbfs.conversion.keywords import convert
from bigbfs.errors import BigBfsError, VerificationError
from bigbfs.formats.atomic import replacing
from bigbfs.graph.graph import Graph
from bigbfs.report.table import markdown

ROOT = Path(__file__).resolve().parent.parent
COUNTS = ("vertices", "lines", "self_loops", "duplicates", "stored", "max_degree", "components", "largest")
COLUMNS = ("file", "vertices", "directed edges", "source", "reached", "depth", "level sum", "components", "largest")


def expected_counts(readme: Path) -> dict[str, dict[str, int]]:
    """Return file -> counts from the table of the data folder's README."""
    found = {}
    for line in readme.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip().replace(",", "") for cell in line.strip().strip("|").split("|")]
        if len(cells) < 11 or not cells[2].isdecimal():
            continue
        row = dict(zip(COUNTS, map(int, cells[2:10]), strict=True))
        numbers = [int(number) for number in re.findall(r"\d+", cells[10])]
        row |= dict(zip(("source", "reached", "depth", "level_sum"), numbers, strict=True))
        found[cells[0]] = row
    return found


def check(name: str, have: dict[str, Any], want: dict[str, int]) -> None:
    """Raise VerificationError where a count differs from the published one."""
    for key, value in want.items():
        if key in have and have[key] != value:
            raise VerificationError(f"{name}: {key} is {have[key]:,}, the README says {value:,}")


def traverse(graph: Graph, source: int, backend: str, residency: str, trials: int = 5) -> dict[str, Any]:
    """Run verified BFS and components; return counts and median times."""
    vertex = graph.vertex(source)
    with internal_engine(graph, backend=backend, residency=residency) as engine:
        tree = engine.bfs(vertex)
        validate_tree(graph, vertex, tree.levels, tree.parents)
        components = engine.connected_components()
        validate_labels(graph, components.labels)
        bfs_seconds = float(np.median([engine.bfs(vertex).record.seconds for _ in range(trials)]))
        cc_seconds = float(np.median([engine.connected_components().record.seconds for _ in range(trials)]))
        return {
            "backend": backend,
            "device": engine.device,
            "residency": engine.residency,
            "codec": graph.codec,
            "source": source,
            "reached": tree.record.reached,
            "depth": tree.record.depth,
            "level_sum": int(tree.levels[tree.levels > 0].sum(dtype=np.int64)),
            "components": components.record.components,
            "largest": components.record.largest,
            "bfs_ms": 1e3 * bfs_seconds,
            "cc_ms": 1e3 * cc_seconds,
            "verified": True,
        }


def run(data: Path, backends: list[str]) -> list[dict[str, Any]]:
    """Return one row for each file x codec x place, every count checked."""
    rows = []
    places = [(b, r) for b in backends for r in (("vram", "mapped") if b == "gpu" else ("auto",))]
    for name, want in expected_counts(data / "README.md").items():
        with tempfile.TemporaryDirectory() as folder:
            report = convert(data / name, Path(folder) / "graph.csrbin", compressed=True)
            counts = {key: getattr(report, key) for key in ("vertices", "self_loops", "duplicates")}
            check(name, counts | {"stored": report.edges}, want)
            for codec, suffix in (("plain", "csrbin"), ("varint", "ccsr")):
                with Graph.open(Path(folder) / f"graph.{suffix}") as graph:
                    check(name, {"max_degree": int(graph.degrees().max())}, want)
                    for backend, residency in places:
                        row = {"file": name, "vertices": graph.n, "edges": graph.m, "codec": codec}
                        row |= traverse(graph, want["source"], backend, residency)
                        check(name, row, want)
                        rows.append(row)
        print(f"{name}: counts agree, {len(places) * 2} runs verified", flush=True)
    return rows


def make_table(rows: list[dict[str, Any]]) -> str:
    """Return the Markdown tables: the counts of each graph, then the times of each place."""
    first = {row["file"]: row for row in rows}
    keys = ("file", "vertices", "edges", "source", "reached", "depth", "level_sum", "components", "largest")
    counts = markdown(COLUMNS, [[row[key] for key in keys] for row in first.values()])
    places = list(dict.fromkeys((row["backend"], row["residency"], row["codec"]) for row in rows))
    cells: dict[str, dict[tuple[str, str, str], str]] = {}
    for row in rows:
        text = f"{row['bfs_ms']:.2f} / {row['cc_ms']:.2f}"
        cells.setdefault(row["file"], {})[row["backend"], row["residency"], row["codec"]] = text
    header = ["file", *(" ".join(place) for place in places)]
    times = markdown(header, [[name, *(found.get(place, "-") for place in places)] for name, found in cells.items()])
    devices = sorted({f"{row['backend']}: {row['device']}" for row in rows})
    return (
        "# Real graphs\n\n"
        "Every file converted, traversed from its first vertex and labelled by components, plain and compressed;\n"
        "every tree and labelling verified; every count compared with one found independently (SciPy) before.\n"
        f"{len(rows)} runs, all verified, no count differs. Devices: {'; '.join(devices)}.\n\n"
        "Made by `python tools/real_graphs.py --json rows.jsonl` on each machine and\n"
        "`python tools/real_graphs.py --table docs/results/real-graphs.md rows.jsonl ...`.\n\n"
        f"{counts}\n\n## Milliseconds, BFS / components (median of 5)\n\n"
        "Small graphs: the times show that nothing is slow, not how fast large graphs go.\n\n"
        f"{times}\n"
    )


def write(path: Path, text: str) -> None:
    """Write ``text`` to ``path`` whole or not at all."""
    with replacing(path) as stream:
        stream.write(text.encode())


def main() -> None:
    """Run, or make the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    default = os.environ.get("BIGBFS_DATA", ROOT.parent / "shared" / "data")
    parser.add_argument("--data", type=Path, default=default, help="folder of the real graphs")
    parser.add_argument("--backend", action="append", choices=("cpu", "gpu"), help="default: all present")
    parser.add_argument("--json", type=Path, help="keep the rows as JSON lines")
    parser.add_argument("--table", type=Path, help="make this table of the kept rows given")
    parser.add_argument("rows", nargs="*", type=Path, help="kept rows, for --table")
    arguments = parser.parse_args()
    if arguments.table and arguments.rows:
        lines = [line for path in arguments.rows for line in path.read_text(encoding="utf-8").splitlines()]
        write(arguments.table, make_table([json.loads(line) for line in lines]))
        return
    if not (arguments.data / "README.md").exists():
        sys.exit(f"real_graphs: no README.md in {arguments.data}: give the folder of the graphs with --data")
    backends = arguments.backend or (["cpu", "gpu"] if api.choose_backend("auto") == "gpu" else ["cpu"])
    rows = run(arguments.data, backends)
    if arguments.json:
        write(arguments.json, "".join(json.dumps(row, allow_nan=False) + "\n" for row in rows))
    write(arguments.table or ROOT / "docs" / "results" / "real-graphs.md", make_table(rows))


if __name__ == "__main__":
    try:
        main()
    except BigBfsError as error:
        print(f"real_graphs: error: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
