"""Many searches at once against single ones: widths, directions, encodings, both ways, and what is collected."""

from __future__ import annotations

import numpy as np
import pytest
import zoo

from bigbfs.algorithms.many.cpu import batch as module
from bigbfs.algorithms.many.cpu import bottomup, topdown
from bigbfs.algorithms.many.cpu.batch import Batch, Wants, pieces_of
from bigbfs.algorithms.many.options import ManyOptions
from bigbfs.algorithms.many.reference import many
from bigbfs.algorithms.many.validate import differences_of_sums, validate_levels
from bigbfs.api import engine
from bigbfs.engines.cpu.heads import Survey
from bigbfs.engines.cpu.rows import NOBODY, glance, rows_of
from bigbfs.errors import DoesNotFitError, UsageError, VerificationError
from bigbfs.graph.adjacency import PlainAdjacency
from bigbfs.graph.graph import Graph
from bigbfs.jit.njit import njit

NAMES = [name for name in zoo.names(big=False) if zoo.shared()[name].n and zoo.shared()[name].ids == np.uint32][::3]
REFUSED = r"against the edges of a directed graph need .*`bigbfs\.convert\(.*directed=True, in_edges=True"
EVERYTHING = Wants(sums=True, harmonic=True, columns=True, levels=True)


def made(graph, width, in_rows=True):
    out = rows_of(graph.adjacency)
    known = graph.in_adjacency is not None and in_rows
    incoming = (out if graph.flags.symmetric else rows_of(graph.in_adjacency)) if known else None
    survey = None if incoming is None else Survey(incoming, graph.ids, 2)
    return Batch(out, incoming, survey, graph.ids, graph.m, width, 2, EVERYTHING)


def check(batch, graph, expected, sources, max_depth=module.NO_LIMIT):
    done = batch.run(sources, max_depth)
    levels = batch.sink.levels.reshape(graph.n, batch.width)[:, : len(sources)]
    np.testing.assert_array_equal(levels.T, expected)
    assert done.pairs == (expected >= 0).sum()
    np.testing.assert_array_equal(batch.sink.depth[: len(sources)], expected.max(axis=1))
    assert batch.faults == 0
    return done


@pytest.mark.covered("width+codec")
@pytest.mark.parametrize(("codec", "width"), [("plain", 512), ("varint", 64)])
@pytest.mark.parametrize("name", NAMES)
def test_levels(name, codec, width, monkeypatch):
    """Whatever the direction of each level, serial or parallel; a source may come twice."""
    plain = zoo.shared()[name]
    graph = plain.compress() if codec == "varint" else plain
    sources = np.random.default_rng(1).integers(0, graph.n, min(width - 3, 2 * graph.n))
    expected = many(plain, sources)
    batch = made(graph, width)
    for walk, push in ((0, 1e-9), (0, 1e9), (0, 2.0), (4096, 6.0)):
        monkeypatch.setattr(module, "WALK_EDGES", walk)
        monkeypatch.setattr(module, "PUSH_EDGE", push)
        done = check(batch, graph, expected, sources)
        if push == 1e-9:
            assert not done.steps["bottom-up"]
    shallow = many(plain, sources, max_depth=2)
    check(batch, graph, shallow, sources, 2)
    check(made(graph, width, in_rows=False), graph, expected[:9], sources[:9])


