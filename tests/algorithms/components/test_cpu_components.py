"""The CPU's connected components against the reference and SciPy: every algorithm and switch on the zoo, and graphs
that are hard for a union of trees."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
import zoo
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components as scipy_components
from wide import split

from bigbfs.algorithms.components.cpu import labels as components
from bigbfs.algorithms.components.cpu.handing import handed
from bigbfs.algorithms.components.cpu.once import labels_once
from bigbfs.algorithms.components.cpu.whole import WholeComponents
from bigbfs.algorithms.components.options import ALGORITHMS, ComponentsOptions
from bigbfs.algorithms.components.reference import components as reference_components
from bigbfs.algorithms.cpu_engine import CpuEngine
from bigbfs.errors import FormatError, UsageError
from bigbfs.graph.adjacency import PlainAdjacency
from bigbfs.graph.flags import GraphFlags
from bigbfs.graph.graph import Graph
from bigbfs.graph.rows import transpose
from bigbfs.jit.team import team_of

CODECS = ("plain", "varint")


@cache
def expected(name: str) -> np.ndarray:
    return reference_components(zoo.shared()[name])


def check(graph: Graph, labels: np.ndarray, *, threads: int | None = None) -> None:
    with CpuEngine(graph, threads=threads) as engine:
        for _ in range(2):  # the second run starts from what the first one left
            result = engine.connected_components()
            assert result.labels.dtype == np.int64
            np.testing.assert_array_equal(result.labels, labels)
            sizes = np.unique(labels, return_counts=True)[1]
            assert (result.record.components, result.record.largest) == (len(sizes), sizes.max(initial=0))


@pytest.mark.parametrize("giant", [0.0, 0.75, 2.0], ids=["one round", "adaptive", "two rounds"])
@pytest.mark.parametrize("codec", CODECS)
def test_zoo(codec: str, giant: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(components, "GIANT", giant)
    for name in zoo.names():
        graph = zoo.shared()[name]
        check(graph.compress() if codec == "varint" else graph, expected(name))


@pytest.mark.parametrize("codec", CODECS)
def test_components_that_are_asked_for_once(codec: str) -> None:
    for name in zoo.names():
        graph = zoo.shared()[name]
        for threads in (1, 3):
            labels = labels_once(graph.compress() if codec == "varint" else graph, threads)
            np.testing.assert_array_equal(labels, expected(name))


@pytest.mark.parametrize("in_edges", [False, True])
def test_an_edge_into_the_giant_that_its_rows_do_not_show(in_edges: bool) -> None:
    """Edges lead from the giant to a vertex, and from a vertex to the giant, each at one end of its rows alone."""
    n = 3000
    ring = np.arange(n - 2)
    for source, target in ((5, n - 1), (n - 1, 5)):
        src, dst = (
            np.append(np.tile(ring, 3), source),
            np.append(np.concatenate([(ring + k) % (n - 2) for k in (1, 2, 3)]), target),
        )
        graph = Graph.from_edges(src, dst, n=n, directed=True)
        if in_edges:
            graph = Graph(graph.adjacency, graph.flags, in_adjacency=transpose(graph.adjacency))
        labels = labels_once(graph)
        assert labels[n - 1] == 0 and labels[n - 2] == n - 2 and not labels[: n - 2].any()


def test_asked_once_of_a_damaged_graph() -> None:
    wrong = Graph(
        PlainAdjacency(np.array([0, 1, 2], np.uint64), np.array([1, 2], np.uint32)),
        GraphFlags(directed=True, symmetric=False),
    )
    with pytest.raises(FormatError, match=r"indices\[1\] = 2 is no vertex"):
        labels_once(wrong)
    wrong.declare_valid()  # as of a file that was changed since
    with pytest.raises(FormatError, match="neighbour ids read are no vertices"):
        labels_once(wrong)


VARIANTS = (
    *(ComponentsOptions(rounds=rounds) for rounds in (0, 1, 2, 5)),
    *(ComponentsOptions(rounds=rounds, skip_giant=False, single_pass=True) for rounds in (None, 0)),
    ComponentsOptions(single_pass=True),
    ComponentsOptions("sv"),
    ComponentsOptions("sv", skip_giant=False, single_pass=True),
    ComponentsOptions("labelprop"),
    ComponentsOptions("labelprop", single_pass=True),
)


@pytest.mark.parametrize("codec", CODECS)
def test_every_algorithm_and_switch(codec: str) -> None:
    for name in zoo.names():
        graph = zoo.shared()[name]
        with CpuEngine(graph.compress() if codec == "varint" else graph) as engine:
            for how in VARIANTS:
                result = engine.connected_components(how)
                np.testing.assert_array_equal(result.labels, expected(name), err_msg=f"{name} {how}")
                assert result.record.algorithm == how.algorithm
                assert result.record.left == 0 or how.single_pass


def test_what_a_run_says_of_itself() -> None:
    graph = zoo.build(1_000, shuffled(1_000, zoo.path(1_000), 7))
    with CpuEngine(graph, threads=1) as engine:

        def run(*arguments: object, **switches: object) -> tuple[int, int, int]:
            record = engine.connected_components(ComponentsOptions(*arguments, **switches)).record  # type: ignore[arg-type]
            return record.edges_read, record.passes, record.left

        assert run(rounds=0, skip_giant=False) == (graph.m, 1, 0)
        assert run("sv")[0] <= run("sv", skip_giant=False)[0]
        once, passes, left = run("sv", skip_giant=False, single_pass=True)
        assert (once, passes) == (2 * graph.m, 2)
        assert left > 0
        read, passes, _ = run("sv", skip_giant=False)
        assert read == passes * graph.m > graph.m
        assert run("labelprop")[1] > 2


@pytest.mark.parametrize(
    "wrong",
    [
        {"algorithm": "quickest"},
        {"rounds": -1},
        {"rounds": 9},
        {"algorithm": "sv", "rounds": 1},
        {"algorithm": "labelprop", "skip_giant": True},
    ],
)
def test_switches_that_an_algorithm_does_not_have(wrong: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        ComponentsOptions(**wrong)  # type: ignore[arg-type]


def shuffled(n: int, pairs: tuple[np.ndarray, np.ndarray], seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the edges ``pairs`` between n vertices that are renumbered at random."""
    order = np.random.default_rng(seed).permutation(n)
    return order[pairs[0]], order[pairs[1]]


