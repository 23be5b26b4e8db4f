"""Distances, closeness and hop counts against NetworkX, to 1e-12."""

from __future__ import annotations

import shutil

import networkx as nx
import numpy as np
import pytest
import zoo
from measures.against import graphs, networkx_of

import bigbfs
from bigbfs.algorithms.many import gathered
from bigbfs.algorithms.many.cpu import batch
from bigbfs.algorithms.many.options import ManyOptions
from bigbfs.errors import BigBfsError, DoesNotFitError, UsageError
from bigbfs.measures import distances as module
from bigbfs.measures import ends
from bigbfs.measures.hops import average_distance, effective_diameter

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
    found = bigbfs.closeness(graph, sources="random:4")
    assert found.top(3)[0][1] >= 0
    for wrong in (-1, 1.5, "2"):
        with pytest.raises(bigbfs.UsageError, match="count"):
            found.top(wrong)


def test_a_run_that_is_stopped_is_a_sample(monkeypatch):
    graph = graphs()["random 90 False"]
    calls = iter([True])
    monkeypatch.setattr("bigbfs.algorithms.many.cpu.widths.WIDTHS", (64,))
    monkeypatch.setattr("bigbfs.algorithms.many.cpu.widths.FEW", 64)
    found = bigbfs.closeness(graph, stop=lambda: next(calls))
    assert (found.record.sources, found.exact, found.error > 0) == (64, False, True)
    least = bigbfs.hops(graph, stop=lambda: True)
    assert (least.record.sources, least.exact) == (64, False), "one batch is the least"
    assert bigbfs.closeness(graph, seconds=0.0).values.any()
    told = []
    some = bigbfs.distances(graph, "all", stop=lambda: True, tell=told.append)
    assert (some.levels.shape, len(some.sources), some.asked, told) == ((64, graph.n), 64, graph.n, [64])
    np.testing.assert_array_equal(some.levels, matrix(graph)[:64])


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
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: type("Usage", (), {"free": 100}))
    with pytest.raises(DoesNotFitError, match=r"name fewer sources, or fewer targets \(targets=...\)"):
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
    with pytest.raises(UsageError, match="backend 'tpu' is unknown"):
        bigbfs.distances(graph, "all", backend="tpu")
    with pytest.raises(UsageError, match=r"\.npy or \.csv"):
        bigbfs.distances(graph, "all", output=tmp_path / "D.txt")
    with pytest.raises(UsageError, match="no vertices"):
        bigbfs.closeness(bigbfs.Graph.from_csr([0], []))
    with pytest.raises(UsageError, match="no vertices"):
        bigbfs.eccentricity(bigbfs.Graph.from_csr([0], []))
    with pytest.raises(UsageError, match="kind"):
        bigbfs.closeness(graph, kind="betweenness")


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("n", [1, 3])
def test_a_graph_without_edges_has_the_values_that_networkx_gives(n, directed):
    graph = bigbfs.Graph.from_csr([0] * (n + 1), [], directed=directed)
    other = nx.empty_graph(n, create_using=nx.DiGraph if directed else nx.Graph)
    for sources in ("all", "random:1"):
        for kind, known in (("closeness", nx.closeness_centrality), ("harmonic", nx.harmonic_centrality)):
            found = bigbfs.closeness(graph, kind=kind, sources=sources, verify=True).values.tolist()
            assert found == list(known(other).values()) == [0.0] * n
        # a vertex that no other reaches: 1, as Boldi and Vigna define it
        assert bigbfs.closeness(graph, kind="lin", sources=sources, verify=True).values.tolist() == [1.0] * n
    for component in ("largest", "all"):
        assert bigbfs.diameter(graph, component=component) == 0
        found = bigbfs.eccentricity(graph, component=component, verify=True)
        assert (found.diameter, found.radius) == ((0, 0), (0, 0))
    assert dict(zip(found.ids.tolist(), found.lower.tolist(), strict=True)) == dict.fromkeys(range(n), 0)


def test_memory_bounds_how_many_are_searched_from_at_once(tmp_path):
    graph = graphs()["random 90 False"]
    ids = graph.original_ids().tolist() * 3
    wide = bigbfs.distances(graph, ids, output=tmp_path / "D.npy").record.width
    narrow = bigbfs.distances(graph, ids, output=tmp_path / "E.npy", memory="300KiB").record
    assert narrow.width < wide and narrow.batches > 1
    np.testing.assert_array_equal(np.load(tmp_path / "D.npy"), np.load(tmp_path / "E.npy"))
    with pytest.raises(DoesNotFitError, match=r"32 searches at once .* 1 KiB may be used; allow at least"):
        bigbfs.distances(graph, ids, memory=1024)


