"""Time what the CPU does of a deep search on a GPU, its walk, beside a search of the CPU engine: no GPU is needed.

In: graphs as for bench_deep.py. Out: a line for each and a source: median milliseconds of a search by one thread of the
CPU engine, without records, and of a walk from level ``--from`` to the end, in turns, and their ratio. What is found
goes to two buffers of the size that a hand-over has; nobody takes it over.

    python tools/bench_walk.py comb:vertices=1000000,tooth=0 comb:vertices=1000000,tooth=9,permute=true
"""

from __future__ import annotations

import argparse
import time
from statistics import median

import numpy as np
from bench_deep import open_graph

from bigbfs.algorithms.bfs.cpu.program import NO_LIMIT
from bigbfs.algorithms.bfs.cpu.search import Search
from bigbfs.algorithms.bfs.gpu.handover import BATCH, unlike
from bigbfs.algorithms.bfs.gpu.pace import EDGES, OWED
from bigbfs.algorithms.bfs.gpu.standby import PARTS, Limits, Walked, Walker
from bigbfs.engines.cpu.heads import Survey
from bigbfs.engines.cpu.rows import rows_of
from bigbfs.graph.graph import Graph

LIMITS = Limits(NO_LIMIT, EDGES[1], OWED[1])
FIRST = 2 * (EDGES[1] + OWED[1])


class Rooms:
    """Two buffers that take turns, of the first few columns at first, as ``HandOver`` has them."""

    def __init__(self, n: int, ids: np.dtype, shift: int) -> None:
        self._most = unlike(max(min(n, BATCH), FIRST))
        size = PARTS * self._most
        flat = [np.zeros(size + shift, ids)[shift:] for _ in range(2)]
        self._buffers = [each.reshape(PARTS, -1) for each in flat]
        self._turn = self._room = 0

    def begin(self) -> None:
        """Begin a walk."""
        self._room = 0

    def __call__(self) -> tuple[np.ndarray, int]:
        """Return a buffer, and how many columns of it may be used."""
        self._turn ^= self._room in (0, self._most)
        self._room = self._most if self._room else FIRST
        return self._buffers[self._turn], self._room


def measure(graph: Graph, source: int, level: int, trials: int, shift: int = 0) -> tuple[list[float], list[float]]:
    """Return the milliseconds of searches from ``source``, and of walks from ``level`` on, whose buffers are moved by
    ``shift`` ids."""
    rows, ids = rows_of(graph.adjacency), graph.ids
    search = Search(rows, rows, Survey(rows, ids, 1), ids, graph.m, 1)
    search.warm_up()
    search.run(source, NO_LIMIT)
    levels = search.levels.copy()
    frontier = np.flatnonzero(levels == level).astype(ids)
    walker, rooms = Walker(rows), Rooms(graph.n, ids, shift)
    reached = np.zeros(walker.words * 32, np.bool_)
    reached[: graph.n] = (levels >= 0) & (levels <= level)
    bits = np.packbits(reached, bitorder="little").view(np.uint64)
    searches, walks = [], []
    for _ in range(trials):
        start = time.perf_counter()
        search.run(source, NO_LIMIT, records=False)
        searches.append(1e3 * (time.perf_counter() - start))
        visited, walked = bits.copy(), Walked(level, len(frontier))
        rooms.begin()
        start = time.perf_counter()
        for _part in walker.walk(visited, frontier, walked, LIMITS, rooms):
            pass
        walks.append(1e3 * (time.perf_counter() - start))
        if walked.found != np.count_nonzero(levels > level):
            raise SystemExit(f"a walk from {source} ends at level {walked.depth}: its levels are too wide")
    return searches, walks


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("graphs", nargs="+", help="a graph file, or KIND:NAME=VALUE,...")
    parser.add_argument("--source", type=int, action="append", help="default: the first vertex, and one of the middle")
    parser.add_argument("--from", type=int, default=64, dest="level", help="level of the first frontier of a walk")
    parser.add_argument("--trials", type=int, default=9)
    parser.add_argument(
        "--shift", type=int, default=0, help="ids by which buffers are moved: where arrays lie in a page"
    )
    parser.add_argument("--compress", action="store_true", help="rows as varints")
    options = parser.parse_args()
    print("graph                                       source   search ms   walk ms   ratio")
    for text in options.graphs:
        with open_graph(text) as given:
            graph = given.compress() if options.compress else given
            for source in options.source or (0, graph.n // 2 - 1):
                searches, walks = map(median, measure(graph, source, options.level, options.trials, options.shift))
                print(f"{text[:40]:40}{source:10,}{searches:12.2f}{walks:10.2f}{walks / searches:8.2f}", flush=True)


if __name__ == "__main__":
    main()
