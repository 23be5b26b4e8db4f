"""The diameter by single searches: exact, with bounds that hold whenever it is stopped, in few searches."""

from __future__ import annotations

import gc
import weakref

import networkx as nx
import numpy as np
import pytest
import zoo
from measures.against import graphs, networkx_of
from wide import WIDE

import bigbfs
from bigbfs.algorithms.sweeps.cpu import program
from bigbfs.algorithms.sweeps.options import FAR, KEPT
from bigbfs.engines.cpu.rows import rows_of
from bigbfs.errors import DoesNotFitError
from bigbfs.jit.team import members_of
from bigbfs.measures import bounding, small, sweeping
from bigbfs.measures.pairs import partners_of, wanted_of

SEARCHES = {"soc-slashdot0902": 3, "com-dblp": 3, "cnr-2000": 4, "luxembourg_osm": 4, "USA-road-d": 12}
DIAMETERS = {
    "soc-slashdot0902": 13,
    "com-dblp": 23,
    "cnr-2000": 34,
    "luxembourg_osm": 1337,
    "USA-road-d": 720,
    "mdual": 142,
}


@pytest.fixture(autouse=True)
def _one_kernel_does_not_do_it_all(monkeypatch):
    """Small graphs are searched like large ones here."""
    monkeypatch.setattr(small, "EDGES", -1)


def largest_of(graph):
    """Return the largest component, of several the one of the smallest internal vertex."""
    theirs = networkx_of(graph)
    rank = {int(each): at for at, each in enumerate(np.asarray(graph.original(np.arange(graph.n))).tolist())}
    parts = sorted(nx.connected_components(theirs), key=lambda part: (-len(part), min(rank[each] for each in part)))
    return theirs.subgraph(parts[0])


def check(graph, theirs, want, **asked):
    """Hold a run against the eccentricities ``want``; return it."""
    found = bigbfs.eccentricity(graph, goal="diameter", **asked)
    assert set(found.ids.tolist()) == set(want) and found.vertices == len(want) and found.components == 1
    exact = np.array([want[each] for each in found.ids.tolist()])
    assert (found.lower <= exact).all() and (exact <= found.upper).all()
    assert found.diameter[0] <= exact.max() <= found.diameter[1]
    assert found.radius[0] <= exact.min() <= found.radius[1]
    assert nx.shortest_path_length(theirs, *found.witness) == found.diameter[0]
    assert found.exact == (found.diameter[0] == found.diameter[1])
    return found


