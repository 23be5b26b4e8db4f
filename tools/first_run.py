"""What a command costs before it works: the first run, with nothing compiled, and every later start.

Whole processes of the commands of the README's tour on one graph (R-MAT, a text of about a million lines), and of
those of many searches on small ones: undirected, directed, of many components, each plain and compressed. The first
table is with an empty cache of kernels: wall time, user time of the process and its helpers, what was compiled. The
second is with everything cached: the median, and what is imported. User time hardly depends on what else runs.

    python tools/first_run.py                          # both tables
    python tools/first_run.py --table first --of compressed --of "of parts"    # many searches of these graphs
    python tools/first_run.py --only bfs --kernels     # the kernels of one command, each with its seconds
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from bigbfs.jit import ahead
from bigbfs.report.table import table

EDGES = {"scale": 16, "edge-factor": 16}
"""Of the graph: 2^16 vertices, 1 M lines."""
CPU = ("--backend", "cpu")
TOUR: dict[str, tuple[str, ...]] = {
    "generate": ("generate", "rmat", "--scale", "16", "--edge-factor", "16", "--seed", "1", "-o", "made.txt"),
    "convert": ("convert", "graph.txt", "--force"),
    "convert --compressed": ("convert", "graph.txt", "--force", "--compressed"),
    "convert names": ("convert", "names.csv", "--force"),
    "info": ("info", "graph.csrbin"),
    "bfs": ("bfs", "graph.csrbin", "--source", "0"),
    "bfs --compressed": ("bfs", "graph.csrbin", "--source", "0", "--compressed"),
    "bfs --verify": ("bfs", "graph.csrbin", "--source", "0", "--verify"),
    "cc": ("cc", "graph.csrbin"),
    "cc --verify": ("cc", "graph.csrbin", "--verify"),
    "check": ("check", "graph.csrbin"),
    "export": ("export", "graph.csrbin", "--to", "mtx", "-o", "out.mtx", "--force"),
    "verify": ("verify", "small.csrbin", "--backend", "cpu", "--sources", "2"),
}
SEARCHES: dict[str, tuple[str, ...]] = {
    "distances": ("--sources", "random:20", "-o", "d.npy", "--force"),
    "distances many": ("--sources", "random:1000", "-o", "d.npy", "--force"),
    "closeness": ("--sources", "random:2000"),
    "closeness few": ("--sources", "random:20"),
    "hops": (),
    "hops few": ("--sources", "random:20"),
    "path": ("1", "2"),
    "diameter": (),
    "eccentricity": (),
}
"""Commands of many searches, for each of ``GRAPHS``."""
MANY = {line.split()[0] for line in SEARCHES}
GRAPHS = {
    "": "middling.csrbin",
    "compressed": "middling.ccsr",
    "directed": "directed.csrbin",
    "directed compressed": "directed.ccsr",
    "of parts": "parts.csrbin",
    "of parts compressed": "parts.ccsr",
}
TOUR |= {
    f"{command.split()[0]} {kind} {' '.join(command.split()[1:])}".strip().replace("  ", " "): (
        *(command.split()[0], graph, *words),
        *(() if command == "path" else CPU),
    )
    for kind, graph in GRAPHS.items()
    for command, words in SEARCHES.items()
}
TOUR |= {
    "bfs compressed": ("bfs", "kept.ccsr", "--source", "0"),
    "bfs directed": ("bfs", "directed.csrbin", "--source", "0"),
    "bfs directed compressed": ("bfs", "directed.ccsr", "--source", "0"),
    "cc compressed": ("cc", "kept.ccsr"),
    "cc of parts": ("cc", "parts.csrbin"),
    "cc of parts compressed": ("cc", "parts.ccsr"),
    "cc --compressed": ("cc", "graph.csrbin", "--compressed"),
    "hops --compressed": ("hops", "graph.csrbin", "--sources", "random:20", "--compressed", *CPU),
    "diameter --compressed": ("diameter", "graph.csrbin", "--compressed", *CPU),
    "eccentricity large": ("eccentricity", "graph.csrbin", *CPU),
    "eccentricity large compressed": ("eccentricity", "kept.ccsr", *CPU),
    "toposort directed": ("toposort", "acyclic.csrbin", *CPU),
    "toposort directed compressed": ("toposort", "acyclic.ccsr", *CPU),
}
RUN = """
import json, os, sys, time
from bigbfs.jit import compiling
from bigbfs.cli.main import run
compiling.log, compiling.used = log, used = [], []
if os.environ.get("BIGBFS_ALONE"):
    from bigbfs.jit import ahead
    ahead.missed = lambda kernel, kinds: None
