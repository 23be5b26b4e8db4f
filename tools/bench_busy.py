"""Time the CPU's work on an idle machine and beside one spinning process for each processor, which this makes itself.

In: a graph file of ours, or with ``--gap`` a symmetric .sg file. Out: for each work medians in milliseconds, with the
threads that bigbfs takes by itself and with one thread, without load and with it, and the ratios that count:

- ``busy / idle``: what the load costs (3 at most is the bar);
- ``busy / 1 thread``: threads beside one thread under the same load (1.1 at most);
- ``GAP / busy``: beside GAP's programs under the same load (2 at least), with ``--gap FOLDER`` where they were built:
  bfs, cc, and for ``convert`` its converter, a process that makes an .sg of the same text.

The two numbers of threads take turns, so that whatever else happens on the machine meets both. It says little unless
the machine was idle before: what other processes took meanwhile is printed too. With ``--bars`` it exits 1 where one
is missed.

    bigbfs generate kronecker --scale 20 -o k20.csrbin
    python tools/bench_busy.py k20.csrbin --trials 5

    git clone https://github.com/sbeamer/gapbs /tmp/gap && make -C /tmp/gap bfs cc converter
    /tmp/gap/converter -g 20 -b k20.sg && python tools/bench_busy.py k20.sg --gap /tmp/gap --bars
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
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

import numpy as np

from bigbfs.algorithms.cpu_engine import CpuEngine
from bigbfs.algorithms.many.options import ManyOptions
from bigbfs.conversion.keywords import convert
from bigbfs.formats.writers.export import export
from bigbfs.graph.graph import Graph
from bigbfs.jit.workers import held_to, thread_count

WORKS = ("bfs", "cc", "many", "compress", "convert")

HEADS = "idle", "1 thread", "busy", "1 thread", "busy / idle", "busy / 1 thread", "GAP idle", "GAP busy", "GAP / busy"

Timed = Callable[[], list[float]]


SPIN = """
import os, sys
while os.getppid() == int(sys.argv[1]):
    for _ in range(10**6):
        pass
"""
"""Until whoever has started it is gone, one way or another."""


@contextmanager
def load(processes: int) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Have so many processes spin inside: these."""
    spinning: list[subprocess.Popen[bytes]] = []
    try:
        while len(spinning) < processes:
            spinning.append(subprocess.Popen([sys.executable, "-c", SPIN, str(os.getpid())]))
        time.sleep(1.0)  # until they are past their start
        yield spinning
    finally:
        for process in spinning:
            process.kill()
            process.wait()


def sources_of(graph: Graph) -> list[int]:
    """Return 64 vertices that have neighbours."""
    found: list[int] = np.random.default_rng(1).choice(np.flatnonzero(graph.degrees() > 0), 64).tolist()
    return found


def text_in(folder: Path) -> Path:
    """Return the file of edges that is converted."""
    return folder / "edges.el"


def works_of(graph: Graph, threads: int, folder: Path, wanted: list[str], few: int) -> dict[str, Timed]:
    """Return for each work a function that does it and returns seconds, one for each source or one in all."""
    engine = CpuEngine(graph, threads=threads)
    sources = sources_of(graph)
    many = ManyOptions(sources=np.array(sources), width=64)
    text = text_in(folder)
    if "convert" in wanted and not text.exists():
        export(graph, "el", text)

    def compress() -> list[float]:
        start = time.perf_counter()
        with held_to(threads):
            graph.compress()
        return [time.perf_counter() - start]

    def converted() -> list[float]:
        return [convert(text, folder / "out.csrbin", force=True, threads=threads).seconds]

    every: dict[str, Timed] = {
        "bfs": lambda: [engine.traverse(source).seconds for source in sources[:few]],
        "cc": lambda: [engine.connected_components().record.seconds],
        "many": lambda: [engine.run(many).record.seconds],
        "compress": compress,
        "convert": converted,
    }
    return {name: every[name] for name in wanted}


def measure(works: dict[str, dict[str, Timed]], trials: int) -> dict[str, dict[str, float]]:
    """Return milliseconds by work and side: the median of each source's trials, and of these the mean."""
    times: dict[str, dict[str, float]] = {}
    for name, sides in works.items():
        found: dict[str, list[list[float]]] = {side: [] for side in sides}
        for _ in range(trials):
            for side, timed in sides.items():
                found[side].append(timed())
        times[name] = {side: 1e3 * float(np.median(rows, axis=0).mean()) for side, rows in found.items()}
    return times


def gap_side(folder: Path, program: str, graph: Path, threads: int, sources: list[int]) -> Timed:
    """Return the function that runs a program of GAP on ``graph`` and returns seconds, the median of three trials."""
    each = [["-r", str(source)] for source in sources] if program == "bfs" else [[]]
    environment = os.environ | {"OMP_NUM_THREADS": str(threads)}

    def run(more: list[str]) -> float:
        command = [str(folder / program), "-f", str(graph), "-n", "4", *more]
        text = subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout
        return median([float(found) for found in re.findall(r"Trial Time:\s+([0-9.]+)", text)][1:])

    return lambda: [run(more) for more in each]


