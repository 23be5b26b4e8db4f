"""Time many searches at once beside single ones: one graph, one process, the same random sources, medians.

In: a graph file. Out: for each width the time of a batch, the time for each source, and how many times the single
search that is. Sources have an edge; no levels are kept. On the CPU single searches and batches take turns, so that a
change of the machine's speed meets both. On a GPU the single searches run first, on an engine of their own, whose
memory the batches then have.

    python tools/bench_many.py k20.csrbin --width 64 --width 512 --trials 5
    python tools/bench_many.py k26.csrbin --device gpu --residency mapped --vram-budget 5.8GiB --check --trace
"""

from __future__ import annotations

import argparse
import ast
import time
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from bigbfs import api
from bigbfs.algorithms.cpu_engine import CpuEngine
from bigbfs.algorithms.many.gpu.tuning import Tuning
from bigbfs.algorithms.many.options import WIDTHS, ManyOptions
from bigbfs.algorithms.words import usual_work
from bigbfs.errors import BigBfsError, DoesNotFitError
from bigbfs.graph.graph import Graph
from bigbfs.measures.eccentricity import DIAMETER, eccentricity
from bigbfs.sizes import parse_size

SINGLES = 32
CHECKED = 64


def sources_of(graph: Graph, width: int) -> np.ndarray:
    """Return ``width`` random vertices that have an edge."""
    return np.random.default_rng(width).choice(np.flatnonzero(graph.degrees() > 0), width)


def measure(graph: Graph, widths: list[int], trials: int, threads: int | None) -> list[tuple[int, float, float]]:
    """Return width, milliseconds for a batch, and for a single search beside it: medians of ``trials`` turns."""
    rows = []
    with CpuEngine(graph, threads=threads) as engine:
        for width in widths:
            sources = sources_of(graph, width)
            work = ManyOptions(sources=sources, width=width)
            engine.run(work)  # compiles
            batches, singles = [], []
            for _ in range(trials):
                batches.append(engine.run(work).record.seconds * 1e3)
                singles.append(median(engine.traverse(int(source)).seconds * 1e3 for source in sources[:SINGLES]))
            rows.append((width, median(batches), median(singles)))
    return rows


def measure_on_gpu(graph: Graph, asked: argparse.Namespace) -> list[tuple[int, float, float]]:
    """Return the same of a GPU; what does not fit is said and left out."""
    from bigbfs.algorithms.gpu_engine import GpuEngine

    where = {"residency": asked.residency, "vram_budget": parse_size(asked.vram_budget) if asked.vram_budget else None}
    own = where | {"head_groups": asked.head_groups}
    with GpuEngine(graph, work=usual_work(names=("bfs",)), **where) as engine:
        sources = sources_of(graph, CHECKED)[:SINGLES]
        engine.traverse(int(sources[0]))
        single = median(engine.traverse(int(source)).seconds * 1e3 for source in sources)
        print(f"single searches: {engine.residency}, {engine.plan.head_groups} groups of heads", flush=True)
    tuning = Tuning(**dict(asked.tune)) if asked.tune else None
    rows = []
    for width in asked.width or [64, 128, 256, 512]:
        work = ManyOptions(sources_of(graph, width), width=width, tuning=tuning)
        try:
            with GpuEngine(graph, work=(work,), **own) as engine:
                print(
                    f"width {width}: {engine.residency}, {engine.plan.head_groups} groups of heads, "
                    f"hot {engine.plan.hot_bytes / 2**20:.0f} MiB, in all {engine.bytes.device / 2**30:.2f} GiB; "
                    f"{engine.placed.n:,} vertices placed",
                    flush=True,
                )
                times = [engine.run(work).record.seconds * 1e3 for _ in range(asked.trials)]
                rows.append((width, median(times), single))
                if asked.trace:
                    print_steps(engine.program(work), work, engine)
                if asked.check:
                    check(graph, engine, width, asked.threads)
        except DoesNotFitError as error:
            print(f"width {width}: {str(error).splitlines()[0]}", flush=True)
    return rows


def tuned(text: str) -> tuple[str, object]:
    """Return a field of ``Tuning`` and its value: a number, or several in parentheses.

    Raises
    ------
    ValueError
        It has another form.
    """
    name, _, value = text.partition("=")
    return name, ast.literal_eval(value)


