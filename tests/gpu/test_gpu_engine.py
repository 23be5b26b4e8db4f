"""The engine on a device against the reference: zoo x {plain, varint} x {vram, mapped, streamed} x every strategy."""

from dataclasses import replace

import numpy as np
import pytest
import zoo

from bigbfs.algorithms.bfs.gpu.tuning import Tuning
from bigbfs.algorithms.bfs.options import BfsOptions
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


def bfs_cases():
    """Yield (name, codec, residency, strategy): all for the persistent strategies; the others, which share what reads
    rows, meet each graph in one codec and place, and every pair of those two over the zoo."""
    for number, name in enumerate(zoo.names()):
        for other, (residency, strategy) in enumerate(PLACES):
            for codec in CODECS:
                persistent = STRATEGIES[strategy].loop == "persistent"
                if persistent or (number + other // 2) % 4 == 2 * CODECS.index(codec) + other % 2:
                    yield name, codec, residency, strategy


def test_every_strategy_meets_every_codec_and_place():
    met = {(codec, residency, strategy) for _, codec, residency, strategy in bfs_cases()}
    assert met == {(codec, residency, strategy) for codec in CODECS for residency, strategy in PLACES}


@pytest.mark.parametrize(("name", "codec", "residency", "strategy"), list(bfs_cases()))
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


@pytest.mark.parametrize("residency", ["vram", "mapped"])
@pytest.mark.parametrize("codec", CODECS)
def test_a_deep_search_goes_on_on_the_cpu_and_comes_back(codec, residency):
    """A path with a star at every thousandth vertex: thin levels for long, and wide ones between them."""
    path = np.arange(19_999)
    hubs = np.repeat(np.arange(0, 20_000, 1_000), 3_000)
    leaves = 20_000 + np.arange(len(hubs))
    graph = zoo.build(20_000 + len(hubs), (np.concatenate([path, hubs]), np.concatenate([path + 1, leaves])))
    tuning = Tuning(look=64, slots=128, load_seconds=0)
    options = BfsOptions(tuning=tuning)
    with GpuEngine(encoded(graph, codec), work=(options,), residency=residency) as engine:
        standby = engine.program(options).loop.standby
        standby.ask()
        standby.wait()
        for source in (0, 10_500, graph.n - 1):
            result = engine.run(replace(options, source=source))
            levels = reference_bfs(graph, source)[0]
            np.testing.assert_array_equal(result.levels, levels)
            validate_tree(graph, source, result.levels, result.parents)
            engine.program(options).verify(replace(options, source=source), result)
            places = [level.backend for level in result.record.levels]
            assert places.count("cpu") > 1_000 and places.count(None) > 64
            assert sum(level.frontier for level in result.record.levels) == result.record.reached == graph.n


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
