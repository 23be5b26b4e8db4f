"""Searches from both ends: lengths against plain searches, looking before reading or not, and what is read."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import zoo
from hypothesis import given, settings
from hypothesis import strategies as st
from wide import CODECS, in_turn, split

import bigbfs
from bigbfs.algorithms.many.reference import many
from bigbfs.engines.cpu.lookup import contains
from bigbfs.engines.cpu.rows import rows_of
from bigbfs.errors import FormatError
from bigbfs.graph.adjacency import BLOCK_IDS, PlainAdjacency
from bigbfs.graph.flags import GraphFlags
from bigbfs.graph.graph import Graph
from bigbfs.jit.njit import njit
from bigbfs.measures import paths
from bigbfs.measures.between import LOOK, PathFinder

ALWAYS, NEVER = 0, 10**9
NAMES = [name for name in zoo.names(big=False) if zoo.shared()[name].n]


def edges_of(graph):
    """Return all edges as one number each."""
    ends = np.repeat(np.arange(graph.n), graph.degrees())
    return np.unique(ends * graph.n + graph.decompress().adjacency.indices.astype(np.int64))


def check(graph, pairs, look):
    """Hold paths between ``pairs`` against plain searches; return the ids read for each."""
    finder = PathFinder(graph)
    finder.look = look
    edges, read = edges_of(graph), []
    starts = sorted({source for source, _ in pairs})
    levels = dict(zip(starts, many(graph.decompress(), np.array(starts)), strict=True))
    for source, target in pairs:
        path, ids = finder.find(source, target)
        read.append(ids)
        assert len(path) - 1 == levels[source][target]
        assert not any(side.seen.any() for side in finder.sides)
        if len(path):
            assert (path[0], path[-1]) == (source, target)
            assert np.isin(path[:-1] * graph.n + path[1:], edges).all()
    return read


@pytest.mark.parametrize(("name", "codec"), split(product(NAMES, CODECS), lambda name, codec: in_turn(codec, name)))
def test_lengths_are_those_of_plain_searches(name, codec):
    """All pairs of the sources of the zoo, and random ones; one of a pair is often isolated, or the other itself."""
    graph = zoo.shared()[name]
    ends = zoo.sources(graph)
    pairs = list(product(ends, ends)) + np.random.default_rng(3).integers(0, graph.n, (10, 2)).tolist()
    for look in (ALWAYS, LOOK, NEVER):
        check(graph.compress() if codec == "varint" else graph, pairs, look)


def test_paths_of_any_length_are_written():
    """Short ones by the search, longer ones afterwards."""
    graph = zoo.build(200, zoo.path(200))
    check(graph, [(0, 200 - k) for k in range(1, 200)] + [(k, 0) for k in range(200)], LOOK)


@pytest.mark.parametrize("in_rows", [True, False])
@pytest.mark.parametrize("look", [ALWAYS, LOOK, NEVER])
def test_one_way_edges(look, in_rows):
    graph = zoo.build(300, zoo.random(300, 900, seed=5), directed=True, in_rows=in_rows)
    pairs = np.random.default_rng(1).integers(0, 300, (300, 2)).tolist()
    check(graph, pairs, look)
    check(graph.compress(), pairs, look)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_any_graph(data):
    n = data.draw(st.integers(1, 12))
    vertex = st.integers(0, n - 1)
    lines = data.draw(st.lists(st.tuples(vertex, vertex), max_size=30))
    kinds = {
        "directed": data.draw(st.booleans()),
        "in_rows": data.draw(st.booleans()),
        "keep": data.draw(st.booleans()),
    }
    ids = data.draw(st.sampled_from([np.uint32, np.uint64]))
    graph = zoo.build(n, tuple(np.array(lines, np.int64).reshape(-1, 2).T), ids=ids, **kinds)
    graph = graph.compress() if data.draw(st.booleans()) else graph
    check(graph, list(product(range(n), range(n))), data.draw(st.sampled_from([ALWAYS, 1, LOOK, NEVER])))


def hubs(leaves, *links):
    """Return two hubs (0, 1) with ``leaves`` each, behind them a leaf to begin at, and the ``links`` given as pairs."""
    first = np.arange(2, 2 + leaves)
    pairs = (np.zeros(leaves, int), first), (np.ones(leaves, int), first + leaves)
    more = np.array(links, int).reshape(-1, 2).T
    return zoo.build(2 + 2 * leaves, zoo.join(*pairs, tuple(more)))


@pytest.mark.parametrize("codec", ["plain", "varint"])
def test_rows_of_hubs_are_not_read_where_the_other_frontier_is_small(codec):
    """From leaf to leaf: over an edge between the hubs, or over a common neighbour that comes first or last."""
    leaves = 5 * BLOCK_IDS
    ends = (2 + 7, 2 + leaves + 9)
    few = 60 if codec == "plain" else BLOCK_IDS + 60
    joined, first, last = hubs(leaves, (0, 1)), hubs(leaves, (1, 2)), hubs(leaves, (1, 1 + leaves))
    apart = hubs(leaves)
    graphs = joined, first, last, apart
    if codec == "varint":
        joined, first, last, apart = (graph.compress() for graph in graphs)
    assert check(joined, [ends], LOOK)[0] < few < leaves < check(apart, [ends], LOOK)[0]
    assert check(first, [ends], LOOK)[0] < few + (2 if codec == "plain" else BLOCK_IDS)
    assert leaves < check(last, [ends], LOOK)[0] <= 4 * leaves  # looking costs no more than reading
    for graph in (joined, first, last, apart):
        check(graph, [ends, ends[::-1]], ALWAYS)
        check(graph, [ends, ends[::-1]], NEVER)


def test_looking_ends_when_it_has_cost_what_reading_does():
    """The neighbours of hub 0 have 41 neighbours each, none of which is hub 1, in a part of its own."""
    few, many_more, pool = 1_000, 1_100, 40
    near = np.arange(2, 2 + few)
    far = np.arange(2 + few, 2 + few + many_more)
    shared = np.arange(pool) + 2 + few + many_more
    grid = np.repeat(near, pool), np.tile(shared, few)
    graph = zoo.build(int(shared[-1]) + 1, zoo.join((np.zeros(few), near), (np.ones(many_more), far), grid))
    looks = check(graph, [(0, 1)], LOOK)[0]
    assert looks < 2 * few + 2 * many_more + 100 < 5 * few + 2 * many_more


def test_a_way_round_is_not_taken_for_the_shortest():
    """Hub 0 comes first among the neighbours of 2 and leads to 1 in two edges; 1 itself is the last of them."""
    leaves = 3_000
    graph = hubs(leaves, (0, 1), (2 + leaves, 0))
    check(graph, [(u, v) for u in (0, 1, 2, 2 + leaves, 3) for v in (0, 1, 3 + leaves, 1 + leaves)], LOOK)


@njit(nogil=True)
def look_up(rows, u, wanted, found, read):
    for k in range(len(wanted)):
        found[k], read[k] = contains(rows, u, wanted[k])


@pytest.mark.parametrize("degree", [0, 1, 2, 3, 4, 5, 31, BLOCK_IDS - 1, BLOCK_IDS, BLOCK_IDS + 1, 3 * BLOCK_IDS + 5])
@pytest.mark.parametrize("codec", ["plain", "varint"])
@pytest.mark.parametrize("ids", [np.uint32, np.uint64])
def test_looking_up_a_neighbour(degree, codec, ids):
    n = 4 * degree + 10
    row = np.sort(np.random.default_rng(degree).choice(np.arange(1, n - 1), degree, replace=False))
    graph = zoo.build(n, (np.full(degree, n - 1), row), directed=True, ids=ids)
    wanted = np.arange(n + 2, dtype=np.uint64)
    found, read = np.zeros(n + 2, bool), np.zeros(n + 2, np.int64)
    rows = rows_of((graph.compress() if codec == "varint" else graph).adjacency)
    look_up(rows, np.uint64(n - 1), wanted, found, read)
    assert np.flatnonzero(found).tolist() == row.tolist()
    most = 4 + max(degree, 1).bit_length() if codec == "plain" else BLOCK_IDS + 3
    assert read.max() <= min(degree + 1, most)


def test_neighbours_that_are_no_vertices_are_refused():
    damaged = PlainAdjacency(np.array([0, 2, 3, 3, 4], np.uint64), np.array([1, 9, 0, 2], np.uint32))
    graph = Graph(damaged, GraphFlags(directed=True, symmetric=False))
    for look in (ALWAYS, NEVER):
        finder = PathFinder(graph)
        finder.look = look
        with pytest.raises(FormatError, match="no vertices"):
            finder.find(0, 3)
        assert not any(side.seen.any() for side in finder.sides)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("worth", [0.0, 1e9])
def test_pairs_keep_their_order_whoever_searches(threads, worth, monkeypatch):
    monkeypatch.setattr(paths, "WORTH", worth)
    labels = np.random.default_rng(2).permutation(900)[:300]
    graph = zoo.build(300, zoo.random(300, 700, seed=4), labels=labels)
    pairs = np.random.default_rng(1).choice(labels, (4 * 3 * paths.BLOCK + 5, 2)).tolist()
    levels = many(graph, np.arange(300))
    place = {int(label): vertex for vertex, label in enumerate(labels)}
    with bigbfs.engine(graph, backend="cpu") as engine:
        monkeypatch.setattr(type(engine), "threads", threads)  # whatever cores there are
        found = list(bigbfs.shortest_paths(engine, pairs))
    assert [[path.source, path.target] for path in found] == pairs
    assert [path.distance for path in found] == [levels[place[a], place[b]] for a, b in pairs]
    assert all((path.vertices or pairs[k])[:: max(path.distance, 1)][0] == pairs[k][0] for k, path in enumerate(found))
    assert all(path.seconds > 0 for path in found)


def test_a_thread_takes_a_search_only_if_there_is_room_for_its_state(monkeypatch):
    graph = zoo.build(300, zoo.random(300, 700, seed=4))
    need = paths.bytes_of(300, graph.ids)
    monkeypatch.setattr("bigbfs.engines.cpu.memory.free_memory", lambda: 2 * need)
    monkeypatch.setattr(paths, "free_memory", lambda: 2 * need)
    with bigbfs.engine(graph, backend="cpu", threads=None) as engine:
        monkeypatch.setattr(type(engine), "threads", 5)
        assert paths.PathSearches(engine, [(0, 1)])._threads == 2
        monkeypatch.setattr(paths, "free_memory", lambda: need - 1)
        assert paths.PathSearches(engine, [(0, 1)])._threads == 1
