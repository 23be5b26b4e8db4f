"""BFS over ranks against the reference: threads play the ranks; every partition and every exchange is forced."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
import wide
import zoo
from ranked import DIRECTIONS, check, expected, force, over_ranks

from bigbfs.algorithms.bfs.options import BfsOptions
from bigbfs.algorithms.bfs.ranks import claims, costs, program
from bigbfs.algorithms.bfs.ranks.costs import SYNCS, Forced
from bigbfs.algorithms.bfs.reference import bfs as reference_bfs
from bigbfs.algorithms.bfs.result import BfsResult
from bigbfs.engines.cpu.ranked import RankedEngine
from bigbfs.engines.ranks import threads
from bigbfs.errors import UsageError
from bigbfs.graph.graph import Graph


@pytest.mark.parametrize(("turn", "half"), wide.split(product(range(6), range(2)), lambda turn, half: turn + half < 1))
def test_zoo(turn: int, half: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each graph meets another number of ranks, partition, exchange and order of directions in each turn."""
    for number, name in enumerate(name for name in zoo.names(big=False) if "wide" not in name):
        if (number + number // 8) % 2 != half:  # in each half every number of ranks
            continue
        graph, at = zoo.shared()[name], number + turn
        size = (2, 3, 1, 8, 5, 4, 7, 6)[(at + 3 * turn) % 8]
        force(monkeypatch, list(DIRECTIONS)[(at // 2) % 5])
        sources = zoo.sources(graph, 2)
        found = over_ranks(
            graph, size, [BfsOptions(source) for source in sources],
            partition=("words", "ranges")[at % 2], exchange=SYNCS[(at + turn) % 4], verify=True,
            piece=(1000, 2**30)[at % 3 == 0],
        )  # fmt: skip
        for source, result in zip(sources, found, strict=True):
            check(graph, source, result, expected(name, source))


@pytest.mark.wide
@pytest.mark.parametrize("exchange", [*SYNCS, "messages", "common"])
def test_every_size_and_more_ranks_than_vertices(exchange: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Words and ranges in turn."""
    every = product((1, 2, 3, 5, 8, 70), ("predicted", "turning"), wide.CORE[1:])
    for number, (size, order, name) in enumerate(every):
        graph, kind = zoo.shared()[name], ("words", "ranges")[number % 2]
        if size > 8 and (graph.n >= size or order == "turning"):
            continue
        force(monkeypatch, order)
        sources = zoo.sources(graph, 2)
        work = [BfsOptions(source) for source in sources]
        found = over_ranks(graph, size, work, partition=kind, exchange=exchange, verify=True)
        for source, result in zip(sources, found, strict=True):
            check(graph, source, result, expected(name, source))


@pytest.mark.covered
@pytest.mark.parametrize("exchange", [*SYNCS, "messages", "common"])
@pytest.mark.parametrize("size", [2, 5])
def test_every_exchange_and_order(exchange: str, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for order in DIRECTIONS:
        force(monkeypatch, order)
        for name in ("kronecker", "directed-in-rows"):
            graph = zoo.shared()[name]
            sources = zoo.sources(graph, 2)
            found = over_ranks(graph, size, [BfsOptions(source) for source in sources], exchange=exchange)
            for source, result in zip(sources, found, strict=True):
                check(graph, source, result, expected(name, source))


def test_more_ranks_than_words_of_vertices() -> None:
    graph = zoo.shared()["vertices-65"]
    work = [BfsOptions(0), BfsOptions(64)]
    for kind in ("words", "ranges"):
        for source, result in zip([0, 64], over_ranks(graph, 12, work, partition=kind), strict=True):
            check(graph, source, result, expected("vertices-65", source))


def test_compressed_wide_ids_and_threads_of_a_rank(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bigbfs.algorithms.bfs.ranks.search.LEAST_EDGES", 8)
    monkeypatch.setattr("bigbfs.algorithms.bfs.ranks.claims.LEAST", 8)
    for order in ("predicted", "down"):
        force(monkeypatch, order)
        for name in ("wide-ids", "wide-ids-hub"):
            graph = zoo.shared()[name]
            [result] = over_ranks(graph.compress(), 3, [BfsOptions(1)], threads=2, verify=True)
            check(graph, 1, result, expected(name, 1))


@pytest.mark.parametrize("name", wide.split(("star", "kronecker", "wide-ids-hub"), lambda name: name == "star"))
def test_buffers_of_claims_do_not_grow_with_the_level(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows longer than a piece are cut, in either encoding, and many rounds give what one gives."""
    monkeypatch.setattr("bigbfs.algorithms.bfs.ranks.claims.PIECE", 50)
    force(monkeypatch, "down")
    plain = zoo.shared()[name]
    for graph in (plain, plain.compress()):
        made: list[Any] = []

        def rank(group: Any, graph: Graph = graph, made: list[Any] = made) -> BfsResult:
            with RankedEngine(graph, group=group, threads=2, exchange="messages") as engine:
                result = engine.run(BfsOptions(1))
                made.append(engine.program(BfsOptions(1))._search._claims._buffers.shape)
                return result

        check(plain, 1, threads.run(2, rank)[0], expected(name, 1))
        assert all(shape <= (2, 2, 1024) for shape in made)


@pytest.mark.parametrize("size", [1, 1200])
def test_pieces_of_a_window_hold_every_edge_once(size: int) -> None:
    lengths = np.random.default_rng(size).integers(0, 75, 300) ** 2
    edges = []
    for begin, end, skip in claims.cut(lengths, size):
        if skip < 0:
            piece = [(row, place) for row in range(begin, end) for place in range(lengths[row])]
        else:
            assert end == begin + 1
            assert skip % 1024 == 0  # where a compressed row may be entered
            piece = [(begin, place) for place in range(skip, min(skip + claims.most_of(size), lengths[begin]))]
        assert len(piece) <= claims.most_of(size)
        edges += piece
    assert edges == [(row, place) for row in range(300) for place in range(lengths[row])]


def test_ends_of_a_search() -> None:
    """A depth, a target, a source without neighbours: nothing of one search is left in the next."""
    graph, name = zoo.shared()["two-components"], "two-components"
    levels = expected(name, 0)
    target = int(np.flatnonzero(levels == 3)[0])
    alone = int(np.flatnonzero(levels < 0)[0])
    work = [
        BfsOptions(0, max_depth=2), BfsOptions(0, target=target), BfsOptions(0, target=alone), BfsOptions(0, target=0),
        BfsOptions(0, 1, want_parents=False), BfsOptions(0, strategy="topdown"), BfsOptions(0),
    ]  # fmt: skip
    found = over_ranks(graph, 3, work, verify=True)
    for result, limit in zip(found, (2, 3, None, 0, 1, None, None), strict=True):
        cut = levels if limit is None else np.where(levels <= limit, levels, -1)
        np.testing.assert_array_equal(result.levels, cut)
    assert (found[4].parents == -1).all()


def test_more_claims_than_a_directed_level_was_thought_to_have() -> None:
    """Behind a bottom-up level the edges of a directed frontier are a guess: here it is a tenth of them."""
    n, first, second = 24_000, np.arange(1, 101), np.arange(101, 601)
    rng = np.random.default_rng(1)
    sinks = 601 + rng.integers(0, n - 601, 500 * 180)
    src = np.concatenate([np.zeros(100, int), np.repeat(first, 400), np.repeat(second, 180)])
    dst = np.concatenate([first, rng.choice(second, 100 * 400), sinks])
    graph = zoo.build(n, (src, dst), directed=True)
    levels = reference_bfs(graph, 0)[0]
    for result in over_ranks(graph, 2, [BfsOptions(source=0), BfsOptions(source=0, max_depth=3)]):
        np.testing.assert_array_equal(result.levels, levels)


def varint(value: int) -> int:
    return max(1, -(-value.bit_length() // 7))


def claims_bytes(graph: Graph, levels: np.ndarray, size: int, rank: int) -> int:
    """Return the bytes that a rank sends in a search that only goes top-down, words dealt: from the formula."""
    rows, n = graph.adjacency, graph.n
    sent, known = 0, set(np.flatnonzero(levels == 0).tolist())
    most_local = varint(64 * (((n + 63) // 64 + size - 1) // size))
    queue = [v for v in known if v // 64 % size == rank]
    for depth in range(int(levels.max()) + 1):
        streams: dict[int, list[int]] = {peer: [] for peer in range(size)}
        for u in queue:
            last = {}
            for v in rows.indices[rows.indptr[u] : rows.indptr[u + 1]].tolist():
                peer, local = v // 64 % size, v // 64 // size * 64 + v % 64
                if v not in known and peer != rank:
                    known.add(v)
                    gap = local - last[peer] if peer in last else local + 1
                    streams[peer] += [varint(gap)] if peer in last else [varint(u), varint(gap), 1]
                    last[peer] = local
        frontier = np.flatnonzero(levels == depth)
        edges = int(graph.degrees()[frontier].sum())
        slot = 4 + edges * (varint(n) + most_local + 1)
        others = [sum(each) for peer, each in streams.items() if peer != rank]
        sent += slot * (size - 1) if slot <= 4096 else sum(others) + 8 * size * (size - 1)
        sent += 4 * 8 * (size - 1)  # the sums
        known |= {v for v in np.flatnonzero(levels == depth + 1).tolist() if v // 64 % size == rank}
        queue = sorted(v for v in known if v // 64 % size == rank and levels[v] == depth + 1)
    return sent


@pytest.mark.parametrize("name", ["binary-tree", "star"])
def test_bytes_of_claims_are_those_of_the_formula(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In these graphs each vertex is found from one other alone, so the order of a queue changes no claim."""
    monkeypatch.setattr(program, "Forced", lambda sync: Forced(costs.NEVER, (False,)))
    graph = zoo.shared()[name]
    [result] = over_ranks(graph, 3, [BfsOptions(0)], partition="words")
    for rank in range(3):
        assert result.record.ranks[rank].sent == claims_bytes(graph, expected(name, 0), 3, rank)


@pytest.mark.parametrize("exchange", ["bitmap", "hubs", "window"])
def test_bytes_of_bitmaps_are_those_of_the_formula(exchange: str, monkeypatch: pytest.MonkeyPatch) -> None:
    force(monkeypatch, "up")
    graph, size = zoo.shared()["kronecker"], 3
    [result] = over_ranks(graph, size, [BfsOptions(0)], exchange=exchange)
    levels = len(result.record.levels)
    for rank, record in enumerate(result.record.ranks):
        words = len(range(rank, -(-graph.n // 64), size))
        told = 8 * words * (levels - 1) if exchange != "window" else 0  # before the first level all know the source
        assert record.sent == (told + 32 * levels) * (size - 1)


def test_bytes_of_lists_are_those_of_the_formula(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before each level but the first, every rank tells the own vertices of the last one, as gaps of local numbers."""
    force(monkeypatch, "up")
    graph, size = zoo.shared()["kronecker"], 3
    [result] = over_ranks(graph, size, [BfsOptions(0)], exchange="list", partition="words")
    levels, count = expected("kronecker", 0), len(result.record.levels)
    for rank, record in enumerate(result.record.ranks):
        sent = 0
        for depth in range(1, count):
            own = [v // 64 // size * 64 + v % 64 for v in np.flatnonzero(levels == depth) if v // 64 % size == rank]
            gaps = np.diff([-1, *own]).tolist()
            sent += 8 + sum(varint(gap) for gap in gaps)
        assert record.sent == (sent + 32 * count) * (size - 1)


def test_the_cheaper_exchange_is_chosen() -> None:
    here = costs.Size(2**22, 2**26, 2, 1, costs.SAME_HOST, True)
    apart = costs.Size(2**22, 2**26, 16, 1, costs.OTHER_HOST, False)
    free = Forced()
    assert costs.best_sync(here, 2**20, free, up=True)[0] == "window"
    assert costs.best_sync(here, 3, free, up=True)[0] == "list"
    assert costs.best_sync(apart, 100, free, up=True)[0] == "list"
    assert costs.best_sync(apart, 2**21, free, up=True)[0] in ("hubs", "bitmap")
    slow = costs.Size(2**28, 2**32, 16, 8, costs.Link(1e-5, 1e8), False)
    assert costs.best_sync(slow, 2**27, free, up=True)[0] == "hubs"
    assert costs.best_sync(slow, 2**27, free, up=False)[0] == "bitmap"
    assert costs.best_sync(here, 0, free, up=True) == (None, 0.0)


def test_two_hosts_have_no_window_and_give_the_same() -> None:
    graph = zoo.shared()["kronecker"]
    [result] = over_ranks(graph, 4, [BfsOptions(0)], hosts=("a", "b", "a", "b"), exchange="window")
    check(graph, 0, result, expected("kronecker", 0))
    assert [record.host for record in result.record.ranks] == ["a", "b", "a", "b"]
    assert not any("window" in each for each in result.record.exchanges)


def test_ranks_with_different_graphs_are_refused() -> None:
    graphs = [zoo.shared()["kronecker"], zoo.shared()["random"]]

    def rank(group: Any) -> None:
        RankedEngine(graphs[group.rank], group=group, threads=1)

    with pytest.raises(UsageError, match=r"ranks have opened different graphs; rank 0 \(host a\).*rank 1 \(host b\)"):
        threads.run(2, rank, hosts=("a", "b"))