def test_rows_of_hubs_are_shared_piece_by_piece(monkeypatch):
    monkeypatch.setattr(module, "WALK_EDGES", 0)
    monkeypatch.setattr(module, "PUSH_EDGE", 0.0)
    n = 3 * topdown.PIECE + 7
    hub = (np.zeros(n - 1, np.int64), np.arange(1, n))
    graph = zoo.build(n, zoo.join(hub, (hub[0] + 5, hub[1])))
    sources = np.array([0, 5, n - 1, 77])
    check(made(graph, 64), graph, many(graph, sources), sources)
    places, skips = pieces_of(np.array([0, topdown.PIECE, topdown.PIECE + 1, 3 * topdown.PIECE]))
    assert list(zip(places.tolist(), (skips // topdown.PIECE).tolist(), strict=True)) == [(2, 1), (3, 1), (3, 2)]


@pytest.mark.parametrize("few", [0, 10**9])
def test_vertices_without_a_bit_are_passed_over_while_few_have_one(few, monkeypatch):
    """A hub is reached first; everybody else asks for it among neighbours that nobody has reached."""
    n, spread = 6_000, np.arange(1, 6_000)
    rings = [(spread, np.roll(spread, shift)) for shift in (1, 2, 3)]
    graph = zoo.build(n, zoo.join((np.zeros(n - 1, np.int64), spread), *rings), labels=np.arange(n))
    asked = []
    pull = bottomup.pull
    monkeypatch.setattr(bottomup, "pull", lambda *more: (asked.append(len(more[5])), pull(*more)))
    monkeypatch.setattr(module, "FEW_REACHED", few or 8)
    monkeypatch.setattr(module, "PUSH_EDGE", 1e9)
    sources = np.arange(10, 10 + 4 * 60, 4)
    expected = many(graph, sources)
    for width, count in ((64, 60), (512, 60), (64, 9)):  # the state of the last batch is forgotten
        asked.clear()
        batch = made(graph, width)
        for _ in range(2):
            check(batch, graph, expected[:count], sources[:count])
        assert asked and (asked[0] > 0) == (few == 0), asked
        assert asked[: len(asked) // 2] == asked[len(asked) // 2 :]
        assert asked[-1] == 0, "all are reached"


@pytest.mark.parametrize("codec", ["plain", "varint"])
def test_rows_are_looked_through_stretch_by_stretch_where_few_have_bits(codec, monkeypatch):
    """Rows of several stretches, and vertices that have all they want after the first of them."""
    graph = zoo.build(600, zoo.random(600, 90_000, seed=8))
    assert np.diff(graph.adjacency.indptr.astype(np.int64)).min() > 2 * bottomup.STRETCH
    monkeypatch.setattr(module, "FEW_REACHED", 0)
    monkeypatch.setattr(module, "PUSH_EDGE", 1e9)
    monkeypatch.setattr(module, "WALK_EDGES", 0)
    sources = np.arange(0, 600, 10)
    batch = made(graph if codec == "plain" else graph.compress(), 64)
    check(batch, graph, many(graph, sources), sources)
    batch.run(sources[:1])
    read = batch.run(sources[:1]).read
    monkeypatch.setattr(module, "FEW_REACHED", 10**9)
    assert batch.run(sources[:1]).read <= read  # neighbour by neighbour


@njit(nogil=True)
def glances(rows, count, distance, found):
    for position in range(count):
        found[position] = glance(rows, np.uint64(position), np.uint64(distance))


def test_what_will_be_needed_soon_is_never_looked_for_behind_the_rows():
    graph = zoo.build(50, zoo.random(50, 200, seed=3))
    found = np.empty(graph.m, np.uint64)
    for distance in (0, 16, graph.m, 2**62):
        glances(rows_of(graph.adjacency), graph.m, distance, found)
        there = graph.adjacency.indices[distance:] if distance < graph.m else []
        assert found.tolist() == [*(int(v) for v in there), *[int(NOBODY)] * (graph.m - len(there))]
    glances(rows_of(graph.compress().adjacency), graph.m, 0, found)
    assert (found == NOBODY).all()


def test_deep_graphs_outgrow_the_arrays_of_levels():
    graph = zoo.build(700, zoo.path(700))
    sources = np.array([0, 350, 699])
    batch = made(graph, 64)
    check(batch, graph, many(graph, sources), sources)
    assert batch.sink.columns.reshape(-1, 64)[1:700, 0].tolist() == [1] * 699


def test_ids_that_are_no_vertices_are_counted():
    graph = zoo.build(90, zoo.random(90, 600, seed=4))
    indices = graph.adjacency.indices.copy()
    indices[::50] = 2**32 - 1
    damaged = Graph(PlainAdjacency(graph.adjacency.indptr, indices), graph.flags)
    batch = made(damaged, 64, in_rows=False)
    batch.run(np.array([0, 1]))
    assert batch.faults > 0


def test_backward_and_verified():
    graph = zoo.build(120, zoo.random(120, 400, seed=6), directed=True)
    forth = many(graph, np.arange(graph.n))
    with engine(graph, backend="cpu", work=(ManyOptions(),)) as placed:
        options = ManyOptions(np.arange(70), sums=True, harmonic=True, columns=True, fetch=True, backward=True)
        found = placed.measure(options, verify=True)
        assert found.records[0].verified
        np.testing.assert_array_equal(found.internal.levels, forth[:, :70].T)
        assert differences_of_sums(found.internal, forth[:, :70].T) == []
        found.internal.reach[3] += 1
        assert differences_of_sums(found.internal, forth[:, :70].T)
        with pytest.raises(VerificationError, match="reach"):
            placed.verify_internal(options, found.internal)
    one_way = Graph(graph.adjacency, graph.flags)
    with engine(one_way, backend="cpu", work=()) as placed, pytest.raises(UsageError, match=REFUSED):
        placed.run(ManyOptions([0], backward=True))


@pytest.mark.parametrize("change", [(3, 1, 1), (3, 0, -1), (3, 2, 9)])
def test_wrong_levels_are_found(change):
    graph = zoo.build(60, zoo.random(60, 90, seed=2))
    sources = np.arange(3)
    levels = many(graph, sources).T.copy()
    validate_levels(graph, sources, levels)
    vertex, column, by = change
    vertex = int(np.flatnonzero(levels[:, column] > 1)[vertex])
    levels[vertex, column] += by
    with pytest.raises(VerificationError, match=f"source {column}"):
        validate_levels(graph, sources, levels, threads=2)


def test_options_that_cannot_be(monkeypatch):
    with pytest.raises(UsageError, match="32, 64"):
        ManyOptions([0], width=48)
    with pytest.raises(UsageError, match="0 or more"):
        ManyOptions([0], max_depth=-1)
    graph = zoo.build(60, zoo.random(60, 90, seed=2))
    with engine(graph, backend="cpu", work=()) as placed:
        with pytest.raises(UsageError, match="no vertex 60, 70"):
            placed.run(ManyOptions([0, 60, 70]))
        monkeypatch.setattr("bigbfs.engines.cpu.memory.free_memory", lambda: 1000)
        with pytest.raises(DoesNotFitError, match="width of 32"):
            placed.run(ManyOptions([0], width=512))


@pytest.mark.parametrize("n", [128, 130])
def test_who_got_bits_is_queued_and_nobody_behind_the_last_vertex(n):
    graph = zoo.build(n, zoo.random(n, 3 * n, seed=4))
    batch = made(graph, 64)
    batch._reset(np.array([0, 5, n - 1]))
    batch._pull(1)
    state = batch._state
    got = np.flatnonzero(state.now[:n] & ~state.before[:n])
    count, edges, hubs = batch._gather()
    np.testing.assert_array_equal(np.sort(state.queue[:count]), got)
    assert len(got) > 3
    assert (edges, hubs) == (graph.degrees()[got].sum(), False)
    np.testing.assert_array_equal(state.now, state.before)
