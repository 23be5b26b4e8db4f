"""Time of a shortest path between two random vertices that have an edge, one thread: CPU seconds, and ids read.

The same pairs twice: the first time pages of a mapped file are met that this process has not touched before.

    python tools/bench_paths.py GRAPH [--pairs 1000] [--seed 7]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence

import numpy as np

import bigbfs
from bigbfs.measures.between import PathFinder
from bigbfs.report.table import table


def main(given: list[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("graph")
    parser.add_argument("--pairs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=7)
    asked = parser.parse_args(given)
    with bigbfs.open(asked.graph) as graph:
        ends = np.flatnonzero(graph.degrees() > 0)
        pairs = np.random.default_rng(asked.seed).choice(ends, (asked.pairs, 2)).tolist()
        finder = PathFinder(graph)
        lines = []
        for turn in ("us, first time", "us, second time"):
            took, read = [], []
            for source, target in pairs:
                start = time.thread_time()
                _, ids = finder.find(source, target)
                took.append(1e6 * (time.thread_time() - start))
                read.append(ids)
            lines.append(_line(turn, took))
        print(table(("", "median", "90 %", "largest", "mean"), [*lines, _line("ids read", read)]))


def _line(what: str, values: Sequence[float]) -> tuple[str, ...]:
    found = (np.median(values), np.percentile(values, 90), np.max(values), np.mean(values))
    return (what, *(f"{value:,.1f}" for value in found))


if __name__ == "__main__":
    main()
