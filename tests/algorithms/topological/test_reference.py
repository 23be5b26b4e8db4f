"""The serial oracles: Kahn's rounds against graphlib, depth-first search against its own theorems, cycles named."""

from __future__ import annotations

import numpy as np
import pytest
import zoo
from algorithms.topological.dags import NAMES, dag, rounds_by_graphlib
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order
from zoo import build, join, path

from bigbfs.algorithms.topological.cycle import CycleError, find_cycle
from bigbfs.algorithms.topological.depth_first import depth_first
from bigbfs.algorithms.topological.reference import topological_order
from bigbfs.algorithms.topological.validate import validate_order, validate_rounds, validate_topological
from bigbfs.engines.cpu.rows import rows_of
from bigbfs.errors import UsageError, VerificationError


@pytest.mark.parametrize("codec", ["plain", "varint"])
@pytest.mark.parametrize("name", NAMES)
def test_rounds_are_what_graphlib_says(name, codec):
    graph = dag(name)
    order, rounds = topological_order(graph.compress() if codec == "varint" else graph)
    assert (order.dtype, rounds.dtype) == (np.int64, np.int32)
    np.testing.assert_array_equal(rounds, rounds_by_graphlib(graph))
    np.testing.assert_array_equal(order, np.lexsort((np.arange(graph.n), rounds)))
    validate_topological(graph, order, rounds)


@given(st.integers(1, 24).flatmap(lambda n: st.tuples(st.just(n), st.lists(st.tuples(*[st.integers(0, n - 1)] * 2)))))
def test_any_small_graph_has_an_order_or_a_cycle(case):
    n, pairs = case
    graph = build(n, ([u for u, _ in pairs], [v for _, v in pairs]), directed=True, keep=True)
    edges = set(pairs)
    try:
        order, rounds = topological_order(graph)
    except CycleError as error:
        assert set(zip(error.cycle, (*error.cycle[1:], error.cycle[0]), strict=True)) <= edges
        assert len(set(error.cycle)) == len(error.cycle) > 0
        return
    place = np.argsort(order)
    assert all(place[u] < place[v] and rounds[u] < rounds[v] for u, v in pairs)
    validate_topological(graph, order, rounds)
    validate_order(graph, depth_first(graph).reverse_finish_order())


@pytest.mark.parametrize("name", NAMES)
def test_reverse_finish_order_is_a_second_order(name):
    validate_order(dag(name), depth_first(dag(name)).reverse_finish_order())


@pytest.mark.parametrize("name", zoo.names(big=False))
def test_intervals_are_nested_or_apart_and_parents_lie_around(name):
    graph = zoo.shared()[name]
    found = depth_first(graph)
    times = np.concatenate([found.discovery, found.finish])
    assert sorted(times.tolist()) == list(range(2 * graph.n))
    child = np.flatnonzero(found.parents >= 0)
    parent = found.parents[child]
    assert (found.discovery[parent] < found.discovery[child]).all()
    assert (found.finish[child] < found.finish[parent]).all()
    # read by time, openings and closings are a word of parentheses that match
    opened = np.full(2 * graph.n, -1)
    opened[found.discovery] = np.arange(graph.n)
    closed = np.full(2 * graph.n, -1)
    closed[found.finish] = np.arange(graph.n)
    stack = []
    for time in range(2 * graph.n):
        if opened[time] >= 0:
            assert found.parents[opened[time]] == (stack[-1] if stack else -1)
            stack.append(opened[time])
        else:
            assert stack.pop() == closed[time]


@pytest.mark.parametrize("name", ["directed-out-only", "dag", "binary-tree", "vertices-65", "directed-back-edges"])
def test_white_paths(name):
    """A vertex ends up below another exactly if a path of vertices not yet met led there when that one was met."""
    graph = zoo.shared()[name]
    found = depth_first(graph)
    plain = graph.adjacency
    shape = (graph.n, graph.n)
    matrix = csr_array((np.ones(graph.m), plain.indices.astype(np.int32), plain.indptr.astype(np.int32)), shape)
    for vertex in zoo.sources(graph, 12):
        white = found.discovery >= found.discovery[vertex]
        numbers = np.flatnonzero(white)
        reached = breadth_first_order(matrix[numbers][:, numbers], int(np.searchsorted(numbers, vertex)))[0]
        inside = white & (found.finish <= found.finish[vertex])
        assert sorted(numbers[reached].tolist()) == np.flatnonzero(inside).tolist()