def gap_converter(folder: Path, text: Path, threads: int) -> Timed:
    """Return the function that has GAP make a graph of ``text``, both directions, and returns the process's seconds."""
    output = text.with_name("out.sg")
    command = [str(folder / "converter"), "-f", str(text), "-s", "-b", str(output)]
    environment = os.environ | {"OMP_NUM_THREADS": str(threads)}

    def run() -> list[float]:
        start = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True, env=environment)
        return [time.perf_counter() - start]

    return run


def add_gap(
    works: dict[str, dict[str, Timed]], options: argparse.Namespace, graph: Graph, folder: Path, threads: int
) -> None:
    """Add GAP's side to the works that it has."""
    for name in ("bfs", "cc"):
        if name in works:
            sources = sources_of(graph)[: options.sources]
            works[name]["GAP"] = gap_side(options.gap, name, options.graph, threads, sources)
    if "convert" in works:
        works["convert"]["GAP"] = gap_converter(options.gap, text_in(folder), threads)


def taken_by_others(before: tuple[float, float]) -> float:
    """Return the processors that processes other than this one and its children kept busy since ``before``."""
    now = _spent()
    return max(0.0, (now[0] - before[0])) / max(1e-9, now[1] - before[1])


def _spent() -> tuple[float, float]:
    """Return seconds of processor time that others have taken, and the time."""
    words = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
    busy = (sum(map(int, words[:8])) - int(words[3]) - int(words[4])) / os.sysconf("SC_CLK_TCK")
    own = os.times()
    return busy - sum(own[:4]), time.perf_counter()


def table(idle: dict[str, dict[str, float]], busy: dict[str, dict[str, float]]) -> tuple[list[str], list[str]]:
    """Return the lines of the table, and the bars that are missed."""
    heads = (
        "idle",
        "1 thread",
        "busy",
        "1 thread",
        "busy / idle",
        "busy / 1 thread",
        "GAP idle",
        "GAP busy",
        "GAP / busy",
    )
    lines = ["work     " + "".join(f"{head:>{len(head) + 3}}" for head in heads)]
    missed = []
    for name, quiet in idle.items():
        loaded = busy[name]
        ratios = loaded["all"] / quiet["all"], loaded["all"] / loaded["one"]
        cells = [quiet["all"], quiet["one"], loaded["all"], loaded["one"], *ratios]
        if "GAP" in quiet:
            times = loaded["GAP"] / loaded["all"]
            cells += [quiet["GAP"], loaded["GAP"], times]
            missed += [f"{name}: {times:.2f} times GAP"] if times < 2 else []
        missed += [f"{name}: {ratios[0]:.2f} times the idle time"] if ratios[0] > 3 else []
        missed += [f"{name}: {ratios[1]:.2f} times one thread"] if ratios[1] > 1.1 else []
        lines.append(
            f"{name:9}" + "".join(f" {cell:{len(head) + 2}.2f}" for cell, head in zip(cells, heads, strict=False))
        )
    return lines, missed


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("graph", type=Path)
    parser.add_argument("--work", action="append", choices=WORKS, help="repeatable; all of them if not given")
    parser.add_argument("--trials", type=int, default=5)
    parser.add_argument("--sources", type=int, default=8, help="searches of a trial of BFS")
    parser.add_argument("--gap", type=Path, help="folder with GAP's programs; GRAPH is an .sg file then")
    parser.add_argument("--folder", type=Path, help="where the conversion's files go; default: a temporary one")
    parser.add_argument("--bars", action="store_true", help="exit 1 where a bar is missed")
    parser.add_argument("--json", type=Path, help="write all figures there")
    options = parser.parse_args()
    wanted, threads, few = options.work or list(WORKS), thread_count(), options.sources
    with tempfile.TemporaryDirectory(dir=options.folder) as folder, Graph.open(options.graph) as graph:
        every = {
            side: works_of(graph, count, Path(folder), wanted, few) for side, count in (("all", threads), ("one", 1))
        }
        works = {name: {side: timed[name] for side, timed in every.items()} for name in wanted}
        if options.gap is not None:
            add_gap(works, options, graph, Path(folder), threads)
        measure(works, 1)  # compiles
        before = _spent()
        idle = measure(works, options.trials)
        others = taken_by_others(before)
        with load(len(os.sched_getaffinity(0))):
            busy = measure(works, options.trials)
        lines, missed = table(idle, busy)
    print(f"{graph!r}\n{threads} threads; others kept {others:.2f} processors busy while nothing was to spin")
    print("\n".join([*lines, *(f"missed: {miss}" for miss in missed)]))
    if options.json is not None:
        options.json.write_text(json.dumps({"threads": threads, "others": others, "idle": idle, "busy": busy}))
    return 1 if missed and options.bars else 0


if __name__ == "__main__":
    sys.exit(main())
