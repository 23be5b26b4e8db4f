"""BFS over several emulated GPUs that each have all rows: what ranks write of one another's knowledge, and when."""

from dataclasses import replace

import numpy as np
import pytest
import zoo
from wide import on_hosts

from bigbfs.algorithms.bfs.gpu.costs import Costs
from bigbfs.algorithms.bfs.gpu.tuning import Tuning
from bigbfs.algorithms.bfs.reference import bfs as reference_bfs
from bigbfs.algorithms.bfs.validate import validate_tree
from bigbfs.engines.ranks.partition import LINE_WORDS
from bigbfs.graph.graph import Graph
from emulated.peers import Peers, search
from emulated.runtime import builds_here

LOCAL = Tuning(thin_to=0)


def by_degree(graph):
    """Return ``graph`` with its vertices by descending degree."""
    numbers = np.argsort(np.argsort(-graph.degrees().astype(np.int64), kind="stable"))
    offsets = np.asarray(graph.adjacency.indptr).astype(np.int64)
    sources = np.repeat(np.arange(graph.n), np.diff(offsets))
    ranked = zoo.build(graph.n, (numbers[sources], numbers[np.asarray(graph.adjacency.indices)]))
    return Graph(ranked.adjacency, replace(ranked.flags, relabelled=True))


def lines_of_kronecker(lines=4, seed=4):
    """Return a Kronecker-like graph of some lines of words, by degree: hubs, a crowd, vertices without edges."""
    n = 64 * LINE_WORDS * lines
    drawn = np.random.default_rng(seed)
    ends = ((n * drawn.random(3 * n) ** 6).astype(np.int64), (n * drawn.random(3 * n) ** 2).astype(np.int64))
    return by_degree(zoo.build(n, ends))


UPWARDS = Tuning(costs=Costs(0, 0, 10**6, 0), defer_from_vram=10**9, thin_to=0)


@pytest.mark.parametrize("build", builds_here())
def test_whom_chunks_have_found_is_visited_where_others_find_more(build):
    """Each word has some of the vertices found beside a hub, which chunks find, and some of those found behind it."""
    n, hubs = 4096, np.arange(3)
    others = np.arange(64, n)
    plain = zoo.build(n, zoo.join((hubs[:-1], hubs[1:]), (np.where(others % 32 < 12, 1, 2), others)))
    levels = reference_bfs(plain, 0)[0]
    assert (plain.degrees()[1:3] > 1024).all() and np.bincount(levels[levels >= 0])[2:].min() > 1024
    for alike in (n + 1, 1):
        tuning = replace(UPWARDS, alike=alike)
        peers = Peers(2, together=LINE_WORDS, head_groups=0, whole=True, blocks=(2, 2), tuning=tuning)
        for searched in search(plain, build, peers, 2 * [(0, None)]):
            assert np.array_equal(searched.levels, levels)
            validate_tree(plain, 0, searched.levels, searched.parents)