def test_a_deep_path_needs_no_recursion():
    graph = build(50_000, path(50_000), directed=True)
    assert depth_first(graph).finish[0] == 99_999
    assert topological_order(graph)[1].tolist() == list(range(50_000))


def test_a_cycle_is_named_by_its_vertices():
    # 0 -> 1 -> [2 -> 3 -> 4 -> 2] -> 5 -> 6: 5 and 6 wait as well, but are on no cycle
    edges = ([0, 1, 2, 3, 4, 4, 5], [1, 2, 3, 4, 2, 5, 6])
    with pytest.raises(CycleError, match=r"(\d+) -> \d+ -> \d+ -> \1 is a cycle of 3 edges") as caught:
        topological_order(build(7, edges, directed=True, first_id=10))
    assert sorted(caught.value.cycle) == [12, 13, 14]
    assert caught.value.exit_code == 1
    with pytest.raises(CycleError, match="1 -> 1 is a self-loop"):
        topological_order(build(3, ([0, 1, 1], [1, 1, 2]), directed=True, keep=True))
    with pytest.raises(CycleError, match=r"-> \.\.\. -> .* is a cycle of 90 edges") as caught:
        topological_order(zoo.shared()["directed-cycle"])
    assert sorted(caught.value.cycle) == list(range(90))


def test_an_undirected_graph_is_refused_unless_it_has_no_edge():
    with pytest.raises(UsageError, match="directed=True") as caught:
        topological_order(build(2, ([0], [1])))
    assert caught.value.exit_code == 2
    assert topological_order(zoo.shared()["isolated"])[0].tolist() == list(range(70))


def test_vertices_that_wait_for_nobody_are_no_cycle():
    graph = build(4, path(4), directed=True)
    assert find_cycle(rows_of(graph.adjacency), np.array([0, 1, -1, -1], np.int32)).tolist() == []
    assert find_cycle(rows_of(graph.adjacency), np.arange(4, dtype=np.int32)).tolist() == []


@pytest.mark.parametrize(
    ("order", "rule"),
    [([0, 2, 1, 3], "leads forward"), ([0, 1, 1, 3], "every vertex once"), ([0, 1, 2, 4], "holds vertices")],
)
def test_a_wrong_order_is_found(order, rule):
    graph = build(4, path(4), directed=True)
    validate_order(graph, np.arange(4))
    with pytest.raises(VerificationError, match=rule):
        validate_order(graph, np.array(order, np.int64))


@pytest.mark.parametrize(
    ("rounds", "rule"),
    [
        ([0, 1, 1, 0, 2], "later round"),
        ([0, 1, 2, 0, 4], "follows the latest"),
        ([1, 2, 3, 0, 4], "follows the latest"),
        ([0, 1, -1, 0, 3], "every vertex has"),
    ],
)
def test_wrong_rounds_are_found(rounds, rule):
    graph = build(5, join(path(3), ([2, 3], [4, 4])), directed=True, first_id=100)
    validate_rounds(graph, np.array([0, 1, 2, 0, 3], np.int32))
    with pytest.raises(VerificationError, match=rule):
        validate_rounds(graph, np.array(rounds, np.int32))


def test_an_order_that_does_not_go_by_rounds_is_found():
    graph = build(4, ([0], [3]), directed=True)
    rounds = np.array([0, 0, 0, 1], np.int32)
    validate_topological(graph, np.array([0, 1, 2, 3]), rounds)
    for order in ([0, 2, 1, 3], [0, 3, 1, 2]):
        with pytest.raises(VerificationError, match="goes by round"):
            validate_topological(graph, np.array(order), rounds)
