"""Deep searches: a GPU's levels, emulated, and those that the CPU walks, in one search.

Every search begins on the device, is handed to the CPU after a few thin levels, and comes back where a level is wide.
"""

import threading
import time
from dataclasses import replace

import bench_deep
import numpy as np
import pytest
import zoo

from bigbfs.algorithms.bfs.cpu import thin
from bigbfs.algorithms.bfs.gpu import handover, pace
from bigbfs.algorithms.bfs.gpu.handover import HandOver
from bigbfs.algorithms.bfs.gpu.pace import Pace
from bigbfs.algorithms.bfs.gpu.tuning import Tuning
from bigbfs.algorithms.bfs.options import BfsOptions
from bigbfs.algorithms.bfs.reference import bfs as reference_bfs
from bigbfs.algorithms.gpu_engine import GpuEngine
from bigbfs.errors import DeviceError, DoesNotFitError, FormatError
from bigbfs.graph.adjacency import PlainAdjacency
from bigbfs.graph.graph import Graph
from emulated.runtime import SimtRuntime, builds_here

BUILDS = [build for build in builds_here() if build != "preempt"]
in_plain = pytest.mark.skipif("plain" not in BUILDS, reason="nothing for a sanitizer")
ALWAYS = {"load_seconds": 0.0, "cpu_edge_ns": 0.0}


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
def test_what_is_noted_of_a_walk_is_noted_off_the_clock(monkeypatch):
    records, asked = HandOver.records, []

    def slowly(self, walked):
        asked.append(walked.levels)
        time.sleep(2)
        return records(self, walked)

    monkeypatch.setattr(HandOver, "records", slowly)
    engine, options = engine_on(zoo.shared()["path"], "plain")
    with engine:
        ready(engine, options)
        asked.clear()
        assert run(engine, options, 0).record.seconds < 2 and asked


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
def test_without_memory_for_buffers_the_device_goes_on(monkeypatch):
    graph = zoo.shared()["path"]
    engine, options = engine_on(graph, "plain")
    with engine:
        ready(engine, options)

        def refuse(nbytes):
            raise DoesNotFitError("no pinned memory")

        monkeypatch.setattr(engine.placed.runtime, "stage", refuse)
        result = run(engine, options, 0)
        np.testing.assert_array_equal(result.levels, reference_bfs(graph, 0)[0])
        assert {each.backend for each in result.record.levels} == {None}


@in_plain
@pytest.mark.parametrize("walk_edges", [2, 5])
def test_buffers_that_hold_a_few_vertices_take_turns(walk_edges, monkeypatch):
    """They are filled again and again in one walk, and given back with the engine."""
    monkeypatch.setattr(handover, "BATCH", 1)
    graph = zoo.shared()["path"]
    engine, options = engine_on(graph, "plain", walk_edges=walk_edges)
    sent = []
    with engine:
        ready(engine, options)
        for source in (0, graph.n // 2):
            engine.placed.runtime.watchers.append(lambda name, *_: sent.append(name == "bfs_adopt"))
            result = run(engine, options, source)
            np.testing.assert_array_equal(result.levels, reference_bfs(graph, source)[0])
            engine.program(options).verify(replace(options, source=source), result)
            sizes = np.bincount(result.levels).tolist()
            assert [each.frontier for each in result.record.levels] == sizes
        stages = engine.program(options).loop._hand_over._stages
        assert len(stages[0].host) == 2 * walk_edges * 3 * graph.ids.itemsize
        assert sum(sent) > graph.n // (2 * walk_edges)
    assert all(len(stage.host) == 0 for stage in stages)


@in_plain
def test_behind_a_deep_search_the_next_begins_on_the_cpu(monkeypatch):
    """What is reset meanwhile is one launch, the end another; a search that is wide soon is the device's again."""
    launched = Pace.launched

    def slowly(self, *given):
        thin = launched(self, *given)
        self._level_ns = 1e12  # a busy machine makes a walk as slow as a device that is emulated
        return thin

    monkeypatch.setattr(Pace, "launched", slowly)
    monkeypatch.setattr(pace, "DEEP", 100)
    monkeypatch.setattr(handover, "BATCH", 1)
    path, leaves = np.arange(299), np.arange(301, 600)
    graph = zoo.build(600, (np.concatenate([path, np.full(299, 300)]), np.concatenate([path + 1, leaves])))
    engine, options = engine_on(graph, "plain")

    def backends(source, **changes):
        asked = replace(options, source=source, **changes)
        result = engine.run(asked)
        levels = reference_bfs(graph, source)[0]
        most = changes.get("max_depth") or levels.max()
        np.testing.assert_array_equal(result.levels, np.where(levels <= most, levels, -1))
        if not changes:
            engine.program(options).verify(asked, result)
        assert result.record.reached == (result.levels >= 0).sum()
        sizes = np.bincount(levels[levels >= 0]).tolist()
        assert [each.frontier for each in result.record.levels] == sizes[: len(result.record.levels)]
        return [each.backend for each in result.record.levels], result.record.launches

    with engine:
        ready(engine, options)
        mixed, _ = backends(0)
        assert mixed[:4] == [None] * 4 and mixed[4:] == ["cpu"] * (len(mixed) - 4)
        for source in (299, 0, 150):
            begun, launches = backends(source)
            assert set(begun) == {"cpu"} and launches == 2
        assert backends(0, max_depth=4)[0] == [None] * 4
        assert set(backends(0, max_depth=150)[0]) == {"cpu"}
        assert set(backends(305)[0]) == {"cpu", None}  # a leaf, then the hub, which is the device's
        assert backends(0)[0][:4] == [None] * 4
        assert set(backends(0)[0]) == {"cpu"}
        assert set(backends(300)[0]) == {None}


@in_plain
def test_what_a_device_cannot_take_over_ends_the_search(monkeypatch):
    """The other thread's error is the search's; the next one finds nothing of it."""
    monkeypatch.setattr(handover, "BATCH", 1)
    graph = zoo.shared()["path"]
    engine, options = engine_on(graph, "plain")
    with engine:
        ready(engine, options)
        take_over = HandOver._take_over

        def refuse(*given):
            raise DeviceError("the copy failed") if threading.current_thread() is not main else None

        main = threading.current_thread()
        monkeypatch.setattr(HandOver, "_take_over", refuse)
        with pytest.raises(DeviceError, match="the copy failed"):
            run(engine, options, 0)
        monkeypatch.setattr(HandOver, "_take_over", take_over)
        np.testing.assert_array_equal(run(engine, options, 0).levels, reference_bfs(graph, 0)[0])


@in_plain
@pytest.mark.parametrize("tuning", [{"look": 0}, {"load_seconds": 1e9}, {"cpu_edge_ns": 1e12}, {"walk_edges": 0}])
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
    assert min(found[name] for name in ("auto", "gpu", "cpu", "loop")) > 0 and found["loop"] < found["auto"]
    assert not isinstance(thin.follow, bench_deep.Watch)
    assert bench_deep.measure(graph, "vram", [0], 1, 0, runtime=SimtRuntime())["gpu"] == np.inf
