"""Compare many searches with other programs on the CPU: one graph after another, by turns, answers held against ours.

In: graph files, undirected. Out: a table, and with ``--output`` the rows as JSON lines. All contenders get the same
rows, in the binary format of ECL, and the same sources, and take turns; a ratio is a contender's median over ours.
What each times is itself: reading, and starting a process, count for nobody; placing the graph, allocating and
resetting count for us in ``closeness`` and ``diameter``, resetting in ``searches``.

    python tools/compare_many.py searches k20.csrbin --width 512 --peer ms-bfs=./ms-bfs --python VENV/bin/python
    python tools/compare_many.py closeness caida.csrbin --python VENV/bin/python
    python tools/compare_many.py diameter dblp.csrbin --peer f-diam=./f-diam --python VENV/bin/python

The programs are not part of bigbfs. ``--python`` is an interpreter that has igraph and NetworKit (``peer_many.py``).
F-Diam (burtscher/F-Diam) is called as it is. ms-bfs (mtodat/ms-bfs) needs a ``main`` around ``HugeBatchBfs``::

    ms-bfs GRAPH.egr WIDTH THREADS SOURCES ANSWER

which searches from the sources (uint32) in batches of ``WIDTH``, a batch a thread, writes the sum of distances of each
(uint64) to ANSWER, and prints ``{"seconds": S}``.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from bench_many import sources_of
from bench_matrix import commit
from peer_formats import write_ecl

import bigbfs
from bigbfs.algorithms.cpu_engine import CpuEngine
from bigbfs.algorithms.many.options import WIDTHS, ManyOptions
from bigbfs.errors import BigBfsError, UsageError, VerificationError
from bigbfs.graph.adjacency import PlainAdjacency
from bigbfs.graph.graph import Graph
from bigbfs.report.table import table

Turn = Callable[[], tuple[float, np.ndarray]]
"""Runs once: seconds, and the answer."""

CLOSE = 1e-9
"""Relative difference of two closenesses that are called equal: others add up in floating point."""


@dataclass
class Asked:
    """What is compared on one graph: the file for the others, and what they are told."""

    graph: Graph
    file: Path
    folder: Path
    work: str
    threads: int
    width: int
    few: int
    python: Path | None
    peers: dict[str, Path]
    seconds: float

    @property
    def sources(self) -> np.ndarray:
        """Of ``searches``: as many for each thread as a batch takes."""
        return sources_of(self.graph, self.width * self.threads).astype(np.uint32)


def plain_rows(graph: Graph) -> tuple[np.ndarray, np.ndarray]:
    """Return offsets and ids."""
    adjacency = graph.decompress().adjacency
    assert isinstance(adjacency, PlainAdjacency)
    return np.asarray(adjacency.indptr), np.asarray(adjacency.indices)


def largest_component(graph: Graph) -> Graph:
    """Return the rows of the largest component, vertices in their order."""
    with CpuEngine(graph) as engine:
        labels = engine.connected_components().labels
    inside = labels == int(np.bincount(labels).argmax())
    _, ids = plain_rows(graph)
    number = np.cumsum(inside) - 1
    ends = np.repeat(inside, graph.degrees())
    indices = number[ids[ends].astype(np.int64)].astype(np.uint32)
    indptr = np.concatenate([np.zeros(1, np.int64), np.cumsum(graph.degrees()[inside])])
    made = Graph.from_csr(indptr, indices)
    made.require_valid()
    return made


def call(line: list[str], seconds: float, threads: int) -> str:
    """Return what another program printed.

    Raises
    ------
    BigBfsError
        It fails, or takes longer than ``seconds``.
    """
    about = os.environ | {"OMP_NUM_THREADS": str(threads)}
    about.pop("PYTHONPATH", None)
    try:
        done = subprocess.run(line, stdout=subprocess.PIPE, text=True, timeout=seconds, check=False, env=about)
    except subprocess.TimeoutExpired as error:
        raise BigBfsError(f"{Path(line[0]).name}: more than {seconds:g} s") from error
    if done.returncode:
        raise BigBfsError(f"{line[0]}: ended with exit code {done.returncode}")
    return done.stdout


def ours(asked: Asked) -> Turn:
    """Return our turn; kernels are compiled by a first one that does not count."""
    if asked.work == "searches":
        engine = CpuEngine(asked.graph, threads=asked.threads)
        options = ManyOptions(sources=asked.sources, width=asked.width)
        counted = engine.run(ManyOptions(sources=asked.sources, width=asked.width, columns=True))
        sums = np.arange(len(counted.columns)) @ counted.columns
        return lambda: (engine.run(options).record.seconds, sums)
    doors: dict[str, Callable[[], Any]] = {
        "closeness": lambda: bigbfs.closeness(asked.graph, threads=asked.threads, backend="cpu").values,
        "diameter": lambda: bigbfs.diameter(asked.graph, threads=asked.threads),
    }

    def turn() -> tuple[float, np.ndarray]:
        start = time.perf_counter()
        found = doors[asked.work]()
        return time.perf_counter() - start, np.asarray(found)

    turn()
    return turn


def single(asked: Asked) -> Turn:
    """Return our single searches from the same sources, one after the other; the first of them alone."""
    engine = CpuEngine(asked.graph, threads=asked.threads)
    few = asked.sources[: asked.few].tolist()
    engine.traverse(few[0])
    scale = len(asked.sources) / len(few)
    nothing = np.zeros(0)
    return lambda: (scale * sum(engine.traverse(source).seconds for source in few), nothing)


def ms_bfs(asked: Asked) -> Turn:
    """Return the turn of ms-bfs."""
    sources, answer = asked.folder / "sources", asked.folder / "answer"
    line = [str(part) for part in (asked.peers["ms-bfs"], asked.file, asked.width, asked.threads, sources, answer)]

    def turn() -> tuple[float, np.ndarray]:
        asked.sources.tofile(sources)
        said = json.loads(call(line, asked.seconds, asked.threads).strip().splitlines()[-1])
        return said["seconds"], np.fromfile(answer, "<u8")[: len(asked.sources)].astype(np.int64)

    return turn


def f_diam(asked: Asked) -> Turn:
    """Return the turn of F-Diam."""

    def turn() -> tuple[float, np.ndarray]:
        said = call([str(asked.peers["f-diam"]), str(asked.file)], asked.seconds, asked.threads)
        found = {key: re.search(rf"{key}: ([0-9.]+)", said) for key in ("runtime", "final diameter", "iterations")}
        if not all(found.values()):
            raise BigBfsError(f"F-Diam said no {' or '.join(key for key, value in found.items() if not value)}")
        values = {key: float(value[1]) for key, value in found.items() if value}
        return values["runtime"], np.asarray(int(values["final diameter"]))

    return turn


def library(name: str, asked: Asked) -> Turn:
    """Return the turn of a library of another interpreter; ``searches`` from the first few sources alone."""
    sources, answer = asked.folder / "few", asked.folder / f"{name}.npy"
    script = Path(__file__).with_name("peer_many.py")
    line = [str(asked.python), str(script), name, asked.work, str(asked.file), "--threads", str(asked.threads)]
    line += ["--sources", str(sources), "--answer", str(answer)]
    scale = len(asked.sources) / asked.few if asked.work == "searches" else 1.0

    def turn() -> tuple[float, np.ndarray]:
        asked.sources[: asked.few].tofile(sources)
        said = json.loads(call(line, asked.seconds, asked.threads).strip().splitlines()[-1])
        return scale * said["seconds"], np.load(answer)

    return turn


def contenders(asked: Asked) -> dict[str, Turn]:
    """Return everyone's turn by name, ours first."""
    found = {"bigbfs": ours(asked)}
    if asked.work == "searches":
        found["bigbfs, single"] = single(asked)
    if "ms-bfs" in asked.peers and asked.work == "searches":
        found["ms-bfs"] = ms_bfs(asked)
    if "f-diam" in asked.peers and asked.work == "diameter":
        found["F-Diam"] = f_diam(asked)
    if asked.python is not None:
        found["NetworKit"] = library("networkit", asked)
        if asked.threads == 1:  # it has no more
            found["igraph"] = library("igraph", asked)
    return found


