import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, connected_components
from zoo import build, join, names, path, random, shared, sources, star

from bigbfs.algorithms.bfs.reference import bfs as reference_bfs
from bigbfs.algorithms.bfs.validate import validate_tree
from bigbfs.algorithms.components.reference import components as reference_components
from bigbfs.algorithms.components.validate import validate_labels
from bigbfs.errors import UsageError


def scipy_matrix(graph):
    plain = graph.adjacency
    ones = np.ones(graph.m, np.int8)
    shape = (graph.n, graph.n)
    return csr_array((ones, plain.indices.astype(np.int32), plain.indptr.astype(np.int32)), shape=shape)


def scipy_levels(graph, source):
    order, before = breadth_first_order(scipy_matrix(graph), source, directed=True)
    levels = np.full(graph.n, -1, np.int32)
    levels[source] = 0
    for vertex in order[1:]:
        levels[vertex] = levels[before[vertex]] + 1
    return levels


def smallest_members(labels):
    first = {}
    for vertex, label in enumerate(labels.tolist()):
        first.setdefault(label, vertex)
    return np.array([first[label] for label in labels.tolist()], np.int64)


@given(
    n=st.integers(1, 60), factor=st.floats(0, 3), seed=st.integers(0, 999), directed=st.booleans(), wide=st.booleans()
)
def test_against_scipy_on_random_graphs(n, factor, seed, directed, wide):
    graph = build(n, random(n, int(factor * n), seed=seed), directed=directed, ids=np.uint64 if wide else np.uint32)
    source = seed % n
    levels, parents = reference_bfs(graph, source)
    assert levels.dtype == np.int32 and parents.dtype == np.int64
    assert np.array_equal(levels, scipy_levels(graph, source))
    validate_tree(graph, source, levels, parents)
    labels = reference_components(graph)
    assert labels.dtype == np.int64
    weak = connected_components(scipy_matrix(graph), directed=True, connection="weak")[1]
    assert np.array_equal(labels, smallest_members(weak))
    validate_labels(graph, labels)


@pytest.mark.parametrize("name", [name for name in names() if shared()[name].n > 0])
def test_against_scipy_on_the_zoo(name):
    graph = shared()[name]
    for source in sources(graph, 3):
        levels, parents = reference_bfs(graph, source)
        assert np.array_equal(levels, scipy_levels(graph, source))
        validate_tree(graph, source, levels, parents)
    labels = reference_components(graph)
    assert np.array_equal(labels, smallest_members(connected_components(scipy_matrix(graph), directed=False)[1]))
    validate_labels(graph, labels)


@pytest.mark.parametrize("name", ["random", "duplicates-kept", "degree-1024", "wide-ids-hub", "directed-out-only"])
def test_compressed_rows_give_the_same(name):
    graph = shared()[name]
    packed = graph.compress()
    assert packed.codec == "varint"
    levels, parents = reference_bfs(graph, 0)
    for found, expected in zip(reference_bfs(packed, 0), (levels, parents), strict=True):
        assert np.array_equal(found, expected)
    labels = reference_components(packed)
    assert np.array_equal(labels, reference_components(graph))
    validate_tree(packed, 0, levels, parents)
    validate_labels(packed, labels)


def test_max_depth_stops_there():
    graph = build(10, path(10))
    levels, parents = reference_bfs(graph, 4, max_depth=2)
    assert levels.tolist() == [-1, -1, 2, 1, 0, 1, 2, -1, -1, -1]
    assert parents.tolist() == [-1, -1, 3, 4, -1, 4, 5, -1, -1, -1]
    assert reference_bfs(graph, 4, max_depth=0)[0].tolist() == [-1] * 4 + [0] + [-1] * 5
    assert (reference_bfs(graph, 4, max_depth=99)[0] >= 0).all()


@pytest.mark.parametrize("source", [-1, 10, 2**40])
def test_a_source_that_is_no_vertex_is_refused(source):
    graph = build(10, path(10))
    with pytest.raises(UsageError, match=f"no vertex {source}"):
        reference_bfs(graph, source)
    with pytest.raises(UsageError, match=f"no vertex {source}"):
        validate_tree(graph, source, np.zeros(10, np.int32), np.zeros(10, np.int64))
    with pytest.raises(UsageError, match="max_depth"):
        reference_bfs(graph, 0, max_depth=-1)


def test_mapped_read_only_arrays_and_joined_components():
    graph = build(40, join(path(20), path(40, first=20), star(10, hub=3)))
    for array in (graph.adjacency.indptr, graph.adjacency.indices):
        array.flags.writeable = False
    assert reference_components(graph).tolist() == [0] * 20 + [20] * 20
