"""The diameter of a small graph in one kernel: exact, with bounds that hold whenever it is stopped."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
import zoo
from hypothesis import given, settings
from hypothesis import strategies as st
from measures.against import graphs
from measures.test_memory import peak
from measures.test_sweeping import DIAMETERS, check, largest_of, shapes
from wide import WIDE

import bigbfs
from bigbfs.algorithms.many.reference import many
from bigbfs.engines.cpu.rows import rows_of
from bigbfs.errors import FormatError, UsageError
from bigbfs.graph.adjacency import PlainAdjacency
from bigbfs.graph.flags import GraphFlags
from bigbfs.graph.graph import Graph
from bigbfs.jit.njit import njit
from bigbfs.measures import closing, small
from bigbfs.measures.fours import AHEAD, WIDEST, fill
from bigbfs.measures.fours import search as search_by_fours
from bigbfs.measures.placing import Until
from bigbfs.measures.serial_search import search, search_at_once
from bigbfs.measures.small import small_of
from bigbfs.record import SetupRecord

SEARCHES = {"soc-slashdot0902": 1, "com-dblp": 1, "cnr-2000": 3, "luxembourg_osm": 3, "USA-road-d": 7, "mdual": 160}


@njit(cache=True)
def searched(rows, source, edges, widest, size, levels, queue, todo):
    """Call a part of a kernel."""
    return search(rows, source, edges, widest, size, levels, queue, todo)


@njit(cache=True)
def searched_by_fours(rows, fours, source, size, levels, queue, seen):
    """Call parts of a kernel."""
    return fill(rows, fours), search_by_fours(rows, fours, source, size, levels, queue, seen)


@pytest.fixture
def every_step(monkeypatch):
    """Have the kernel asked again after every search."""
    monkeypatch.setattr(small, "IN_A_CALL", -1)


@pytest.mark.parametrize("seeds", [range(12), pytest.param(range(12, 90), marks=WIDE)], ids=["few", "rest"])
def test_small_graphs_of_many_shapes(seeds):
    for graph in (each for each in shapes(seeds) if each.m):
        theirs = largest_of(graph)
        want = nx.eccentricity(theirs)
        assert check(graph, theirs, want, threads=1).exact
        for calls in range(4):
            left = [False] * calls + [True]
            check(graph, theirs, want, threads=2, stop=lambda left=left: left.pop(0) if left else True)


@pytest.mark.parametrize("turn", [0, pytest.param(1, marks=WIDE)])
def test_the_zoo(turn):
    """One codec and the other in turn."""
    for number, graph in enumerate(graphs().values()):
        if graph.m and not graph.flags.directed:
            theirs = largest_of(graph)
            given = graph.compress() if (number + turn) % 2 else graph
            assert check(given, theirs, nx.eccentricity(theirs), verify=True).exact
            assert bigbfs.diameter(given) == nx.diameter(theirs)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 40), st.lists(st.tuples(st.integers(0, 39), st.integers(0, 39)), max_size=90))
def test_any_graph(n, pairs):
    """Of the largest component, with vertices of no neighbour."""
    graph = zoo.build(n, np.array([pair for pair in pairs if max(pair) < n] or [(0, 0)]).T)
    theirs = largest_of(graph)
    assert check(graph, theirs, nx.eccentricity(theirs)).exact
    assert bigbfs.diameter(graph) == nx.diameter(theirs)


def torus(rows, columns):
    """Return a graph all of whose vertices have one eccentricity, so that bounds tell nothing."""
    at = np.arange(rows * columns).reshape(rows, columns)
    ends = np.concatenate([at.ravel()] * 2), np.concatenate([np.roll(at, 1, axis).ravel() for axis in (0, 1)])
    return zoo.build(rows * columns, ends)


@pytest.mark.parametrize("few", [0, 4096])
def test_where_bounds_do_not_help_all_are_searched_from_at_once(few, monkeypatch):
    """In the kernel, or in the batches that go on from what it knows."""
    monkeypatch.setattr(small, "STILL_TOGETHER", few)
    monkeypatch.setattr(small, "TOGETHER", 0)
    graph = torus(31, 37)
    found = bigbfs.eccentricity(graph, goal="diameter", verify=True)
    assert found.diameter == (33, 33) and found.exact and found.record.sources > 500
    assert (found.record.batches > 20) is bool(few)


def test_what_is_left_is_searched_from_64_at_once():
    graph = zoo.build(2_000, zoo.random(2_000, 4_000, seed=2))
    told = []
    found = bigbfs.eccentricity(graph, goal="diameter", tell=lambda left, bounds: told.append((left, *bounds)))
    assert found.exact and found.record.batches < found.record.sources and found.record.width == 64
    assert found.diameter[0] == many(graph, found.ids).max() and told[-1] == (0, *found.diameter)
    assert all(low <= found.diameter[0] <= high for _, low, high in told)


@pytest.mark.parametrize("theirs", [nx.random_regular_graph(3, 120, seed=1), nx.circulant_graph(150, [1, 7])], ids=str)
def test_a_stopped_run_says_of_the_radius_what_its_bounds_do(theirs, every_step):
    """Searches at once may find less than was known of any, or more of all that were known least of."""
    graph, together = zoo.build(len(theirs), np.array(theirs.edges).T), False
    for calls in range(12):
        left = [False] * calls + [True]
        found = bigbfs.eccentricity(graph, goal="diameter", stop=lambda left=left: left.pop(0) if left else True)
        together |= found.record.batches < found.record.sources
        assert found.radius == (max(found.lower.min(), (found.diameter[0] + 1) // 2), found.upper.min()), calls
    assert together


@pytest.mark.parametrize("name", sorted(SEARCHES))
def test_real_graphs_take_few_searches(name, data, tmp_path):
    source = next(data.glob(f"{name}.*"))
    bigbfs.convert(source, tmp_path / "g.csrbin")
    with bigbfs.Graph.open(tmp_path / "g.csrbin") as graph:
        found = bigbfs.eccentricity(graph, goal="diameter", each=False, threads=1)
    assert (found.diameter, found.exact) == ((DIAMETERS[name],) * 2, True)
    assert found.record.sources <= SEARCHES[name]


@pytest.mark.parametrize("widest", [0, 10**6], ids=["top-down", "both ways"])
@pytest.mark.parametrize("compressed", [False, True])
def test_a_search_finds_the_levels_of_the_reference(widest, compressed):
    """Whichever way its levels go, and with isolated vertices and other components beside it."""
    for n, m in ((40, 30), (300, 4_000), (3_000, 60_000)):
        graph = zoo.build(n + 7, zoo.join(zoo.random(n, m, seed=n), zoo.path(n + 5, first=n + 1)))
        graph = graph.compress() if compressed else graph
        levels, queue, todo = (np.empty(graph.n + 1, np.int32) for _ in range(3))
        for source in (0, n // 2, n + 2, n + 6):
            want = many(graph, np.array([source]))[0]
            arrays = levels[:-1], queue, todo[:-1]
            count, depth, _, faults = searched(rows_of(graph.adjacency), source, graph.m, widest, graph.n, *arrays)
            assert (levels[:-1] == want).all() and (depth, faults) == (want.max(), 0)
            assert np.sort(queue[:count]).tolist() == np.flatnonzero(want >= 0).tolist()
            assert (np.diff(want[queue[:count]]) >= 0).all()


def lattice(rows, columns):
    """Return ends of the edges of a grid."""
    at = np.arange(rows * columns).reshape(rows, columns)
    return np.concatenate([(at[:-1].ravel(), at[1:].ravel()), (at[:, :-1].ravel(), at[:, 1:].ravel())], axis=1)


@pytest.mark.parametrize("compressed", [False, True])
def test_a_search_by_rows_of_four_finds_the_levels_of_the_reference(compressed):
    """Of vertices of fewer neighbours than four, as many, and more; to the end, or up to the last one reached."""
    for n, ends in ((40, zoo.random(40, 50, seed=4)), (300, zoo.random(300, 900, seed=5)), (391, lattice(17, 23))):
        graph = zoo.build(n + 7, zoo.join(ends, zoo.path(n + 5, first=n + 1)))
        graph = graph.compress() if compressed else graph
        assert graph.degrees().max() > 4 or n == 391
        fours, levels, seen = np.empty(4 * graph.n, np.int32), np.empty(graph.n, np.int32), np.empty(graph.n, np.uint8)
        queue = np.zeros(graph.n + AHEAD, np.int32)
        for source in (0, n // 2, n + 2, n + 6):
            want = many(graph, np.array([source]))[0]
            for size in (graph.n, int((want >= 0).sum())):
                given = rows_of(graph.adjacency), fours, source, size, levels, queue, seen
                faults, (count, depth, unread) = searched_by_fours(*given)
                assert faults == 0 and (levels == want).all() and depth == want.max()
                assert np.sort(queue[:count]).tolist() == np.flatnonzero(want >= 0).tolist()
                assert (np.diff(want[queue[:count]]) >= 0).all()
                assert (want[queue[unread:count]] == depth).all()
                assert (count - unread) == ((want == depth).sum() if size == count else 0)


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=WIDE) for seed in range(1, 6))])
def test_whom_pairs_leave_out_is_not_open_again(seed):
    """Where bounds alone leave many open: lattices with gaps. What is said of each vertex holds after every search."""
    ends = lattice(20, 50)
    graph = zoo.build(1_000, ends[:, np.random.default_rng(seed).random(ends.shape[1]) < 0.85])
    theirs = largest_of(graph)
    want = nx.eccentricity(theirs)
    searches, left = small.Small(graph, SetupRecord()), 1
    while left:
        searches._step(-1, 1)
        left, (below, above, away) = searches.left, searches.known()
        assert all(below[v] <= want[v] <= above[v] for v in want)
    assert searches.diameter == (max(want.values()),) * 2
    for_themselves = [v for v in want if all(theirs.degree(u) > 1 for u in (v, *theirs[v]))]
    outside = [v for v in for_themselves if away[v] > searches.longest[0] // 2]
    assert outside and (above[outside] <= searches.longest[0]).all()


@pytest.mark.parametrize("hub", [0, WIDEST + 1], ids=["few neighbours", "a hub"])
def test_edges_read_are_counted_whatever_is_read(hub):
    """By rows of four, which are laid first, and not where somebody has many neighbours: a path, and some alone."""
    ends = zoo.join(zoo.path(200), np.array([np.zeros(hub, int), np.arange(200, 200 + hub)]))
    graph = zoo.build(260, ends)
    found = bigbfs.eccentricity(graph, goal="diameter")
    assert found.exact and found.diameter == (199 + bool(hub),) * 2
    assert found.record.edges_read == pytest.approx((found.record.sources + (not hub)) * graph.m, abs=70)


@pytest.mark.parametrize("count", [1, 5, 63, 64])
def test_searches_at_once_find_depths_and_levels_of_the_reference(count):
    """From their own neighbours in thin levels, and from everybody's in wide ones."""
    for graph in (
        zoo.build(300, zoo.random(300, 500, seed=1)),
        zoo.build(600, zoo.random(600, 9_000, seed=2)),
        zoo.build(500, zoo.path(500)),
    ):
        inside = np.where(many(graph, np.array([0]))[0] < 0, -1, 0).astype(np.int32)
        sources = np.random.default_rng(count).permutation(np.flatnonzero(inside == 0))[:count].astype(np.int32)
        levels = many(graph, sources.astype(np.int64))
        found, words, queue = (
            np.empty(64, np.int64),
            np.empty((3, graph.n), np.uint64),
            np.empty((2, graph.n), np.int32),
        )
        mine = np.full((graph.n, count), -1, np.int32)
        for wanted in (mine, np.empty((0, count), np.int32)):
            given = rows_of(graph.adjacency), graph.m, inside, sources, found, wanted, words, *queue
            depth, one, other, _, faults = search_at_once(*given)
            assert found[: len(sources)].tolist() == levels.max(axis=1).tolist() and faults == 0
            assert depth == levels.max() == levels[sources.tolist().index(one), other]
        assert (levels == mine.T).all()


