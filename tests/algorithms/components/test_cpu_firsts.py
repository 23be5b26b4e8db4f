"""Components by first ids of rows: where a sample says so, and whatever they leave."""

from __future__ import annotations

import numpy as np
import pytest
import zoo

from bigbfs.algorithms.components.cpu import whole
from bigbfs.algorithms.components.cpu.whole import WholeComponents
from bigbfs.algorithms.components.options import ComponentsOptions
from bigbfs.algorithms.components.reference import components as reference_components
from bigbfs.engines.cpu.heads import Survey
from bigbfs.engines.cpu.rows import rows_of
from bigbfs.graph.adjacency import PlainAdjacency
from bigbfs.graph.flags import GraphFlags
from bigbfs.graph.graph import Graph

CODECS = ("plain", "varint")


def growing(n: int, span: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """A tree in order of growth: every vertex hangs on one of the ``span`` before it."""
    child = np.arange(1, n)
    return child, child - 1 - np.random.default_rng(seed).integers(0, np.minimum(child, span))


def mixed(n: int, pairs: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    order = np.random.default_rng(2).permutation(n)
    return order[pairs[0]], order[pairs[1]]


def forest(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Trees of a hundred vertices, each in order of growth."""
    child, above = growing(n, 8)
    kept = child % 100 != 0
    return child[kept], np.maximum(above, child // 100 * 100)[kept]


def made(graph: Graph, threads: int = 2) -> WholeComponents:
    out = rows_of(graph.adjacency)
    incoming = out if graph.flags.symmetric else None
    components = WholeComponents(out, incoming, Survey(out, graph.ids, threads), threads)
    components.choose()
    return components


N = 20_000
GRAPHS = {
    "tree in order of growth": growing(N, 16),
    "tree, mixed ids": mixed(N, growing(N, 16)),
    "forest in order of growth": forest(N),
    "forest, mixed ids": mixed(N, forest(N)),
    "path": zoo.path(N),
    "path, mixed ids": mixed(N, zoo.path(N)),
    "ring lattice": (np.tile(np.arange(N), 4), (np.tile(np.arange(N), 4) + np.repeat([1, 2, 3, 4], N)) % N),
    "random": zoo.random(N, 8 * N, seed=3),
    "random, thin": zoo.random(N, N, seed=4),
}
WAYS = {"heads": (False, False), "firsts": (True, False), "all edges": (True, True), "edges, no rounds": (False, True)}


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("name", GRAPHS)
def test_every_way_on_every_graph(name: str, codec: str) -> None:
    """Whatever the sample says, the labels are right, run after run."""
    graph = zoo.build(N, GRAPHS[name])
    expected = reference_components(graph)
    for threads in (1, 2):
        components = made(graph.compress() if codec == "varint" else graph, threads)
        for firsts, sparse in WAYS.values():
            for options in (
                ComponentsOptions(),
                ComponentsOptions(skip_giant=False),
                ComponentsOptions(single_pass=True),
                ComponentsOptions(rounds=1),
            ):
                components.firsts, components.sparse = firsts, sparse
                components.run(options)
                np.testing.assert_array_equal(components.labels, expected)


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize(
    ("name", "firsts", "sparse"),
    [
        ("tree in order of growth", True, True),
        ("tree, mixed ids", True, True),
        ("forest, mixed ids", True, True),
        ("path", False, None),
        ("random", False, False),
    ],
)
def test_what_a_sample_chooses(name: str, codec: str, firsts: bool, sparse: bool | None) -> None:
    graph = zoo.build(N, GRAPHS[name])
    components = made(graph.compress() if codec == "varint" else graph)
    assert components.firsts == firsts
    assert sparse is None or components.sparse == sparse


def test_a_tree_in_order_of_growth_is_one_tree_after_its_first_ids() -> None:
    """Heads leave an eighth of the vertices as roots there, and every row was read twice to bring them together."""
    graph = zoo.build(N, GRAPHS["tree in order of growth"])
    components = made(graph)
    assert components.heads_left() > 50
    assert components.run().edges_read == N  # the first id of each row, and no other


def test_every_edge_of_a_tree_of_mixed_ids_is_read_at_most_twice() -> None:
    graph = zoo.build(N, GRAPHS["tree, mixed ids"])
    found = made(graph).run()
    assert found.edges_read <= N + graph.m
    assert found.passes == 1


def test_first_ids_that_leave_no_giant_are_not_tried_again() -> None:
    """Two rings of eight neighbours: hardly a vertex lacks a smaller neighbour, and neither ring is the giant."""
    ring = GRAPHS["ring lattice"]
    graph = zoo.build(2 * N, tuple(np.concatenate([side, side + N]) for side in ring))
    components = made(graph)
    components.firsts = True
    assert not components.sparse
    expected = reference_components(graph)
    for _ in range(2):
        components.run()
        assert not components.firsts
        np.testing.assert_array_equal(components.labels, expected)


@pytest.mark.parametrize("name", zoo.names())
def test_zoo_by_first_ids(name: str) -> None:
    graph = zoo.shared()[name]
    if not graph.n:
        return
    for codec in CODECS:
        components = made(graph.compress() if codec == "varint" else graph)
        for sparse in {False, components.sparse}:
            components.firsts, components.sparse = True, sparse
            components.run()
            np.testing.assert_array_equal(components.labels, reference_components(graph))


def test_rows_without_order_are_read_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only of compressed rows an id that is not smaller says that none behind it is."""
    indptr = np.array([0, 2, 3, 6, 7, 8], np.uint64)
    rows = np.array([4, 2, 2, 3, 1, 0, 2, 0], np.uint32)
    flags = GraphFlags(directed=False, symmetric=True, sorted=False)
    components = made(Graph(PlainAdjacency(indptr, rows), flags))
    components.firsts = components.sparse = True
    monkeypatch.setattr(whole, "GIANT", 2.0)
    components.run()
    assert not components.labels.any()


def test_ids_that_are_no_vertices_are_counted() -> None:
    flags = GraphFlags(directed=False, symmetric=True)
    wrong = Graph(PlainAdjacency(np.array([0, 1, 3], np.uint64), np.array([1, 0, 7], np.uint32)), flags)
    out = rows_of(wrong.adjacency)
    components = WholeComponents(out, out, Survey(out, wrong.ids, 1), 1)
    components.firsts = components.sparse = True
    components.begin()
    components._hang()
    components._link_smaller()
    assert components.faults == 1
