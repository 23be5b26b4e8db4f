"""Distances, closeness and hop counts against NetworkX, to 1e-12."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
import zoo
from measures.against import graphs, networkx_of

import bigbfs
from bigbfs.errors import DoesNotFitError, UsageError
from bigbfs.measures import distances as module
from bigbfs.measures.hops import effective_diameter

NAMES = list(graphs())
WITH_EDGES = [name for name in NAMES if graphs()[name].m]


def matrix(graph):
    """Return the distances of NetworkX: (n, n), -1 unreached."""
    ids = graph.original_ids().tolist()
    found = np.full((graph.n, graph.n), -1)
    place = {vertex: at for at, vertex in enumerate(ids)}
    for source, row in nx.all_pairs_shortest_path_length(networkx_of(graph)):
        for target, distance in row.items():
            found[place[source], place[target]] = distance
    return found


@pytest.mark.parametrize("name", [name for name in NAMES if graphs()[name].n])
def test_distances_hops_and_centrality(name):
    graph = graphs()[name]
    expected = matrix(graph)
    found = bigbfs.distances(graph, "all")
    np.testing.assert_array_equal(found.levels, expected)
    assert found.levels.dtype == np.int16
    np.testing.assert_array_equal(found.reached, (expected >= 0).sum(axis=1))
    np.testing.assert_array_equal(found.depth, expected.max(axis=1))
    assert (expected[np.arange(graph.n), np.searchsorted(found.targets, found.far)] == found.depth).all()
    counted = bigbfs.hops(graph, verify=True)
    distances, pairs = np.unique(expected[expected >= 0], return_counts=True)
    assert counted.counts.tolist() == np.cumsum(pairs).tolist() and len(distances) == len(counted.counts)
    assert counted.exact and counted.record.verified
    if (expected > 0).any():
        assert counted.average_distance == pytest.approx(expected[expected > 0].mean(), rel=1e-12)
    np.testing.assert_array_equal(counted.within[:, -1], found.reached)
    if graph.m:
        theirs = networkx_of(graph)
        check = {
            "closeness": nx.closeness_centrality(theirs),
            "harmonic": nx.harmonic_centrality(theirs),
        }
        for kind, values in check.items():
            ours = bigbfs.closeness(graph, kind=kind)
            assert ours.exact and ours.error is None
            want = np.array([values[vertex] for vertex in ours.ids.tolist()])
            np.testing.assert_allclose(ours.values, want, rtol=1e-12, atol=0)
        plain = bigbfs.closeness(graph, wf_improved=False)
        want = nx.closeness_centrality(theirs, wf_improved=False)
        np.testing.assert_allclose(plain.values, [want[vertex] for vertex in plain.ids.tolist()], rtol=1e-12)
        reach, total = (expected >= 0).sum(axis=0), np.where(expected > 0, expected, 0).sum(axis=0)
        lin = np.divide(reach**2, total, out=np.ones(graph.n), where=total > 0)
        np.testing.assert_allclose(bigbfs.closeness(graph, kind="lin").values, lin, rtol=1e-12)


def test_a_sample_stays_within_its_bound_and_the_whole_is_exact():
    graph = graphs()["random 90 False"]
    whole = bigbfs.closeness(graph, kind="closeness", wf_improved=False)
    mean = np.where(matrix(graph) > 0, matrix(graph), 0).sum(axis=0) / graph.n
    for seed in range(5):
        some = bigbfs.closeness(graph, sources="random:30", wf_improved=False, seed=seed)
        assert not some.exact and some.record.sources == 30
        reached = (matrix(graph) >= 0).sum(axis=0) == graph.n
        others = np.divide(graph.n - 1, some.values * graph.n, out=np.zeros(graph.n), where=some.values > 0)
        sure = reached & (some.values > 0)
        assert (np.abs(others - mean)[sure] <= some.error).all()
    np.testing.assert_allclose(bigbfs.closeness(graph, sources="random:90", wf_improved=False).values, whole.values)
    assert bigbfs.closeness(graph, sources="random:4").top(3)[0][1] >= 0


def test_a_run_that_is_stopped_is_a_sample(monkeypatch):
    graph = graphs()["random 90 False"]
    calls = iter([False, True])
    monkeypatch.setattr("bigbfs.algorithms.many.cpu.program.WIDTHS", (64,))
    monkeypatch.setattr("bigbfs.algorithms.many.cpu.program.FEW", 64)
    found = bigbfs.closeness(graph, stop=lambda: next(calls))
    assert (found.record.sources, found.exact, found.error > 0) == (64, False, True)
    nothing = bigbfs.hops(graph, stop=lambda: True)
    assert (nothing.record.sources, nothing.effective_diameter, nothing.average_distance) == (0, 0.0, 0.0)
    assert not bigbfs.closeness(graph, seconds=0.0).values.any()


def test_distances_go_to_files_as_they_come(tmp_path, monkeypatch):
    graph = graphs()["random 60 False"]
    ids = graph.original_ids().tolist()
    sources, targets = ids[5:1:-1], ids[::-7]
    want = matrix(graph)[5:1:-1][:, np.arange(graph.n)[::-7]]
    assert bigbfs.distances(graph, sources, targets, output=tmp_path / "D.npy").levels is None
    np.testing.assert_array_equal(np.load(tmp_path / "D.npy"), want)
    bigbfs.distances(graph, sources, targets, output=tmp_path / "D.csv", verify=True)
    lines = (tmp_path / "D.csv").read_text().splitlines()
    assert lines[0] == "source,target,distance" and len(lines) == 1 + (want >= 0).sum()
    source, target, distance = map(int, lines[-1].split(","))
    assert want[sources.index(source), targets.index(target)] == distance
    near = bigbfs.distances(graph, sources, max_depth=1).levels
    full = matrix(graph)[5:1:-1]
    np.testing.assert_array_equal(near, np.where(full > 1, -1, full))
    monkeypatch.setattr(module.shutil, "disk_usage", lambda folder: type("Usage", (), {"free": 100}))
    with pytest.raises(DoesNotFitError, match="fewer sources"):
        bigbfs.distances(graph, "all", output=tmp_path / "E.npy")
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("E")] == []


def test_a_distance_too_large_for_int16_makes_all_wider(monkeypatch):
    graph = graphs()["random 60 False"]
    monkeypatch.setattr(module, "NARROW", 3)
    found = bigbfs.distances(graph, "all")
    assert found.levels.dtype == np.int32
    np.testing.assert_array_equal(found.levels, matrix(graph))


def test_what_cannot_be_is_refused(tmp_path):
    graph = graphs()["random 60 False"]
    free = sorted(set(range(3 * graph.n + 20)) - set(graph.original_ids().tolist()))
    with pytest.raises(UsageError, match=", ".join(map(str, free[:10])) + " and 2 more"):
        bigbfs.distances(graph, free[:12])
    with pytest.raises(UsageError, match="12 targets"):
        bigbfs.distances(graph, "all", free[:12])
    for sources, message in (("some", "random:K"), ("random:0", "random:K"), ([1.5], "whole"), ([], "no sources")):
        with pytest.raises(UsageError, match=message):
            bigbfs.distances(graph, sources)
    with pytest.raises(UsageError, match="CPU"):
        bigbfs.distances(graph, "all", backend="gpu")
    with pytest.raises(UsageError, match=r"\.npy or \.csv"):
        bigbfs.distances(graph, "all", output=tmp_path / "D.txt")
    with pytest.raises(UsageError, match="no vertices"):
        bigbfs.closeness(bigbfs.Graph.from_csr([0], []))
    with pytest.raises(UsageError, match="no edges"):
        bigbfs.eccentricity(bigbfs.Graph.from_csr([0, 0], []))
    with pytest.raises(UsageError, match="kind"):
        bigbfs.closeness(graph, kind="betweenness")


def test_the_effective_diameter_is_interpolated():
    assert effective_diameter(np.array([10, 30, 90, 110])) == pytest.approx(2 + 9 / 20)
    assert effective_diameter(np.array([10])) == effective_diameter(np.array([])) == 0.0


def test_a_sample_of_an_unconnected_graph_promises_nothing():
    """Vertices that no source reaches may be as far from each other as they like."""
    star, path = 300, 60
    graph = zoo.build(
        star + path,
        zoo.join(
            (np.zeros(star - 1, int), np.arange(1, star)),
            (np.arange(star, star + path - 1), np.arange(star + 1, star + path)),
        ),
    )
    assert bigbfs.closeness(graph, sources=[0, 1, 2], kind="closeness").error is None
    assert bigbfs.closeness(graph, sources=[0, star], kind="closeness").error is not None
    assert not bigbfs.closeness(graph, sources=[0] * graph.n).exact


def test_random_sources_and_targets_are_drawn_apart():
    graph = zoo.shared()["random"]
    found = bigbfs.distances(graph, "random:5", "random:5")
    assert set(found.sources) != set(found.targets)