def print_steps(program: Any, work: ManyOptions, engine: Any) -> None:
    """Run a batch again and print what each step of it did."""
    program.batches.trace = []
    engine.run(work)
    steps, program.batches.trace = program.batches.trace, None
    print(
        "   how       spread level levels   vertices          edges           left       ids read   file, MB        ms"
    )
    for step in steps:
        numbers = f"{step.count:11,} {step.edges:14,} {step.left:14,} {step.read:14,} {step.file / 1e6:10.1f}"
        where = f"   {step.how:10}{step.spread:6} {step.level:5} {step.levels:6}"
        print(f"{where} {numbers} {1e3 * step.seconds:9.3f}", flush=True)


def check(graph: Graph, engine: Any, width: int, threads: int | None) -> None:
    """Hold what a batch of ``width`` collects against the CPU's form, for its first sources.

    Raises
    ------
    SystemExit
        They differ.
    """
    sources = sources_of(graph, width)
    few = sources[:CHECKED]
    there = engine.run(ManyOptions(sources, columns=True, width=width))
    start = time.perf_counter()
    with CpuEngine(graph, threads=threads) as cpu:
        here = cpu.run(ManyOptions(few, columns=True, width=CHECKED))
    columns = there.columns[:, :CHECKED]
    same = np.array_equal(here.depth, there.depth[:CHECKED])
    same &= np.array_equal(here.columns, columns[: len(here.columns)]) and not columns[len(here.columns) :].any()
    print(f"   checked on the CPU in {time.perf_counter() - start:.1f} s: {'the same' if same else 'DIFFERENT'}")
    if not same:
        raise SystemExit(f"width {width}: depths or vertices of each level are not those of the CPU")


def measure_diameter(graph: Graph, asked: argparse.Namespace) -> None:
    """Print the exact diameter and what it took, of the largest component."""
    where = {"residency": asked.residency, "vram_budget": asked.vram_budget} if asked.device == "gpu" else {}
    with api.engine(graph, backend=asked.device, work=DIAMETER, **where) as engine:
        start = time.perf_counter()
        found = eccentricity(engine, goal="diameter", seconds=asked.seconds, each=False)
        seconds = time.perf_counter() - start
    record = found.record
    print(
        f"diameter {found.diameter}: {record.sources} searches in {record.batches} batches, {record.seconds:.3f} s of "
        f"searching, {seconds:.3f} s in all; edges read {record.edges_read / max(1, graph.m):.2f} times"
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("graph", type=Path)
    parser.add_argument("--device", choices=("cpu", "gpu"), default="cpu")
    parser.add_argument("--width", type=int, action="append", choices=WIDTHS)
    parser.add_argument("--trials", type=int, default=5)
    parser.add_argument("--threads", type=int, help="of the CPU")
    parser.add_argument("--residency", choices=("auto", "vram", "mapped", "streamed"), default="auto")
    parser.add_argument("--vram-budget")
    parser.add_argument("--head-groups", type=int, help="of batches on a GPU, instead of as many as fit")
    parser.add_argument("--tune", type=tuned, action="append", metavar="NAME=VALUE", help="of Tuning, on a GPU")
    parser.add_argument("--check", action="store_true", help="hold the GPU's counts against the CPU's")
    parser.add_argument("--trace", action="store_true", help="what each step did")
    parser.add_argument("--diameter", action="store_true", help="find the diameter too")
    parser.add_argument("--seconds", type=float, help="end the diameter after so many")
    asked = parser.parse_args()
    with Graph.open(asked.graph) as graph:
        print(f"{graph!r}", flush=True)
        if asked.device == "gpu":
            rows = measure_on_gpu(graph, asked)
        else:
            rows = measure(graph, asked.width or [64, 512], asked.trials, asked.threads)
        print("sources   batch, ms   a source, ms   single, ms   times the single")
        for width, batch, single in rows:
            each = batch / width
            print(f"{width:7}   {batch:9.3f}   {each:12.4f}   {single:10.4f}   {single / each:16.1f}", flush=True)
        if asked.diameter:
            try:
                measure_diameter(graph, asked)
            except BigBfsError as error:
                print(f"diameter: {str(error).splitlines()[0]}")


if __name__ == "__main__":
    main()
