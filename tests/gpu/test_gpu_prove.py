"""The proof of rows on a device: sound rows of every kind pass, damaged ones do not."""

import numpy as np
import pytest
import zoo

from bigbfs import generate
from bigbfs.algorithms.gpu_engine import GpuEngine
from bigbfs.engines.gpu.placement.placed import PlacedAdjacency
from bigbfs.engines.gpu.runtime.cuda import CudaRuntime
from bigbfs.errors import FormatError
from bigbfs.graph import varint
from bigbfs.graph.graph import Graph

RESIDENCIES = ("vram", "mapped")


def unproved(graph):
    return Graph(graph.adjacency, graph.flags, in_adjacency=graph.in_adjacency)


@pytest.mark.parametrize("residency", RESIDENCIES)
@pytest.mark.parametrize("codec", ["plain", "varint"])
@pytest.mark.parametrize("name", zoo.names())
def test_sound_rows_pass(name, codec, residency):
    graph = zoo.shared()[name]
    graph = unproved(graph.compress() if codec == "varint" else graph)
    with GpuEngine(graph, residency=residency):
        assert graph.proved


@pytest.fixture(scope="module")
def medium():
    return generate.graph("kronecker", scale=16, edge_factor=16, seed=5)


def sound(adjacency, hot_bytes):
    runtime = CudaRuntime()
    try:
        placed = PlacedAdjacency(runtime, adjacency, mapped=True, hot_bytes=hot_bytes, prove=True)
        found = placed.sound
        placed.close()
    finally:
        runtime.close()
    return found


@pytest.mark.parametrize("hot_bytes", [0, 1 << 20])
@pytest.mark.parametrize("codec", ["plain", "varint"])
def test_one_wrong_id_anywhere_is_found(medium, codec, hot_bytes):
    plain = medium.adjacency
    rng = np.random.default_rng(3)
    for place in [0, plain.m - 1, *rng.integers(plain.m, size=8)]:
        indices = plain.indices.copy()
        indices[place] = plain.n
        damaged = type(plain)(plain.indptr, indices)
        assert not sound(varint.encode(damaged) if codec == "varint" else damaged, hot_bytes)
    assert sound(varint.encode(plain) if codec == "varint" else plain, hot_bytes)


@pytest.mark.parametrize("residency", [*RESIDENCIES, "streamed"])
def test_a_row_that_descends_is_named_and_refused(medium, residency):
    plain = medium.adjacency
    row = int(np.argmax(medium.degrees()))
    start = int(plain.indptr[row])
    indices = plain.indices.copy()
    indices[start : start + 2] = indices[start : start + 2][::-1]
    graph = Graph(type(plain)(plain.indptr, indices), medium.flags)
    with pytest.raises(FormatError, match=f"row {row} does not ascend"):
        GpuEngine(graph, residency=residency)
