"""Vertices by descending degree."""

from __future__ import annotations

import numpy as np
import pytest

from bigbfs.conversion.in_memory.build import build, build_graph
from bigbfs.conversion.options import ConvertOptions
from bigbfs.conversion.orders.degree import degree_order
from bigbfs.errors import UsageError
from bigbfs.graph.edges import EdgeList


def test_ties_go_to_the_smaller_id():
    order, rank = degree_order(np.array([0, 1, 4, 5, 8, 8]))
    assert order.tolist() == [1, 3, 0, 2, 4]
    assert rank.tolist() == [2, 0, 3, 1, 4]
    assert order.dtype == np.uint32


def test_degrees_that_do_not_fit_32_bits():
    indptr = np.cumsum([0, 2**33, 5, 2**33, 7])
    order, _ = degree_order(indptr)
    assert order.tolist() == [0, 2, 3, 1]


@pytest.mark.parametrize("directed", [False, True])
def test_graph_in_degree_order_is_the_same_graph(directed):
    rng = np.random.default_rng(8)
    n = 3000
    src, dst = ((n * rng.random(40_000) ** 3).astype(np.uint32) for _ in range(2))
    plain, _ = build_graph(src, dst, n, first_id=0, options=ConvertOptions(directed=directed))
    graph, _ = build_graph(src, dst, n, first_id=0, options=ConvertOptions(directed=directed, order="degree"))
    assert graph.flags.relabelled and graph.first_id == 0
    assert np.array_equal(graph.labels, np.argsort(-plain.degrees(), kind="stable"))
    assert np.array_equal(graph.in_original_order(graph.degrees()), plain.degrees())
    for adjacency, expected in ((graph.adjacency, plain.adjacency), (graph.in_adjacency, plain.in_adjacency)):
        for vertex in range(0, n, 97):
            inside = graph.vertex(vertex)
            row = adjacency.indices[int(adjacency.indptr[inside]) : int(adjacency.indptr[inside + 1])]
            assert (np.diff(row.astype(np.int64)) > 0).all()
            wanted = expected.indices[int(expected.indptr[vertex]) : int(expected.indptr[vertex + 1])]
            assert np.array_equal(np.sort(graph.original(row)), wanted)


def test_labels_and_first_id_are_carried_along():
    def lists():
        return [EdgeList(np.array([7, 7, 9], np.uint64), np.array([8, 9, 10], np.uint64))]

    graph, _ = build(lists(), ConvertOptions(order="degree"))
    assert graph.labels.tolist() == [7, 9, 8, 10]
    sparse = [EdgeList(edges.src * np.uint64(10**14), edges.dst * np.uint64(10**14)) for edges in lists()]
    graph, _ = build(sparse, ConvertOptions(order="degree"))
    assert graph.labels.tolist() == [7 * 10**14, 9 * 10**14, 8 * 10**14, 10**15]


def test_every_id_up_to_the_largest_can_be_kept():
    lists = [EdgeList(np.array([4, 4], np.uint32), np.array([1, 2], np.uint32))]
    graph, _ = build(lists, ConvertOptions(order="degree", keep_ids=True))
    assert graph.labels.tolist() == [4, 1, 2, 0, 3]
    assert graph.original_ids().tolist() == [0, 1, 2, 3, 4]


def test_impossible_options():
    with pytest.raises(UsageError, match="original, degree"):
        ConvertOptions(order="random")
    with pytest.raises(UsageError, match="must be 0 or more"):
        ConvertOptions(skip_bad_lines=-1)