def check(name: str, answer: np.ndarray, right: np.ndarray, work: str) -> None:
    """Hold an answer against ours; of the first sources alone where there are fewer.

    Raises
    ------
    VerificationError
        They differ.
    """
    mine = right[: len(answer)] if answer.ndim else right
    same = np.allclose(answer, mine, rtol=CLOSE, atol=0) if work == "closeness" else np.array_equal(answer, mine)
    if not same:
        raise VerificationError(f"{name}: {answer.reshape(-1)[:3]} ..., and ours {mine.reshape(-1)[:3]} ...")


def compare(asked: Asked, trials: int) -> list[dict[str, Any]]:
    """Return a row for each contender."""
    turns = contenders(asked)
    seconds: dict[str, list[float]] = {name: [] for name in turns}
    errors: dict[str, str] = {}
    right = np.zeros(0)
    for _ in range(trials):
        for name, turn in turns.items():
            if name in errors:
                continue
            try:
                took, answer = turn()
                right = answer if name == "bigbfs" else right
                check(name, answer, right, asked.work)
                seconds[name].append(took)
            except BigBfsError as error:
                errors[name] = str(error)
    rows: list[dict[str, Any]] = []
    for name, times in seconds.items():
        row = {"name": name, "work": asked.work, "threads": asked.threads, "n": asked.graph.n, "m": asked.graph.m}
        row |= {"width": asked.width, "sources": len(asked.sources)} if asked.work == "searches" else {}
        rows.append(row | ({"error": errors[name]} if name in errors else {"seconds": median(times), "trials": times}))
    return rows


