"""BFS over ranks that threads play: what its tests share."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
import zoo

from bigbfs.algorithms.bfs.options import BfsOptions
from bigbfs.algorithms.bfs.ranks import common_program, program
from bigbfs.algorithms.bfs.ranks.costs import Forced
from bigbfs.algorithms.bfs.reference import bfs as reference_bfs
from bigbfs.algorithms.bfs.result import BfsResult
from bigbfs.algorithms.bfs.validate import validate_tree
from bigbfs.engines.cpu.ranked import RankedEngine
from bigbfs.engines.ranks import threads
from bigbfs.graph.graph import Graph

DIRECTIONS: dict[str, tuple[bool, ...] | None] = {
    "predicted": None, "down": (False,), "up": (True,), "turning": (False, True, True), "back": (True, False),
}  # fmt: skip


@cache
def expected(name: str, source: int) -> np.ndarray:
    return reference_bfs(zoo.shared()[name], source)[0]


def check(graph: Graph, source: int, result: BfsResult, levels: np.ndarray) -> None:
    np.testing.assert_array_equal(result.levels, levels)
    validate_tree(graph, source, result.levels, result.parents)
    reached, record = levels >= 0, result.record
    assert (record.reached, record.depth) == (reached.sum(), levels.max())
    assert record.edges == graph.degrees()[reached].sum()
    assert record.deepest == graph.first_by_id(levels == levels.max())
    sizes = np.bincount(levels[reached]).tolist()
    assert [level.frontier for level in record.levels] == sizes[: len(record.levels)]


def force(monkeypatch: pytest.MonkeyPatch, order: str) -> None:
    for each in (program, common_program):
        monkeypatch.setattr(each, "Forced", lambda sync: Forced(sync, DIRECTIONS[order]))


def agreed(result: BfsResult) -> tuple[Any, ...]:
    """Return what all ranks must say alike: everything but the seconds of their levels."""
    record = result.record
    levels = [(level.direction, level.frontier, level.edges) for level in record.levels]
    return levels, record.ranks, record.exchanges, record.seconds, record.reached, record.edges, record.deepest


def over_ranks(graph: Graph, size: int, work: list[BfsOptions], *, verify: bool = False, **how: Any) -> list[BfsResult]:
    """Return what each search gives on rank 0, after all ranks have said the same of it: by messages, if not said."""
    how = {"exchange": "messages"} | how
    piece, hosts, limit = how.pop("piece", 2**30), how.pop("hosts", None), how.pop("limit", 60.0)

    def rank(group: Any) -> list[BfsResult]:
        results = []
        with RankedEngine(graph, group=group, **({"threads": 1} | how)) as engine:
            for options in work:
                results.append(engine.run(options))
                if verify:
                    engine.program(options).verify(options, results[-1])
        return results

    everyone = threads.run(size, rank, piece=piece, hosts=hosts, limit=limit)
    for theirs in everyone[1:]:
        assert list(map(agreed, theirs)) == list(map(agreed, everyone[0]))
        assert all((result.levels == -1).all() for result in theirs)
    return list(everyone[0])
