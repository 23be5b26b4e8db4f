"""Deep searches: a GPU's levels, emulated, and those that the CPU walks, in one search.

Every search begins on the device, is handed to the CPU after a few thin levels, and comes back where a level is wide.
"""

from dataclasses import replace

import bench_deep
import numpy as np
import pytest
import zoo

from bigbfs.algorithms.bfs.gpu.tuning import Tuning
from bigbfs.algorithms.bfs.options import BfsOptions
from bigbfs.algorithms.bfs.reference import bfs as reference_bfs
from bigbfs.algorithms.gpu_engine import GpuEngine
from bigbfs.errors import FormatError
from bigbfs.graph.adjacency import PlainAdjacency
from bigbfs.graph.graph import Graph
from emulated.runtime import SimtRuntime, builds_here

BUILDS = [build for build in builds_here() if build != "preempt"]
in_plain = pytest.mark.skipif("plain" not in BUILDS, reason="nothing for a sanitizer")
ALWAYS = {"load_seconds": 0.0, "cpu_vertex_ns": 0.0, "cpu_edge_ns": 0.0}


def chain_of_stars():
    """A path of which every fortieth vertex has fifty leaves: thin levels, and wide ones between them."""
    path = np.arange(399)
    hubs = np.repeat(np.arange(0, 400, 40), 50)
    return zoo.build(900, (np.concatenate([path, hubs]), np.concatenate([path + 1, 400 + np.arange(500)])))


GRAPHS = {
    "path": lambda: zoo.shared()["path"],
    "comb": lambda: zoo.shared()["comb"],
    "chain of stars": chain_of_stars,
    "directed-cycle": lambda: zoo.shared()["directed-cycle"],
    "two-components": lambda: zoo.shared()["two-components"],
}


def engine_on(graph, build, **tuning):
    options = BfsOptions(tuning=Tuning(**{"look": 4, "slots": 7, "walk_edges": 20} | ALWAYS | tuning))
    return GpuEngine(graph, work=(options,), residency="mapped", runtime=SimtRuntime(build=build)), options


def ready(engine, options):
    """Return the level loop, whose walker on the CPU is made."""
    loop = engine.program(options).loop
    loop.standby.ask()
    loop.standby.wait()
    return loop


def run(engine, options, source, **changes):
    return engine.run(replace(options, source=source, **changes))


@pytest.mark.parametrize("codec", ["plain", "varint"])
@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("build", BUILDS)
def test_a_search_goes_on_on_the_cpu_and_comes_back(build, name, codec):
    if build != "plain" and (codec, name) != ("plain", "chain of stars"):
        pytest.skip("the sanitizers see one graph")
    plain = GRAPHS[name]()
    graph = plain.compress() if codec == "varint" else plain
    engine, options = engine_on(graph, build)
    walked = set()
    with engine:
        ready(engine, options)
        for source in (0, plain.n // 3, plain.n - 1):
            levels, _ = reference_bfs(plain, source)
            result = run(engine, options, source)
            np.testing.assert_array_equal(result.levels, levels)
            engine.program(options).verify(replace(options, source=source), result)
            record = result.record
            assert record.reached == (levels >= 0).sum()
            assert record.edges == plain.degrees()[levels >= 0].sum()
            sizes = np.bincount(levels[levels >= 0]).tolist()
            assert [each.frontier for each in record.levels] == sizes[: len(record.levels)]
            assert len(record.levels) in (levels.max(), levels.max() + 1)
            walked |= {each.backend for each in record.levels}
            for depth in (3, 6, 50):
                cut = run(engine, options, source, max_depth=depth)
                np.testing.assert_array_equal(cut.levels, np.where(levels <= depth, levels, -1))
    if name != "two-components":
        assert walked == {None, "cpu"}


@in_plain
def test_who_wants_no_levels_gets_none():
    graph = zoo.shared()["path"]
    engine, options = engine_on(graph, "plain")
    with engine:
        ready(engine, options)
        found = run(engine, options, 0, want_levels=False)
        _, parents = reference_bfs(graph, 0)
        np.testing.assert_array_equal(found.parents, parents)
        alone = run(engine, options, 0, want_parents=False)
        np.testing.assert_array_equal(alone.levels, reference_bfs(graph, 0)[0])
        assert (alone.parents == -1).all() and (found.levels == -1).all()


@in_plain
def test_without_a_walker_the_device_goes_on(monkeypatch):
    """While it is made, or where there is no memory for it."""
    graph = zoo.shared()["path"]
    engine, options = engine_on(graph, "plain")
    with engine:
        loop = engine.program(options).loop

        def no_memory():
            raise MemoryError

        monkeypatch.setattr(loop.standby, "_make", no_memory)
        for _ in range(2):
            result = run(engine, options, 0)
            np.testing.assert_array_equal(result.levels, reference_bfs(graph, 0)[0])
            assert {each.backend for each in result.record.levels} == {None}
            loop.standby.wait()


@in_plain
@pytest.mark.parametrize("tuning", [{"look": 0}, {"load_seconds": 1e9}, {"cpu_vertex_ns": 1e12}, {"walk_edges": 0}])
def test_a_search_stays_where_the_cpu_would_not_be_quicker(tuning):
    graph = zoo.shared()["path"]
    engine, options = engine_on(graph, "plain", **tuning)
    with engine:
        run(engine, options, 0)
        assert engine.program(options).loop.standby._made is None


@in_plain
def test_a_damaged_id_met_on_the_cpu_is_refused():
    """An id past the last vertex, in a row that only the CPU reads."""
    whole = zoo.shared()["path"]
    indices = whole.adjacency.indices.copy()
    engine, options = engine_on(Graph(PlainAdjacency(whole.adjacency.indptr, indices)), "plain")
    with engine:
        ready(engine, options)
        run(engine, options, 0)
        indices[-2] = whole.n
        with pytest.raises(FormatError):
            run(engine, options, 0)


@in_plain
def test_the_bench_of_deep_graphs(monkeypatch):
    """Its three ways agree, and ``auto`` is the one that hands over."""
    monkeypatch.setattr(bench_deep, "AUTO", BfsOptions(tuning=Tuning(look=16, **ALWAYS)))
    graph = bench_deep.open_graph("comb:vertices=300,tooth=1")
    found = bench_deep.measure(graph, "vram", [0, 150], 1, runtime=SimtRuntime())
    assert found["depth"] == 150 and found["walked"] > 0
    assert min(found[name] for name in ("auto", "gpu", "cpu")) > 0
