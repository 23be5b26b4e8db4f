"""Levels that the first block goes through alone, emulated: lists in shared memory while they are short and heads hold
their rows, the queue else, from one to the other and back."""

import numpy as np
import pytest
import zoo

from bigbfs.algorithms.bfs.gpu.tuning import Tuning
from bigbfs.algorithms.bfs.reference import bfs as reference_bfs
from bigbfs.algorithms.bfs.validate import validate_tree
from bigbfs.algorithms.gpu_engine import GpuEngine
from bigbfs.errors import BigBfsError
from bigbfs.graph.adjacency import PlainAdjacency
from bigbfs.graph.graph import Graph
from emulated.invariants import TraversalWatch
from emulated.runtime import SimtRuntime, builds_here

BUILDS = builds_here()


def ring(neighbours, size):
    """Return a circle in which everybody has so many neighbours next to it."""
    here = np.arange(size)
    return zoo.build(size, zoo.join(*((here, (here + step) % size) for step in range(1, neighbours // 2 + 1))))


def layers(widths):
    """Return layers of so many vertices; each vertex hangs on one of the layer before. Vertex 0 is the first layer."""
    first = np.concatenate([[0], np.cumsum(widths)])
    pairs = []
    for i, width in enumerate(widths[1:]):
        here = first[i + 1] + np.arange(width)
        pairs.append((here, first[i] + np.arange(width) % widths[i]))
    return zoo.build(int(first[-1]), zoo.join(*pairs))


def with_hub(graph, vertex, leaves):
    """Return the graph with so many leaves more on one vertex."""
    n = graph.n
    one = np.repeat(np.arange(n), np.diff(graph.adjacency.indptr).astype(np.int64))
    hub = (np.full(leaves, vertex), n + np.arange(leaves))
    return zoo.build(n + leaves, zoo.join((one, graph.adjacency.edges), hub))


def search(graph, source, build, codec="plain", groups=2, **tuning):
    """Search a graph twice, prove the tree and return the levels' slots of the first search."""
    runtime = SimtRuntime(build=build, sm_count=2)
    runtime.watchers.append(TraversalWatch(graph))
    placed = graph.compress() if codec == "varint" else graph
    levels = reference_bfs(graph, source)[0]
    chosen = Tuning(look=0, wide=0, local=False, **tuning)
    with GpuEngine(placed, residency="vram", head_groups=groups, tuning=chosen, runtime=runtime) as engine:
        run = engine.run_bfs(source)
        result = engine.bfs(source)
    assert np.array_equal(result.levels, levels)
    validate_tree(graph, source, result.levels, result.parents)
    assert [level.frontier for level in result.record.levels] == np.bincount(levels[levels >= 0]).tolist()
    assert result.record.reached == np.count_nonzero(levels >= 0)
    return run.slots[: np.count_nonzero(run.slots["direction"])]


@pytest.mark.parametrize("codec", ["plain", "varint"])
@pytest.mark.parametrize("build", BUILDS)
def test_short_rows_stay_with_the_first_block(build, codec):
    slots = search(ring(6, 500), 7, build, codec)
    assert len(slots) == 85
    assert np.count_nonzero(slots["rounds"]) <= 2


@pytest.mark.parametrize("build", BUILDS)
def test_frontiers_that_grow_and_shrink_change_between_list_and_queue(build):
    graph = layers([1, 3, 8, 9, 8, 30, 8, 2, 63, 64, 5, 8, 1, 1, 1])  # lists hold 8 here, the block has 64 threads
    search(graph, 0, build)
    search(graph, graph.n - 1, build)


@pytest.mark.parametrize("thin_to", [1, 3, 5])
def test_frontiers_larger_than_one_block_may_have_go_to_all(thin_to):
    graph = layers([1, 2, 4, 2, 5, 6, 3, 1, 1, 7, 1])
    slots = search(graph, 0, "plain", thin_to=thin_to)
    assert np.count_nonzero(slots["rounds"]) >= 2


@pytest.mark.parametrize("slots", [2, 3, 7])
def test_launches_end_where_the_slots_are_full_and_go_on(slots):
    search(layers([1, 2, 2, 4, 4, 3, 2, 2, 1, 1, 1, 1, 1, 1]), 0, "plain", slots=slots)


@pytest.mark.parametrize("groups", [1, 2, 4])
@pytest.mark.parametrize("build", BUILDS)
def test_a_row_that_lanes_do_not_share_is_read_from_the_queue(build, groups):
    graph = ring(4, 400)
    for vertex in (40, 44, 130, 200):  # rows of 9, of 24 and of more than a thin level may have
        graph = with_hub(graph, vertex, {40: 5, 44: 20, 130: 61, 200: 3}[vertex])
    slots = search(graph, 0, build, groups=groups)
    assert len(slots) > 90


def test_an_id_that_is_no_vertex_is_counted():
    plain = ring(4, 200).adjacency
    edges = plain.edges.copy()
    edges[4 * 60 + 3] = 999
    broken = Graph(PlainAdjacency(plain.indptr, edges))
    runtime = SimtRuntime(build="plain", sm_count=2)
    tuning = Tuning(look=0, local=False)
    with (
        pytest.raises(BigBfsError, match=r"999|vert"),
        GpuEngine(broken, residency="vram", head_groups=1, tuning=tuning, runtime=runtime, prove=False) as engine,
    ):
        engine.bfs(0)


@pytest.mark.parametrize("build", [build for build in BUILDS if build == "preempt"])
def test_progress_is_read_before_the_first_block_goes_on(build):
    """A source without edges, whose one level the first block has soon gone through: where it begins, others read
    before, however far they lag behind. Who reads it later believes that all is done, and the first block waits in
    vain. With these seeds one thread in 32 is slow (machine.cpp), and seldom one of the first block."""
    graph = zoo.build(3, ([0], [2]))
    runtime = SimtRuntime(build=build, sm_count=8, team=32, preempt_every=2)
    tuning = Tuning(look=0, wide=0, local=False)
    with GpuEngine(graph, residency="vram", head_groups=0, tuning=tuning, runtime=runtime) as engine:
        for number in range(1, 251):
            runtime.launches, runtime.seed = 0, 3 * number
            run = engine.run_bfs(1)
            assert (run.reached, run.depth, run.slots["rounds"][0]) == (1, 0, 1)
