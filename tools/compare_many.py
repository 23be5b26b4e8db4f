"""Compare many searches with other programs on the CPU: one graph after another, by turns, answers held against ours.

In: graph files. Out: a table, and with ``--output`` the rows as JSON lines. All contenders get the same rows, in the
binary format of ECL, and the same sources, and take turns; a ratio is a contender's median over ours, in seconds of the
processor, which other programs on the machine disturb less than those of the wall. What each times is itself: reading,
and starting a process, count for nobody; placing the graph, allocating and resetting count for us in ``closeness``,
``harmonic``, ``hops`` and ``diameter``, resetting in ``searches``.

    python tools/compare_many.py searches k20.csrbin --width 512 --peer ms-bfs=./ms-bfs --python VENV/bin/python
    python tools/compare_many.py closeness caida.csrbin --python VENV/bin/python --library igraph --library networkit
    python tools/compare_many.py diameter dblp.csrbin --peer f-diam=./f-diam --peer f-diam-cpu=./f-diam-cpu

The programs are not part of bigbfs. ``--python`` is an interpreter that has the libraries (``peer_many.py``). F-Diam
(burtscher/F-Diam) is called as it is; ``f-diam-cpu`` is the same with ``gettimeofday`` a macro that gives the time of
the processor, called for that. ms-bfs (mtodat/ms-bfs) needs a ``main`` around ``HugeBatchBfs``::

    ms-bfs GRAPH.egr WIDTH THREADS SOURCES ANSWER

which searches from the sources (uint32) in batches of ``WIDTH``, a batch a thread, writes the sum of distances of each
(uint64) to ANSWER, and prints ``{"seconds": S, "cpu": S}``.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from bench_matrix import commit
from many_contenders import LIBRARIES, Asked, contenders, largest_component, plain_rows
from peer_formats import write_ecl

from bigbfs.algorithms.many.options import WIDTHS
from bigbfs.errors import BigBfsError, UsageError, VerificationError
from bigbfs.graph.graph import Graph
from bigbfs.report.table import table

CLOSE = 1e-12
"""Relative difference of two centralities that are called equal: others add up in floating point."""


def check(name: str, answer: np.ndarray, right: np.ndarray, work: str) -> None:
    """Hold an answer against ours; of the first sources alone where there are fewer.

    Raises
    ------
    VerificationError
        They differ.
    """
    mine = right[: len(answer)] if answer.ndim else right
    near = work in ("closeness", "harmonic")
    same = np.allclose(answer, mine, rtol=CLOSE, atol=0) if near else np.array_equal(answer, mine)
    if not same:
        raise VerificationError(f"{name}: {answer.reshape(-1)[:3]} ..., and ours {mine.reshape(-1)[:3]} ...")


def compare(asked: Asked, trials: int) -> list[dict[str, Any]]:
    """Return a row for each contender."""
    turns = contenders(asked)
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in turns}
    errors: dict[str, str] = {}
    right = np.zeros(0)
    for _ in range(trials):
        for name, turn in turns.items():
            if name in errors:
                continue
            try:
                *took, answer = turn()
                right = answer if name == "bigbfs" else right
                check(name, answer, right, asked.work)
                times[name].append((took[0], took[1]))
            except BigBfsError as error:
                errors[name] = str(error)
    rows: list[dict[str, Any]] = []
    for name, each in times.items():
        row = {"name": name, "work": asked.work, "threads": asked.threads, "n": asked.graph.n, "m": asked.graph.m}
        row |= {"width": asked.width, "sources": len(asked.sources)} if asked.work == "searches" else {}
        seconds, cpu = (median(column) for column in zip(*each, strict=True)) if each else (0.0, 0.0)
        measured = {"seconds": seconds, "cpu": cpu, "trials": each}
        rows.append(row | ({"error": errors[name]} if name in errors else measured))
    return rows


def cells(row: dict[str, Any], mine: float) -> tuple[str, ...]:
    """Return a line of the table; of searches the milliseconds are those of a source."""
    if "error" in row:
        return (row["graph"], row["name"], str(row["threads"]), row["error"], "-", "-")
    unit = 1e3 / row["sources"] if row["work"] == "searches" else 1e3
    took = (f"{unit * row['seconds']:.4g}", f"{unit * row['cpu']:.4g}", f"{row['cpu'] / mine:.2f}")
    return (row["graph"], row["name"], str(row["threads"]), *took)


def peers_of(given: list[str]) -> dict[str, Path]:
    """Return the paths of ``NAME=PROGRAM``.

    Raises
    ------
    UsageError
        The name is unknown, or the program is not there.
    """
    found = {}
    for text in given:
        name, _, path = text.partition("=")
        if name not in ("ms-bfs", "f-diam", "f-diam-cpu") or not Path(path).is_file():
            raise UsageError(f"--peer {text}: write ms-bfs=PROGRAM, f-diam=PROGRAM or f-diam-cpu=PROGRAM")
        found[name] = Path(path).resolve()
    if ("f-diam" in found) != ("f-diam-cpu" in found):
        raise UsageError("give F-Diam in both builds: --peer f-diam=PROGRAM --peer f-diam-cpu=PROGRAM")
    return found


def main() -> None:
    """Compare and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("work", choices=("searches", "closeness", "harmonic", "hops", "diameter"))
    parser.add_argument("graphs", type=Path, nargs="+")
    parser.add_argument("--threads", type=int, action="append")
    parser.add_argument("--width", type=int, choices=WIDTHS, default=512)
    parser.add_argument("--few", type=int, default=8, help="sources of those who search one after the other")
    parser.add_argument("--trials", type=int, default=5)
    parser.add_argument("--timeout", type=float, default=300.0, help="seconds after which a contender is left out")
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=PROGRAM")
    parser.add_argument("--python", type=Path, help="an interpreter with the libraries")
    parser.add_argument("--library", action="append", choices=LIBRARIES, help="default: igraph and networkit")
    parser.add_argument("--output", type=Path, help="JSON lines, appended")
    asked = parser.parse_args()
    peers, lines = peers_of(asked.peer), []
    for path in asked.graphs:
        with Graph.open(path) as opened, tempfile.TemporaryDirectory() as folder:
            opened.require_valid()
            graph = largest_component(opened) if asked.work == "diameter" else opened.decompress()
            file = write_ecl(Path(folder), *plain_rows(graph))
            names = asked.library or ["igraph", "networkit"]
            for threads in asked.threads or [1, 2]:
                about = (asked.work, threads, asked.width, asked.few, asked.python, names, peers, asked.timeout)
                rows = compare(Asked(graph, file, Path(folder), *about), asked.trials)
                for row in rows:
                    row |= {"graph": path.stem, "commit": commit(), "command": " ".join(sys.argv)}
                    if asked.output is not None:
                        with asked.output.open("a") as stream:
                            stream.write(json.dumps(row) + "\n")
                lines += [cells(row, rows[0]["cpu"]) for row in rows]
    unit = "ms a source" if asked.work == "searches" else "ms"
    print(table(("graph", "program", "threads", unit, "of CPU", "times ours"), lines))


if __name__ == "__main__":
    try:
        main()
    except BigBfsError as error:
        print(f"compare_many: error: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