def test_who_goes_this_way(monkeypatch):
    graph, directed = zoo.build(60, zoo.random(60, 90, seed=1)), zoo.build(9, zoo.path(9), directed=True)
    assert small_of(graph, 1, "cpu") is not None and small_of(directed, 1, "cpu") is None
    with bigbfs.engine(graph, backend="cpu", threads=2) as engine:
        assert small_of(engine, None, "auto") is not None
    for name, most in (("EDGES", graph.m), ("VERTICES", graph.n)):
        with monkeypatch.context() as patch:
            patch.setattr(small, name, most - 1)
            assert small_of(graph, 1, "cpu") is None
    monkeypatch.setattr(small, "UNASKED", 0)
    monkeypatch.setattr(small, "free_memory", lambda: 1)
    assert small_of(graph, 1, "cpu") is None


@pytest.mark.parametrize("arguments", [{"threads": 0}, {"threads": 10**6}, {"backend": "no"}, {"threads": "two"}])
def test_arguments_are_refused_as_anywhere(arguments):
    with pytest.raises(UsageError):
        bigbfs.eccentricity(zoo.build(9, zoo.path(9)), goal="diameter", **arguments)


def test_bytes_are_known_beforehand():
    graph = zoo.build(50_000, zoo.random(50_000, 50_000, seed=3))
    bigbfs.diameter(graph)  # compiles
    took = peak(lambda: small.Small(graph, SetupRecord()).run(Until(), None))
    assert took <= small.bytes_of(graph.n, graph.m) <= 1.4 * took


def broken(offsets, ids):
    """Return a graph that says of itself that it is sound."""
    rows = PlainAdjacency(np.array(offsets, np.uint64), np.array(ids, np.uint32))
    graph = Graph(rows, GraphFlags(directed=False, symmetric=True))
    graph.declare_valid()
    return graph


@pytest.mark.usefixtures("every_step")
def test_damaged_graphs_end_with_an_error():
    with pytest.raises(FormatError, match="no vertices"):
        bigbfs.diameter(broken([0, 2, 3, 4], [1, 9, 0, 0]))
    with pytest.raises(FormatError, match="no vertices"):  # of somebody with many neighbours
        bigbfs.diameter(broken([0, 20, *range(21, 41)], [*range(1, 20), 99, *[0] * 20]))
    star = [*range(1, 9)]
    with pytest.raises(FormatError, match="no twin"):  # leaves whose edges lead nowhere
        bigbfs.diameter(broken([0, 8, *range(9, 17)], [*star, *star]))


def test_every_field_has_its_number():
    assert len(set(closing.FIELDS)) == len(closing.FIELDS) == closing.INSIDE + 1
