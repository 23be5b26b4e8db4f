"""The studies beside the comparison of strategies; each asks one question, on the graphs of a suite.

    python tools/study.py --suite configs/studies.toml --output rows.jsonl
    python tools/study.py --suite configs/studies-orders.toml --study orders --output rows.jsonl
    python tools/study_page.py rows.jsonl

*frontiers*: vertices, edges and ends of each level, each end once. *directions*: edges read top-down and bottom-up,
and what searches did. *gather*: rate of reading rows, by who reads a row; with the status of ends looked up. *culling*:
what each part of a filter lets pass without need. *heads*: what heads and hot rows spare. *orders*: topological order.
Without a GPU the studies that need one are left out, and others hold the CPU alone.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from studies import culling, directions, gather, heads, orders
from studies.tree import Tree, frontiers, tree_of

from bigbfs import api
from bigbfs.bench import machine
from bigbfs.bench.graphs import prepared, random_sources, require_data
from bigbfs.bench.suite import Case, read_suite, some_of
from bigbfs.engines.gpu.runtime.runtime import Runtime
from bigbfs.errors import BigBfsError
from bigbfs.graph.graph import Graph

STUDIES = ("frontiers", "directions", "gather", "culling", "heads", "orders")
NEED_GPU = ("gather", "culling", "heads")
OF_SEARCHES = STUDIES[:-1]

Make = Callable[[], Runtime] | None


def make_cuda() -> Runtime:
    """Return the runtime of the GPU."""
    from bigbfs.engines.gpu.runtime.cuda import CudaRuntime

    return CudaRuntime()


def run(study: str, make_runtime: Make, graph: Graph, sources: Sequence[int], tree: Tree | None) -> dict[str, Any]:
    """Return what ``study`` finds on ``graph``.

    ``sources`` (internal) are for *heads*, ``tree``, of the first of them, for the others but *orders*.

    Raises
    ------
    VerificationError
        A result is wrong.
    """
    if study == "orders":
        return orders.study(make_runtime, graph)
    if study == "heads":
        assert make_runtime is not None
        return heads.study(make_runtime, graph, sources)
    assert tree is not None
    if study == "frontiers":
        return frontiers(graph, tree)
    if study == "directions":
        return directions.study(make_runtime, graph, tree)
    assert make_runtime is not None
    runtime = make_runtime()
    try:
        return (gather if study == "gather" else culling).study(runtime, graph, tree)
    finally:
        runtime.close()


def sources_of(graph: Graph, case: Case, seed: int) -> list[int]:
    """Return the sources of ``case``, internal."""
    return [int(v) for v in graph.vertices(case.chosen)] if case.chosen else random_sources(graph, case.sources, seed)


def main(arguments: Sequence[str] | None = None, make_runtime: Make = None) -> None:
    """Run the studies asked for; each row is written as soon as it is there."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--suite", type=Path, required=True, help="graphs, as for `bigbfs bench bfs`")
    parser.add_argument("--study", choices=STUDIES, action="append", help="repeatable; default: all but orders")
    parser.add_argument("--case", action="append", help="a graph of the suite; repeatable; default: all")
    parser.add_argument("--output", type=Path, required=True, help="JSON lines, appended")
    parser.add_argument("--commit", default="", help="what is measured, where that is no checkout")
    asked = parser.parse_args(arguments)
    suite = some_of(read_suite(asked.suite), asked.case or ())
    cases = suite.cases
    require_data(cases)
    if make_runtime is None and api.choose_backend("auto") == "gpu":
        make_runtime = make_cuda
    device = machine.processor()
    if make_runtime is not None:
        runtime = make_runtime()
        device = runtime.name
        runtime.close()
    chosen = [name for name in asked.study or OF_SEARCHES if make_runtime is not None or name not in NEED_GPU]
    for name in sorted(set(asked.study or OF_SEARCHES) - set(chosen)):
        print(f"note: {name}: left out: it needs a GPU", file=sys.stderr)
    common = {"device": device, "commit": asked.commit or machine.commit()}
    with asked.output.open("a", encoding="utf-8") as stream:
        for case in cases:
            with prepared(case, suite.seed, None) as made, Graph.open(made.variants[0].path) as graph:
                graph.require_valid()
                about = {"graph": case.name, "about": made.about, "vertices": graph.n, "edges": graph.m}
                sources = [] if chosen == ["orders"] else sources_of(graph, case, suite.seed)
                origin = [int(graph.original(v)) for v in sources]
                tree = tree_of(graph, sources[0]) if sources else None
                for name in chosen:
                    if name == "heads" and graph.m < heads.LEAST_EDGES:
                        continue
                    row = {"study": name, **common, **about, "sources": origin}
                    row["found"] = run(name, make_runtime, graph, sources, tree)
                    stream.write(json.dumps(row, separators=(",", ":")) + "\n")
                    stream.flush()
                    print(f"{case.name}: {name}", flush=True)


if __name__ == "__main__":
    try:
        main()
    except BigBfsError as error:
        print(f"study: error: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
