"""Time NetworkX against this backend: components and lengths of a search, converted each time, and from a file.

    python tools/bench_networkx.py --edges 1000000 --edges 10000000 --trials 3

Graphs have so many edges drawn at random, and an eighth as many nodes: integers from 0 on, or with ``--names`` strings.
In turn run: NetworkX; the same with the graph turned into rows first; a .csrbin that is opened for each run (warm
cache). Results of a file are views of arrays: ``and read`` is the call, with the file opened, and every entry read into
a plain dict or sets; ``look-up`` is one look-up in a view. Results are compared, of the first run. One run of each that
is not counted, on a small graph, loads what is compiled; figures are medians. ``walk`` is what CPython itself takes to
step through all dictionaries of neighbours and do nothing, ``number`` what NumPy takes to make an array of what it
meets (``np.fromiter``): no conversion in Python is quicker. Python's collector is told to leave the graph alone: a gain
for NetworkX.
"""

from __future__ import annotations

import argparse
import gc
import platform
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np

import bigbfs
from bigbfs.networkx import backend
from bigbfs.networkx.bridge import from_networkx
from bigbfs.networkx.views import NodeMap
from bigbfs.report.table import markdown

Clock = Callable[[], float]

NODES = 8
"""Edges for each node."""


def main() -> int:
    """Measure each size asked for, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--edges", type=int, action="append", help="edges that are drawn; again for more graphs")
    parser.add_argument("--trials", type=int, default=3)
    parser.add_argument("--names", action="store_true", help="nodes are strings")
    parser.add_argument("--processor", action="store_true", help="seconds of the processor, all threads together")
    parser.add_argument("--work", type=Path, help="folder for graph files; else a temporary one")
    options = parser.parse_args()
    clock = time.process_time if options.processor else time.perf_counter
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        work = options.work or Path(folder)
        measured(3000, 1, False, work, clock)
        for edges in options.edges or [1_000_000]:
            found = measured(edges, options.trials, options.names, work, clock)
            print(*found, sep="\n", file=sys.stderr, flush=True)
            rows += found
    print(f"networkx {nx.__version__}, Python {platform.python_version()}, medians of {options.trials}, seconds")
    file = ["from a file", "times", "and read", "times", "look-up"]
    print(markdown(["edges", "what", "NetworkX", "converted", "times", *file], rows))
    return 0


def measured(edges: int, trials: int, names: bool, work: Path, clock: Clock) -> list[list[str]]:
    """Return a row for each function, and one for the conversion alone."""
    graph, path = made(edges, names, work)
    first = next(iter(graph))
    calls: list[tuple[str, Callable[..., Any], Callable[..., Any], tuple[Any, ...]]] = [
        ("`connected_components`", nx.connected_components, backend.connected_components, ()),
        ("`number_connected_components`", nx.number_connected_components, backend.number_connected_components, ()),
        (
            "`single_source_shortest_path_length`",
            nx.single_source_shortest_path_length,
            backend.single_source_shortest_path_length,
            (first,),
        ),
    ]
    rows = []
    for name, theirs, ours, arguments in calls:
        ways = [
            lambda call=theirs, rest=arguments: taken(call(graph, *rest, backend="networkx")),
            lambda call=ours, rest=arguments: taken(call(from_networkx(graph), *rest)),
            lambda call=ours, rest=arguments: _from_file(path, call, rest),
        ]
        view = _from_file(path, ours, arguments)
        read = [] if isinstance(view, int) else [lambda call=ours, rest=arguments: _all_read(path, call, rest)]
        plain, converted, file, *whole = timed([*ways, *read], trials, clock)
        told = [
            f"{edges:,}",
            name,
            _s(plain),
            _s(converted),
            f"{plain / converted:.1f}",
            _s(file),
            f"{plain / file:.0f}",
        ]
        more = [_s(whole[0]), f"{plain / whole[0]:.0f}", _s(_look_up(view, len(graph)))] if whole else [""] * 3
        rows.append([*told, *more])
    parts = [lambda: from_networkx(graph), lambda: _walk(graph), lambda: _number(graph, names)]
    conversion, walk, number = timed(parts, trials, clock, compare=False)
    what = f"conversion alone; walk {_s(walk)}, number {_s(number)}"
    rows.append([f"{edges:,}", what, "", _s(conversion), *[""] * 6])
    gc.unfreeze()
    return rows


def made(edges: int, names: bool, work: Path) -> tuple[nx.Graph, Path]:
    """Return a graph of NetworkX, and a file of the same edges."""
    n = max(2, edges // NODES)
    src, dst = np.random.default_rng(1).integers(0, n, (2, edges))
    path = work / f"random-{edges}.csrbin"
    bigbfs.Graph.from_edges(src, dst, n=n, keep_self_loops=True).save(path)
    gc.disable()
    graph = nx.Graph()
    if names:
        graph.add_nodes_from(f"node {v}" for v in range(n))
        graph.add_edges_from((f"node {u}", f"node {v}") for u, v in zip(src.tolist(), dst.tolist(), strict=True))
    else:
        graph.add_nodes_from(range(n))
        graph.add_edges_from(zip(src.tolist(), dst.tolist(), strict=True))
    gc.freeze()
    gc.enable()
    return graph, path


def taken(result: Any) -> Any:
    """Return a result, a generator's as a list."""
    return result if isinstance(result, int | Mapping) else list(result)


def _from_file(path: Path, call: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """Run a function of the backend on a file; its vertices are numbers, whatever those of the graph are."""
    with bigbfs.open(path) as graph:
        return taken(call(graph, *(0 for _ in arguments)))


def _all_read(path: Path, call: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """Run it and read every entry into a plain dict, or into plain sets."""
    view = _from_file(path, call, arguments)
    return view.copy() if isinstance(view, NodeMap) else [part.copy() for part in view]


def _look_up(view: Any, nodes: int) -> float:
    """Return the seconds of one look-up in a map, or in the largest of several sets."""
    asked = np.random.default_rng(2).integers(0, nodes, 100_000).tolist()
    held = view if isinstance(view, Mapping) else max(view, key=len)
    start = time.perf_counter()
    for node in asked:
        _ = node in held
    return (time.perf_counter() - start) / len(asked)


def _walk(graph: nx.Graph) -> None:
    for row in graph._adj.values():
        for _ in row:
            pass


def _number(graph: nx.Graph, names: bool) -> np.ndarray:
    every: Iterable[Any] = chain.from_iterable(graph._adj.values())
    if names:
        numbers = {node: number for number, node in enumerate(graph)}
        every = map(numbers.__getitem__, every)
    return np.fromiter(every, np.uint32)


def timed(ways: Sequence[Callable[..., Any]], trials: int, clock: Clock, compare: bool = True) -> list[float]:
    """Return the median seconds of each way, run in turn; with ``compare`` all give the same."""
    seconds: list[list[float]] = [[] for _ in ways]
    for trial in range(trials):
        results = []
        for place, way in enumerate(ways):
            start = clock()
            result = way()
            seconds[place].append(clock() - start)
            results.append(result if trial == 0 and compare else None)
            del result
        shapes = [len(each) if isinstance(each, list | Mapping) else each for each in results]
        if results[0] != results[1] or len(set(shapes)) > 1:
            sys.exit("the results differ")
    return [statistics.median(each) for each in seconds]


def _s(seconds: float) -> str:
    return f"{seconds:.3g}"


if __name__ == "__main__":
    sys.exit(main())
