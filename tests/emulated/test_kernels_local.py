"""Local levels, emulated: rows that heads do not hold, and lists that have no room for what they lead to. Mixed ones:
heads that decide some vertices, and edges of the frontier that find the rest."""

from dataclasses import replace

import numpy as np
import pytest
import zoo

from bigbfs.algorithms.bfs.gpu.costs import Costs
from bigbfs.algorithms.bfs.gpu.tuning import Tuning
from bigbfs.algorithms.bfs.reference import bfs as reference_bfs
from bigbfs.algorithms.bfs.validate import validate_tree
from bigbfs.algorithms.gpu_engine import GpuEngine
from bigbfs.engines.gpu import planning
from emulated.invariants import TraversalWatch
from emulated.runtime import SimtRuntime, builds_here

BUILDS = builds_here()
LOCAL = Tuning(thin_to=0, wide=0, look=0)
MIXED = Tuning(costs=Costs(0, 0, 10**6, 1000, 0, 10**6, 10**6, 1), thin_to=1, local=False)


def ring(neighbours, size):
    """Return a circle in which everybody has so many neighbours next to it."""
    here = np.arange(size)
    return zoo.build(size, zoo.join(*((here, (here + step) % size) for step in range(1, neighbours // 2 + 1))))


def layers(width, count):
    """Return layers of vertices, each joined to all of the next layer; the last vertex is joined to the first layer.

    Vertex 0 is in the last layer, so that who takes it for another one finds what is not due.
    """
    one, other = np.divmod(np.arange(width * width), width)
    pairs = [(1 + i * width + one, 1 + (i + 1) * width + other) for i in range(count - 1)]
    pairs.append((np.zeros(width, np.int64), 1 + np.arange(width)))
    last = count * width
    return zoo.build(1 + last, zoo.join(*((last - a, last - b) for a, b in pairs)))


def search(graph, source, build="plain", tuning=LOCAL, residency="vram", **runtime):
    """Search a graph, prove the tree and return the slots of its levels."""
    runtime = SimtRuntime(build=build, sm_count=2, **runtime)
    with GpuEngine(graph, residency=residency, strategy="topdown", tuning=tuning, runtime=runtime) as engine:
        run = engine.run_bfs(source)
        result = engine.bfs(source)
        assert np.array_equal(result.levels, reference_bfs(graph, source)[0])
        validate_tree(graph, source, result.levels, result.parents)
        return run.slots[: np.count_nonzero(run.slots["direction"])]


@pytest.mark.parametrize("build", BUILDS)
def test_rows_longer_than_the_heads_stay_local(build):
    graph = ring(12, 900)  # a level has 12 vertices of 12 ids
    slots = search(graph, 3, build)
    assert len(slots) == 76
    # no level has a queue of its own but the first one, of one vertex, and what is left at the end
    assert np.count_nonzero(slots["rounds"]) <= 3
    assert np.count_nonzero(search(graph, 3, build, replace(LOCAL, local=False))["rounds"]) == 76


def with_longer_rows(graph, every, neighbours):
    """Return the circle `graph` in which every so many vertices have so many neighbours more, a few steps ahead."""
    n = graph.n
    here = np.repeat(np.arange(0, n, every), neighbours)
    ahead = 7 + np.tile(np.arange(neighbours), len(range(0, n, every)))
    one = np.repeat(np.arange(n), np.diff(graph.adjacency.indptr).astype(np.int64))
    return zoo.build(n, zoo.join((one, graph.adjacency.edges), (here, (here + ahead) % n)))


@pytest.mark.parametrize("build", BUILDS)
def test_mapped_rows_stay_local_where_heads_hold_nearly_all_of_them(build):
    graph = with_longer_rows(ring(12, 900), 60, 9)  # rows of 12 to 14 ids, and of 21, which no heads hold
    assert sorted(set(graph.degrees().tolist()))[-1] > 16
    slots = search(graph, 3, build, residency="mapped")
    assert np.count_nonzero(slots["rounds"]) <= 3
    without = search(graph, 3, build, replace(LOCAL, local=False), residency="mapped")
    assert np.count_nonzero(without["rounds"]) == len(slots)


@pytest.mark.parametrize("build", BUILDS)
def test_rows_that_there_is_no_room_for_are_put_aside(build):
    slots = search(layers(14, 12), 14 * 12, build)  # 28 ids of up to 14 vertices, for which a block's list has no room
    assert slots["frontier"].tolist() == [1] + [14] * 12
    assert (slots["local"] >> np.uint64(22) & np.uint64(1023)).max() > 1


def test_where_some_rows_are_longer_levels_are_local_again_at_once():
    graph = ring(12, 900)
    slots = search(graph, 3, tuning=LOCAL)
    assert np.count_nonzero(slots["local"]) == 76  # the source's row was put aside, the next level was local


def test_a_frontier_that_grows_leaves_for_other_phases():
    graph = zoo.shared()["kronecker-dense"]
    source = int(np.flatnonzero(graph.degrees())[0])
    assert search(graph, source)["rounds"].sum() > 0


@pytest.mark.covered
@pytest.mark.parametrize("codec", ["plain", "varint"])
@pytest.mark.parametrize("build", BUILDS)
def test_levels_that_heads_begin_and_the_edges_of_the_frontier_end(build, codec):
    """Two hubs are one level. Half of who is next to them has stronger neighbours, so that no head leads to a hub."""
    hub, stronger, hidden = np.arange(1, 3), np.arange(3, 8), np.arange(8, 2_408)
    next_to_hubs = np.arange(8, 4_808)  # hubs have 2,400 neighbours, and so has who is stronger, and one more
    plain = zoo.build(
        4_808,
        zoo.join(
            (np.zeros(2, np.int64), hub),
            (next_to_hubs, hub[next_to_hubs % 2]),
            (np.repeat(hidden, 5), np.tile(stronger, len(hidden))),
            (stronger, np.roll(stronger, 1)),
        ),
    )
    runtime = SimtRuntime(build=build, sm_count=3, resident=3, preempt_every=3)
    runtime.watchers.append(TraversalWatch(plain))
    levels = reference_bfs(plain, 0)[0]
    placed = plain.compress() if codec == "varint" else plain
    with GpuEngine(placed, residency="vram", head_groups=1, runtime=runtime, tuning=MIXED) as engine:
        for number in range(4 if build == "preempt" else 1):
            runtime.seed = 1 + number if build == "preempt" else 0
            used = engine.run_bfs(0).slots
            both = used[(used["found"] > 0) & (used["queued"] > 0)]
            assert len(both), "no level was mixed"
            assert both["chunks"].any(), "no row of a mixed level went in chunks"
            result = engine.bfs(0)
            assert np.array_equal(result.levels, levels)
            validate_tree(plain, 0, result.levels, result.parents)


def test_few_chunks_of_hubs_are_cut_for_many_warps():
    """Rows that begin inside a line: the last part of a chunk goes on behind the last whole line."""
    leaves = 3 * 1024 + 5
    others = np.arange(2, 2 + leaves)
    graph = zoo.build(2 + leaves, zoo.join(([0], [1]), (np.full(leaves, 1), others), ([0], [2])))
    for source in (0, 1):
        slots = search(graph, source, tuning=replace(LOCAL, local=False), team=1024)
        assert slots["chunks"].max() == 4  # on 64 warps: eight parts of each


def test_a_directed_graph_without_in_rows_reaches_who_has_no_row():
    """Vertices behind the last that has a row: left out of the sweeps where edges go both ways, and only there."""
    ends = np.arange(10, 100)
    graph = zoo.build(130, (np.zeros(90, int), ends), directed=True, in_rows=False)
    with GpuEngine(graph, residency="vram", runtime=SimtRuntime()) as engine:
        for source in (0, 99, 129, 0):
            result = engine.bfs(source)
            assert np.array_equal(result.levels, reference_bfs(graph, source)[0])
            validate_tree(graph, source, result.levels, result.parents)


@pytest.mark.parametrize("codec", ["plain", "varint"])
def test_a_self_loop_is_no_head_and_ends_none(codec, monkeypatch):
    """Stars by degree whose hubs have a self-loop: at some the first line holds as many ids as there are heads."""
    monkeypatch.setattr(planning, "HEAD_GROUPS", (2,))
    monkeypatch.setattr(planning, "MOST_GROUPS", 2)
    hubs, leaves = 200, 12
    hub = np.arange(hubs)
    n = hubs * (1 + leaves)
    pairs = (np.append(hub, np.repeat(hub, leaves)), np.append(hub, np.arange(hubs, n)))
    graph = zoo.build(n, pairs, keep=True, labels=np.arange(n)[::-1].astype(np.int64))
    stored = graph.compress() if codec == "varint" else graph
    tuning = Tuning(costs=Costs(0, 0, 10**6, 0), thin_to=0, local=False, look=0)
    with GpuEngine(stored, residency="vram", tuning=tuning, runtime=SimtRuntime()) as engine:
        for each in range(0, hubs, 2):
            source = hubs + each * leaves + leaves - 1
            assert np.array_equal(engine.bfs(source).levels, reference_bfs(graph, source)[0]), each
