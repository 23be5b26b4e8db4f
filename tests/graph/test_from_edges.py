"""A graph of two columns of ids, as a conversion would make it; paths in results."""

from itertools import pairwise

import networkx as nx
import numpy as np
import pytest

import bigbfs
from bigbfs import Graph
from bigbfs.errors import ArgumentError, DoesNotFitError, InputError, UsageError


def test_columns_become_the_graph_that_the_same_lines_become(tmp_path):
    src, dst = np.random.default_rng(3).integers(0, 40, (2, 60)) * 1000
    np.savetxt(tmp_path / "a.txt", np.column_stack([src, dst]), "%d")
    bigbfs.convert(tmp_path / "a.txt")
    table = np.column_stack([src, dst]).astype(np.uint32)
    with bigbfs.open(tmp_path / "a.csrbin") as kept:
        for pair in ((src, dst), (src.tolist(), dst.tolist()), (table[:, 0], table[:, 1]), (src.astype(">i8"), dst)):
            made = Graph.from_edges(*pair)
            assert made.original_ids().tolist() == kept.original_ids().tolist()
            assert made.adjacency.indices.tolist() == kept.adjacency.indices.tolist()
            assert made.adjacency.indptr.tolist() == kept.adjacency.indptr.tolist()


def test_options_of_a_column_graph():
    assert bigbfs.topological_order(Graph.from_edges([0, 1], [1, 2], n=5, directed=True)).tolist() == [0, 3, 4, 1, 2]
    assert Graph.from_edges([1, 1, 2], [1, 2, 1], keep_self_loops=True, keep_duplicates=True).m == 5
    assert (Graph.from_edges([], []).n, Graph.from_edges([], [], n=3).n) == (0, 3)
    assert Graph.from_edges([2**62], [7]).original_ids().tolist() == [7, 2**62]


@pytest.mark.parametrize(
    ("src", "dst", "more", "error", "says"),
    [
        ([1, 2], [1], {}, InputError, "src has 2 ids and dst 1"),
        ([1.5], [2], {}, ArgumentError, r"src=\[1.5\]"),
        ([True], [False], {}, ArgumentError, "src="),
        ([1], ["b"], {}, ArgumentError, "dst="),
        (5, 6, {}, ArgumentError, "src=5"),
        (np.eye(2, dtype=int), [1, 2], {}, ArgumentError, "src="),
        ([[1], [2, 3]], [1, 2], {}, ArgumentError, "src="),
        ([-1], [2], {}, InputError, "id -1"),
        (np.ma.array([1, 2], mask=[0, 1]), [2, 3], {}, ArgumentError, "masked entries"),
        ([1], [2], {"n": 2**62}, DoesNotFitError, "; free some memory, or convert the edges from a file$"),
        ([1], [2**63], {}, InputError, "id 9223372036854775808"),
        ([1], [5], {"n": 2}, InputError, "id 5, and n=2 means ids of 0 to 1"),
        ([1], [5], {"n": -1}, UsageError, "n=-1"),
        ([1], [5], {"directed": 1}, ArgumentError, "directed=1"),
    ],
)
def test_columns_that_cannot_be_meant(src, dst, more, error, says):
    with pytest.raises(error, match=says):
        Graph.from_edges(src, dst, **more)


@pytest.mark.parametrize("directed", [False, True])
def test_paths_are_shortest_ones_and_a_target_ends_the_search(directed):
    theirs = nx.gnm_random_graph(60, 75, seed=4, directed=directed)
    theirs = nx.relabel_nodes(theirs, {v: 7 * v + 3 for v in theirs})
    edges = np.array(theirs.edges)
    graph = Graph.from_edges(edges[:, 0], edges[:, 1], directed=directed)
    source = int(edges[0, 0])
    levels = dict(zip(graph.original_ids().tolist(), range(graph.n), strict=True))
    distances = nx.single_source_shortest_path_length(theirs, source)
    result = bigbfs.bfs(graph, source, backend="cpu")
    for vertex, place in levels.items():
        path = result.path_to(vertex).tolist()
        if vertex not in distances:
            assert path == []
            continue
        assert (path[0], path[-1], len(path) - 1) == (source, vertex, distances[vertex])
        assert all(theirs.has_edge(*step) for step in pairwise(path))
        ended = bigbfs.bfs(graph, source, backend="cpu", target=vertex, verify=True)
        assert ended.path_to(vertex).tolist() == path and ended.record.depth == distances[vertex]
        assert ended.levels[place] == ended.levels.max(), "no level beyond that of the target"
    farthest = max(distances.values())
    assert result.record.deepest == min(v for v, distance in distances.items() if distance == farthest)


@pytest.mark.parametrize("strategy", ["auto", "topdown"])
def test_wide_levels_and_hubs_end_at_the_target_too(strategy):
    import bigbfs.generate

    star = bigbfs.generate.graph("star", seed=2, vertices=30_000)
    source = int(star.degrees().argmax())
    whole = bigbfs.bfs(star, source, backend="cpu", strategy=strategy)
    for vertex in (source, int(whole.levels.argmax()), int((whole.levels == 1).argmax())):
        ended = bigbfs.bfs(star, source, backend="cpu", strategy=strategy, target=vertex, verify=True)
        assert ended.record.depth == whole.levels[vertex] == len(ended.path_to(vertex)) - 1
        assert (ended.levels == np.where(whole.levels <= whole.levels[vertex], whole.levels, -1)).all()


def test_paths_that_cannot_be_meant():
    graph = Graph.from_edges([10, 20, 40], [20, 30, 50])
    result = bigbfs.bfs(graph, 10, backend="cpu")
    for vertex in (11, -1, 2**70):
        with pytest.raises(UsageError, match=f"v={vertex}: is no vertex"):
            result.path_to(vertex)
    with pytest.raises(ArgumentError, match=r"v=1\.5"):
        result.path_to(1.5)
    with pytest.raises(UsageError, match="want_parents=True"):
        bigbfs.bfs(graph, 10, backend="cpu", want_parents=False).path_to(30)
    with pytest.raises(UsageError, match="no vertex 11"):
        bigbfs.bfs(graph, 10, backend="cpu", target=11)
    assert bigbfs.bfs(graph, 10, backend="cpu", want_levels=False).path_to(30).tolist() == [10, 20, 30]
    lonely = Graph.from_edges([1], [2], n=4)
    assert bigbfs.bfs(lonely, 1, backend="cpu", target=3).path_to(3).tolist() == []


@pytest.mark.parametrize(
    ("column", "says"),
    [
        (["a", "b"], r"whole numbers, the ids of vertices; names are numbered by Graph\.from_arrow"),
        (np.array([b"a", b"b"]), r"names are numbered by Graph\.from_arrow"),
        (np.array([1.0, 2.0]), r"if all of them are whole, give column\.astype\(np\.int64\)"),
        ([True, False], "the ids of vertices$"),
    ],
)
def test_what_to_do_with_a_column_of_no_ids_is_said(column, says):
    with pytest.raises(bigbfs.ArgumentError, match=says):
        bigbfs.Graph.from_edges([1, 2], column)