def cells(row: dict[str, Any], mine: float) -> tuple[str, ...]:
    """Return a line of the table; of searches the milliseconds are those of a source."""
    if "error" in row:
        return (row["graph"], row["name"], str(row["threads"]), row["error"], "-")
    took = (1e3 / row["sources"] if row["work"] == "searches" else 1e3) * row["seconds"]
    return (row["graph"], row["name"], str(row["threads"]), f"{took:.4g}", f"{row['seconds'] / mine:.2f}")


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
        if name not in ("ms-bfs", "f-diam") or not Path(path).is_file():
            raise UsageError(f"--peer {text}: write ms-bfs=PROGRAM or f-diam=PROGRAM")
        found[name] = Path(path).resolve()
    return found


def main() -> None:
    """Compare and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("work", choices=("searches", "closeness", "diameter"))
    parser.add_argument("graphs", type=Path, nargs="+")
    parser.add_argument("--threads", type=int, action="append")
    parser.add_argument("--width", type=int, choices=WIDTHS, default=512)
    parser.add_argument("--few", type=int, default=8, help="sources of those who search one after the other")
    parser.add_argument("--trials", type=int, default=5)
    parser.add_argument("--timeout", type=float, default=300.0, help="seconds after which a contender is left out")
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=PROGRAM")
    parser.add_argument("--python", type=Path, help="an interpreter with igraph and NetworKit")
    parser.add_argument("--output", type=Path, help="JSON lines, appended")
    asked = parser.parse_args()
    peers, lines = peers_of(asked.peer), []
    for path in asked.graphs:
        with Graph.open(path) as opened, tempfile.TemporaryDirectory() as folder:
            opened.require_valid()
            graph = largest_component(opened) if asked.work == "diameter" else opened.decompress()
            file = write_ecl(Path(folder), *plain_rows(graph))
            for threads in asked.threads or [1, 2]:
                about = (asked.work, threads, asked.width, asked.few, asked.python, peers, asked.timeout)
                rows = compare(Asked(graph, file, Path(folder), *about), asked.trials)
                for row in rows:
                    row |= {"graph": path.stem, "commit": commit(), "command": " ".join(sys.argv)}
                    if asked.output is not None:
                        with asked.output.open("a") as stream:
                            stream.write(json.dumps(row) + "\n")
                lines += [cells(row, rows[0]["seconds"]) for row in rows]
    unit = "ms a source" if asked.work == "searches" else "ms"
    print(table(("graph", "program", "threads", unit, "times ours"), lines))


if __name__ == "__main__":
    try:
        main()
    except BigBfsError as error:
        print(f"compare_many: error: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
