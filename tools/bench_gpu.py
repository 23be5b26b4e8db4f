"""Bench the GPU engine on large graphs: generate, place, verify every source on the device, time, print one table.

Results never leave the device, so that a source costs its traversal and its verification (on the device) and
no more. ``--output`` writes a JSON line for each row, with the levels of its fastest, median and slowest source.
Graphs whose edges are streamed are written to ``--folder`` first, and read once, so that they are in the page cache.

    python tools/bench_gpu.py --suite configs/bench-gpu-full.toml --output results.jsonl
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from itertools import product
from pathlib import Path
from statistics import harmonic_mean, median
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import bigbfs
from bigbfs import generate
from bigbfs.algorithms.bfs.gpu.loop import Run
from bigbfs.algorithms.components.options import parse_options
from bigbfs.algorithms.gpu_engine import GpuEngine
from bigbfs.bench.machine import commit
from bigbfs.config import BenchCase, read_suite
from bigbfs.conversion.orders.degree import degree_order
from bigbfs.conversion.orders.reorder import renumber
from bigbfs.errors import BigBfsError, DoesNotFitError, VerificationError
from bigbfs.graph.adjacency import PlainAdjacency
from bigbfs.graph.graph import Graph
from bigbfs.jit.workers import thread_count
from bigbfs.record import gteps
from bigbfs.report.table import table
from bigbfs.sizes import format_size, parse_size

HEADERS = (
    "graph",
    "order",
    "codec",
    "edges in",
    "VRAM",
    "work, strategy, head groups",
    "median ms",
    "slowest ms",
    "GTEPS",
    "hmean",
    "slowest",
)


@dataclass
class Clock:
    """Seconds since the start, and how many there may be."""

    limit: float
    start: float = 0.0

    def __post_init__(self) -> None:
        self.start = time.perf_counter()

    def now(self) -> float:
        """Return the seconds since the start."""
        return time.perf_counter() - self.start

    def say(self, text: str) -> None:
        """Print a line of progress."""
        print(f"[{self.now():6.1f} s] {text}", file=sys.stderr, flush=True)


def ordered(case: BenchCase, seed: int, clock: Clock) -> Iterator[tuple[str, Graph]]:
    """Yield (order, graph) for the orders of ``case``; the edges are generated once."""
    everything = 1 << 50  # the machine's memory may grow as it is used: what is free now says little
    edges = generate.generate(case.kind, seed=seed, memory=everything, **case.parameters)
    clock.say(f"{case.name}: {len(edges.src):,} edges generated")
    graph = generate.assemble(case.kind, edges, memory=everything)[0]
    del edges
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    clock.say(f"{case.name}: n {graph.n:,}, m {graph.m:,}; peak memory {peak:.1f} GB")
    plain = graph.adjacency
    assert isinstance(plain, PlainAdjacency)
    if "original" in case.orders:
        yield "original", graph
    if "degree" in case.orders:
        indptr, indices = plain.indptr.view(np.int64), plain.indices
        order, rank = degree_order(indptr)
        rows, _ = renumber((indptr, indices), (indptr, indices), order, rank, thread_count())
        clock.say(f"{case.name}: stored by degree")
        adjacency = PlainAdjacency(rows[0].view(np.uint64), rows[1])
        yield "degree", Graph(adjacency, replace(graph.flags, relabelled=True))


def trace(run: Run) -> list[dict[str, Any]]:
    """Return the first levels of a run's last launch: microseconds and the device's counters."""
    slots = run.slots[: np.count_nonzero(run.slots["direction"])]
    levels = run.level_records[len(run.level_records) - len(slots) :]
    names = ("frontier", "edges", "queued", "found", "chunks", "missed", "probed", "open", "hot", "rounds")
    traces = [
        {"direction": level.direction, "us": round(1e6 * level.seconds, 1)} | {name: int(slot[name]) for name in names}
        for level, slot in zip(levels, slots, strict=True)
    ]
    for found, read in zip(traces, run.traffic, strict=False):
        found |= {f"file_{name}": count for name, count in asdict(read).items()}
    return traces[:40]


@contextmanager
def where_it_belongs(graph: Graph, residency: str, folder: Path | None, clock: Clock) -> Iterator[Graph]:
    """Yield ``graph`` itself, or for streamed edges the same graph in a file of ``folder`` that is gone afterwards."""
    if residency != "streamed":
        yield graph
        return
    with TemporaryDirectory(dir=folder) as home:
        path = Path(home) / "streamed.graph"
        graph.save(path)
        with path.open("rb", buffering=0) as stream:
            while stream.read(1 << 26):
                pass
        clock.say(f"stored: {format_size(path.stat().st_size)}")
        with Graph.open(path) as stored:
            yield stored


def run_bfs(engine: GpuEngine, sources: list[int], trials: int) -> tuple[dict[str, Any], list[tuple[float, Run]]]:
    """Return figures over ``sources``, each verified once and timed as the median of ``trials``, and the runs."""
    timed: list[tuple[float, Run]] = []
    for source in sources:
        engine.run_bfs(source)
        engine.verify_tree(source)
        runs = sorted((engine.run_bfs(source) for _ in range(trials)), key=lambda run: run.seconds)
        timed.append((runs[trials // 2].seconds, runs[trials // 2]))
    rates = [gteps(run.edges, seconds) for seconds, run in timed]
    figures = {
        "seconds": median(seconds for seconds, _ in timed),
        "slowest_seconds": max(seconds for seconds, _ in timed),
        "median_gteps": median(rates),
        "harmonic_mean_gteps": harmonic_mean(rates),
        "slowest_gteps": min(rates),
        "sources": len(sources),
        "reached": int(median(run.reached for _, run in timed)),
        "depth": int(median(run.depth for _, run in timed)),
    }
    return figures, sorted(timed, key=lambda pair: pair[0])


def run_cc(engine: GpuEngine, trials: int, words: str) -> dict[str, Any]:
    """Return figures of connected components: verified on the device, the giant against a BFS of it."""
    how = parse_options(words)
    found = engine.run(how)  # of all vertices, where those on the device may have numbers of their own
    engine.verify_labels()
    sizes = np.bincount(found.labels)
    giant = int(sizes.argmax())
    reached = engine.run_bfs(giant).reached
    if reached != int(sizes[giant]):
        raise VerificationError(f"the giant component has {sizes[giant]} labels and {reached} vertices")
    runs = [engine.run_components(how) for _ in range(trials)]
    launches = [(name, round(1e6 * seconds, 1)) for name, seconds in engine.trace_components(how)]
    print("    us: " + ", ".join(f"{name[3:]} {us:,}" for name, us in launches), file=sys.stderr)
    return {
        "seconds": median(run.seconds for run in runs),
        "slowest_seconds": max(run.seconds for run in runs),
        "components": found.record.components,
        "largest": int(sizes[giant]),
        "how": words,
        "edges_read": runs[-1].edges_read,
        "passes": runs[-1].passes,
        "left": runs[-1].left,
        "launches": launches,
    }


def measure(
    case: BenchCase, graph: Graph, order: str, codec: str, residency: str, budget: str, clock: Clock, seed: int
) -> Iterator[dict[str, Any]]:
    """Yield one row for each algorithm of ``case`` in one place."""
    degrees = np.diff(graph.adjacency.edge_offsets())
    candidates = np.flatnonzero(degrees)
    chosen = np.random.default_rng(seed).choice(candidates, min(case.sources, len(candidates)), replace=False)
    if case.chosen and order == "original":
        chosen = np.array(case.chosen, np.int64)
    limit = None if budget == "all" else parse_size(budget)
    common = {"graph": case.name, "n": graph.n, "m": graph.m, "order": order, "codec": codec, "budget": budget}
    for strategy, heads in product(case.strategies, case.heads):
        # variants beside the first are for comparison: a quarter of the sources
        first = strategy == case.strategies[0] and heads == case.heads[0]
        few = chosen if first else chosen[: -(-len(chosen) // 4)]
        groups = None if heads < 0 else heads
        with GpuEngine(graph, residency=residency, vram_budget=limit, strategy=strategy, head_groups=groups) as engine:
            common |= {"residency": engine.residency, "device": engine.device, "edges_kind": engine.edges_kind}
            common |= {"strategy": strategy, "place": engine.setup.place, "compile": engine.setup.compile}
            common |= {"device_bytes": engine.bytes.device, "host_bytes": engine.bytes.host}
            common |= {"stage_bytes": engine.plan.stage_bytes}
            common |= {"head_groups": engine.plan.head_groups, "hot_bytes": engine.rows().hot_bytes}
            where = f"{case.name} {order} {codec} {residency} {strategy}, {engine.plan.head_groups} head groups"
            where += f", {format_size(engine.rows().hot_bytes)} hot of {budget}"
            clock.say(f"{where}: placed in {engine.setup.place:.2f} s, compiled in {engine.setup.compile:.2f} s")
            if "bfs" in case.algorithms:
                figures, timed = run_bfs(engine, [int(source) for source in few], case.trials)
                picked = {"fastest": 0, "median": len(timed) // 2, "slowest": -1}
                traces = {name: trace(timed[at][1]) for name, at in picked.items()}
                for name in picked:
                    show_trace(name, timed[picked[name]], traces[name])
                yield (
                    common
                    | {"algorithm": "bfs", "verified": True, "trials": case.trials}
                    | figures
                    | {"traces": traces}
                )
            if "cc" in case.algorithms and strategy == "auto":
                for words in case.components:
                    figures = run_cc(engine, case.trials, words)
                    yield common | {"algorithm": "cc", "verified": True, "trials": case.trials} | figures
            clock.say("done")


def show_trace(name: str, timed: tuple[float, Run], levels: list[dict[str, Any]]) -> None:
    """Print the levels of one run."""
    print(f"  {name}: {1e3 * timed[0]:.3f} ms, {len(timed[1].level_records)} levels", file=sys.stderr)
    for level in levels[:14]:
        about = " ".join(f"{key} {value:,}" for key, value in level.items() if key != "direction" and value)
        print(f"    {level['direction']:<9} {about}", file=sys.stderr)


def cells(row: dict[str, Any]) -> list[Any]:
    """Return the cells of a row of the table."""
    place = [row["graph"], row["order"], row["codec"], row["residency"], row["budget"]]
    how = row.get("how", f"{row['algorithm']} {row['strategy']}")
    work = f"{how}, {row['head_groups']}"
    rates = [row.get(name) for name in ("median_gteps", "harmonic_mean_gteps", "slowest_gteps")]
    return [*place, work, 1e3 * row["seconds"], 1e3 * row["slowest_seconds"], *rates]


def main() -> None:
    """Run the suite."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--suite", required=True, help="TOML file in configs/")
    parser.add_argument("--output", type=Path, help="write the rows as JSON lines, each as soon as it is there")
    parser.add_argument("--seconds", type=float, default=1500, help="start nothing new after so many")
    parser.add_argument("--folder", type=Path, help="for the files of streamed graphs; default: the system's")
    parser.add_argument("--commit", help="what is measured, where that is no checkout")
    arguments = parser.parse_args()
    suite, clock = read_suite(arguments.suite), Clock(arguments.seconds)
    about = {"bigbfs": bigbfs.__version__, "commit": arguments.commit or commit(), "suite": Path(arguments.suite).name}
    about |= {"command": " ".join(["tools/bench_gpu.py", *sys.argv[1:]])}
    rows: list[dict[str, Any]] = []
    failures = 0
    for case in suite.cases:
        if clock.now() > clock.limit:
            clock.say(f"{case.name}: left out, no time")
            continue
        for order, plain in ordered(case, suite.seed, clock):
            for codec in case.codecs:
                graph = plain if codec == "plain" else plain.compress()
                for residency in case.residencies:
                    with where_it_belongs(graph, residency, arguments.folder, clock) as placed:
                        for budget in case.budgets[:1] if residency == "vram" else case.budgets:
                            try:
                                for row in measure(case, placed, order, codec, residency, budget, clock, suite.seed):
                                    rows.append(about | row)
                                    if arguments.output:
                                        with arguments.output.open("a") as stream:
                                            stream.write(json.dumps(rows[-1], allow_nan=False) + "\n")
                            except DoesNotFitError as error:
                                clock.say(f"left out: {error}")
                            except BigBfsError as error:
                                failures += 1
                                clock.say(f"FAILED {case.name} {order} {codec} {residency}: {error}")
    print(table(HEADERS, [cells(row) for row in rows]))
    sys.exit(3 if failures else 0)


if __name__ == "__main__":
    main()
