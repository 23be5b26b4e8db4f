"""``make bench``: run a bench suite and print its table; ``--output`` also writes one JSON line per row.

Every result is verified once before its time counts; a row whose result is wrong ends the run with exit 3.
"""

import argparse
import json
import platform
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from statistics import harmonic_mean, median
from typing import Any

import numpy as np

import bigbfs
from bigbfs import api
from bigbfs.algorithms.bfs.validate import validate_tree
from bigbfs.algorithms.components.validate import validate_labels
from bigbfs.algorithms.internal import internal_engine
from bigbfs.bench.machine import commit
from bigbfs.config import BenchCase, read_suite
from bigbfs.errors import BigBfsError, DoesNotFitError
from bigbfs.formats.atomic import replacing
from bigbfs.generate import graph as generated
from bigbfs.graph.graph import Graph
from bigbfs.report.pictures import check_picture
from bigbfs.report.table import table

HEADERS = ("graph", "m", "algorithm", "codec", "backend", "edges in", "median ms", "median GTEPS", "verified")


def places(case: BenchCase, present: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Yield (backend, residency) for the backends of ``case`` that are present."""
    for backend in case.backends:
        if backend in present:
            for residency in case.residencies if backend == "gpu" else ("auto",):
                yield backend, residency


def run_bfs(engine: Any, graph: Graph, sources: list[int], trials: int) -> dict[str, Any]:
    """Return medians over ``sources`` of the median over ``trials``; each source is verified once."""
    seconds, rates = [], []
    for source in sources:
        result = engine.bfs(source)
        validate_tree(graph, source, result.levels, result.parents)
        times = [engine.bfs(source).record.seconds for _ in range(trials)]
        seconds.append(median(times))
        rates.append(result.record.edges / median(times) / 1e9)
    return {
        "seconds": median(seconds),
        "median_gteps": median(rates),
        "harmonic_mean_gteps": harmonic_mean(rates),
        "slowest_gteps": min(rates),
    }


def run_cc(engine: Any, graph: Graph, trials: int) -> dict[str, Any]:
    """Return the median over ``trials``; the labels are verified once."""
    validate_labels(graph, engine.connected_components().labels)
    return {"seconds": median(engine.connected_components().record.seconds for _ in range(trials))}


def run_case(case: BenchCase, seed: int, present: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    """Yield one row for each algorithm x codec x place of ``case``."""
    start = time.perf_counter()
    plain = generated(case.kind, seed=seed, **case.parameters)
    print(f"{case.name}: n {plain.n:,}, m {plain.m:,}, made in {time.perf_counter() - start:.1f} s", file=sys.stderr)
    candidates = np.flatnonzero(plain.degrees())
    chosen = np.random.default_rng(seed).choice(candidates, min(case.sources, len(candidates)), replace=False)
    for codec in case.codecs:
        graph = plain if codec == "plain" else plain.compress()
        for backend, residency in places(case, present):
            try:
                with internal_engine(graph, backend=backend, residency=residency) as engine:
                    where = {"backend": backend, "residency": engine.residency, "device": engine.device}
                    common = {"graph": case.name, "n": graph.n, "m": graph.m, "codec": codec, **where}
                    common |= {"strategy": engine.strategy, "setup": asdict(engine.setup), "verified": True}
                    if "bfs" in case.algorithms:
                        timed = run_bfs(engine, graph, [int(source) for source in chosen], case.trials)
                        yield common | {"algorithm": "bfs", "sources": len(chosen), "trials": case.trials} | timed
                    if "cc" in case.algorithms:
                        yield common | {"algorithm": "cc", "trials": case.trials} | run_cc(engine, graph, case.trials)
            except DoesNotFitError as error:
                print(f"{case.name}, {codec}, {residency}: left out: {error}", file=sys.stderr)


def main() -> None:
    """Run the suite."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--suite", required=True, help="TOML file in configs/")
    parser.add_argument("--output", type=Path, help="write the rows as JSON lines")
    parser.add_argument("--plot", type=Path, help="draw the rates (needs the extra `plot`)")
    arguments = parser.parse_args()
    check_picture(arguments.plot)
    suite = read_suite(arguments.suite)
    present = ("cpu", "gpu") if api.choose_backend("auto") == "gpu" else ("cpu",)
    about = {"bigbfs": bigbfs.__version__, "commit": commit(), "suite": Path(arguments.suite).name}
    about |= {"python": platform.python_version(), "command": " ".join(["tools/bench_matrix.py", *sys.argv[1:]])}
    rows = [about | row for case in suite.cases for row in run_case(case, suite.seed, present)]
    keys = ("graph", "m", "algorithm", "codec", "backend", "residency")
    cells = [[*(r[k] for k in keys), 1e3 * r["seconds"], r.get("median_gteps"), r["verified"]] for r in rows]
    print(table(HEADERS, cells))
    if "gpu" not in present:
        print("no usable GPU here: only the CPU was timed")
    if arguments.output:
        with replacing(arguments.output) as stream:
            stream.write("".join(json.dumps(row, allow_nan=False) + "\n" for row in rows).encode())
    if arguments.plot:
        from bigbfs.report.pictures import save
        from bigbfs.report.plot import rates

        save(rates(rows), arguments.plot)


if __name__ == "__main__":
    try:
        main()
    except BigBfsError as error:
        print(f"bench_matrix: error: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
