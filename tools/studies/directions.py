"""Edges read by each level in either direction, and what searches that may turn did: how much each way spares
(report 001, 2.4; Beamer et al., SC'12)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bigbfs.algorithms.bfs.options import BfsOptions
from bigbfs.algorithms.internal import internal_engine
from bigbfs.bench.directions import directions
from bigbfs.engines.gpu.runtime.runtime import Runtime
from bigbfs.graph.graph import Graph
from studies.tree import Tree

STRATEGIES = ("auto", "hybrid-td-bu")
"""Those that may turn."""


def study(make_runtime: Callable[[], Runtime] | None, graph: Graph, tree: Tree) -> dict[str, Any]:
    """Return edges by level.

    ``down``, ``up``: read top-down, and bottom-up in the order of the rows (empty without in-neighbours); ``best``: the
    sum of the smaller ones; ``ways``: contender -> letters, one a level; ``read``: contender -> the edges of its levels
    in the directions that it took.
    """
    both = directions(graph, tree.levels)
    ways = {}
    for backend in ("cpu", "gpu") if make_runtime else ("cpu",):
        for strategy in STRATEGIES if backend == "gpu" else STRATEGIES[:1]:
            work = BfsOptions(tree.source, strategy=strategy)
            where = {"runtime": make_runtime(), "residency": "vram"} if make_runtime and backend == "gpu" else {}
            with internal_engine(graph, backend=backend, work=(work,), strategy=strategy, **where) as engine:
                levels = engine.run(work).record.levels
            ways[f"{strategy} ({backend.upper()})"] = "".join(level.direction[0] for level in levels)
    read = {name: sum(edges) for name, letters in ways.items() if (edges := both.read(letters)) is not None}
    best = sum(map(min, both.down, both.up)) if both.up else sum(both.down)
    return {"down": list(both.down), "up": list(both.up), "best": best, "ways": ways, "read": read}
