"""The engine on a device against the reference: zoo x {plain, varint} x {vram, mapped, streamed} x every strategy."""

import numpy as np
import pytest
import zoo

from bigbfs.algorithms.bfs.reference import bfs as reference_bfs
from bigbfs.algorithms.bfs.strategies import STRATEGIES
from bigbfs.algorithms.bfs.validate import validate_tree
from bigbfs.algorithms.components.reference import components as reference_components
from bigbfs.algorithms.gpu_engine import GpuEngine
from bigbfs.errors import FormatError, UsageError
from bigbfs.graph.graph import Graph

CODECS = ("plain", "varint")
RESIDENCIES = ("vram", "mapped", "streamed")


def encoded(graph, codec):
    return graph.compress() if codec == "varint" else graph.decompress()


def check_bfs(engine, graph, source, **options):
    levels, _ = reference_bfs(graph, source)
    result = engine.bfs(source, **options)
    np.testing.assert_array_equal(result.levels, levels)
    if options.get("want_parents", True):
        validate_tree(graph, source, result.levels, result.parents)
    else:
        assert (result.parents == -1).all()
    reached = levels >= 0
    assert result.record.reached == np.count_nonzero(reached)
    assert result.record.depth == levels.max()
    assert result.record.edges == graph.degrees()[reached].sum()
    assert sum(level.frontier for level in result.record.levels) == result.record.reached
    return result


PLACES = [(place, name) for name, entry in STRATEGIES.items() for place in entry.residencies]


@pytest.mark.parametrize(("residency", "strategy"), PLACES)
@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("name", zoo.names())
def test_bfs_equals_the_reference(name, codec, residency, strategy):
    graph = zoo.shared()[name]
    with GpuEngine(encoded(graph, codec), residency=residency, strategy=strategy) as engine:
        assert (engine.backend, engine.residency, engine.strategy) == ("gpu", residency, strategy)
        for source in zoo.sources(graph, 6):
            check_bfs(engine, graph, source)


@pytest.mark.parametrize("residency", RESIDENCIES)
@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("name", zoo.names())
def test_components_equal_the_reference(name, codec, residency):
    graph = zoo.shared()[name]
    labels = reference_components(graph)
    with GpuEngine(encoded(graph, codec), residency=residency) as engine:
        for _ in range(3):
            result = engine.connected_components()
            np.testing.assert_array_equal(result.labels, labels)
        sizes = np.bincount(labels) if graph.n else np.zeros(1, int)
        assert result.record.components == np.count_nonzero(sizes)
        assert result.record.largest == sizes.max()


@pytest.mark.parametrize("codec", CODECS)
def test_max_depth_and_parents_left_out(codec):
    graph = zoo.shared()["grid-2d"]
    levels, _ = reference_bfs(graph, 0)
    with GpuEngine(encoded(graph, codec)) as engine:
        check_bfs(engine, graph, 0, want_parents=False)
        for depth in (0, 1, 7):
            result = engine.bfs(0, max_depth=depth)
            np.testing.assert_array_equal(result.levels, np.where(levels <= depth, levels, -1))
            assert result.record.depth == depth
            assert result.record.reached == np.count_nonzero((levels >= 0) & (levels <= depth))
        check_bfs(engine, graph, 0)  # nothing of the shortened run is left


def test_one_engine_for_bfs_and_components_in_turn():
    graph = zoo.shared()["two-components"]
    labels = reference_components(graph)
    with GpuEngine(graph) as engine:
        for source in zoo.sources(graph, 4):
            check_bfs(engine, graph, source)
            np.testing.assert_array_equal(engine.connected_components().labels, labels)


@pytest.mark.parametrize("residency", RESIDENCIES)
def test_an_id_that_is_no_vertex_is_reported_not_followed(residency):
    graph = zoo.build(5, (np.arange(4), np.arange(1, 5)))
    indices = np.array(graph.adjacency.indices)
    indices[3] = 4_000_000_000
    bad = Graph(type(graph.adjacency)(graph.adjacency.indptr, indices), graph.flags)
    with GpuEngine(bad, residency=residency, strategy="topdown", prove=False) as engine:
        with pytest.raises(FormatError, match="no vertices"):
            engine.bfs(0)
        with pytest.raises(FormatError, match="no vertices"):
            engine.connected_components()


def test_impossible_arguments():
    graph = zoo.shared()["path"]
    with GpuEngine(graph) as engine:
        for source in (-1, graph.n):
            with pytest.raises(UsageError, match="no vertex"):
                engine.bfs(source)
        with pytest.raises(UsageError, match="must be 0 or more"):
            engine.bfs(0, max_depth=-1)
    with pytest.raises(UsageError, match="closed"):
        engine.bfs(0)
    with pytest.raises(UsageError, match="unknown"):
        GpuEngine(graph, strategy="sideways")
    with pytest.raises(UsageError, match="unknown"):
        GpuEngine(graph, residency="cloud")
