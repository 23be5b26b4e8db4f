"""Results as other libraries take them: the array API, DLPack, SciPy."""

import numpy as np
import pytest
import zoo

import bigbfs
from bigbfs import Graph


def results():
    """Arrays of every kind that functions return, of a graph with gaps between its ids."""
    graph = Graph.from_edges([10, 20, 30, 70], [20, 30, 40, 80])
    tree = bigbfs.bfs(graph, 10, backend="cpu")
    bare = bigbfs.bfs(graph, 10, backend="cpu", want_levels=False, want_parents=False)
    return {
        "levels": tree.levels,
        "parents": tree.parents,
        "ids": tree.ids,
        "no levels": bare.levels,
        "no parents": bare.parents,
        "labels": bigbfs.connected_components(graph, backend="cpu").labels,
        "distances": bigbfs.distances(graph, [10, 20], backend="cpu").levels,
        "closeness": bigbfs.closeness(graph, backend="cpu").values,
        "eccentricity": bigbfs.eccentricity(graph, backend="cpu").lower,
        "order": bigbfs.topological_order(Graph.from_edges([1, 2], [2, 3], directed=True), backend="cpu"),
        "offsets": graph.adjacency.indptr,
        "neighbours": graph.adjacency.indices,
    }


def test_arrays_are_those_of_numpy_and_go_through_dlpack_without_a_copy():
    for name, array in results().items():
        assert type(array) is np.ndarray and array.__array_namespace__() is np, name
        assert array.__dlpack_device__() == (1, 0), name  # memory of the CPU
        taken = np.from_dlpack(array)
        assert taken.dtype == array.dtype and (taken == array).all() and np.shares_memory(taken, array), name


def test_code_for_the_array_api_alone_takes_them():
    strict = pytest.importorskip("array_api_strict")
    for name, array in results().items():
        taken = strict.from_dlpack(array)
        counted = int(strict.sum(strict.astype(taken >= 0, strict.int64)))
        assert counted == int((array >= 0).sum()), name


def test_arrays_of_a_mapped_file_are_lent_read_only(tmp_path):
    zoo.build(40, zoo.random(40, 60, seed=1)).save(tmp_path / "g.csrbin")
    with bigbfs.open(tmp_path / "g.csrbin") as graph:
        lent = np.from_dlpack(graph.adjacency.indices)
        assert not lent.flags.writeable and lent.tolist() == graph.adjacency.indices.tolist()


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("suffix", ["csrbin", "ccsr"])
def test_a_row_of_the_matrix_is_a_vertex_whatever_their_order(tmp_path, suffix, directed):
    lines = {(3 * u + 5, 3 * v + 5) for u, v in zip(*zoo.random(30, 50, seed=2), strict=True) if u != v}
    (tmp_path / "g.txt").write_text("".join(f"{u} {v}\n" for u, v in lines))
    bigbfs.convert(tmp_path / "g.txt", tmp_path / f"g.{suffix}", order="degree", directed=directed)
    with bigbfs.open(tmp_path / f"g.{suffix}") as graph:
        matrix = graph.to_scipy()
        ids = graph.original(np.arange(graph.n))
        found = set(zip(*(ids[at].tolist() for at in matrix.nonzero()), strict=True))
        assert found == (lines if directed else lines | {(v, u) for u, v in lines})
        assert graph.flags.relabelled and matrix.has_sorted_indices and matrix.shape == (graph.n, graph.n)
        back = Graph.from_scipy(matrix, directed=directed)
        assert back.adjacency.indices.tolist() == graph.decompress().adjacency.indices.tolist()
        matrix.data[:] = 2  # it is nobody else's


def test_edges_that_are_kept_are_counted_however_many_there_are():
    graph = Graph.from_edges([0] * 300, [1] * 300, directed=True, keep_duplicates=True)
    matrix = graph.to_scipy()
    assert matrix.nnz == 300 and (matrix @ np.ones(2, np.int64)).tolist() == [300, 0]
    assert matrix.sum() == 300, "an int8 would be 44"
    matrix.sum_duplicates()
    assert matrix.toarray().tolist() == [[0, 300], [0, 0]]
