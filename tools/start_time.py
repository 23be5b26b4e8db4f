"""Time from nothing to the first result: fresh processes of ``bigbfs bfs``, their wall time and what it is made of.

Each trial is a process of its own, the file in the page cache, the kernels in theirs (the first trial is for that and
does not count). The phases are those of ``--json``; "else" is the interpreter, imports and the way out, less what ran
side by side. ``--where`` adds one run under cProfile and prints the calls that took longest.

    python tools/start_time.py graph.csrbin --source 0
    python tools/start_time.py graph.csrbin --source 0 --where -- --residency mapped --vram-budget 5.8GiB
"""

from __future__ import annotations

import argparse
import io
import json
import pstats
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

from bigbfs.report.table import table

PHASES = ("open", "start", "compile", "place", "traversal")


def command(graph: Path, source: int, backend: str, extra: list[str]) -> list[str]:
    """Return the arguments of one run."""
    return ["bfs", str(graph), "--source", str(source), "--backend", backend, "--json", *extra]


def trial(arguments: list[str]) -> dict[str, float]:
    """Run a fresh process and return its wall time and phases in seconds."""
    start = time.perf_counter()
    done = subprocess.run([sys.executable, "-m", "bigbfs", *arguments], capture_output=True, text=True, check=False)
    wall = time.perf_counter() - start
    if done.returncode != 0:
        sys.exit(f"bigbfs {' '.join(arguments)} ended with {done.returncode}:\n{done.stderr}")
    result = json.loads(done.stdout)
    phases = {name: float(result["setup"][name]) for name in PHASES[:-1]}
    phases["traversal"] = float(result["runs"][0]["seconds"])
    return {"wall": wall} | phases | {"else": wall - sum(phases.values())}


def where_it_goes(arguments: list[str], lines: int) -> str:
    """Run once under cProfile and return the calls with the longest time of their own and below."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "profile"
        line = [sys.executable, "-m", "cProfile", "-o", str(file), "-m", "bigbfs", *arguments]
        subprocess.run(line, stdout=subprocess.DEVNULL, check=True)
        text = io.StringIO()
        stats = pstats.Stats(str(file), stream=text)
        stats.strip_dirs().sort_stats("tottime").print_stats(lines)
        stats.sort_stats("cumulative").print_stats(lines)
    return text.getvalue()


def main() -> None:
    """Time the trials and print their table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("graph", type=Path)
    parser.add_argument("--source", type=int, required=True, help="original id")
    parser.add_argument("--backend", default="gpu", choices=("gpu", "cpu"))
    parser.add_argument("--trials", type=int, default=5)
    parser.add_argument("--where", action="store_true", help="also profile one run")
    parser.add_argument("--output", type=Path, help="write the trials as JSON lines")
    parser.epilog = "Other options are given to bigbfs bfs."
    asked, extra = parser.parse_known_args()
    arguments = command(asked.graph, asked.source, asked.backend, [word for word in extra if word != "--"])
    trial(arguments)
    rows: list[dict[str, Any]] = [trial(arguments) for _ in range(asked.trials)]
    if asked.output:
        asked.output.write_text("".join(json.dumps(row) + "\n" for row in rows))
    names = list(rows[0])
    cells = [[number, *(row[name] for name in names)] for number, row in enumerate(rows, 1)]
    cells.append(["median", *(median(row[name] for row in rows) for name in names)])
    print(f"{asked.graph}: {asked.graph.stat().st_size / 1e9:.2f} GB; seconds")
    print(table(("trial", *names), cells))
    if asked.where:
        print(where_it_goes(arguments, 30))


if __name__ == "__main__":
    main()
