"""CPU time of each rank apart from its calls to the others: sound on a machine that does other things too.

    python tools/rank_core_time.py g.csrbin --source 872
    mpiexec -n 2 python tools/rank_core_time.py g.csrbin --source 872

Wall clocks of ranks that share cores with other work say little: each waits for the slowest. The time that a rank's
thread computes is its own. What its calls take, computing too while they wait, is left out; so the ratio of one rank to
the slowest of several is what an idle machine could give at best.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from statistics import median
from typing import Any

import bigbfs
from bigbfs.algorithms.bfs.cpu.program import NO_LIMIT
from bigbfs.algorithms.bfs.options import BfsOptions
from bigbfs.algorithms.components.options import ComponentsOptions
from bigbfs.engines.cpu.ranked import RankedEngine


def main() -> None:
    """Measure, and print a line for each rank and algorithm."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graph")
    parser.add_argument("--source", type=int, default=0, help="internal vertex")
    parser.add_argument("--trials", type=int, default=9)
    given = parser.parse_args()
    search = BfsOptions(given.source, fetch=False)
    with bigbfs.ranks() as group, bigbfs.open(given.graph) as graph:
        in_calls = counted(group)
        with RankedEngine(graph, group=group, threads=1) as engine:
            engine.run(search)
            engine.run(ComponentsOptions())
            found = engine.program(search)._search
            forest = engine.program(ComponentsOptions())._forest
            works: dict[str, Callable[[], Any]] = {"bfs": lambda: found.run(given.source, NO_LIMIT), "cc": forest.run}
            for name, work in works.items():
                taken = [spent(work, in_calls) for _ in range(given.trials)]
                for rank, each in enumerate(group.objects(taken)):
                    if group.rank == 0:
                        print(f"{name} rank {rank} of {group.size}: {1e3 * median(each):.1f} ms of a core", flush=True)


def counted(group: Any) -> list[float]:
    """Let ``group`` add up the CPU seconds of its calls; return where."""
    total, timed = [0.0], group._timed

    @contextmanager
    def both() -> Iterator[None]:
        start = time.thread_time()
        try:
            with timed():
                yield
        finally:
            total[0] += time.thread_time() - start

    group._timed = both
    return total


def spent(work: Callable[[], Any], in_calls: list[float]) -> float:
    """Return the CPU seconds of ``work`` outside calls to other ranks."""
    start, before = time.thread_time(), in_calls[0]
    work()
    return time.thread_time() - start - (in_calls[0] - before)


if __name__ == "__main__":
    main()
