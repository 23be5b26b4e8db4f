"""Searches of mapped graphs, emulated: wide levels, and rows that more heads than usual hold."""

from dataclasses import replace

import numpy as np
import pytest
import zoo
from wide import CODECS, counted

from bigbfs.algorithms.bfs.gpu.costs import Costs
from bigbfs.algorithms.bfs.gpu.tuning import Tuning
from bigbfs.algorithms.bfs.reference import bfs as reference_bfs
from bigbfs.algorithms.components.options import ComponentsOptions
from bigbfs.algorithms.components.reference import components as reference_components
from bigbfs.algorithms.gpu_engine import GpuEngine
from bigbfs.algorithms.words import usual_work
from bigbfs.conversion.orders.degree import degree_order
from bigbfs.conversion.orders.reorder import renumber
from bigbfs.engines.gpu.placement.hot import first_rows, offset_bytes
from bigbfs.engines.gpu.placement.placed import PlacedAdjacency
from bigbfs.engines.gpu.planning import MOST_GROUPS, head_ladder
from bigbfs.engines.gpu.runtime.arguments import LINE
from bigbfs.errors import FormatError
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


@pytest.mark.covered
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


HELD = [(16, 6), (20, 8), (24, 8), (32, 8)]


@pytest.mark.covered("neighbours+strategy")
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


def first_ones(name, codec):
    """Return a graph whose hot rows are its first ones: by degree, or without hubs."""
    graph = ring(20) if name == "ring" else by_degree(zoo.shared()[name])
    return graph.compress() if codec == "varint" else graph


@pytest.mark.covered("share+codec", "name+codec")
@pytest.mark.parametrize("share", [0.0, 0.3, 0.9, 2.0])
@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("name", ["ring", "kronecker-dense", "two-hubs", "star"])
@pytest.mark.parametrize("build", counted(BUILDS))
def test_the_first_rows_go_to_device_memory_and_only_the_others_are_mapped(build, name, codec, share):
    graph = first_ones(name, codec)
    adjacency = graph.adjacency
    room = int(adjacency.edges.nbytes * share) + offset_bytes(len(adjacency.indptr)) * (share > 0)
    runtime = SimtRuntime(build=build)
    with GpuEngine(graph, residency="mapped", hot_bytes=room, head_groups=2, runtime=runtime) as engine:
        rows = engine.rows()
        lead, mapped = int(rows.struct["near_end"]), rows._mapping.array
        assert "hot" not in rows.arrays and (lead > 0) == (share > 0 and rows.hot_bytes > 0)
        assert lead == len(rows.arrays["near"] if lead else ()) and (share < 2.0 or lead == len(adjacency.edges))
        assert len(adjacency.edges) - lead <= len(mapped) < len(adjacency.edges) - lead + LINE + 1
        assert rows.host_bytes == mapped.nbytes and rows.sound and rows.invalid_ids == 0
        degrees = adjacency.degrees()[rows.hubs.astype(np.int64)]
        inside = adjacency.indptr[rows.hubs.astype(np.int64) + 1] <= lead
        assert inside[degrees >= rows.struct["hot_from"]].all()
        for source in (0, graph.n // 2):
            assert np.array_equal(engine.bfs(source).levels, reference_bfs(graph, source)[0])
        assert np.array_equal(engine.connected_components().labels, reference_components(graph))
        found = runtime.download(rows.arrays["heads"])
    with GpuEngine(graph, residency="vram", head_groups=2, runtime=SimtRuntime(build=build)) as engine:
        assert np.array_equal(found, engine.placed.runtime.download(engine.rows().arrays["heads"]))


@pytest.mark.parametrize("at", [0, 1])
@pytest.mark.parametrize("build", counted(BUILDS))
def test_a_fault_is_found_in_first_rows_and_in_others(build, at):
    graph = first_ones("kronecker-dense", "plain")
    edges = graph.adjacency.indices.copy()
    edges[(0, -1)[at]] = graph.n + 7
    broken = PlainAdjacency(graph.adjacency.indptr, edges)
    room = edges.nbytes // 2
    placed = PlacedAdjacency(SimtRuntime(build=build), broken, mapped=True, hot_bytes=room, ranked=True, prove=True)
    assert 0 < int(placed.struct["near_end"]) < len(edges) and not placed.sound
    placed.close()


@pytest.mark.parametrize("first", [1, 2**63, 2**64 - 1])
def test_damaged_offsets_are_refused_before_first_rows_are_placed_by_them(first):
    graph = first_ones("kronecker-dense", "plain")
    offsets, room = graph.adjacency.indptr.copy(), graph.adjacency.edges.nbytes // 2
    offsets[0] = first
    broken = PlainAdjacency(offsets, graph.adjacency.indices)
    assert first_rows(broken, room).nbytes <= room
    runtime = SimtRuntime(build="plain")
    with pytest.raises(FormatError):
        GpuEngine(Graph(broken, graph.flags), residency="mapped", hot_bytes=room, runtime=runtime)