def shapes(seeds):
    """Yield small graphs of many shapes: sparse, trees, with hanging trees, of several components."""
    for seed in seeds:
        draw = np.random.default_rng(seed)
        n = int(draw.integers(3, 60))
        kind, more = seed % 3, int(draw.integers(0, n))
        tree = (np.arange(1, n), (np.arange(1, n) * draw.random(n - 1)).astype(np.int64))
        if kind == 0:
            yield zoo.build(n, zoo.join(tree, zoo.random(n, more // 4, seed=seed)))
        elif kind == 1:
            yield zoo.build(n, zoo.join(zoo.path(n), zoo.random(n, more // 8, seed=seed)))
        else:
            yield zoo.build(n, zoo.random(n, n + more, seed=seed))


@pytest.mark.parametrize("seeds", [range(12), pytest.param(range(12, 90), marks=WIDE)], ids=["few", "rest"])
def test_small_graphs_of_many_shapes(seeds):
    for graph in (each for each in shapes(seeds) if each.m):
        theirs = largest_of(graph)
        want = nx.eccentricity(theirs)
        assert check(graph, theirs, want, threads=1).exact
        for calls in range(4):
            left = [False] * calls + [True]
            check(graph, theirs, want, threads=2, stop=lambda left=left: left.pop(0) if left else True)


@pytest.mark.parametrize("edges", [-1, small.EDGES], ids=["sweeps", "one kernel"])
def test_a_stopped_run_knows_that_a_path_has_no_vertex_twice(edges, monkeypatch):
    """The search from one place of a long path says twice its depth, which is more."""
    monkeypatch.setattr(small, "EDGES", edges)
    graph = zoo.build(400, zoo.join(zoo.path(400), zoo.random(400, 1, seed=0)))
    found = bigbfs.eccentricity(graph, goal="diameter", seconds=0)
    assert found.record.sources == 1 and not found.exact
    assert found.diameter[1] == found.upper.max() == 399


@pytest.mark.parametrize("turn", [0, pytest.param(1, marks=WIDE)])
def test_the_zoo(turn):
    """One codec and the other in turn."""
    for number, graph in enumerate(graphs().values()):
        if graph.m and not graph.flags.directed:
            theirs = largest_of(graph)
            given = graph.compress() if (number + turn) % 2 else graph
            assert check(given, theirs, nx.eccentricity(theirs), verify=True).exact


@pytest.mark.parametrize("few", [0, pytest.param(10**9, marks=WIDE)])
def test_what_is_left_is_searched_from_in_batches(few, monkeypatch):
    """By bounds, or with nothing but depths; sweeps end after the first round, where the graph is one of these."""
    monkeypatch.setattr(sweeping, "FEW", 1)
    monkeypatch.setattr(sweeping, "ROUND", 4)
    monkeypatch.setattr(sweeping, "PAIRS", 0)
    monkeypatch.setattr(bounding, "MANY", few)
    cube = zoo.build(128, tuple(np.concatenate(ends) for ends in zip(*_cube(7), strict=True)))
    torus = zoo.build(15 * 14, _torus(15, 14))
    for graph in (
        cube,
        torus,
        zoo.build(90, zoo.random(90, 200, seed=4)),
        zoo.build(400, zoo.random(400, 460, seed=2)),
    ):
        theirs = largest_of(graph)
        want = nx.eccentricity(theirs)
        found = check(graph, theirs, want, verify=True)
        assert found.exact
        for calls in range(4, 8):
            left = [False] * calls + [True]
            check(graph, theirs, want, stop=lambda left=left: left.pop(0) if left else True)


def _cube(dimensions):
    vertices = np.arange(2**dimensions)
    below = [vertices[vertices < (vertices ^ 1 << bit)] for bit in range(dimensions)]
    return [(each, each ^ 1 << bit) for bit, each in enumerate(below)]


def _torus(rows, columns):
    at = np.arange(rows * columns).reshape(rows, columns)
    return np.concatenate([at.ravel()] * 2), np.concatenate([np.roll(at, 1, axis).ravel() for axis in (0, 1)])


def test_graphs_on_which_sweeps_fail_go_on_at_the_full_rate():
    cycle = zoo.build(1_200, (np.arange(1_200), np.roll(np.arange(1_200), 1)))
    told = []
    found = bigbfs.eccentricity(cycle, goal="diameter", tell=lambda left, bounds: told.append((left, bounds)))
    assert found.diameter == (600, 600) and found.exact and told[-1] == (0, (600, 600))
    assert found.record.batches <= sweeping.ROUND + 4 and found.record.sources >= 600 - sweeping.ROUND


def test_where_no_batch_fits_sweeps_go_on(monkeypatch):
    cycle = zoo.build(300, (np.arange(300), np.roll(np.arange(300), 1)))

    def refuse(*_):
        raise DoesNotFitError("no room")

    monkeypatch.setattr("bigbfs.measures.eccentricity.Bounding", refuse)
    monkeypatch.setattr(sweeping, "PAIRS", 0)
    found = bigbfs.eccentricity(cycle, goal="diameter")
    assert found.exact and found.diameter == (150, 150) and found.record.batches == found.record.sources > 16


def test_distances_too_long_to_be_kept():
    """Those of a path of more than twice as many vertices."""
    n = 2 * FAR + 9_000
    found = bigbfs.eccentricity(zoo.build(n, zoo.path(n)), goal="diameter")
    assert found.diameter == (n - 1, n - 1) and found.exact and found.record.sources <= 4
    assert sorted(found.witness) == [0, n - 1]
    with bigbfs.engine(zoo.build(n, zoo.path(n)), backend="cpu") as engine:
        sweeps = sweeping.Sweeps(engine)
        sweeps._first()
        lower, upper, distances = sweeps.known()
        assert distances.max() > n and (upper[:-1] >= lower[:-1]).all()


def test_the_diameter_alone():
    at = np.delete(np.arange(59), 39)
    graph = zoo.build(60, (at, at + 1))
    found = bigbfs.eccentricity(graph, goal="diameter", each=False)
    assert (len(found.ids), found.vertices, found.diameter, found.components) == (0, 40, (39, 39), 1)
    whole = bigbfs.eccentricity(graph, goal="diameter", component="all", each=False)
    assert (whole.vertices, whole.diameter, whole.components) == (60, (39, 39), 2)


def test_the_largest_component_need_not_hold_the_hub():
    star = (np.zeros(9, int), np.arange(1, 10))
    found = bigbfs.eccentricity(zoo.build(40, zoo.join(star, zoo.path(40, first=10))), goal="diameter")
    assert found.diameter == (29, 29) and found.exact and found.ids.tolist() == list(range(10, 40))
    even = bigbfs.eccentricity(zoo.build(20, zoo.join(star, zoo.path(20, first=10))), goal="diameter")
    assert even.diameter == (2, 2) and even.exact and even.ids.tolist() == list(range(10))  # the first of equal ones


def test_bytes_are_known_beforehand():
    n = 50_000
    with bigbfs.engine(zoo.build(n, zoo.random(n, n, seed=3)), backend="cpu", threads=2) as engine:
        sweeps = sweeping.Sweeps(engine)
        sweeps._first()
        took = engine._placed.program(sweeping.SweepOptions())._known
    need = program.known_bytes(n, np.dtype(np.uint32))
    assert sum(each.nbytes for each in took[1:]) <= need + 4_096 and took.kept.shape == (KEPT, n)


def test_state_goes_with_its_engine():
    """Not when garbage is looked for: the next run would take other memory, page by page."""
    gc.collect()
    gc.disable()
    try:
        with bigbfs.engine(zoo.build(50, zoo.random(50, 90, seed=3)), backend="cpu") as engine:
            assert bigbfs.eccentricity(engine, goal="diameter").exact
            state = weakref.ref(engine._placed.program(sweeping.SweepOptions()))
            assert state() is not None
        assert state() is None
    finally:
        gc.enable()


def test_pairs():
    """d(x, y) <= d(x, s) + d(s, y); a distance that was not kept says nothing."""
    levels = np.array([[5, 5, 1, FAR], [9, 2, 9, 9]])
    counts, pairs = partners_of(levels, np.arange(4), 9)
    assert counts.tolist() == [2, 2, 1, 3] and pairs.tolist() == [[0, 1], [0, 3], [1, 3], [2, 3]]
    counts, pairs = partners_of(levels, np.array([1, 3]), 9)  # the others are partners, not ones
    assert counts.tolist() == [2, 3] and pairs.tolist() == [[1, 0], [1, 3], [3, 0], [3, 2]]
    assert partners_of(levels, np.arange(4), 10)[0].tolist() == [1, 1, 1, 3]
    assert partners_of(levels[:1], np.arange(3), 10)[0].tolist() == [1, 1, 1]


def test_who_stands_for_whom():
    """Leaves for the neighbour that they hang on, the first leaf for all of one neighbour; nobody stands for others."""
    spider = rows_of(zoo.build(9, ([0, 0, 0, 1, 3, 0, 6, 7, 8], [1, 2, 3, 4, 5, 6, 7, 8, 6])).adjacency)
    bare = set()
    assert wanted_of(spider, np.arange(9), 7, bare).tolist() == [0, 0, 1, 0, 1, 1, 1, 1, 1] and not bare
    assert wanted_of(spider, np.arange(9), 4, bare).tolist() == [0, 0, 1, 0, 0, 1, 1, 1, 1] and bare == {1}
    assert wanted_of(spider, np.arange(9), 2, bare).tolist() == [0, 0, 0, 0, 0, 1, 1, 1, 1] and bare == {0, 1}
    assert wanted_of(spider, np.empty(0, np.int64), 5, bare).tolist() == [] and bare == {0, 1, 3}
    star = rows_of(zoo.build(40, (np.zeros(39, int), np.arange(1, 40))).adjacency)
    assert wanted_of(star, np.arange(1, 40), 0, set()).tolist() == [True] + 38 * [False]
    many = rows_of(zoo.build(2000, (np.arange(1000), np.arange(1000, 2000))).adjacency)  # pairs: leaves of each other
    assert wanted_of(many, np.arange(2000), 5, found := set()).tolist() == [i != 5 for i in range(2000)]
    assert found == {1005}


@pytest.mark.parametrize("name", sorted(SEARCHES))
def test_real_graphs_take_few_searches(name, data, tmp_path):
    source = next(data.glob(f"{name}.*"))
    bigbfs.convert(source, tmp_path / "g.csrbin")
    with bigbfs.Graph.open(tmp_path / "g.csrbin") as graph:
        found = bigbfs.eccentricity(graph, goal="diameter", each=False)
    assert (found.diameter, found.exact) == ((DIAMETERS[name],) * 2, True)
    assert found.record.sources <= SEARCHES[name]


def test_a_graph_none_of_whose_levels_is_shared_has_one_thread():
    """Two threads would share passes of some 100 us, and one of them look for work for the rest of the time."""
    few, many = zoo.build(60, zoo.path(60)), zoo.build(2000, zoo.random(2000, 200_000, seed=3))
    for graph, threads in ((few, 1), (many, 2)):
        with bigbfs.engine(graph, backend="cpu", threads=2) as engine:
            sweeping.Sweeps(engine)._first()
            swept = engine._placed.program(sweeping.SweepOptions())
            assert members_of(swept._known.team) == len(swept._known.tallies) == threads
            assert members_of(swept._search.search._team) == threads
