"""One engine, many searches: nothing of an earlier one is left in a later one's levels and parents."""

import numpy as np
import pytest
import zoo
from emulated.runtime import SimtRuntime

from bigbfs import generate
from bigbfs.algorithms.bfs.reference import bfs as reference_bfs
from bigbfs.algorithms.bfs.validate import validate_tree
from bigbfs.algorithms.components.reference import components as reference_components
from bigbfs.algorithms.gpu_engine import GpuEngine
from bigbfs.engines.gpu.placement.hot import by_degree
from bigbfs.graph.adjacency import PlainAdjacency
from bigbfs.graph.flags import GraphFlags
from bigbfs.graph.graph import Graph

GRAPHS = ("two-components", "isolated", "late-isolated", "directed-in-rows", "directed-out-only", "tiny-components")


@pytest.mark.parametrize("residency", ["vram", "streamed"])
@pytest.mark.parametrize("name", GRAPHS)
def test_searches_and_components_in_any_order(name, residency):
    graph = zoo.shared()[name]
    chance = np.random.default_rng(len(name))
    with GpuEngine(graph, residency=residency, runtime=SimtRuntime(build="plain", sm_count=2)) as engine:
        for _ in range(12):
            if chance.random() < 0.25:
                np.testing.assert_array_equal(engine.connected_components().labels, reference_components(graph))
                continue
            source, depth = int(chance.integers(graph.n)), chance.choice([None, 0, 1, 3])
            wanted = {"want_levels": bool(chance.random() < 0.8), "want_parents": bool(chance.random() < 0.7)}
            result = engine.bfs(source, max_depth=depth, **wanted)
            levels, _ = reference_bfs(graph, source)
            if depth is not None:
                levels = np.where(levels > depth, -1, levels)
            assert result.record.reached == np.count_nonzero(levels >= 0)
            if wanted["want_levels"]:
                np.testing.assert_array_equal(result.levels, levels)
            if all(wanted.values()) and depth is None:
                validate_tree(graph, source, result.levels, result.parents)
            elif wanted["want_parents"]:
                assert np.array_equal(result.parents >= 0, (levels > 0))


def test_an_interrupted_search_spoils_nothing(monkeypatch):
    graph = zoo.shared()["two-components"]
    with GpuEngine(graph, residency="vram", runtime=SimtRuntime(build="plain", sm_count=2)) as engine:
        loop = engine.program(engine.search(0)).loop
        traverse = loop._traverse

        def interrupted(*arguments):
            traverse(*arguments)
            raise KeyboardInterrupt

        for source in (0, graph.n - 1):
            monkeypatch.setattr(loop, "_traverse", interrupted)
            with pytest.raises(KeyboardInterrupt):
                engine.bfs(source)
            monkeypatch.setattr(loop, "_traverse", traverse)
        result = engine.bfs(1)
        np.testing.assert_array_equal(result.levels, reference_bfs(graph, 1)[0])
        validate_tree(graph, 1, result.levels, result.parents)


def test_rows_said_to_be_symmetric_that_are_not_show_no_old_tree():
    rows = PlainAdjacency(np.array([0, 1, 1, 2, 3], np.uint64), np.array([1, 3, 2], np.uint32))
    graph = Graph(rows, GraphFlags())  # 0 -> 1, 2 -> 3, 3 -> 2
    with GpuEngine(graph, strategy="topdown", runtime=SimtRuntime(build="plain", sm_count=1)) as engine:
        engine.bfs(0)
        assert engine.bfs(2).levels.tolist() == [-1, -1, 0, 1]


@pytest.mark.parametrize("codec", ["plain", "varint"])
def test_only_an_order_by_degree_counts_as_one(codec):
    graph = generate.graph("kronecker", scale=10, edge_factor=8, seed=3)
    assert not by_degree(graph)
    degrees = np.diff(graph.adjacency.indptr.astype(np.int64))
    for order, expected in ((np.argsort(-degrees, kind="stable"), True), (np.argsort(degrees, kind="stable"), False)):
        rank = np.empty(graph.n, np.int64)
        rank[order] = np.arange(graph.n)
        src = rank[np.repeat(np.arange(graph.n), degrees)]
        dst = rank[graph.adjacency.indices.astype(np.int64)]
        inside = np.lexsort((dst, src))
        indptr = np.concatenate(
            [np.zeros(1, np.uint64), np.cumsum(np.bincount(src, minlength=graph.n)).astype(np.uint64)]
        )
        stored = Graph(PlainAdjacency(indptr, dst[inside].astype(np.uint32)), GraphFlags(relabelled=True))
        assert by_degree(stored.compress() if codec == "varint" else stored) is expected
