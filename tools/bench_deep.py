"""Time searches of deep graphs: ``auto`` on a GPU beside the GPU alone and the CPU engine, in one process.

In: graph files, or kinds that ``bigbfs generate`` knows with their parameters. Out: a line for each graph and place of
the edges: median milliseconds of the three, how often ``auto`` takes the better one's time, the milliseconds of it that
the CPU's loop over vertices takes, and depth and levels left to the CPU of the deepest source. Every tree of a GPU is
verified on the device; the three take turns, the GPU alone in the first ``--gpu-trials`` (0: never, and the better one
is the CPU), for it may take a second a search. A search before the first that counts loads the CPU's engine.

    python tools/bench_deep.py comb:vertices=1000000,tooth=0 tree:vertices=6400000,span=128 git.csrbin --sources 5

Another version of the package beside this one, with the same tool: ``PYTHONPATH=FOLDER``, in turns.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

import bigbfs
from bigbfs import generate
from bigbfs.algorithms.bfs.cpu import thin
from bigbfs.algorithms.bfs.gpu.tuning import Tuning
from bigbfs.algorithms.bfs.level_records import LevelRecords
from bigbfs.algorithms.bfs.options import BfsOptions
from bigbfs.algorithms.cpu_engine import CpuEngine
from bigbfs.algorithms.gpu_engine import GpuEngine
from bigbfs.graph.graph import Graph

AUTO = BfsOptions(tuning=Tuning(load_seconds=0))
ALONE = BfsOptions(tuning=Tuning(look=0))
HEADERS = (
    "graph                                     edges in    depth   auto ms    GPU ms    CPU ms   auto/best   loop ms"
    "     on CPU"
)


def open_graph(text: str) -> Graph:
    """Return the graph of a file, or of ``kind:name=value,...``."""
    if Path(text).exists():
        return Graph.open(Path(text))
    kind, _, rest = text.partition(":")
    given: dict[str, Any] = {}
    for each in filter(None, rest.split(",")):
        name, _, value = each.partition("=")
        given[name] = value == "true" if value in ("true", "false") else float(value) if "." in value else int(value)
    return generate.graph(kind, **given)


class Watch:
    """A function, and the seconds that calls of it have taken."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function, self.seconds = function, 0.0

    def __call__(self, *given: Any) -> Any:
        """Call it."""
        start = time.perf_counter()
        result = self.function(*given)
        self.seconds += time.perf_counter() - start
        return result


@contextmanager
def watched() -> Iterator[Watch]:
    """Watch the loop of walks on the CPU."""
    watch = Watch(thin.follow)
    thin.follow = watch
    try:
        yield watch
    finally:
        thin.follow = watch.function


def measure(
    graph: Graph, residency: str, sources: list[int], trials: int, gpu_trials: int | None = None, **how: Any
) -> dict[str, Any]:
    """Return medians over ``sources`` of medians of ``trials`` turns, in milliseconds, of which the GPU alone has
    ``gpu_trials``; ``how``: of the GPU engine."""
    times: dict[str, list[float]] = {"auto": [], "gpu": [], "cpu": [], "loop": []}
    deepest = (0, 0)
    placed = GpuEngine(graph, work=(AUTO, ALONE), residency=residency, **how)
    with placed as engine, CpuEngine(graph) as cpu, watched() as watch:
        standby = engine.program(AUTO).loop.standby
        standby.ask()
        standby.wait()
        for work in (AUTO, ALONE)[: 1 + (gpu_trials != 0)]:
            engine.run(replace(work, source=sources[0], fetch=False))
        cpu.traverse(sources[0])
        for source in sources:
            turns: dict[str, list[float]] = {name: [] for name in times}
            for trial in range(trials):
                alone = gpu_trials is None or trial < gpu_trials
                for name, work in (("auto", AUTO), ("gpu", ALONE))[: 1 + alone]:
                    asked, watch.seconds = replace(work, source=source, fetch=False), 0.0
                    result = engine.run(asked)
                    turns[name].append(result.record.seconds * 1e3)
                    engine.program(work).verify(asked, result)
                    if name == "auto":
                        turns["loop"].append(watch.seconds * 1e3)
                        walked = int(LevelRecords.of(result.record.levels).table["on_cpu"].sum())
                        deepest = max(deepest, (result.record.depth, walked))
                turns["cpu"].append(cpu.traverse(source).seconds * 1e3)
            for name, found in turns.items():
                times[name].append(median(found) if found else math.inf)
    return {name: median(found) for name, found in times.items()} | {"depth": deepest[0], "walked": deepest[1]}


def rows_of(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Yield what was measured of each graph and place."""
    for text in options.graphs:
        with open_graph(text) as graph:
            able = np.flatnonzero(graph.degrees() > 0)
            chosen = np.random.default_rng(1).choice(able, options.sources - 1)
            sources = options.source or [int(able[0]), *map(int, chosen)]
            for residency in options.residency or ("vram", "mapped"):
                found = measure(graph, residency, sources, options.trials, options.gpu_trials)
                best = min(found["gpu"], found["cpu"])
                yield (
                    {"graph": text, "n": graph.n, "m": graph.m, "residency": residency}
                    | found
                    | {"over_best": found["auto"] / best}
                )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("graphs", nargs="+", help="a graph file, or KIND:NAME=VALUE,...")
    parser.add_argument("--sources", type=int, default=5, help="the first vertex with an edge, and random ones")
    parser.add_argument("--source", type=int, action="append", help="a vertex to search from, instead of those")
    parser.add_argument("--trials", type=int, default=3)
    parser.add_argument("--gpu-trials", type=int, help="trials of the GPU alone, which may take a second a search")
    parser.add_argument("--residency", action="append", choices=("vram", "mapped"))
    parser.add_argument("--output", type=Path, help="the rows as JSON lines")
    options = parser.parse_args()
    print(f"bigbfs in {Path(bigbfs.__file__).parent}, {options.trials} trials")
    print(HEADERS)
    for row in rows_of(options):
        numbers = "".join(f"{row[name]:10.2f}" for name in ("auto", "gpu", "cpu"))
        print(
            f"{row['graph'][:40]:40}  {row['residency']:8}{row['depth']:9,}{numbers}{row['over_best']:12.2f}"
            f"{row['loop']:10.2f}{row['walked']:11,}",
            flush=True,
        )
        if options.output:
            with options.output.open("a") as stream:
                known = {name: None if value == math.inf else value for name, value in row.items()}
                stream.write(json.dumps(known) + "\n")


if __name__ == "__main__":
    main()
