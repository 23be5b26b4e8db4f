"""Deep searches: a GPU's levels, emulated, and those that the CPU walks, in one search.

Every search begins on the device, is handed to the CPU after a few thin levels, and comes back where a level is wide.
"""

import time
from dataclasses import replace

import bench_deep
import numpy as np
import pytest
import zoo

from bigbfs.algorithms.bfs.cpu import thin
from bigbfs.algorithms.bfs.gpu import handover, standby
from bigbfs.algorithms.bfs.gpu.arguments import SLOT
from bigbfs.algorithms.bfs.gpu.handover import HandOver
from bigbfs.algorithms.bfs.gpu.pace import EDGES, OWED, Pace
from bigbfs.algorithms.bfs.gpu.standby import Limits, Walked
from bigbfs.algorithms.bfs.gpu.tuning import SLOTS, Tuning
from bigbfs.algorithms.bfs.options import BfsOptions
from bigbfs.algorithms.bfs.reference import bfs as reference_bfs
from bigbfs.algorithms.gpu_engine import GpuEngine
from bigbfs.engines.cpu.rows import rows_of
from bigbfs.errors import DoesNotFitError, FormatError
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


class Rooms:
    """Memory for a walk, one after the other, of each so many columns at first, then more."""

    def __init__(self, ids, sizes):
        self._ids = ids
        self._sizes = iter([(k == 0, size, each[-1]) for each in sizes for k, size in enumerate(each)])
        self._memories, self._parts = [], []

    def __call__(self):
        new, size, most = next(self._sizes)
        if new:
            self._memories.append(np.zeros((standby.PARTS, most), self._ids))
            self._parts.append(None)
        return self._memories[-1], size

    def note(self, part):
        self._parts[-1] = part

    def found(self):
        """Return vertices, parents and levels."""
        found = [np.zeros((3, 0), self._ids)]
        for rows, part in zip(self._memories, self._parts, strict=True):
            columns = np.arange(part.begin, part.end)
            depths = part.depth + np.searchsorted(rows[2, : part.levels], columns, "right")
            found.append(np.stack([rows[0, columns], rows[1, columns], depths.astype(self._ids)]))
        return np.concatenate(found, axis=1)


@in_plain
def test_a_walk_goes_through_a_wide_level_and_ends_where_many_are():
    """What levels have above ``thin`` is owed, and paid back by those that have less."""
    path, hubs = np.arange(299), np.repeat([100, 200, 201, 202], 50)  # wide levels among such of two edges
    graph = zoo.build(500, (np.concatenate([path, hubs]), np.concatenate([path + 1, 300 + np.arange(200)])))
    walker = standby.Walker(rows_of(graph.adjacency))

    def walk(thin, most, last=1000, sizes=((600,),)):
        rooms = Rooms(graph.ids, sizes)
        visited = np.zeros(walker.words // 2, np.uint64)
        visited[0], walked = 1, standby.Walked(0, 1)
        for part in walker.walk(visited, np.zeros(1, graph.ids), walked, Limits(last, thin, most), rooms):
            rooms.note(part)
        assert part.over
        vertices, parents, depths = rooms.found()
        levels = reference_bfs(graph, 0)[0]
        np.testing.assert_array_equal(levels[vertices], depths)
        np.testing.assert_array_equal(levels[parents] + 1, depths)
        assert walked.found == len(vertices) == np.count_nonzero((levels > 0) & (levels <= walked.depth))
        table = walker.records(walked)
        np.testing.assert_array_equal(table["frontier"], np.bincount(levels)[: walked.levels])
        edges = np.bincount(levels[levels >= 0], graph.degrees()[levels >= 0])
        np.testing.assert_array_equal(table["edges"], edges[: walked.levels])
        assert walked.read == table["edges"].sum() and table["on_cpu"].all()
        assert walked.edges == (edges[walked.depth] if walked.count else 0)
        return walked.levels

    everything = int(reference_bfs(graph, 0)[0].max()) + 1
    assert [walk(3, most) for most in (0, 48, 49, 97, 98, 147, 148, 246, 247, 295, 296)] == [
        100, 100, 101, 101, 201, 201, 202, 202, 203, 203, everything,
    ]  # fmt: skip
    assert walk(52, 0) == 201 and walk(102, 0) == everything
    assert walk(3, 500, last=40) == 40
    # memory of which more may be used again and again, and other memory; a level too wide for the room left in it
    assert walk(3, 500, sizes=((60, 70, 140), (60, 160), (400,))) == everything
    assert walk(102, 0, sizes=((10, 100), (60,), (105, 106, 107, 500))) == everything
    assert walk(102, 0, sizes=((10, 50), (20, 40), (20,), (20,))) == 100  # no memory for the wide level
    for last in range(1, 9):
        assert walk(3, 500, last=last, sizes=((5, 6, 7), (8,))) == last


def slots_of(edges, cycles=1000):
    slots = np.zeros(len(edges), SLOT)
    slots["edges"], slots["frontier"], slots["direction"] = edges, 1, 1
    slots["clock"] = cycles * np.arange(len(edges))
    return slots, cycles * len(edges)


@in_plain
def test_the_pace_is_that_of_the_last_levels_and_of_the_last_walk():
    pace = Pace(Tuning(look=4, cpu_edge_ns=100))
    pace.begin()
    assert pace.slots == 4
    slots, end = slots_of([2] * 8)
    assert pace.launched(slots, end, 8e-6) and pace.thin_seconds == 8e-6  # 1,000 ns a level; the CPU: 300
    assert pace.slots == SLOTS
    wide, end = slots_of([2] * 8 + [20] * 4)
    assert not pace.launched(wide, end, 12e-6)
    thin, end = slots_of([200] * 8 + [2] * 4)
    assert pace.launched(thin, end, 12e-6)
    limits = pace.limits(7)
    assert limits == Limits(7, EDGES[0], OWED[1]) and sum(EDGES) + sum(OWED) > pace.most_edges >= EDGES[1] + OWED[1]
    assert pace.goes_on(5000, 10_000, 1e-4) and pace.limits(7).thin == 100  # 10 ns an edge; 4.9 ms saved
    pace.walked(Walked(0, 1, levels=5000, read=10_000), 1e-4)
    assert pace.slots == 4
    assert pace.goes_on(50, 100, 3e-4) and pace.limits(7).thin == 100  # 250 us behind; too short to learn from
    assert pace.goes_on(50, 100, 4e-5) and not pace.goes_on(50, 100, 2e-4)  # 240, 390
    pace.walked(Walked(0, 1, levels=50, read=100), 1e-4)
    assert pace.slots == 8
    assert not pace.goes_on(50, 2000, 4e-4)  # 200 ns
    pace.begin()
    assert pace.slots == 4 and pace.launched(*slots_of([1] * 4), 4e-6) is True
    assert not pace.launched(*slots_of([5] * 4), 4e-6)  # 6 times 180 ns in 1,000
    for _ in range(10):
        pace.begin()
    assert pace.launched(*slots_of([5] * 4), 4e-6)


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
