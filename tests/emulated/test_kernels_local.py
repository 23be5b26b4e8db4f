"""Local levels, emulated: rows that the head table does not hold, and lists that have no room for what they lead to."""

from dataclasses import replace

import numpy as np
import pytest
import zoo

from bigbfs.algorithms.bfs.gpu.tuning import Tuning
from bigbfs.algorithms.bfs.reference import bfs as reference_bfs
from bigbfs.algorithms.bfs.validate import validate_tree
from bigbfs.algorithms.gpu_engine import GpuEngine
from emulated.runtime import SimtRuntime, builds_here

BUILDS = builds_here()
LOCAL = Tuning(thin_to=0, wide=0, look=0)


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
