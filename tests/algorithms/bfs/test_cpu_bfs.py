"""The CPU's BFS against the reference: the whole zoo, both codecs, every order of directions."""

from __future__ import annotations

from functools import cache
from itertools import cycle
from pathlib import Path

import numpy as np
import pytest
import zoo
from wide import CODECS, in_turn, split

from bigbfs.algorithms.bfs.cpu import search, topdown
from bigbfs.algorithms.bfs.cpu.search import Search
from bigbfs.algorithms.bfs.reference import bfs as reference_bfs
from bigbfs.algorithms.bfs.result import BfsResult
from bigbfs.algorithms.bfs.validate import validate_tree
from bigbfs.algorithms.cpu_engine import CpuEngine
from bigbfs.engines.cpu.heads import Survey
from bigbfs.engines.cpu.rows import rows_of
from bigbfs.errors import FormatError, UsageError
from bigbfs.graph.adjacency import CompressedAdjacency, PlainAdjacency
from bigbfs.graph.graph import Graph
from bigbfs.graph.rows import transpose
from bigbfs.jit.workers import thread_count

DIRECTIONS = {"down": (False,), "up": (True,), "turning": (False, True, True), "down after up": (True, False)}
"""Directions of the levels, repeated; "cost" leaves the choice to the search."""


@cache
def encoded(name: str, codec: str) -> Graph:
    graph = zoo.shared()[name]
    return graph.compress() if codec == "varint" else graph


@cache
def expected(name: str, source: int) -> np.ndarray:
    return reference_bfs(zoo.shared()[name], source)[0]


def force(monkeypatch: pytest.MonkeyPatch, order: str) -> None:
    """Let no level be walked serially and give the levels the directions of ``order``."""
    if order == "cost":
        return
    monkeypatch.setattr(search, "WALK_EDGES", -1)
    monkeypatch.setattr(search, "ALONE_EDGES", 0)  # threads share every level
    monkeypatch.setattr(search, "ALONE_VERTICES", -1)
    upward = cycle(DIRECTIONS[order])
    monkeypatch.setattr(Search, "_bottom_up_is_cheaper", lambda self, _: next(upward) and self.in_rows is not None)


def check(graph: Graph, source: int, result: BfsResult, levels: np.ndarray) -> None:
    assert result.levels.dtype == np.int32
    assert result.parents.dtype == np.int64
    np.testing.assert_array_equal(result.levels, levels)
    validate_tree(graph, source, result.levels, result.parents)
    reached = levels >= 0
    record = result.record
    assert (record.source, record.reached, record.depth) == (source, reached.sum(), levels.max())
    assert record.edges == graph.degrees()[reached].sum()
    assert [level.level for level in record.levels] == list(range(len(record.levels)))
    sizes = np.bincount(levels[reached]).tolist()
    assert [level.frontier for level in record.levels] == sizes[: len(record.levels)]


ORDERS = ("cost", *DIRECTIONS)
EVERY = split(
    [(codec, order) for codec in CODECS for order in ORDERS],
    lambda codec, order: order == "cost" or in_turn(codec, ORDERS.index(order)),
)


@pytest.mark.parametrize(("codec", "order"), EVERY)
def test_zoo(codec: str, order: str, monkeypatch: pytest.MonkeyPatch) -> None:
    force(monkeypatch, order)
    for name in zoo.names():
        graph = encoded(name, codec)
        with CpuEngine(graph) as engine:
            for source in zoo.sources(graph):
                check(graph, source, engine.bfs(source), expected(name, source))


