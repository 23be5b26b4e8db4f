"""Breadth-first and reverse Cuthill-McKee orders: permutations, close neighbours, the same graph in original ids."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
import zoo
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.csgraph import reverse_cuthill_mckee

from bigbfs import api, generate
from bigbfs.algorithms.bfs.reference import bfs as reference_bfs
from bigbfs.algorithms.components.reference import components as reference_components
from bigbfs.conversion.in_memory.build import build_graph
from bigbfs.conversion.options import ORDERS, ConvertOptions
from bigbfs.conversion.orders.breadth_first import bfs_order, rcm_order
from bigbfs.conversion.orders.reorder import vertex_order
from bigbfs.generate import zoo as shapes


def rows_of(graph):
    """Return (out, into) as the build has them."""

    def signed(adjacency):
        return adjacency.indptr.astype(np.int64), np.asarray(adjacency.indices)

    out = signed(graph.adjacency)
    return (out, out) if graph.flags.symmetric else (out, signed(graph.in_adjacency))


def matrix(out):
    indptr, indices = out
    return scipy.sparse.csr_array((np.ones(len(indices), np.int8), indices, indptr), shape=(len(indptr) - 1,) * 2)


def bandwidth(out, order):
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    rows = np.repeat(np.arange(len(order)), np.diff(out[0]))
    return int(np.abs(rank[rows] - rank[out[1]]).max(initial=0))


def with_in_rows():
    """Orders are made while in-rows are there."""
    graphs = zoo.shared().items()
    return [name for name, graph in graphs if graph.flags.symmetric or graph.in_adjacency is not None]


@pytest.mark.parametrize("name", with_in_rows())
@pytest.mark.parametrize("make", [bfs_order, rcm_order])
def test_an_order_is_a_permutation_and_rank_its_inverse(name, make):
    graph = zoo.shared()[name]
    out, into = rows_of(graph)
    order, rank = make(out, into)
    assert np.array_equal(np.sort(order), np.arange(graph.n))
    assert np.array_equal(rank[order], np.arange(graph.n))
    assert order.dtype == rank.dtype == np.uint32


@pytest.mark.parametrize("make", [bfs_order, rcm_order])
def test_components_stay_together_and_levels_ascend(make):
    parts = (
        shapes.random(300, 500, seed=3),
        shapes.random(99, 200, seed=4, first=300),
        shapes.random(50, 40, seed=5, first=399),
    )
    graph = shapes.build(450, shapes.join(*parts))
    out, into = rows_of(graph)
    order, rank = make(out, into)
    if make is rcm_order:
        order = order[::-1]
        rank = len(rank) - 1 - rank
    components = reference_components(graph)[order]
    borders = np.flatnonzero(np.diff(components.astype(np.int64)))
    firsts = np.r_[0, borders + 1]
    assert len(firsts) == len(np.unique(components))
    for first in firsts:
        levels = reference_bfs(graph, int(order[first]))[0][order]
        inside = levels[levels >= 0]
        assert (np.diff(inside) >= 0).all()


def test_breadth_first_starts_at_the_hub_and_keeps_the_order_of_rows():
    out = (np.array([0, 1, 4, 5, 7, 8]), np.array([1, 0, 2, 3, 1, 1, 4, 3], np.uint32))
    order, _ = bfs_order(out, out)
    assert order.tolist() == [1, 0, 2, 3, 4]


def test_cuthill_mckee_of_a_shuffled_path_is_the_path():
    shuffle = np.random.default_rng(5).permutation(500)
    graph = shapes.build(500, (shuffle[:-1], shuffle[1:]))
    out, into = rows_of(graph)
    order, _ = rcm_order(out, into)
    assert bandwidth(out, order) == 1


def road(n):
    edges = generate.generate("road", vertices=n, seed=2)
    return edges.src, edges.dst


@pytest.mark.parametrize("shape", ["grid", "random", "thin grid", pytest.param("road", marks=pytest.mark.wide)])
def test_bandwidth_is_about_that_of_scipy(shape):
    n = 2000
    pairs = {
        "grid": lambda: shapes.grid(40, 50),
        "thin grid": lambda: shapes.grid(5, 400),
        "random": lambda: shapes.random(n, 3000, seed=1),
        "road": lambda: road(n),
    }[shape]()
    shuffle = np.random.default_rng(1).permutation(n)
    graph = shapes.build(n, (shuffle[pairs[0]], shuffle[pairs[1]]))
    out, into = rows_of(graph)
    ours = bandwidth(out, rcm_order(out, into)[0])
    scipys = bandwidth(out, reverse_cuthill_mckee(matrix(out), symmetric_mode=True))
    assert ours <= 1.1 * scipys + 2
    assert ours < bandwidth(out, np.arange(graph.n)) / 2 or shape == "random"


@settings(max_examples=40)
@given(
    edges=st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), min_size=1, max_size=60),
    order=st.sampled_from(ORDERS),
    directed=st.booleans(),
    keep=st.booleans(),
)
def test_every_order_is_the_same_graph_in_original_ids(edges, order, directed, keep):
    src, dst = (np.array(side, np.uint32) * 7 for side in zip(*edges, strict=True))
    options = {"directed": directed, "keep_duplicates": keep, "keep_self_loops": keep}
    plain, _ = build_graph(src, dst, options=ConvertOptions(**options))
    graph, _ = build_graph(src, dst, options=ConvertOptions(order=order, **options))
    assert graph.flags.relabelled == (order != "original")
    assert np.array_equal(graph.original_ids(), plain.original_ids())
    source = int(src[0])
    found, wanted = (api.bfs(g, source, backend="cpu", threads=1) for g in (graph, plain))
    assert np.array_equal(found.levels, wanted.levels)
    assert np.array_equal(
        api.connected_components(graph, backend="cpu", threads=1).labels,
        api.connected_components(plain, backend="cpu", threads=1).labels,
    )
    rows = {int(v): sorted(graph.original(graph.adjacency.indices[a:b]).tolist()) for v, a, b in spans(graph)}
    assert rows == {int(v): sorted(plain.original(plain.adjacency.indices[a:b]).tolist()) for v, a, b in spans(plain)}


def spans(graph):
    """Return (original id, first edge, last edge) of each row."""
    indptr = graph.adjacency.indptr.astype(np.int64)
    return zip(graph.original(np.arange(graph.n)), indptr[:-1], indptr[1:], strict=True)


def test_no_vertex_and_no_edge():
    nothing = (np.zeros(1, np.int64), np.empty(0, np.uint32))
    for name in ("degree", "bfs", "rcm"):
        order, rank = vertex_order(name, nothing, nothing)
        assert len(order) == len(rank) == 0
    lonely = (np.zeros(4, np.int64), np.empty(0, np.uint32))
    assert sorted(rcm_order(lonely, lonely)[0].tolist()) == [0, 1, 2]
