"""Eccentricities, bounds and paths against NetworkX."""

from __future__ import annotations

import time

import networkx as nx
import numpy as np
import pytest
import zoo
from measures.against import graphs, networkx_of
from wide import split

import bigbfs
from bigbfs.errors import UsageError
from bigbfs.jit import compiling
from bigbfs.measures import bounding as module
from bigbfs.measures import eccentricity as ecc
from bigbfs.measures import small
from bigbfs.measures.placing import Until

UNDIRECTED = [name for name, graph in graphs().items() if graph.m and not graph.flags.directed][::2]


def expected(theirs):
    """Return the eccentricity of every vertex inside its component."""
    found = {}
    for part in nx.connected_components(theirs):
        found |= nx.eccentricity(theirs.subgraph(part))
    return found


@pytest.mark.parametrize(
    ("name", "poor"),
    split(
        [(name, poor) for name in UNDIRECTED for poor in (0, 10**9)],
        lambda name, poor: UNDIRECTED.index(name) % 2 == bool(poor),
    ),
)
def test_eccentricities(name, poor, monkeypatch):
    """By bounds alone, and with every vertex searched from after the first full batch; by one thread and by engines."""
    monkeypatch.setattr(small, "WORK", 2**31 * ((UNDIRECTED.index(name) // 2 + bool(poor)) % 2))
    monkeypatch.setattr(module, "POOR", poor)
    monkeypatch.setattr(module, "FULL", 4 if poor else 64)
    graph = graphs()[name]
    theirs = networkx_of(graph)
    want = expected(theirs)
    for component in ("all", "largest"):
        found = bigbfs.eccentricity(graph, component=component, verify=True)
        assert found.exact
        assert found.lower.tolist() == found.upper.tolist() == [want[vertex] for vertex in found.ids.tolist()]
        low = bigbfs.eccentricity(graph, goal="diameter", component=component)
        top = max(want[vertex] for vertex in found.ids.tolist())
        assert found.diameter == low.diameter == (top, top)
        assert nx.shortest_path_length(theirs, *low.witness) == top
        assert nx.shortest_path_length(theirs, *found.witness) == top
        near = bigbfs.eccentricity(graph, goal="radius", component=component)
        least = min(want[vertex] for vertex in found.ids.tolist())
        assert near.exact and near.radius == (least, least)
        assert set(found.periphery.tolist()) == {v for v in found.ids.tolist() if want[v] == top}
        assert set(found.centre.tolist()) == {v for v in found.ids.tolist() if want[v] == least}
        assert (low.lower <= found.lower).all() and (low.upper >= found.lower).all()
    largest = max(map(len, nx.connected_components(theirs)))
    assert len(found.ids) == largest


def test_bounds_hold_whenever_it_is_stopped():
    graph = zoo.build(900, zoo.random(900, 1_000, seed=3))
    theirs = networkx_of(graph)
    want = expected(theirs)
    for calls in range(5):
        left = [False] * calls + [True]
        found = bigbfs.eccentricity(graph, component="all", stop=lambda left=left: left.pop(0) if left else True)
        exact = np.array([want[vertex] for vertex in found.ids.tolist()])
        assert (found.lower <= exact).all() and (exact <= found.upper).all()
        assert found.diameter[0] <= exact.max() <= found.diameter[1]
        assert found.radius[0] <= exact.min() <= found.radius[1]
        assert found.witness == (0, 0) or nx.shortest_path_length(theirs, *found.witness) <= exact.max()
        assert not found.exact


def stopping_at(call):
    """Return what asks for an end when it is called for the ``call``-th time."""
    left = iter([False] * call)
    return lambda: next(left, True)


@pytest.mark.parametrize("engines", ["none", "for bounds", "for all"])
def test_who_stops_eccentricities_knows_as_much_of_the_diameter(engines, monkeypatch):
    """As ``diameter`` says, stopped after as many searches; of two largest components it is the same one, too."""
    if engines != "none":
        monkeypatch.setattr(small, "WORK" if engines == "for bounds" else "EDGES", -1)
    twins = zoo.join(zoo.random(300, 450, seed=3), tuple(300 + each for each in zoo.random(300, 330, seed=4)))
    ladder = zoo.join((np.arange(399), np.arange(1, 400)), (np.arange(0, 396, 9), np.arange(4, 400, 9)))
    ring, on = np.arange(60), np.roll(np.arange(60), -1)
    equal = zoo.join((ring, on), (60 + ring, 60 + on), ([60, 60], [75, 90]))
    for n, pairs in ((600, twins), (400, ladder), (120, equal)):
        graph = zoo.build(n, pairs)
        whole = bigbfs.eccentricity(graph, threads=2)
        assert whole.exact
        for call in range(9):
            part = bigbfs.eccentricity(graph, stop=stopping_at(call), threads=2)
            alone = bigbfs.eccentricity(graph, goal="diameter", stop=stopping_at(call), each=False, threads=2)
            for mine, its, true in zip(
                (part.diameter, part.radius),
                (alone.diameter, alone.radius),
                (whole.diameter, whole.radius),
                strict=True,
            ):
                assert its[0] <= mine[0] <= true[0] == true[1] <= mine[1] <= its[1]
            np.testing.assert_array_equal(part.ids, whole.ids)
            assert (part.lower <= whole.lower).all() and (part.upper >= whole.upper).all()
            ends = np.isin(whole.ids, part.witness)
            assert ends.any() and (part.lower[ends] >= part.diameter[0]).all()


def test_graphs_on_which_bounds_fail_end_with_every_vertex_searched():
    cycle = zoo.build(1_200, (np.arange(1_200), np.roll(np.arange(1_200), 1)))
    told = []
    found = bigbfs.eccentricity(cycle, tell=lambda left, bounds: told.append((left, bounds)))
    assert found.diameter == found.radius == (600, 600)
    assert found.exact and found.record.sources >= 1_200 - 64 and found.record.batches < 16 + 15  # of the diameter
    assert told[-1] == (0, (600, 600))


def test_a_small_world_is_not_placed_for_its_eccentricities(monkeypatch):
    """A deep graph is, and one whose vertices are too many to search from all of them with one thread."""
    placed = []
    monkeypatch.setattr(ecc, "placed", lambda *given, place=ecc.placed: placed.append(1) or place(*given))
    graph = zoo.build(600, zoo.random(600, 1_500, seed=4))
    first = bigbfs.eccentricity(graph, backend="cpu", verify=True)
    assert not placed and first.exact and first.record.verified
    assert bigbfs.eccentricity(zoo.build(200, zoo.path(200)), backend="cpu").exact and len(placed) == 1
    monkeypatch.setattr(small, "WORK", graph.n * graph.m - 1)
    second = bigbfs.eccentricity(graph, backend="cpu")
    assert len(placed) == 2
    np.testing.assert_array_equal(first.lower, second.lower)


def test_directed_graphs_must_be_strongly_connected():
    n = 90
    ring = zoo.join((np.arange(n), np.roll(np.arange(n), -1)), zoo.random(n, 60, seed=5))
    graph = zoo.build(n, ring, directed=True)
    want = nx.eccentricity(networkx_of(graph))
    found = bigbfs.eccentricity(graph)
    assert found.lower.tolist() == found.upper.tolist() == [want[vertex] for vertex in found.ids.tolist()]
    assert bigbfs.diameter(graph) == max(want.values())
    with pytest.raises(UsageError, match="strongly connected"):
        bigbfs.diameter(zoo.build(4, ([0, 1, 2], [1, 2, 3]), directed=True))
    with pytest.raises(UsageError, match="in-neighbours"):
        bigbfs.diameter(graphs()["no in-rows"])


@pytest.mark.parametrize(
    "name", ["random 60 False", "random 90 True", "random 150 False", "no in-rows", *UNDIRECTED[:6]]
)
def test_paths(name):
    graph = graphs()[name]
    theirs = networkx_of(graph)
    ids = graph.original_ids()
    pairs = np.random.default_rng(2).choice(ids, (40, 2)).tolist()
    for (source, target), found in zip(pairs, bigbfs.shortest_paths(graph, pairs), strict=True):
        if not nx.has_path(theirs, source, target):
            assert (found.vertices, found.distance) == ([], -1)
            continue
        assert found.distance == nx.shortest_path_length(theirs, source, target)
        assert (found.vertices[0], found.vertices[-1]) == (source, target)
        assert all(theirs.has_edge(*edge) for edge in zip(found.vertices, found.vertices[1:], strict=False))
    assert bigbfs.shortest_path(graph.compress(), int(ids[0]), int(ids[0])) == [ids[0]]
    with pytest.raises(UsageError, match="no vertex"):
        bigbfs.shortest_path(graph, int(ids[0]), 10**9)


def test_compiling_is_not_part_of_the_seconds_that_are_given():
    until = Until(0.05)
    with compiling.measured("a kernel of this test"):
        time.sleep(0.2)
        assert not until()
    assert not until()
    time.sleep(0.06)
    assert until()


def test_every_batch_of_a_run_with_an_end_is_paced(monkeypatch):
    """The second search is another than the first: what it took is no part of what the third is judged by."""
    batches, asked = [], []
    look, paced = module.Bounding._look, module.Pace.next
    monkeypatch.setattr(module.Bounding, "_look", lambda self, sources: batches.append(1) or look(self, sources))
    monkeypatch.setattr(module.Pace, "next", lambda self, *given: asked.append(len(batches)) or paced(self, *given))
    graph = bigbfs.Graph.from_edges(*np.array(nx.convert_node_labels_to_integers(nx.grid_2d_graph(24, 24)).edges).T)
    found = ecc.eccentricity(graph, component="all", seconds=600.0, threads=1, backend="cpu")
    assert found.exact and len(batches) > 2 and asked[:3] == [0, 1, 2]


def test_no_batch_is_wider_than_is_said():
    """On a cycle bounds settle nobody: after some batches of 64 all others are searched from, many more at once."""
    ring = np.arange(1500)
    graph = bigbfs.Graph.from_edges(ring, (ring + 1) % 1500)
    record = ecc.eccentricity(graph, component="all", threads=1, backend="cpu").record
    assert record.sources == 1500 and record.sources <= record.batches * record.width
