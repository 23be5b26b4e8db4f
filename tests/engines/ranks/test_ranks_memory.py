"""Memory of ranks: what those of one machine take is summed, and refused on every rank alike before it is taken."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import zoo

from bigbfs.algorithms.bfs.options import BfsOptions
from bigbfs.algorithms.components.options import ComponentsOptions
from bigbfs.engines.cpu import ranked, ranked_memory
from bigbfs.engines.cpu.ranked import RankedEngine
from bigbfs.engines.ranks import threads
from bigbfs.engines.ranks.group import Group
from bigbfs.errors import DoesNotFitError
from bigbfs.jit import settings

HOSTS = ("a", "a", "b")


@pytest.mark.parametrize("work", [BfsOptions(0), BfsOptions(0, fetch=False), ComponentsOptions()])
def test_ranks_of_a_machine_are_summed(work: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    graph, said = zoo.shared()["kronecker"], []
    asked: list[tuple[int, int]] = []
    require = ranked_memory.require

    def rank(group: Group) -> None:
        try:
            with RankedEngine(graph, group=group, threads=1) as engine:
                engine.run(work)
        except DoesNotFitError as error:
            said.append(str(error))
            raise

    def noted(group: Group, need: int, n: int, advice: str) -> None:
        asked.append((group.rank, need))
        require(group, need, n, advice)

    with monkeypatch.context() as patched:
        patched.setattr(ranked_memory, "require", noted)
        threads.run(3, rank, hosts=HOSTS)
    most = {number: max(need for who, need in asked if who == number) for number in range(3)}
    together = most[0] + most[1]
    assert max(most.values()) < together - 1
    monkeypatch.setattr(ranked_memory, "free_memory", lambda: together - 1)
    with pytest.raises(DoesNotFitError, match="on host a, for 2 ranks beside the graph"):
        threads.run(3, rank, hosts=HOSTS)
    assert len(set(said)) == 1
    monkeypatch.setattr(ranked_memory, "free_memory", lambda: together)
    threads.run(3, rank, hosts=HOSTS)


def test_what_is_counted_holds_what_is_kept() -> None:
    graph = zoo.shared()["kronecker"]

    def rank(group: Group) -> tuple[int, int, int]:
        with RankedEngine(graph, group=group, threads=1, exchange="messages") as engine:
            for work in (BfsOptions(0), ComponentsOptions()):
                engine.run(work)
            placed = engine.placed
            n, ids, mine = placed.n, placed.ids, 64 * int(placed.partition.part(group.rank).words)
            survey = placed.own_survey().nbytes
            assert survey <= ranked_memory.survey_bytes(n + 64, mine, ids) + 64
            search = engine.program(BfsOptions(0)).nbytes
            assert search <= ranked_memory.search_bytes(n + 128, mine + 1, ids, group) + ranked_memory.buffer_bytes(
                1, ids
            )
            forest = engine.program(ComponentsOptions()).nbytes
            assert forest <= ranked_memory.forest_bytes(n + 64, mine, ids)
            return survey, search, forest

    assert all(min(found) > 0 for found in threads.run(3, rank))


def test_what_ranks_share_is_counted_by_the_first() -> None:
    graph = zoo.shared()["kronecker"]

    def rank(group: Group) -> tuple[int, int, int]:
        with RankedEngine(graph, group=group, threads=1) as engine:
            for work in (BfsOptions(0), ComponentsOptions()):
                engine.run(work)
            placed, n, ids = engine.placed, engine.placed.n, engine.placed.ids
            survey = placed.survey().nbytes
            assert survey <= ranked_memory.common_survey_bytes(n + 64, ids, first=group.rank == 0) + 64
            search, buffers = engine.program(BfsOptions(0)).nbytes, 2 * 1024 * ids.itemsize
            room = (
                ranked_memory.common_bytes(n + 128, ids, first=group.rank == 0) + buffers + 16 * graph.m // 8192 + 1024
            )
            assert search <= room
            forest = engine.program(ComponentsOptions()).nbytes
            assert forest <= ranked_memory.common_forest_bytes(n, ids, first=group.rank == 0)
            return survey, search, forest

    first, *others = threads.run(3, rank)
    assert min(first) > 0
    assert all(survey < first[0] and search < first[1] and forest == 0 for survey, search, forest in others)


def test_the_first_rank_counts_the_whole_result() -> None:
    ids = np.dtype(np.uint32)
    both = {"levels": True, "parents": True}
    assert ranked_memory.tree_bytes(1000, 10, ids, first=True, **both) == 17_000
    assert ranked_memory.tree_bytes(1000, 10, ids, first=False, **both) == 40
    assert ranked_memory.tree_bytes(1000, 10, ids, first=True, levels=True, parents=False) == 8000
    assert ranked_memory.labels_bytes(1000, 10, ids, first=True) == 24_000


def test_threads_of_a_rank_are_its_share_of_what_the_process_gets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranked, "processors", lambda: 5)  # of a quota, say
    monkeypatch.setattr(settings, "most_threads", lambda: 8)

    def rank(group: Group) -> int:
        with RankedEngine(zoo.shared()["kronecker"], group=group) as engine:
            return engine.threads

    assert threads.run(3, rank) == [1, 1, 1]
    assert threads.run(3, rank, hosts=HOSTS) == [2, 2, 5]
    monkeypatch.setattr(settings, "most_threads", lambda: 2)
    assert threads.run(3, rank, hosts=HOSTS) == [2, 2, 2]


def test_threads_end_with_the_engine() -> None:
    def rank(group: Group) -> Any:
        with RankedEngine(zoo.shared()["kronecker"], group=group, threads=2) as engine:
            workers = engine.placed.workers
            workers.each(2, lambda i: None)
            pool = workers._pool
            assert pool is not None
            return pool

    for pool in threads.run(2, rank):
        assert not any(thread.is_alive() for thread in pool._threads)