code = run(sys.argv[1:])
heavy = [name for name in ("numba", "llvmlite.binding", "scipy", "pyarrow") if name in sys.modules]
seen = {"code": code, "kernels": log, "used": used, "modules": len(sys.modules), "heavy": heavy}
open(os.environ["BIGBFS_FIRST_RUN"], "w").write(json.dumps(seen))
"""
"""A command line, and then what it has compiled and imported."""


class Seen(NamedTuple):
    """Wall and user seconds of a process and all that it started, and what it told of itself."""

    wall: float
    user: float
    told: dict[str, Any]


def once(arguments: tuple[str, ...], folder: Path, cache: Path, *, alone: bool = False) -> Seen:
    """Run a command line in ``folder`` with the kernels in ``cache``; ``alone``: nothing is compiled side by side."""
    report = folder / "report.json"
    (folder / "graph.ccsr").unlink(missing_ok=True)  # made by who needs it
    kept = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    environment = kept | {"NUMBA_CACHE_DIR": str(cache), "BIGBFS_FIRST_RUN": str(report)}
    environment |= {"BIGBFS_ALONE": "1"} if alone else {}
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime, time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", RUN, *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    wall = time.perf_counter() - start
    user = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    told = json.loads(report.read_text()) if report.exists() else {"code": done.returncode}
    if told["code"] != 0:
        sys.exit(f"bigbfs {' '.join(arguments)} ended with {told['code']}:\n{done.stderr}")
    return Seen(wall, user, told)


def prepare(folder: Path, cache: Path) -> None:
    """Make the graphs that the commands work on."""
    sizes = [word for name, value in EDGES.items() for word in (f"--{name}", str(value))]
    once(("generate", "rmat", *sizes, "--seed", "1", "-o", "graph.txt"), folder, cache)
    once(("convert", "graph.txt", "--compressed"), folder, cache)
    names = "".join(f"name {i},name {i * i % 9973}\n" for i in range(20_000))
    (folder / "names.csv").write_text(f"source,target\n{names}", encoding="utf-8")
    for name, scale, factor in (("small", "8", "8"), ("middling", "12", "16")):
        sizes = ["--scale", scale, "--edge-factor", factor, "--seed", "1"]
        once(("generate", "rmat", *sizes, "-o", f"{name}.csrbin"), folder, cache)
    for name, kind, factor in (("directed", "uniform", "16"), ("acyclic", "dag", "8")):
        sizes = ["--vertices", "4096", "--edge-factor", factor, "--seed", "3"]
        once(("generate", kind, *sizes, "-o", f"{name}.txt"), folder, cache)
        once(("convert", f"{name}.txt", "--directed", "--compressed"), folder, cache)
    once(("generate", "uniform", "--vertices", "8000", "--edge-factor", "0.6", "-o", "parts.csrbin"), folder, cache)
    for name in ("middling", "parts", "graph"):
        once(("convert", f"{name}.csrbin", "-o", f"{'kept' if name == 'graph' else name}.ccsr"), folder, cache)


def first_runs(names: list[str], folder: Path, *, kernels: bool, alone: bool) -> str:
    """Return the table of runs with an empty cache; with ``kernels`` print one of the kernels of each."""
    rows = []
    for name in names:
        with tempfile.TemporaryDirectory() as cache:
            seen = once(TOUR[name], folder, Path(cache), alone=alone)
        compiled = sorted(seen.told["kernels"], key=lambda kernel: -kernel[1])
        slowest = compiled[0][:2] if compiled else ("-", 0.0)
        rows.append([name, seen.wall, seen.user, len(compiled), sum(each[1] for each in compiled), *slowest])
        if kernels and compiled:
            print(f"{name}\n{table(('kernel', 'user s', 'with those it calls'), compiled)}\n", flush=True)
    head = ("first run", "wall s", "user s", "kernels", "compiled here s", "slowest", "s")
    return table(head, rows)


def write(names: list[str], folder: Path) -> None:
    """Write what each command needs, with the seconds that each kernel takes, for :mod:`bigbfs.jit.ahead`.

    Of lists of one command that are the same one is kept.
    """
    known = json.loads(ahead.NEEDED.read_text()) if ahead.NEEDED.exists() else {"kernels": [], "commands": {}}
    seconds = {json.dumps(kernel[:3]): kernel[3] for kernel in known["kernels"]}
    listed = list(seconds)
    lines = {name: [listed[place] for place in known["commands"].get(name, ())] for name in TOUR}
    with tempfile.TemporaryDirectory() as empty:  # each kernel is compiled once
        for name in names:
            told = once(TOUR[name], folder, Path(empty), alone=True).told
            compiled, used = told["kernels"], told["used"]
            took = {kernel: whole for kernel, _, whole in compiled}
            lines[name] = list(dict.fromkeys(json.dumps(kernel) for kernel in used))  # once, however often loaded
            for kernel in used:
                whole = took.get(f"{kernel[0].removeprefix('bigbfs.')}.{kernel[1]}")
                if whole is not None or json.dumps(kernel) not in seconds:
                    seconds[json.dumps(kernel)] = max(round(whole or 0.0, 2), 0.01)
            print(f"{name}: {len(used)} kernels, {sum(each[1] for each in compiled):.1f} s", flush=True)
    several = {(line.split()[0], frozenset(needed)): line for line, needed in reversed(lines.items()) if needed}
    lines = {line: needed for line, needed in lines.items() if line in several.values()}
    kernels = sorted({kernel for needed in lines.values() for kernel in needed})
    rows = ",\n".join(json.dumps([*json.loads(kernel), seconds[kernel]]) for kernel in kernels)
    commands = {line: [kernels.index(kernel) for kernel in needed] for line, needed in lines.items()}
    ahead.NEEDED.write_text(f'{{"commands": {json.dumps(commands)},\n"kernels": [\n{rows}\n]}}\n')


def starts(names: list[str], folder: Path, cache: Path, trials: int) -> str:
    """Return the table of runs with all kernels cached."""
    rows = []
    for name in names:
        once(TOUR[name], folder, cache)
        all_seen = [once(TOUR[name], folder, cache) for _ in range(trials)]
        told = all_seen[-1].told
        middle = [median(getattr(seen, what) for seen in all_seen) for what in ("wall", "user")]
        rows.append([name, *middle, told["modules"], ", ".join(told["heavy"]) or "-"])
    return table(("start", "wall s", "user s", "modules", "of them heavy"), rows)


def main() -> None:
    """Time the commands and print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", action="append", choices=list(TOUR), help="a command; repeatable")
    parser.add_argument("--of", action="append", choices=list(GRAPHS), help="commands of many searches on this graph")
    parser.add_argument("--kernels", action="store_true", help="also the kernels that each first run compiles")
    parser.add_argument("--trials", type=int, default=5, help="starts of each command")
    parser.add_argument("--alone", action="store_true", help="compile in one process, to compare")
    parser.add_argument("--write", action="store_true", help="write the lists of what each command needs")
    parser.add_argument("--table", choices=("first", "start", "both"), default="both")
    asked = parser.parse_args()
    graphs = {GRAPHS[kind] for kind in asked.of or ()}
    names = [*(asked.only or ()), *(name for name in TOUR if name.split()[0] in MANY and TOUR[name][1] in graphs)]
    names = names or [name for name in TOUR if not (asked.write and name == "verify")]  # all kernels of all
    with tempfile.TemporaryDirectory() as work:
        folder, cache = Path(work), Path(work) / "cache"
        prepare(folder, cache)
        if asked.write:
            write(names, folder)
            return
        if asked.table != "start":
            print(first_runs(names, folder, kernels=asked.kernels, alone=asked.alone))
        if asked.table != "first":
            print(starts(names, folder, cache, asked.trials))


if __name__ == "__main__":
    main()