def comb(n: int) -> tuple[np.ndarray, np.ndarray]:
    """A path of n / 2 vertices, each with one leaf."""
    half = n // 2
    return zoo.join(zoo.path(half), (np.arange(half), half + np.arange(half)))


ADVERSARIES: dict[str, Callable[[int], tuple[int, tuple[np.ndarray, np.ndarray]]]] = {
    "path, ascending": lambda n: (n, zoo.path(n)),
    "path, descending": lambda n: (n, tuple(n - 1 - side for side in zoo.path(n))),
    "path, random order": lambda n: (n, shuffled(n, zoo.path(n), 1)),
    "comb, random order": lambda n: (n, shuffled(n, comb(n), 2)),
    "pairs": lambda n: (n, shuffled(n, (np.arange(0, n - 1, 2), np.arange(1, n, 2)), 3)),
    "triples and isolated": lambda n: (n + 5_000, (np.arange(n), np.arange(n) // 3 * 3)),
    "two equal giants": lambda n: (
        2 * n,
        zoo.join(zoo.random(n, 4 * n, seed=4), zoo.random(n, 4 * n, seed=4, first=n)),
    ),
    "giant without vertex 0": lambda n: (n + 100, zoo.join(zoo.path(100), zoo.random(n, 4 * n, seed=5, first=100))),
    "two stars joined by leaves": lambda n: (
        n,
        zoo.join(zoo.star(n // 2, hub=7), (np.full(n // 2, n - 1), np.arange(n // 2 - 1, n - 1))),
    ),
    "star": lambda n: (n, zoo.star(n, hub=n // 3)),
    "all isolated": lambda n: (n, (np.empty(0), np.empty(0))),
    "path of cliques": lambda n: (n, zoo.join(*(zoo.random(50, 300, seed=6, first=49 * i) for i in range(n // 50)))),
}


LARGE = [
    (name, size)
    for size in (150_000, 10**6)
    for name in ("path, random order", "comb, random order", "star", "all isolated")
]
"""Adversaries that are a union of trees at its worst, or trivial."""
SIZES = split([*((name, 20_000) for name in ADVERSARIES), *LARGE], lambda name, n: n == 20_000 or (name, n) == LARGE[0])


def by_scipy(n: int, pairs: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """Return the smallest vertex of every vertex's component, as SciPy finds it from the edges themselves."""
    ones = np.ones(len(pairs[0]), np.int8)
    found = scipy_components(coo_array((ones, (pairs[0], pairs[1])), shape=(n, n)), directed=False)[1]
    smallest = np.full(n, n)
    np.minimum.at(smallest, found, np.arange(n))
    return smallest[found]


@pytest.mark.parametrize(("name", "size"), SIZES)
def test_adversaries(name: str, size: int) -> None:
    n, pairs = ADVERSARIES[name](size)
    graph = zoo.build(n, pairs)
    labels = reference_components(graph)
    np.testing.assert_array_equal(labels, by_scipy(n, tuple(np.asarray(side, np.int64) for side in pairs)))
    for threads in (1, 2):
        check(graph, labels, threads=threads)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("name", ADVERSARIES)
def test_adversaries_of_every_algorithm(name: str, algorithm: str) -> None:
    n, pairs = ADVERSARIES[name](600)
    graph = zoo.build(n, pairs)
    labels = reference_components(graph)
    with CpuEngine(graph) as engine:
        for once in (False, True):
            result = engine.connected_components(ComponentsOptions(algorithm, single_pass=once))
            np.testing.assert_array_equal(result.labels, labels)


def test_flattening_is_not_undone() -> None:
    """Long ways to the root, flattened by several threads at once, a hundred times: every label must be a root."""
    n, pairs = ADVERSARIES["path, random order"](30_000)
    graph = zoo.build(n, pairs)
    labels = reference_components(graph)
    with CpuEngine(graph, threads=2) as engine:
        for _ in range(100):
            np.testing.assert_array_equal(engine.connected_components().labels, labels)


@pytest.mark.parametrize("name", ["path, descending", "comb, random order", "giant without vertex 0"])
@pytest.mark.parametrize("in_rows", [True, False])
@pytest.mark.parametrize("ids", [np.uint32, np.uint64])
def test_edges_in_one_direction_only(name: str, in_rows: bool, ids: type) -> None:
    """A vertex outside the giant may be tied to it only by an edge stored with a member."""
    n, pairs = ADVERSARIES[name](3_000)
    for u, v in (pairs, pairs[::-1]):
        graph = zoo.build(n, (u, v), directed=True, in_rows=in_rows, ids=ids)
        check(graph, reference_components(graph))
        check(graph.compress(), reference_components(graph))
        with CpuEngine(graph) as engine:
            for algorithm in ALGORITHMS[1:] if name == "giant without vertex 0" else ("sv",):
                result = engine.connected_components(ComponentsOptions(algorithm))
                np.testing.assert_array_equal(result.labels, reference_components(graph))


@given(st.integers(1, 150), st.integers(0, 200), st.integers(0, 2**32), st.sampled_from(["both", "in", "out"]))
def test_random_graphs(n: int, edges: int, seed: int, kind: str) -> None:
    u, v = zoo.random(n, edges, seed=seed)
    graph = zoo.build(n, (u, v), directed=kind != "both", in_rows=kind == "in")
    check(graph, by_scipy(n, (u, v)))


@pytest.mark.parametrize(
    "labels",
    [
        [],
        [0],
        [0, 1, 2],
        [0, 0, 2, 2, 2],
        [0, 0, 0, 3, 3, 5],
        [0, 0, 2, 2, 4, 4, 4, 4, 8, 9],
        [0] * 20_000 + [20_000] * 9,
    ],
)
@pytest.mark.parametrize("every", [1, 3])
@pytest.mark.parametrize("threads", [1, 2])
def test_components_and_the_largest_are_counted_whatever_the_sample_says(labels, every, threads):
    array = np.array(labels, np.uint32)
    copied, count, largest = handed(team_of(threads), array, array[::every])
    assert copied.dtype == np.int64
    assert copied.tolist() == labels
    sizes = np.bincount(array, minlength=1)
    assert (count, largest) == (np.count_nonzero(sizes), sizes.max())


@pytest.mark.parametrize("codec", CODECS)
def test_a_row_is_read_up_to_the_first_vertex_of_the_giant(codec: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who comes into the giant needs no more of its row; a row that meets none is read whole."""
    leaves, strong, ring = 4000, 40, 300
    # stronger than its neighbours, a vertex comes under none of them in round one
    src = [np.zeros(leaves, np.int64), np.repeat(np.arange(strong) + leaves + 1, 64)]
    dst = [np.arange(leaves) + 1, np.tile(np.arange(64) * 50 + 1, strong)]
    apart = np.arange(ring) + leaves + strong + 1
    graph = Graph.from_edges(np.concatenate([*src, apart]), np.concatenate([*dst, np.roll(apart, 1)]))
    graph = graph.compress() if codec == "varint" else graph
    monkeypatch.setattr(WholeComponents, "choose", lambda components: None)  # by heads
    with CpuEngine(graph) as engine:
        result = engine.connected_components()
    np.testing.assert_array_equal(result.labels, reference_components(graph))
    assert result.record.edges_read == strong + 2 * ring
