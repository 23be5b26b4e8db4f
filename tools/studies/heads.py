"""What heads and hot rows are worth to `auto`: a search with and without them, edges in GPU memory and in place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import median
from typing import Any

from bigbfs.algorithms.bfs.options import BfsOptions
from bigbfs.algorithms.internal import internal_engine
from bigbfs.engines.gpu.runtime.runtime import Runtime
from bigbfs.graph.graph import Graph

WAYS: dict[str, dict[str, int]] = {
    "as planned": {},
    "no heads": {"head_groups": 0},
    "no hot rows": {"hot_bytes": 0},
    "neither": {"head_groups": 0, "hot_bytes": 0},
}

TRIALS = 3

LEAST_EDGES = 5_000_000
"""Of a graph: a smaller one fits the caches, and shows launches alone."""


def study(make_runtime: Callable[[], Runtime], graph: Graph, sources: Sequence[int]) -> dict[str, Any]:
    """Return the seconds of searches from ``sources``: ``seconds``: residency -> way -> median over sources of medians.

    ``head_groups``, ``hot_bytes``: residency -> way -> what was placed.
    """
    found: dict[str, Any] = {"seconds": {}, "head_groups": {}, "hot_bytes": {}}
    for residency in ("vram", "mapped"):
        for columns in found.values():
            columns[residency] = {}
        for name, more in WAYS.items():
            work = BfsOptions(sources[0], fetch=False)
            where = {"residency": residency, "runtime": make_runtime(), **more}
            with internal_engine(graph, backend="gpu", work=(work,), **where) as engine:
                engine.run(work)
                times = [
                    median(engine.run(BfsOptions(source, fetch=False)).record.seconds for _ in range(TRIALS))
                    for source in sources
                ]
                placed: Any = engine.placed.out
                found["seconds"][residency][name] = median(times)
                found["head_groups"][residency][name] = int(placed.struct["head_groups"])
                found["hot_bytes"][residency][name] = int(placed.hot_bytes)
    return found
