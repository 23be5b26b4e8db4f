"""Topological order by each of its ways: rounds of the whole grid, of one block where they are thin, handed over to the
CPU; the CPU's rounds, one thread's, the textbook's Kahn and depth-first search (report 002, tables 3 and 4).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np

from bigbfs.algorithms.internal import internal_engine
from bigbfs.algorithms.topological.depth_first import depth_first
from bigbfs.algorithms.topological.gpu.tuning import Tuning
from bigbfs.algorithms.topological.options import TopologicalOptions
from bigbfs.algorithms.topological.reference import topological_order
from bigbfs.algorithms.topological.result import shape_of
from bigbfs.algorithms.topological.validate import validate_order
from bigbfs.engines.gpu.runtime.runtime import Runtime
from bigbfs.errors import VerificationError
from bigbfs.graph.graph import Graph

GPU_WAYS = {
    "GPU, whole grid": TopologicalOptions(hand_over=False, tuning=Tuning(thin_edges=0)),
    "GPU": TopologicalOptions(hand_over=False),
    "GPU, handed over": TopologicalOptions(),
}

TRIALS = 3


def study(make_runtime: Callable[[], Runtime] | None, graph: Graph) -> dict[str, Any]:
    """Return the seconds of each way that can run here, and what the rounds are.

    ``rounds``, ``widest``, ``thin`` (rounds of at most 32 vertices), ``edges``; ``seconds``: way -> median; ``ran``:
    way -> rounds by who ran them.

    Raises
    ------
    VerificationError
        A way has other rounds than the reference, or an order that is none.
    """
    rounds = topological_order(graph)[1]
    count, widest, thin = shape_of(rounds)
    seconds: dict[str, float] = {}
    ran: dict[str, dict[str, int]] = {}

    def keep(name: str, engine: Any, how: TopologicalOptions) -> None:
        results = [engine.run(how) for _ in range(TRIALS + 1)]
        if any(not np.array_equal(result.rounds, rounds) for result in results):
            raise VerificationError(f"{name}: the rounds are not those of the reference")
        seconds[name] = median(result.record.seconds for result in results[1:])
        ran[name] = {who: times for who, times in results[-1].record.ran.items() if times}

    for name, how in GPU_WAYS.items():
        if make_runtime is None:
            break
        # one runtime each: the engine closes it
        with internal_engine(graph, backend="gpu", work=(how,), residency="vram", runtime=make_runtime()) as engine:
            keep(name, engine, how)
    for name, threads in (("CPU", None), ("CPU, one thread", 1)):
        with internal_engine(graph, backend="cpu", work=(TopologicalOptions(),), threads=threads) as engine:
            keep(name, engine, TopologicalOptions())
    seconds["serial Kahn"] = _timed(lambda: topological_order(graph))
    seconds["depth-first search"] = _timed(lambda: depth_first(graph))
    validate_order(graph, np.ascontiguousarray(depth_first(graph).reverse_finish_order()))
    return {"rounds": count, "widest": widest, "thin": thin, "edges": graph.m, "seconds": seconds, "ran": ran}


def _timed(work: Callable[[], Any]) -> float:
    """Return the median seconds of ``work``, which has run before."""
    work()
    found = []
    for _ in range(TRIALS):
        start = time.perf_counter()
        work()
        found.append(time.perf_counter() - start)
    return median(found)
