"""Time many searches at once beside single ones: one graph, one process, the same random sources, medians.

In: a graph file. Out: for each width the time of a batch, the time for each source, and how many times the single
search that is. Sources have an edge; no levels are kept. Single searches and batches take turns, so that a change of
the machine's speed meets both.

    python tools/bench_many.py k20.csrbin --width 64 --width 512 --trials 5
"""

from __future__ import annotations

import argparse
from pathlib import Path
from statistics import median

import numpy as np

from bigbfs.algorithms.cpu_engine import CpuEngine
from bigbfs.algorithms.many.options import WIDTHS, ManyOptions
from bigbfs.graph.graph import Graph


def measure(graph: Graph, widths: list[int], trials: int, threads: int | None) -> list[tuple[int, float, float]]:
    """Return width, milliseconds for a batch, and for a single search beside it: medians of ``trials`` turns."""
    able = np.flatnonzero(graph.degrees() > 0)
    rows = []
    with CpuEngine(graph, threads=threads) as engine:
        for width in widths:
            sources = np.random.default_rng(width).choice(able, width)
            work = ManyOptions(sources=sources, width=width)
            engine.run(work)  # compiles
            batches, singles = [], []
            for _ in range(trials):
                batches.append(engine.run(work).record.seconds * 1e3)
                singles.append(median(engine.traverse(int(source)).seconds * 1e3 for source in sources[:32]))
            rows.append((width, median(batches), median(singles)))
    return rows


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("graph", type=Path)
    parser.add_argument("--width", type=int, action="append", choices=WIDTHS)
    parser.add_argument("--trials", type=int, default=5)
    parser.add_argument("--threads", type=int)
    options = parser.parse_args()
    with Graph.open(options.graph) as graph:
        print(f"{graph!r}\nsources   batch, ms   a source, ms   single, ms   times the single")
        for width, batch, single in measure(graph, options.width or [64, 512], options.trials, options.threads):
            each = batch / width
            print(f"{width:7}   {batch:9.1f}   {each:12.3f}   {single:10.3f}   {single / each:16.1f}")


if __name__ == "__main__":
    main()