def test_a_deep_graph_takes_no_count_for_every_level_and_source(monkeypatch):
    """A sweep counts no levels at all, and hops gives up counting them for each source where they are too many."""
    path = zoo.build(3_000, zoo.path(3_000))
    seen = []
    run = batch.Batch.run
    monkeypatch.setattr(
        batch.Batch, "run", lambda self, *more: (run(self, *more), seen.append(self.sink.columns.size))[0]
    )
    with bigbfs.engine(path, backend="cpu") as engine:
        found = module.sweep(engine, [0, 1_500])
        assert found.reached.tolist() == [3_000, 3_000] and found.depth.tolist() == [2_999, 1_500]
        assert max(seen) == found.record.width
        every = bigbfs.hops(engine, [0, 1_500])
        assert every.within.shape == (3_000, 2)[::-1] and every.within[1, 1] == 3
    monkeypatch.setattr(gathered, "MOST_COUNTS", 40_000)
    with bigbfs.engine(path, backend="cpu") as engine:
        few = bigbfs.hops(engine, [0, 1_500], verify=True)
        assert few.within is None and few.counts.tolist() == every.counts.tolist()
        assert bigbfs.hops(engine, [0], max_depth=3).within.tolist() == [[1, 2, 3, 4]]


def test_what_are_no_vertices_is_refused_in_our_words():
    graph = graphs()["random 60 False"]
    one = int(graph.original_ids()[0])
    for sources in (None, 5, [[1, 2], [3]], [None], ["a"], [True], {"a": 1}, object()):
        with pytest.raises(BigBfsError, match="sources"):
            bigbfs.distances(graph, sources)
    for source, target in (("a", "b"), (one, "b"), (None, one), (1.5, one), ([one], [one])):
        with pytest.raises(BigBfsError, match="vert"):
            bigbfs.shortest_path(graph, source, target)
    for pairs in ([1, 2], [(1, 2, 3)], 7, [None]):
        with pytest.raises(BigBfsError, match="pairs"):
            list(bigbfs.shortest_paths(graph, pairs))
    for sources in ([2**70], [-(2**70), 1]):
        with pytest.raises(BigBfsError, match=r"no vertex -?1180591620717411303424"):
            bigbfs.distances(graph, sources)
    with pytest.raises(BigBfsError, match="no sources"):
        bigbfs.closeness(graph, sources=[])
    with pytest.raises(BigBfsError, match="18446744073709551615"):
        bigbfs.distances(graph, np.array([2**64 - 1], np.uint64))


@pytest.mark.parametrize(
    "given",
    [
        *({"seconds": value} for value in ("a", -1, float("nan"), True)),
        *({"max_depth": value} for value in (1.5, "2", True, -1)),
        *({"seed": value} for value in (-1, 1.5, "x")),
        *({"stop": 5}, {"tell": 5}, {"verify": "yes"}),
    ],
    ids=str,
)
def test_what_cannot_be_meant_is_refused_by_name(given):
    graph = graphs()["random 60 False"]
    (name,) = given
    calls = [lambda: bigbfs.distances(graph, "random:3", **given), lambda: bigbfs.hops(graph, "random:3", **given)]
    calls += [lambda: bigbfs.closeness(graph, sources="random:3", **given)] if name != "max_depth" else []
    calls += [lambda: bigbfs.eccentricity(graph, **given)] if name not in ("max_depth", "seed") else []
    for call in calls:
        with pytest.raises(BigBfsError, match=name):
            call()


def test_names_are_taken_where_vertices_have_them(tmp_path):
    pytest.importorskip("pyarrow", reason="the extra `tables` is not installed")
    (tmp_path / "g.csv").write_text("source,target\nann,bob\nbob,dan\neve,fay\n")
    bigbfs.convert(tmp_path / "g.csv")
    with bigbfs.open(tmp_path / "g.csrbin") as graph:
        found = bigbfs.distances(graph, ["dan", "eve"], ["ann", "fay"])
        assert found.levels.tolist() == [[2, -1], [-1, 1]] and found.sources.tolist() == [2, 3]
        assert [graph.called(each) for each in bigbfs.shortest_path(graph, "ann", "dan")] == ["ann", "bob", "dan"]
        with pytest.raises(UsageError, match="a list of names"):
            bigbfs.distances(graph, "ann")
        with pytest.raises(UsageError, match="no vertex is called 'zoe'"):
            bigbfs.shortest_path(graph, "ann", "zoe")