@pytest.mark.parametrize("build", builds_here())
@pytest.mark.parametrize(
    ("kind", "together", "whole"), [("words", LINE_WORDS, True), ("words", 1, False), ("ranges", 1, False)]
)
def test_vertices_behind_the_last_edge_are_swept_by_nobody(build, kind, together, whole):
    """Most of the words have no edges; sources are there, too, whose levels the next search takes back."""
    n, end = 64 * 64, 2000
    ring = np.arange(end)
    plain = zoo.build(n, zoo.join((ring, (ring + 1) % end), (ring, (ring * 7 + 3) % end)))
    seen = {}

    def touch(state):
        seen[state.group.rank] = int(state._state["part"]["words"]), int(state._state["s"]["in"]["n"])

    peers = Peers(2, kind, together=together, whole=whole, tuning=UPWARDS, touch=touch)
    runs = [(0, None), (n - 1, None), (end, 0), (end - 1, None)]
    for (source, depth), searched in zip(runs, search(plain, build, peers, runs), strict=True):
        levels = reference_bfs(plain, source, max_depth=depth)[0]
        assert np.array_equal(searched.levels, levels)
        validate_tree(plain, source, searched.levels, searched.parents, max_depth=depth)
    assert sum(words for words, _ in seen.values()) == -(-end // 64) and {n for _, n in seen.values()} == {end}


@pytest.mark.covered
@pytest.mark.parametrize("build", builds_here())
@pytest.mark.parametrize("ranked", [False, True])
def test_rows_are_put_off_where_many_heads_are_expected_to_fail(build, ranked):
    """By degree fewer are: each head counts twice. A row that is put off takes a phase of its own."""
    graph = lines_of_kronecker()
    degrees, heads, size = graph.degrees().astype(np.int64), 4, 2
    left = int((graph.m - degrees[0]) * 1024 // graph.m)
    rest = int((degrees > 0).sum()) - 1
    expected = [rest, rest]
    for which, times in enumerate((heads, 2 * heads)):
        open_to = 1024
        for _ in range(times):
            open_to = open_to * left // 1024
        expected[which] = rest * open_to // 1024
    between = sum(expected) // 2 // size
    assert expected[1] < size * between < expected[0]
    phases = {}

    def touch(state):
        used_slots = state._used_slots

        def watched(*given):
            found = used_slots(*given)
            phases[state.group.rank] = int(found[0]["rounds"][0])
            return found

        state._used_slots = watched

    tuning = replace(UPWARDS, defer_from_vram=between, alike=graph.n + 1)
    peers = Peers(size, together=LINE_WORDS, whole=True, ranked=ranked, touch=touch, tuning=tuning)
    (searched,) = search(graph, build, peers, [(0, None)])
    assert np.array_equal(searched.levels, reference_bfs(graph, 0)[0])
    assert phases == dict.fromkeys(range(size), 3 if ranked else 4)  # emptied, set, searched; put off


@pytest.mark.parametrize("thin_to", [0, 64])
@pytest.mark.parametrize("build", on_hosts(builds_here()))
def test_edges_of_levels_that_all_go_through_are_counted_once(build, thin_to):
    plain = zoo.shared()["kronecker-dense"]
    source = int(plain.degrees().argmax())
    levels, degrees = reference_bfs(plain, source)[0], plain.degrees()
    (searched,) = search(plain, build, Peers(3, whole=True, tuning=Tuning(thin_to=thin_to)), [(source, None)])
    for found in searched.found:
        assert set(found.told) == {"nothing"}
        counted = [int(degrees[levels == depth].sum()) for depth in range(levels.max() + 1)]
        assert [level.edges for level in found.levels] == counted


def told(searched):
    """Return what ranks told one another for each level, the same on all of them."""
    (kinds,) = {found.told for found in searched.found}
    return kinds


@pytest.mark.covered
@pytest.mark.parametrize("codec", ["plain", "varint"])
@pytest.mark.parametrize("build", builds_here())
def test_levels_that_find_few_are_not_shared(build, codec):
    """All bottom-up levels by all alike, the last ones alone, and none; rows put off, and rows that are not."""
    plain = lines_of_kronecker()
    source = 20
    levels = reference_bfs(plain, source)[0]
    sizes = np.bincount(levels[levels >= 0]).tolist()
    left = int((plain.degrees() > 0).sum()) - np.cumsum(sizes)
    wide = np.array(sizes) > 1000
    assert wide.tolist()[2:4] == [True, True] and left[2] > 1000 > left[3] > left[4] > 0
    graph = plain.compress() if codec == "varint" else plain
    for alike, defer in ((1, 10**9), (1, 0), (plain.n // left[3], 0), (plain.n + 1, 10**9)):
        tuning = replace(UPWARDS, alike=alike, defer_from_vram=defer)
        peers = Peers(3, together=LINE_WORDS, whole=True, tuning=tuning)
        for searched in search(graph, build, peers, (1 + (alike > 1)) * [(source, None)]):
            assert np.array_equal(searched.levels, levels)
            validate_tree(plain, source, searched.levels, searched.parents)
            few = left <= plain.n // alike
            # the edges of a small frontier are estimated, as none perhaps: it goes top-down
            assert {told(searched)[level] for level in np.flatnonzero(few)} <= {"nothing"}
            assert {told(searched)[level] for level in np.flatnonzero(wide & ~few)} <= {"bitmap"}
            assert (wide & ~few).any() == (alike > 1)
            for found in searched.found:
                assert {found.levels[level].direction for level in np.flatnonzero(wide)} == {"bottom-up"}
                assert [level.frontier for level in found.levels] == sizes
                assert (found.sent == 0) == (alike == 1)


@pytest.mark.parametrize("build", builds_here())
def test_hubs_of_a_level_that_is_not_shared_are_found_by_all(build):
    """Chunks find hubs behind the first level; whom these lead to, no rank finds twice, whoever owns the hubs."""
    hubs, leaves = np.array([2100, 900, 3000]), np.setdiff1d(np.arange(4096), [2100, 900, 3000, 17])
    to = leaves % 3
    plain = zoo.build(4096, zoo.join(([17] * 3, hubs), (hubs[to], leaves)))
    assert (plain.degrees()[hubs] > 1024).all()
    for alike in (1, 2):
        tuning = replace(UPWARDS, alike=alike, defer_from_vram=0)
        peers = Peers(2, together=LINE_WORDS, whole=True, head_groups=0, blocks=(1, 2), tuning=tuning)
        for searched in search(plain, build, peers, [(17, None), (int(leaves[0]), None)]):
            source = int(np.flatnonzero(searched.levels == 0)[0])
            levels = reference_bfs(plain, source)[0]
            assert np.array_equal(searched.levels, levels)
            validate_tree(plain, source, searched.levels, searched.parents)
            for each in searched.found:
                assert [level.frontier for level in each.levels] == np.bincount(levels[levels >= 0]).tolist()
                assert (each.sent == 0) == (alike == 1)


@pytest.mark.parametrize("team", [64, 256])
@pytest.mark.parametrize("build", builds_here())
def test_a_thin_level_behind_one_that_is_not_shared(build, team):
    """A star whose leaves all ranks find alike, and a path behind one of them, which the first blocks go through."""
    path = np.arange(300, 330)
    plain = zoo.build(330, zoo.join((np.zeros(299, int), np.arange(1, 300)), ([17], [300]), (path[:-1], path[1:])))
    tuning = Tuning(thin_to=64, costs=Costs(0, 0, 4000, 0))
    peers = Peers(2, whole=True, blocks=(1, 2), team=team, tuning=tuning)
    for searched in search(plain, build, peers, [(17, None), (0, None)]):
        levels = reference_bfs(plain, int(np.flatnonzero(searched.levels == 0)[0]))[0]
        assert np.array_equal(searched.levels, levels)
        assert set(told(searched)) == {"nothing"}
        for found in searched.found:
            assert {level.direction for level in found.levels} == {"bottom-up", "top-down"}
            assert (found.reached, found.depth) == (330, levels.max())


@pytest.mark.parametrize("together", [LINE_WORDS, 2 * LINE_WORDS])
@pytest.mark.parametrize("build", on_hosts(builds_here()))
def test_words_that_are_dealt_several_at_a_time(build, together):
    """Levels are shared by lines, of plain and of compressed rows."""
    plain = lines_of_kronecker(5, seed=5)
    for graph, alike in ((plain, 16), (plain.compress(), plain.n + 1)):
        peers = Peers(3, together=together, whole=True, tuning=replace(UPWARDS, alike=alike))
        for source in (int(plain.degrees().argmax()), 5):
            (searched,) = search(graph, build, peers, [(source, None)])
            assert "bitmap" in told(searched)
            assert np.array_equal(searched.levels, reference_bfs(plain, source)[0])
            validate_tree(plain, source, searched.levels, searched.parents)


@pytest.mark.parametrize("build", builds_here())
def test_bitmaps_of_searches_before_are_emptied_beside_thin_levels(build):
    """A ring of stars: the first block has the first level alone; the next is searched from a bitmap, anew."""
    hubs = np.arange(8)
    leaves = 8 + np.arange(3000)
    plain = zoo.build(3008, zoo.join((hubs, np.roll(hubs, 1)), (leaves % 8, leaves)))
    for blocks in ((2, 3), (1, 2)):
        peers = Peers(
            2, together=LINE_WORDS, whole=True, blocks=blocks, tuning=replace(UPWARDS, alike=plain.n + 1, thin_to=8)
        )
        runs = [(800, None), (17, None), (42, 3), (800, None)]
        for (source, depth), searched in zip(runs, search(plain, build, peers, runs), strict=True):
            levels = reference_bfs(plain, source)[0]
            assert np.array_equal(searched.levels, levels if depth is None else np.where(levels <= depth, levels, -1))
            validate_tree(plain, source, searched.levels, searched.parents, max_depth=depth)
            assert "bitmap" in told(searched) and told(searched)[0] == "nothing"


def ladder(length, seed=3):
    """Return a strip of vertices with near neighbours, and some rows of more than eight: hundreds of thin levels."""
    here = np.arange(length)
    far = np.random.default_rng(seed).integers(0, length - 6, length // 4)
    near = [(here[:-step], here[step:]) for step in (1, 2, 3)]
    return zoo.build(length, zoo.join(*near, (far, far + 5), (far, far + 6), (far, far + 4)))


@pytest.mark.covered
@pytest.mark.parametrize("ranks", [2, 3])
@pytest.mark.parametrize("build", builds_here())
def test_where_levels_are_many_and_thin_each_searches_for_itself(build, ranks):
    plain = ladder(1500)
    assert plain.degrees().max() > 8
    peers = Peers(ranks, whole=True, alone=True, blocks=tuple(1 + rank for rank in range(ranks)), tuning=LOCAL)
    searches = [(700, None), (0, None), (1499, 40)]
    for (source, depth), searched in zip(searches, search(plain, build, peers, searches), strict=True):
        levels = reference_bfs(plain, source)[0]
        assert np.array_equal(searched.levels, levels if depth is None else np.where(levels <= depth, levels, -1))
        validate_tree(plain, source, searched.levels, searched.parents, max_depth=depth)
        for found in searched.found:
            assert set(found.told) == {"nothing"} and not found.sent


@pytest.mark.parametrize("codec", ["plain", "varint"])
@pytest.mark.parametrize("build", on_hosts(builds_here()))
def test_levels_of_one_way_edges_are_shared_and_then_alike(build, codec):
    """Several lines of words; rows of edges out of a vertex are no rows of those into it."""
    n = 64 * LINE_WORDS * 4
    drawn = np.random.default_rng(6)
    plain = zoo.build(n, (drawn.integers(0, n, 3 * n), (n * drawn.random(3 * n) ** 2).astype(np.int64)), directed=True)
    source = int(plain.degrees().argmax())
    levels = reference_bfs(plain, source)[0]
    sizes = np.bincount(levels[levels >= 0])
    few = int((plain.in_adjacency.degrees() > 0).sum()) - np.cumsum(sizes) <= n // 3
    large = sizes > 200
    assert (large & few).any() and (large & ~few).any()
    peers = Peers(3, together=LINE_WORDS, whole=True, tuning=replace(UPWARDS, alike=3))
    given = plain.compress() if codec == "varint" else plain
    for searched in search(given, build, peers, 2 * [(source, None)]):
        assert np.array_equal(searched.levels, levels)
        validate_tree(plain, source, searched.levels, searched.parents)
        assert {searched.found[0].levels[level].direction for level in np.flatnonzero(large)} == {"bottom-up"}
        assert {told(searched)[level] for level in np.flatnonzero(large & ~few)} == {"bitmap"}
        assert {told(searched)[level] for level in np.flatnonzero(large & few)} == {"nothing"}
