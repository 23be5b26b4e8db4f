"""Sizes that only a GPU can do in a test: 10^7 to 10^8 edges and more, many sources."""

import numpy as np
import pytest

from bigbfs import generate
from bigbfs.algorithms.bfs.reference import bfs as reference_bfs
from bigbfs.algorithms.bfs.validate import validate_tree
from bigbfs.algorithms.components.reference import components as reference_components
from bigbfs.algorithms.gpu_engine import GpuEngine

SHAPES = {
    "kronecker-20": ("kronecker", {"scale": 20}),
    "uniform-20": ("uniform", {"scale": 20}),
    "grid-1000": ("grid2d", {"rows": 1000, "columns": 1001}),  # no multiple of 32 vertices, nor the star
    "star-10M": ("star", {"vertices": 10_000_019}),
    "kronecker-22": ("kronecker", {"scale": 22}),
}


@pytest.fixture(scope="module", params=SHAPES)
def large(request):
    kind, parameters = SHAPES[request.param]
    graph = generate.graph(kind, seed=5, **parameters)
    assert graph.m > 10**8 or request.param != "kronecker-22"
    sources = np.random.default_rng(5).choice(np.flatnonzero(graph.degrees()), 3, replace=False)
    hub = int(np.argmax(graph.degrees()))
    expected = {int(source): reference_bfs(graph, int(source))[0] for source in {hub, *sources.tolist()}}
    return request.param, graph, expected, reference_components(graph)


@pytest.mark.parametrize("strategy", ["auto", "topdown"])
@pytest.mark.parametrize("residency", ["vram", "mapped"])
@pytest.mark.parametrize("codec", ["plain", "varint"])
def test_bfs_and_components(large, codec, residency, strategy):
    name, graph, expected, labels = large
    with GpuEngine(graph.compress() if codec == "varint" else graph, residency=residency, strategy=strategy) as engine:
        for source, levels in expected.items():
            result = engine.bfs(source)
            np.testing.assert_array_equal(result.levels, levels)
            validate_tree(graph, source, result.levels, result.parents)
        print(f"{name} {codec} {residency} {engine.edges_kind} {strategy}: {result.record.gteps:.2f} GTEPS", end=", ")
        if strategy == "auto":
            found = engine.connected_components()
            np.testing.assert_array_equal(found.labels, labels)
            print(f"components {found.record.seconds * 1e3:.2f} ms")
