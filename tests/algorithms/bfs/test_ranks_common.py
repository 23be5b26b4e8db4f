"""BFS by ranks that work on one state: threads play the ranks, against the reference and with planted bugs."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest
import wide
import zoo
from ranked import DIRECTIONS, check, expected, force, over_ranks

from bigbfs.algorithms.bfs.cpu import search
from bigbfs.algorithms.bfs.options import BfsOptions
from bigbfs.algorithms.bfs.ranks.common import CommonSearch
from bigbfs.engines.cpu.ranked import RankedEngine
from bigbfs.engines.ranks import commons, threads
from bigbfs.engines.ranks.commons import Commons
from bigbfs.errors import BigBfsError, DoesNotFitError, UsageError, VerificationError


@pytest.mark.parametrize("turn", wide.split(range(6), lambda turn: turn < 1))
def test_zoo(turn: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each graph meets another number of ranks, partition and order of directions in each turn; levels are shared."""
    monkeypatch.setattr(search, "WALK_EDGES", 8)
    for number, name in enumerate(name for name in zoo.names(big=False) if "wide" not in name):
        graph, at = zoo.shared()[name], number + turn
        force(monkeypatch, list(DIRECTIONS)[(at // 2) % 5])
        sources = zoo.sources(graph, 2)
        found = over_ranks(
            graph, (2, 3, 1, 8, 5, 4, 7, 6)[(at + 3 * turn) % 8], [BfsOptions(source) for source in sources],
            partition=("words", "ranges")[at % 2], exchange="common", verify=True, threads=1 + at % 2,
        )  # fmt: skip
        for source, result in zip(sources, found, strict=True):
            check(graph, source, result, expected(name, source))
            assert set(result.record.exchanges) <= {"common"}


def test_nothing_is_sent_and_one_machine_shares_unless_told() -> None:
    graph = zoo.shared()["kronecker"]
    [result] = over_ranks(graph, 3, [BfsOptions(0)], exchange="auto")
    assert [rank.sent for rank in result.record.ranks] == [0, 0, 0]
    assert set(result.record.exchanges) == {"common"}
    [apart] = over_ranks(graph, 3, [BfsOptions(0)], exchange="auto", hosts=("a", "a", "b"))
    assert "common" not in apart.record.exchanges


def test_one_state_that_cannot_be_is_refused() -> None:
    graph = zoo.shared()["path"]
    with pytest.raises(UsageError, match='cannot work on one state; let them send messages: exchange="messages"'):
        over_ranks(graph, 3, [BfsOptions(0)], exchange="common", hosts=("a", "a", "b"))


def test_processes_whose_kernels_are_python_send_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their atomics are a lock of one process."""
    monkeypatch.setattr(commons, "interpreted", lambda: True)
    graph = zoo.shared()["path"]
    [threaded] = over_ranks(graph, 2, [BfsOptions(0)], exchange="auto")
    monkeypatch.setattr(threads.ThreadGroup, "one_process", False)
    [apart] = over_ranks(graph, 2, [BfsOptions(0)], exchange="auto")
    assert set(threaded.record.exchanges) == {"common"} and "common" not in apart.record.exchanges


def test_ends_of_a_search() -> None:
    """A depth, a target, a source without neighbours: nothing of one search is left in the next."""
    graph, name = zoo.shared()["two-components"], "two-components"
    levels = expected(name, 0)
    target, alone = int(np.flatnonzero(levels == 3)[0]), int(np.flatnonzero(levels < 0)[0])
    work = [
        BfsOptions(0, max_depth=2), BfsOptions(0, target=target), BfsOptions(0, target=alone), BfsOptions(0, target=0),
        BfsOptions(0, 1, want_parents=False), BfsOptions(0, strategy="topdown"), BfsOptions(0),
    ]  # fmt: skip
    found = over_ranks(graph, 3, work, verify=True, exchange="common")
    for result, limit in zip(found, (2, 3, None, 0, 1, None, None), strict=True):
        cut = levels if limit is None else np.where(levels <= limit, levels, -1)
        np.testing.assert_array_equal(result.levels, cut)
    assert (found[4].parents == -1).all()


def test_compressed_and_wide_ids() -> None:
    graph = zoo.shared()["wide-ids-hub"]
    [result] = over_ranks(graph.compress(), 3, [BfsOptions(1)], threads=2, verify=True, exchange="common")
    check(graph, 1, result, expected("wide-ids-hub", 1))


def test_a_machine_without_memory_to_share_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    window = threads.ThreadGroup.window
    monkeypatch.setattr(threads.ThreadGroup, "window", lambda self, n: window(self, n) if n <= 4096 else None)
    with pytest.raises(DoesNotFitError, match="of memory for ranks to share") as caught:
        over_ranks(zoo.shared()["kronecker"], 2, [BfsOptions(0)], exchange="common")
    assert "messages" in str(caught.value.remedies)


# bugs that the code invites, each planted: a result that nobody objects to would be a test that cannot fail


def work_by_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """What one is to do for all each does, at a time of its own: who comes later finds it done."""

    def alone(self: Any, work: Any) -> Any:
        time.sleep(0.002 * self._group.rank)
        return work() or ()

    monkeypatch.setattr(Commons, "alone", alone)


def missing_meeting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ranks count what was found while the one that has taken the work is still at it."""
    made = CommonSearch.__init__

    def one_works(self: Any, *given: Any) -> None:
        made(self, *given)
        pull = self._pull

        def late(*arguments: Any) -> None:
            if self.group.rank == 0:
                time.sleep(0.02)
                pull(*arguments)

        self._pull = late

    monkeypatch.setattr(CommonSearch, "__init__", one_works)
    monkeypatch.setattr(CommonSearch, "_finish", lambda self: None)


def pieces_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each rank has a counter of its own: all do all the work, and count what they find."""
    made = CommonSearch.__init__

    def apart(self: Any, *given: Any) -> None:
        made(self, *given)
        own = np.zeros(8, np.uint64)
        self._turns = tuple(state._replace(claim=own) for state in self._turns)

    def begin(self: Any, last: int = 0) -> None:
        search.Search._begin(self, last)
        self._commons.meet()

    monkeypatch.setattr(CommonSearch, "__init__", apart)
    monkeypatch.setattr(CommonSearch, "_begin", begin)


@pytest.mark.parametrize("plant", [work_by_all, missing_meeting, pieces_twice])
def test_planted_bugs_are_caught(plant: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "WALK_EDGES", 8)
    force(monkeypatch, "turning" if plant is work_by_all else "up")  # windows of the queue stay in range
    plant(monkeypatch)
    name = "random-sparse"
    graph = zoo.shared()[name]
    # ranks that have parted take one another's messages for others: those fit no longer
    with pytest.raises((BigBfsError, AssertionError, IndexError, ValueError, TypeError)):
        for source in zoo.sources(graph):
            [result] = over_ranks(graph, 3, [BfsOptions(source)], exchange="common", verify=True, limit=5.0)
            check(graph, source, result, expected(name, source))


@pytest.mark.parametrize("spoil", ["level", "unreached", "parent"])
def test_wrong_trees_are_refused(spoil: str) -> None:
    graph, name = zoo.shared()["kronecker"], "kronecker"
    levels = expected(name, 0)
    victim = int(np.flatnonzero(levels == 2)[-1])

    def rank(group: Any) -> None:
        with RankedEngine(graph, group=group, threads=1) as engine:
            result = engine.run(BfsOptions(0))
            state = engine.program(BfsOptions(0))._search._state
            group.barrier()
            if group.rank == 0:
                if spoil == "level":
                    state.levels[victim] += 1
                elif spoil == "unreached":
                    state.levels[victim] = -1
                else:
                    state.parents[victim] = victim
            group.barrier()
            engine.program(BfsOptions(0)).verify(BfsOptions(0), result)

    with pytest.raises(VerificationError, match=r"rank \d \(host here\): wrong result"):
        threads.run(3, rank)