def test_the_effective_diameter_is_interpolated():
    assert effective_diameter(np.array([10, 30, 90, 110])) == pytest.approx(2 + 9 / 20)
    assert effective_diameter(np.array([10])) == effective_diameter(np.array([])) == 0.0
    near = 9 * 2**56 + 1  # of ten times 2**56 pairs, one more than nine tenths: as a float it is as many
    assert effective_diameter(np.array([1, near - 1, 10 * 2**56])) == 1.0
    assert effective_diameter(np.array([near, 10 * 2**56])) == 0.0
    assert 0.0 < effective_diameter(np.array([near - 2, near - 1, 10 * 2**56])) == 1.0


def test_sums_beyond_floating_point_stay_whole_until_the_last_division():
    found = np.array([5, 2**54 - 1, 2**53 + 1])
    assert average_distance(found) == (2**54 - 1 + 2 * (2**53 + 1)) / (2**54 - 1 + 2**53 + 1)


def test_sums_of_distances_beyond_floating_point_lose_nothing(monkeypatch):
    """As after 2**53 units of distance: every further one counts, and the division is that of the whole sum."""
    graph = zoo.build(5, zoo.path(5))
    plain = bigbfs.closeness(graph, backend="cpu").values
    forget = batch.Batch.forget

    def with_sums(self):
        forget(self)
        self._sink.farness[:] = 2**53

    monkeypatch.setattr(batch.Batch, "forget", with_sums)
    with bigbfs.engine(graph, backend="cpu") as engine:
        farness = engine.run_internal(ManyOptions(np.arange(5), sums=True)).farness
    assert (farness - 2**53).tolist() == [10, 7, 6, 7, 10]
    more = bigbfs.closeness(graph, backend="cpu").values
    np.testing.assert_allclose(more, [4 / each for each in farness.tolist()], rtol=2**-52)
    assert (more < plain).all()


def test_random_sources_and_targets_are_drawn_apart():
    graph = zoo.shared()["random"]
    found = bigbfs.distances(graph, "random:5", "random:5")
    assert set(found.sources) != set(found.targets)


@pytest.mark.parametrize("name", [name for name in NAMES if graphs()[name].n])
def test_of_several_farthest_vertices_it_is_the_smallest(name, tmp_path, monkeypatch):
    """Whatever the threads, the width of a batch and the order in which vertices are stored."""
    monkeypatch.setattr(ends, "_ITEMS", 64)
    graph, expected = graphs()[name], matrix(graphs()[name])
    deepest = expected == expected.max(axis=1, keepdims=True)
    smallest = np.asarray(graph.original_ids())[deepest.argmax(axis=1)].tolist()
    assert bigbfs.distances(graph, "all").far.tolist() == smallest
    assert bigbfs.distances(graph, "all", output=tmp_path / "D.npy", threads=1).far.tolist() == smallest
    for threads in (1, None):
        with bigbfs.engine(graph, backend="cpu", threads=threads, work=module.SWEEP) as engine:
            found = module.sweep(engine, "all")
            assert found.far.tolist() == smallest and found.depth.tolist() == expected.max(axis=1).tolist()


@pytest.mark.parametrize("sources", [20, 512])
@pytest.mark.parametrize("labels", ["ascending", "mixed", "clustered"])
def test_of_several_farthest_vertices_it_is_the_smallest_in_wide_levels(sources, labels):
    n = 3_000
    ids = np.random.default_rng(5).permutation(n)
    given = {"ascending": {}, "mixed": {"labels": ids}, "clustered": {"labels": np.where(ids > 5, ids + 2**62, ids)}}
    graph = zoo.build(n, zoo.random(n, 12_000, seed=4), **given[labels])
    starts = np.random.default_rng(6).permutation(np.asarray(graph.original_ids()))[:sources]
    expected = bigbfs.distances(graph, starts)
    by_levels = expected.targets[(expected.levels == expected.depth[:, None]).argmax(axis=1)].tolist()
    assert expected.far.tolist() == by_levels
    for threads in (1, None):
        with bigbfs.engine(graph, backend="cpu", threads=threads, work=module.SWEEP) as engine:
            assert module.sweep(engine, starts).far.tolist() == by_levels
