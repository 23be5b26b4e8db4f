"""Sampled centrality of graphs of many components, against NetworkX: who is at the top, how far off, and who is not
known."""

from __future__ import annotations

from functools import cache

import networkx as nx
import numpy as np
import pytest
import zoo
from measures.against import networkx_of

import bigbfs
from bigbfs.measures import estimating
from bigbfs.measures.estimating import LEAST, least_of

KINDS = [("closeness", True), ("closeness", False), ("harmonic", True), ("lin", True)]


@cache
def scattered(directed: bool = False):
    """Return a graph whose largest component has a third of its vertices, beside pairs, small trees and loners."""
    n = 700
    return zoo.build(
        n,
        zoo.join(zoo.random(n, 260, seed=3), tuple(each % 260 for each in zoo.random(n, 420, seed=4))),
        directed=directed,
        labels=np.random.default_rng(5).permutation(2 * n)[:n],
    )


@cache
def distances(directed: bool = False):
    """Return the distances of NetworkX from each vertex (row) to each, by ascending id: (n, n), -1 unreached."""
    graph = scattered(directed)
    place = {vertex: at for at, vertex in enumerate(graph.original_ids().tolist())}
    found = np.full((graph.n, graph.n), -1)
    for source, row in nx.all_pairs_shortest_path_length(networkx_of(graph)):
        for target, distance in row.items():
            found[place[source], place[target]] = distance
    return found


def means(kind, directed=False):
    """Return for each vertex the exact mean that a sample estimates, as ``Centrality.errors`` defines it."""
    levels = distances(directed)
    far = np.where(levels > 0, 1 / np.maximum(levels, 1) if kind == "harmonic" else levels, 0.0).sum(axis=0)
    others = np.full(len(levels), len(levels) - 1) if directed else (levels > 0).sum(axis=0)
    return np.divide(far, others, out=np.zeros(len(far)), where=others > 0), others


@pytest.mark.parametrize(("kind", "wf"), KINDS)
@pytest.mark.parametrize("count", [70, 350, 699])
def test_a_sample_keeps_to_its_bounds_and_finds_the_top(kind, wf, count):
    graph = scattered()
    exact = bigbfs.closeness(graph, kind=kind, wf_improved=wf)
    mean, others = means(kind)
    best, overlap = {vertex for vertex, _ in exact.top(10)}, 0
    least = exact.values[exact.first(10)[-1]]
    for seed in range(6):
        some = bigbfs.closeness(graph, kind=kind, wf_improved=wf, sources=f"random:{count}", seed=seed)
        known = ~np.isnan(some.values)
        assert some.unknown == (~known).sum() and (np.isnan(some.errors) == ~known).all() and not some.exact
        alone = others == 0
        assert known[alone].all() and (some.errors[alone] == 0).all()
        np.testing.assert_allclose(some.values[some.errors == 0], exact.values[some.errors == 0], rtol=1e-12)
        with np.errstate(divide="ignore", invalid="ignore"):
            scale = others / (graph.n - 1) if wf else np.ones(graph.n)
            found = {
                "closeness": scale / some.values,
                "harmonic": some.values / others,
                "lin": (others + 1) ** 2 / (others * some.values),
            }[kind]
        asked = known & ~alone
        assert (np.abs(found - mean)[asked] <= some.errors[asked] + 1e-9).all()
        assert some.error == some.errors[known].max()
        listed = some.first(10)
        overlap += len(best & set(some.ids[listed].tolist()))
        # nobody far from the top is at the top: a pair with a source was there
        assert (exact.values[listed] > 0.7 * least).all()
    assert overlap >= {70: 18, 350: 42, 699: 54}[count], overlap


@pytest.mark.parametrize("kind", ["closeness", "harmonic", "lin"])
def test_a_sample_of_a_directed_graph_lists_whom_enough_sources_reach(kind):
    graph = scattered(True)
    exact = bigbfs.closeness(graph, kind=kind)
    best = {vertex for vertex, _ in exact.top(10)}
    mean, _ = means(kind, True)
    overlap = 0
    for seed in range(6):
        some = bigbfs.closeness(graph, kind=kind, sources="random:500", seed=seed)
        if kind == "harmonic":
            known = ~np.isnan(some.values)
            assert (np.abs(some.values / (graph.n - 1) - mean)[known] <= some.errors[known]).all()
            assert some.error == some.errors[known].max()
        else:
            assert some.errors is None and some.error is None
        overlap += len(best & {vertex for vertex, _ in some.top(10)})
        assert 0 < some.unknown < graph.n and len(some.top(graph.n)) == graph.n - some.unknown
    assert overlap >= 45, overlap


def test_how_many_sources_a_value_takes():
    assert [least_of(count) for count in (1, 3, 4, 19, 20, 10**6)] == [1, 1, 2, 9, LEAST, LEAST]


def test_sizes_are_counted_and_bounds_are_of_each_component():
    star, path = 300, 60
    graph = zoo.build(
        star + path,
        zoo.join(
            (np.zeros(star - 1, int), np.arange(1, star)),
            (np.arange(star, star + path - 1), np.arange(star + 1, star + path)),
        ),
    )
    some = bigbfs.closeness(graph, sources=[0, 1, 2])
    assert some.unknown == path and np.isnan(some.values[star:]).all()
    assert some.values[0] == pytest.approx((star - 1) / (star + path - 1))
    both = bigbfs.closeness(graph, sources=[1, 2, star, star + path - 1])
    known = ~np.isnan(both.errors)
    assert both.unknown == 4, "the sources: one other reaches each"
    assert (both.errors[:star][known[:star]] == 3).all() and both.error == path - 2
    assert (both.errors[star:][known[star:]] == path - 2).all(), "a path is longer than a star"
    again = bigbfs.closeness(graph, sources=[1, 2, star, star, star + path - 1, 2, 1])
    np.testing.assert_array_equal(again.values, both.values)
    assert not bigbfs.closeness(graph, sources=[0] * graph.n).exact


def test_lin_of_more_vertices_than_the_square_root_of_what_an_integer_holds():
    others = np.array([2**32])
    sums = estimating.Sums(np.array([2]), np.array([3]), None, others, np.array([True]), np.array([False]))
    assert estimating.values_of(sums, "lin", False) == pytest.approx((2**32 + 1) ** 2 / (3 * 2**31))
