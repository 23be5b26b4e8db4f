"""Vertices with numbers of their own, emulated: searches and components as without, and what the file has wrong."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import zoo
from faults import FaultyRuntime
from wide import split

from bigbfs import generate
from bigbfs.algorithms.bfs.options import BfsOptions
from bigbfs.algorithms.bfs.reference import bfs as reference_bfs
from bigbfs.algorithms.bfs.validate import validate_tree
from bigbfs.algorithms.components.reference import components as reference_components
from bigbfs.algorithms.gpu_engine import GpuEngine
from bigbfs.algorithms.many.options import ManyOptions
from bigbfs.algorithms.words import usual_work
from bigbfs.engines.gpu import engine as engines
from bigbfs.engines.gpu import numbering
from bigbfs.engines.gpu.placement import renumbered
from bigbfs.engines.gpu.placement.renumbered import Renumbered, renumbers
from bigbfs.errors import FormatError, VerificationError
from bigbfs.graph.adjacency import PlainAdjacency
from bigbfs.graph.graph import Graph
from emulated.runtime import SimtRuntime, builds_here
from emulated.test_kernels_engine import RULES, check_bfs, rule, runtime_of, set_seed

BUILDS = builds_here()
GRAPHS = ("kronecker", "two-hubs", "degree-1024", "early-isolated", "isolated", "wide-ids-hub", "random")
CHOSEN = ("auto", "topdown", "bottom-up", "turns", "local", "wide", "wide far", "mixed", "mixed far", "no heads")

__all__ = ["rule"]


@pytest.fixture(autouse=True)
def always(monkeypatch):
    """Give numbers to the vertices of small graphs, too."""
    for module in (engines, numbering):
        monkeypatch.setattr(module, "renumbers", lambda graph: graph.m > 0 and graph.codec == "plain")


@pytest.mark.parametrize(
    ("build", "rule"),
    split(
        [(build, rule) for build in BUILDS for rule in CHOSEN],
        lambda build, rule: build == "plain" or rule in ("auto", "local", "mixed far"),
    ),
    indirect=["rule"],
)
def test_a_search_is_that_of_the_file(build, rule):
    for number, name in enumerate(GRAPHS if build == "plain" else GRAPHS[:3]):
        plain, runtime = zoo.shared()[name], runtime_of(build, name)
        set_seed(runtime, number)
        how = {"residency": rule.residency, "strategy": rule.strategy, "tuning": rule.tuning}
        with GpuEngine(plain, **how, runtime=runtime) as engine:
            assert (engine.placed.numbers is None) == (plain.m == 0)
            assert engine.placed.n == np.count_nonzero(plain.degrees()) or plain.m == 0
            for source in zoo.sources(plain, 4 if build == "plain" else 2):
                check_bfs(engine, name, source)
                engine.verify_tree(source)


@pytest.mark.parametrize("build", BUILDS)
def test_who_has_no_edges_reaches_itself(build):
    plain = zoo.shared()["early-isolated"]
    alone = int(np.flatnonzero(plain.degrees() == 0)[0])
    with GpuEngine(plain, residency="vram", runtime=SimtRuntime(build=build)) as engine:
        engine.bfs(int(np.flatnonzero(plain.degrees())[0]))
        for depth in (None, 0, 3):
            found = engine.bfs(alone, max_depth=depth)
            assert np.flatnonzero(found.levels + 1).tolist() == [alone] and found.levels[alone] == 0
            assert (found.parents == -1).all()
            assert (found.record.reached, found.record.depth, found.record.edges) == (1, 0, 0)
            assert [(level.frontier, level.edges) for level in found.record.levels] == [(1, 0)] * (depth != 0)
        engine.verify_tree(alone)
        assert (engine.bfs(alone, want_parents=False).levels >= 0).sum() == 1


def test_a_wrong_tree_is_told_by_the_vertex_of_the_file():
    plain = zoo.shared()["early-isolated"]
    alone, source = int(np.flatnonzero(plain.degrees() == 0)[-1]), int(np.flatnonzero(plain.degrees())[-1])
    with GpuEngine(plain, residency="vram", runtime=SimtRuntime()) as engine:
        for start in (source, alone):
            engine.bfs(start)
            engine.program(BfsOptions(start)).loop.array("levels")[...] = 7
            with pytest.raises(VerificationError, match=f"of the BFS tree from vertex {start} break"):
                engine.verify_tree(start)


def bipartite(most):
    """Return a graph of rows of very different lengths, every second vertex without edges, and its vertices of a side:
    the rows of 48 have up to ``most`` ids of those, anywhere."""
    random = np.random.default_rng(most)
    lengths = np.linspace(1, most, 48).astype(int)
    own = np.repeat(np.arange(48), lengths)
    others = np.concatenate([random.choice(2 * most, length, replace=False) for length in lengths])
    plain = zoo.build(2 * (48 + 2 * most), (2 * own, 2 * (48 + others)))
    return plain, 2 * (48 + np.unique(others))


@pytest.mark.covered
@pytest.mark.parametrize("rule", ["no heads", "turns"], indirect=True)
@pytest.mark.parametrize("build", BUILDS)
def test_rows_of_all_lengths_are_searched_to_their_end(build, rule):
    """By whole lines, of several rows at once: only what is in the row counts, and all that is."""
    for most in (100, 1100) if build == "plain" else (100,):
        plain, starts = bipartite(most)
        for defer_from in (0, 1 << 20):
            how = {"residency": "mapped", "tuning": replace(rule.tuning, defer_from_mapped=defer_from)}
            with GpuEngine(plain, **how, runtime=SimtRuntime(build=build)) as engine:
                for source in starts[:: len(starts) // 5].tolist():
                    found = engine.bfs(source)
                    assert np.array_equal(found.levels, reference_bfs(plain, source)[0])
                    validate_tree(plain, source, found.levels, found.parents)


@pytest.mark.covered
@pytest.mark.parametrize("residency", ["vram", "mapped"])
@pytest.mark.parametrize("build", BUILDS)
def test_components_and_what_wants_the_vertices_of_the_file(build, residency):
    for name in ("kronecker", "early-isolated", "tiny-components"):
        plain = zoo.shared()[name]
        with GpuEngine(plain, residency=residency, runtime=runtime_of(build, name)) as engine:
            expected = reference_components(plain)
            result = engine.connected_components()
            assert np.array_equal(result.labels, expected)
            assert result.record.components == len(np.unique(expected))
            assert result.record.largest == np.bincount(expected).max()
            engine.verify_labels()
            assert engine.placed.numbers is not None
            source = int(zoo.sources(plain, 4)[0])
            levels = engine.run(BfsOptions(source, strategy="queue")).levels
            assert engine.placed.numbers is None, "placed anew"
            assert np.array_equal(levels, reference_bfs(plain, source)[0])
            assert np.array_equal(engine.connected_components().labels, expected)
            assert np.array_equal(engine.bfs(source).levels, levels)


@pytest.mark.parametrize("residency", ["vram", "mapped"])
def test_placing_anew_may_be_cut_short_anywhere(residency):
    """An interrupt, or an error: the next work places the graph, as if nothing had been."""
    plain = zoo.shared()["early-isolated"]
    source = int(zoo.sources(plain, 2)[0])
    work, expected = BfsOptions(source, strategy="queue"), reference_bfs(plain, source)[0]
    for later in range(1, 51, 4):
        before = (usual_work(), (ManyOptions(),))[later % 8 == 5]
        runtime = FaultyRuntime(SimtRuntime(), 0, KeyboardInterrupt())
        with GpuEngine(plain, work=before, residency=residency, runtime=runtime) as engine:
            runtime._fail_at = runtime.calls + later
            with pytest.raises(KeyboardInterrupt):
                engine.run(work)
            np.testing.assert_array_equal(engine.run(work).levels, expected)
            assert np.array_equal(engine.bfs(source).levels, expected)
            assert engine.placed.numbers is None


@pytest.mark.parametrize("residency", ["vram", "mapped"])
def test_an_id_without_a_number_is_refused(residency):
    """Of a vertex without edges, which none leads to where each is stored both ways, or of none at all."""
    plain = zoo.shared()["early-isolated"]
    alone = int(np.flatnonzero(plain.degrees() == 0)[-1])
    for bad in (alone, plain.n, 2**32 - 1):
        indices = plain.adjacency.indices.copy()
        indices[len(indices) // 2] = bad
        broken = Graph(PlainAdjacency(plain.adjacency.indptr, indices), plain.flags)
        for options in ({"hot_bytes": 0}, {}):
            with (
                pytest.raises(FormatError, match=rf"not below {plain.n}, or without edges of their own"),
                GpuEngine(broken, residency=residency, prove=False, runtime=SimtRuntime(), **options) as engine,
            ):
                engine.bfs(int(np.argmax(plain.degrees())))
                engine.connected_components()


@pytest.mark.parametrize("build", BUILDS)
def test_hot_rows_are_numbers_already(build):
    """Of two hubs of unequal length one is hot; every other vertex has no edges."""
    one, other = np.arange(1, 6_001), 6_001 + np.arange(2_500)
    ends = zoo.join((np.zeros(6_000, int), 2 * one), (np.full(2_500, 2), 2 * other))
    plain = zoo.build(18_000, ends)
    with GpuEngine(plain, residency="mapped", strategy="topdown", runtime=SimtRuntime(build=build)) as engine:
        rows = engine.rows()
        assert int(rows.struct["hot_from"]) == plain.degrees()[0] and engine.placed.numbers is not None
        for source in (0, 2, 12_000, 17_000):
            assert np.array_equal(engine.bfs(source).levels, reference_bfs(plain, source)[0])
        assert np.array_equal(engine.connected_components().labels, reference_components(plain))


def test_other_work_and_other_rows_keep_the_numbers_of_the_file():
    plain, directed = zoo.shared()["kronecker"], zoo.shared()["directed-in-rows"]
    for options in (
        {"work": (ManyOptions(), BfsOptions(strategy="queue"))},
        {"strategy": "queue"},
        {"residency": "streamed"},
    ):
        with GpuEngine(plain, runtime=SimtRuntime(), **options) as engine:
            assert engine.placed.numbers is None
    assert usual_work()[0].takes_numbers and not replace(usual_work()[0], strategy="queue").takes_numbers
    assert not renumbers(directed) and not renumbers(plain.compress())


@pytest.mark.parametrize("n", [1, 31, 32, 33, 64, 1000, 4096])
def test_numbers_and_offsets(monkeypatch, n):
    monkeypatch.setattr(renumbered, "STRETCH", 64)
    degrees = np.random.default_rng(n).integers(0, 3, n) * (np.arange(n) % 5 > 1)
    degrees[-1] = 1
    indptr = np.concatenate([[0], np.cumsum(degrees)]).astype(np.uint64)
    graph = Graph(PlainAdjacency(indptr, np.zeros(int(indptr[-1]), np.uint32)))
    found = Renumbered(graph, 2)
    some = np.flatnonzero(degrees)
    assert np.array_equal(found.vertices, some)
    assert np.array_equal(found.graph.adjacency.indptr, np.append(indptr[some], indptr[-1]))
    numbers = [found.number(vertex) for vertex in range(n)]
    assert [number for number in numbers if number is not None] == list(range(len(some)))
    assert [vertex for vertex in range(n) if numbers[vertex] is None] == np.flatnonzero(degrees == 0).tolist()
    found.words[0] |= np.uint64(1) << np.uint64(63)  # as words of more than 2^31 vertices with edges are
    assert found.number(np.int64(some[0])) == 2**31 or some[0] >= 32
    assert np.array_equal(found.spread(some.astype(np.int32), -1), np.where(degrees > 0, np.arange(n), -1))


def test_which_graphs_are_renumbered(monkeypatch):
    monkeypatch.setattr(renumbered, "SMALLEST", 1000)
    drawn = {"kind": "kronecker", "scale": 12, "edge_factor": 16, "seed": 1}
    assert renumbers(generate.graph(**drawn))
    assert not renumbers(generate.graph(**drawn, order="degree")), "who has no edges comes last"
    assert not renumbers(generate.graph("uniform", scale=12, edge_factor=16)), "hardly anybody is without"
    assert not renumbers(generate.graph("kronecker", scale=12, edge_factor=1, seed=1)), "it may be deep"
    monkeypatch.setattr(renumbered, "SMALLEST", 5000)
    assert not renumbers(generate.graph(**drawn)), "small"


def test_a_tree_of_such_a_graph_by_name():
    """Through the engine that people use: results are of all vertices."""
    plain = zoo.shared()["kronecker"]
    with GpuEngine(plain, runtime=SimtRuntime()) as engine:
        source = int(np.argmax(plain.degrees()))
        found = engine.bfs(source)
        validate_tree(plain, source, found.levels, found.parents)
        assert len(found.levels) == len(found.parents) == plain.n
        assert RULES["auto"].residency == "mapped"
