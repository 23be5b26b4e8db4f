"""Wrong results over ranks: bugs that the code invites, each planted, and trees that were spoiled."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import zoo
from ranked import expected, force, over_ranks

from bigbfs.algorithms.bfs.options import BfsOptions
from bigbfs.algorithms.bfs.ranks import costs, tells
from bigbfs.engines.cpu.ranked import RankedEngine
from bigbfs.engines.ranks import threads
from bigbfs.errors import BigBfsError, VerificationError

# bugs that the code invites, each planted: a result that nobody objects to would be a test that cannot fail


def wrong_peer(monkeypatch: pytest.MonkeyPatch) -> None:
    place = tells.Tells._place
    monkeypatch.setattr(tells.Tells, "_place", lambda self, parts, skip: place(self, [*parts[1:], parts[0]], skip))


def claim_to_the_wrong_rank(monkeypatch: pytest.MonkeyPatch) -> None:
    sent, in_pieces = tells.Tells.claims, threads.ThreadGroup.exchange_known
    turned: set[Any] = set()

    def during(self: Any, slot: int) -> Any:
        turned.add(self._group)
        return sent(self, slot)

    def pieces(self: Any, parts: Any, lengths: list[int], most: int, *spare: Any) -> Any:
        found = in_pieces(self, parts, lengths, most, *spare)
        if self not in turned:
            return found
        turned.remove(self)
        return [found[0], found[2], found[1]] if self.rank == 0 else [np.empty(0, np.uint8)] * 3

    monkeypatch.setattr(costs, "SLOT_BYTES", 0)
    monkeypatch.setattr(tells.Tells, "claims", during)
    monkeypatch.setattr(threads.ThreadGroup, "exchange_known", pieces)


def missing_barrier(monkeypatch: pytest.MonkeyPatch) -> None:
    def window(self: Any, mine: np.ndarray) -> None:
        self._place([self._maps[0][stretch] for stretch in self._stretches], 0)  # read before the others have written
        self._group.barrier()
        self._maps[0][self._stretches[self._group.rank]] = mine

    monkeypatch.setattr(tells.Tells, "_window", window)


def claim_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    sent = tells.Tells.claims

    def cut(self: Any, slot: int) -> Any:
        return [(stream, begin, max(begin, end - np.uint64(3))) for stream, begin, end in sent(self, slot)]

    monkeypatch.setattr(tells.Tells, "claims", cut)


def slot_too_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(costs, "slot_bytes", lambda size, most, edges: 4 + edges // 2)


@pytest.mark.parametrize("plant", [wrong_peer, claim_to_the_wrong_rank, missing_barrier, claim_lost, slot_too_small])
def test_planted_bugs_are_caught(plant: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    force(monkeypatch, "turning" if plant in (wrong_peer, missing_barrier) else "down")
    exchange = "window" if plant is missing_barrier else "bitmap"
    plant(monkeypatch)
    graph = zoo.shared()["random-sparse"]
    with pytest.raises((BigBfsError, AssertionError)):
        over_ranks(graph, 3, [BfsOptions(source) for source in zoo.sources(graph)], exchange=exchange, verify=True)


@pytest.mark.parametrize("name", ["kronecker", "directed-in-rows", "directed-out-only"])
def test_wrong_trees_are_refused(name: str) -> None:
    """Each rule: a level, a parent, an edge, of one vertex on one rank."""
    graph = zoo.shared()[name]
    source = next(s for s in zoo.sources(graph) if expected(name, s).max() >= 2)
    levels = expected(name, source)
    victim = int(np.flatnonzero(levels == 2)[-1])
    rows = graph.adjacency
    leads = [v for v in range(graph.n) if victim in rows.indices[rows.indptr[v] : rows.indptr[v + 1]]]
    stranger = next((v for v in np.flatnonzero(levels == 1).tolist() if v not in leads), victim)

    def rank(group: Any, spoil: str) -> None:
        with RankedEngine(graph, group=group, threads=1, partition="words", exchange="messages") as engine:
            options = BfsOptions(source)
            result = engine.run(options)
            search = engine.program(options)._search
            if (local := search._local(victim)) is not None:
                if spoil == "level":
                    search.own.levels[local] += 1
                elif spoil == "unreached":
                    search.own.levels[local], search.own.parents[local] = -1, search.nobody
                else:
                    search.own.parents[local] = stranger
            engine.program(options).verify(options, result)

    for spoil in ("level", "unreached", "parent"):
        with pytest.raises(VerificationError, match=r"rank \d \(host here\): wrong result"):
            threads.run(3, lambda group, spoil=spoil: rank(group, spoil))