@pytest.mark.covered
@pytest.mark.parametrize(
    ("threads", "alone", "codec"),
    split(
        [(*each, codec) for each in ((1, 0), (2, 0), (2, 12), (2, 10**6)) for codec in CODECS],
        lambda threads, alone, codec: in_turn(codec, threads, alone // 12),
    ),
)
def test_every_source_on_one_engine(codec: str, threads: int, alone: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of one search is left in the next: reachable and isolated sources, depth limits, all in turn.

    Levels up to a size are one thread's: none, some, all.
    """
    force(monkeypatch, "turning")
    monkeypatch.setattr(search, "ALONE_EDGES", alone)
    monkeypatch.setattr(search, "ALONE_VERTICES", alone)
    for name in ("random-sparse", "two-components", "directed-in-rows", "vertices-65"):
        graph = encoded(name, codec)
        with CpuEngine(graph, threads=threads) as engine:
            assert engine.threads == threads
            for source in range(0, graph.n, 7):
                levels = expected(name, source)
                limit = source % 5
                near = np.where(levels <= limit, levels, -1).astype(np.int32)
                np.testing.assert_array_equal(engine.bfs(source, max_depth=limit).levels, near)
                check(graph, source, engine.bfs(source), levels)


@pytest.mark.parametrize(
    ("order", "codec"),
    split(
        [(order, codec) for order in ("cost", "up", "turning") for codec in CODECS],
        lambda order, codec: in_turn(codec, order),
    ),
)
def test_searches_lean_on_the_tree_of_another(codec: str, order: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In its component they find the same, whatever the direction; afterwards the whole graph is there again."""
    force(monkeypatch, order)
    for name in ("two-components", "random-sparse", "vertices-65"):
        graph = encoded(name, codec)
        if not graph.flags.symmetric:
            continue
        rows, degrees = rows_of(graph.adjacency), graph.degrees()
        made = Search(rows, rows, Survey(rows, graph.ids, 1, heads=False), graph.ids, graph.m, 1)
        hub = int(degrees.argmax())
        inside = expected(name, hub) >= 0
        alone = made.nbytes
        for turn in range(2):
            made.lean_on(None)
            assert made.nbytes == alone
            for source in [*range(turn, graph.n, 10), hub]:
                found = made.run(source, 2**31 - 2)
                np.testing.assert_array_equal(made.levels, expected(name, source))
            made.lean_on(found)
            assert made.nbytes >= alone + made.parents.nbytes, "the head table is a copy of the tree"
            assert made.m == degrees[inside].sum()
            for source in np.flatnonzero(inside)[turn::4].tolist():
                found = made.run(source, 2**31 - 2)
                np.testing.assert_array_equal(made.levels, expected(name, source))
                reached = (made.levels >= 0) & (degrees > 0)
                assert (made.m - found.unexplored, reached.sum()) == (degrees[inside].sum(), inside.sum())
                steps = np.flatnonzero(made.levels > 0)
                np.testing.assert_array_equal(made.levels[made.parents[steps]], made.levels[steps] - 1)


@pytest.mark.parametrize("order", ["cost", "down", "turning"])
@pytest.mark.parametrize("limit", [0, 1, 2, 5, 10**12])
def test_max_depth(limit: int, order: str, monkeypatch: pytest.MonkeyPatch) -> None:
    force(monkeypatch, order)
    for name in ("path", "kronecker", "directed-back-edges", "directed-out-only"):
        graph = encoded(name, "plain")
        with CpuEngine(graph) as engine:
            source = zoo.sources(graph)[2]
            result = engine.bfs(source, max_depth=limit)
        whole = expected(name, source)
        levels = np.where(whole <= limit, whole, -1)
        np.testing.assert_array_equal(result.levels, levels)
        assert result.record.depth == levels.max()
        assert result.record.edges == graph.degrees()[levels >= 0].sum()
        linked = np.flatnonzero(levels > 0)
        np.testing.assert_array_equal(levels[result.parents[linked]], levels[linked] - 1)
        assert (result.parents[levels <= 0] == -1).all()


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("ids", [np.uint32, np.uint64])
def test_switches_by_itself(codec: str, ids: type) -> None:
    """A graph of skewed degrees takes all three kinds of step, and agrees with the reference."""
    rng = np.random.default_rng(1)
    ends = (rng.random((2, 200_000)) ** 4 * 20_000).astype(np.int64)
    graph = zoo.build(20_001, (ends[0], ends[1]), ids=ids)
    if codec == "varint":
        graph = graph.compress()
    source = int(np.flatnonzero(graph.degrees() == 1)[0])
    with CpuEngine(graph) as engine:
        result = engine.bfs(source)
        assert engine.setup.compile > 0 and engine.setup.place > 0
        assert engine.bytes.host > sum(array.nbytes for array in graph.adjacency.arrays().values())
    check(graph, source, result, reference_bfs(graph, source)[0])
    assert {level.direction for level in result.record.levels} == {"top-down", "bottom-up"}


def test_edges_that_lead_one_way_are_no_more_than_estimated() -> None:
    """After a level bottom-up, which counted in-edges left, a vertex is found that has more out-edges than those."""
    n, chain = 3000, 12
    src, dst = np.random.default_rng(1).integers(0, n, (2, 16 * n))
    links = n + np.arange(chain)
    last = np.full(n + 500, links[-1])
    src = np.concatenate([src, [0], links[:-1], last])
    dst = np.concatenate([dst, links, np.arange(n), n + chain + np.arange(500)])
    graph = Graph.from_edges(src, dst, n=n + chain + 500, directed=True)
    graph = Graph(graph.adjacency, graph.flags, in_adjacency=transpose(graph.adjacency))
    with CpuEngine(graph) as engine:
        check(graph, 0, engine.bfs(0), reference_bfs(graph, 0)[0])


@pytest.mark.parametrize("codec", CODECS)
def test_a_hub_met_in_a_thin_level_ends_the_walk(codec: str) -> None:
    """It has fewer edges than a walk goes through, and a queue of its own."""
    leaves = topdown.HUB_EDGES + 9
    assert leaves < search.WALK_EDGES
    edges = [(0, 1), (1, 2), *((2, 3 + leaf) for leaf in range(leaves)), (3 + leaves // 2, 3 + leaves)]
    graph = Graph.from_edges(*np.array(edges).T)
    graph = graph.compress() if codec == "varint" else graph
    with CpuEngine(graph) as engine:
        for source in (0, 2, 5, 3 + leaves):
            check(graph, source, engine.bfs(source), reference_bfs(graph, source)[0])


def test_topdown_strategy_never_goes_up() -> None:
    graph = encoded("star", "plain")
    with CpuEngine(graph, strategy="topdown") as engine:
        result = engine.bfs(3)
    check(graph, 3, result, expected("star", 3))
    assert {level.direction for level in result.record.levels} == {"top-down"}
    assert engine.strategy == "topdown"


@pytest.mark.parametrize("codec", CODECS)
def test_a_mapped_file_is_used_in_place(codec: str, tmp_path: Path) -> None:
    path = tmp_path / ("graph.ccsr" if codec == "varint" else "graph.csrbin")
    encoded("kronecker", codec).save(path)
    with Graph.open(path) as graph, CpuEngine(graph) as engine:
        for placed, mapped in zip(rows_of(graph.adjacency), graph.adjacency.arrays().values(), strict=True):
            assert not placed.flags.writeable
            assert placed.size == 0 or np.shares_memory(placed, mapped)
        check(graph, 5, engine.bfs(5), expected("kronecker", 5))


def test_without_parents() -> None:
    with CpuEngine(encoded("random", "plain")) as engine:
        result = engine.bfs(1, want_parents=False)
    np.testing.assert_array_equal(result.levels, expected("random", 1))
    np.testing.assert_array_equal(result.parents, np.full(1000, -1))


def test_results_belong_to_the_caller() -> None:
    with CpuEngine(encoded("random", "plain")) as engine:
        first = engine.bfs(1)
        kept = first.levels.copy(), first.parents.copy()
        engine.bfs(2)
    np.testing.assert_array_equal(first.levels, kept[0])
    np.testing.assert_array_equal(first.parents, kept[1])


@pytest.mark.parametrize("values", [{"threads": 0}, {"strategy": "sideways"}])
def test_options_that_cannot_work(values: dict[str, object]) -> None:
    with pytest.raises(UsageError, match=str(next(iter(values.values())))):
        CpuEngine(encoded("path", "plain"), **values)  # type: ignore[arg-type]


@pytest.mark.parametrize("source", [-1, 257])
def test_source_that_is_no_vertex(source: int) -> None:
    with CpuEngine(encoded("path", "plain")) as engine, pytest.raises(UsageError, match=str(source)):
        engine.bfs(source)


def test_negative_depth_and_closed_engine() -> None:
    engine = CpuEngine(encoded("path", "plain"))
    with pytest.raises(UsageError, match="-2"):
        engine.bfs(0, max_depth=-2)
    engine.close()
    with pytest.raises(UsageError, match="closed"):
        engine.bfs(0)
    with pytest.raises(UsageError, match="closed"):
        engine.connected_components()


def test_threads_are_put_back() -> None:
    before = thread_count()
    with CpuEngine(encoded("path", "plain"), threads=1) as engine:
        engine.bfs(0)
        engine.connected_components()
    assert thread_count() == before


@pytest.mark.parametrize("order", ["cost", "down", "up"])
@pytest.mark.parametrize("codec", CODECS)
def test_damaged_ids_are_refused(codec: str, order: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """An index out of range, as a damaged file holds it, is never used as one."""
    force(monkeypatch, order)
    plain = encoded("random", "plain").adjacency
    assert isinstance(plain, PlainAdjacency)
    indices = plain.indices.copy()
    indices[len(indices) // 2 :] = 4_000_000_000
    graph = Graph(PlainAdjacency(plain.indptr, indices))
    if codec == "varint":
        compressed = encoded("random", "varint").adjacency
        assert isinstance(compressed, CompressedAdjacency)
        blob = compressed.blob.copy()
        blob[len(blob) // 2 :] = 0xFF
        values = compressed.arrays() | {"blob": np.concatenate([blob, np.zeros(128, np.uint8)])[: len(blob)]}
        graph = Graph(CompressedAdjacency(**values))
    refuse(graph)


@pytest.mark.parametrize("block", [None, 2**64 - 1, 2**64 - 8])
def test_a_damaged_block_index_leads_to_no_byte_outside(block: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Positions just below 2**64 are past the blob too, although eight bytes more wrap round to its beginning."""
    force(monkeypatch, "down")
    whole = zoo.build(20_000, zoo.star(20_000, hub=0)).compress().adjacency
    assert isinstance(whole, CompressedAdjacency)
    # what a read outside would find are ids: only a position that is refused is noticed
    blob = np.concatenate([np.zeros(8, np.uint8), whole.blob])[8:]
    values = whole.arrays() | {"blob": blob, "block_ptr": np.full(len(whole.block_ptr), block or 0, np.uint64)}
    if block is None:
        values |= {"hubs": whole.hubs[:0], "hub_ptr": whole.hub_ptr[:1], "block_ptr": whole.block_ptr[:0]}
    with (
        CpuEngine(Graph(CompressedAdjacency(**values)), strategy="topdown") as engine,
        pytest.raises(FormatError, match="no vertices"),
    ):
        engine.bfs(0)


def test_damaged_leaf_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A row that the head table holds whole is never read again: what is wrong with it must be found when placing."""
    force(monkeypatch, "up")
    plain = encoded("star", "plain").adjacency
    assert isinstance(plain, PlainAdjacency)
    indices = plain.indices.copy()
    indices[0] = len(plain.indptr) - 1
    refuse(Graph(PlainAdjacency(plain.indptr, indices)))


def refuse(graph: Graph) -> None:
    for strategy in ("auto", "topdown"):
        with CpuEngine(graph, strategy=strategy) as engine:
            with pytest.raises(FormatError, match="no vertices"):
                engine.bfs(0)
            with pytest.raises(FormatError, match="no vertices"):
                engine.connected_components()
