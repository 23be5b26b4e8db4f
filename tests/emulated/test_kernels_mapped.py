"""Searches of mapped graphs, emulated: wide levels, and rows that more heads than usual hold."""

from dataclasses import replace

import numpy as np
import pytest
import zoo

from bigbfs.algorithms.bfs.gpu.costs import Costs
from bigbfs.algorithms.bfs.gpu.tuning import Tuning
from bigbfs.algorithms.bfs.reference import bfs as reference_bfs
from bigbfs.algorithms.components.options import ComponentsOptions
from bigbfs.algorithms.gpu_engine import GpuEngine
from bigbfs.algorithms.words import usual_work
from bigbfs.conversion.orders.degree import degree_order
from bigbfs.conversion.orders.reorder import renumber
from bigbfs.engines.gpu.planning import MOST_GROUPS, head_ladder
from bigbfs.graph.adjacency import PlainAdjacency
from bigbfs.graph.graph import Graph
from emulated.runtime import SimtRuntime, builds_here

BUILDS = builds_here()

WIDE = Tuning(costs=Costs(0, 10**6, 10**6, 0, 0, 0, 0), wide=1 << 40, thin_to=0, local=False)
"""The first level is wide where it may be."""


def by_degree(graph):
    indptr, indices = graph.adjacency.indptr.view(np.int64), graph.adjacency.indices
    order, rank = degree_order(indptr)
    rows, _ = renumber((indptr, indices), (indptr, indices), order, rank, 1)
    return Graph(PlainAdjacency(rows[0].view(np.uint64), rows[1]), graph.flags.__class__(relabelled=True))


def searched(build, graph, source, sort_from):
    """Search a mapped ``graph`` and return the slots of its levels."""
    tuning = replace(WIDE, sort_from=sort_from)
    with GpuEngine(graph, residency="mapped", tuning=tuning, runtime=SimtRuntime(build=build)) as engine:
        run = engine.run_bfs(source)
        assert np.array_equal(engine.bfs(source).levels, reference_bfs(graph, source)[0])
        return run.slots[: np.count_nonzero(run.slots["direction"])]


@pytest.mark.parametrize("sort_from", [1, 1 << 40], ids=["sorted first", "as it is"])
@pytest.mark.parametrize("build", BUILDS)
def test_levels_of_mapped_rows_are_wide_but_by_degree(build, sort_from):
    graph = zoo.shared()["kronecker-dense"]
    source = int(graph.degrees().argmax())
    assert searched(build, graph, source, sort_from)["found"][0] > 0
    ranked = by_degree(graph)
    assert searched(build, ranked, 0, sort_from)["found"][0] == 0 and ranked.degrees()[0] == graph.degrees().max()


def ring(neighbours, size=600):
    """Return a ring whose vertices are joined to so many."""
    here = np.arange(size)
    return zoo.build(size, zoo.join(*((here, (here + step) % size) for step in range(1, neighbours // 2 + 1))))


HELD = [(16, 5), (20, 7), (24, 8), (32, 8)]


@pytest.mark.parametrize("strategy", ["auto", "topdown"])
@pytest.mark.parametrize(
    ("build", "neighbours", "groups"),
    [(build, *held) for build in BUILDS for held in HELD if build == "plain" or held == (24, 8)],
)
def test_even_rows_are_read_from_as_many_heads_as_hold_them(build, neighbours, groups, strategy):
    graph = ring(neighbours)
    assert groups <= MOST_GROUPS and neighbours <= 4 * groups
    with GpuEngine(
        graph, residency="mapped", strategy=strategy, hot_bytes=0, runtime=SimtRuntime(build=build)
    ) as engine:
        assert engine.plan.head_groups == groups
        engine.rows()._mapping.array[:] = 0
        for source in (0, 299):
            assert np.array_equal(engine.bfs(source).levels, reference_bfs(graph, source)[0])


def test_components_get_no_more_heads_than_they_look_at():
    graph = ring(24)
    assert head_ladder(graph, "mapped", (ComponentsOptions(),)) == head_ladder(graph, "vram") == (2, 1, 0)
    assert head_ladder(graph, "mapped", usual_work()) == head_ladder(graph, "mapped") == (8, 7, 6, 5, 4, 3, 2, 1, 0)
