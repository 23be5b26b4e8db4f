"""The diameter from one search and pairs of the vertices farthest from its source."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
import zoo
from measures.test_sweeping import check, largest_of, shapes

import bigbfs
from bigbfs.algorithms.sweeps.cpu import farthest
from bigbfs.algorithms.sweeps.options import Rim
from bigbfs.measures import apart, rim, small
from bigbfs.measures.apart import Apart
from bigbfs.measures.sweeping import Sweeps


@pytest.fixture(autouse=True)
def _one_kernel_does_not_do_it_all(monkeypatch):
    """Small graphs are searched like large ones here."""
    monkeypatch.setattr(small, "EDGES", -1)


def star_of_paths(*lengths):
    """Return paths of so many edges that begin at vertex 0, ids going outwards one path after the other."""
    ends = np.cumsum(lengths)
    before = np.arange(ends[-1])
    before[[0, *ends[:-1]]] = 0
    return zoo.build(int(ends[-1]) + 1, (before, np.arange(1, ends[-1] + 1)))


def levels_from(graph, source):
    """Return the distances of all vertices."""
    found = bigbfs.bfs(graph, int(graph.original(np.array([source]))[0]))
    return np.array(found.levels)


def rim_of(levels, lowest):
    ids = np.flatnonzero(levels >= lowest)
    return Rim(ids, levels[ids].astype(np.int64))


@pytest.mark.parametrize(
    ("lengths", "lowest", "done"),
    [((5, 5, 2), 5, True), ((5, 4, 2), 4, True), ((5, 3, 3), 4, False), ((5, 3, 3), 3, True), ((4, 1), 2, False)],
)
def test_it_is_done_when_no_other_pair_can_be_farther_apart(lengths, lowest, done):
    graph = star_of_paths(*lengths)
    levels = levels_from(graph, 0)
    some = rim_of(levels, lowest)
    longest, known = rim.closed(some, np.ones(len(some.ids), bool), Apart(graph), (max(lengths), 0, lengths[0]))
    assert known is done
    first, second = sorted(lengths)[-2:]
    assert longest[0] == (first + second if min(first, second) >= lowest else max(lengths))


@pytest.mark.covered
@pytest.mark.parametrize("pairs", [0, 2, 2048])
@pytest.mark.parametrize("least", [0, 2**15])
def test_what_is_found_holds_whatever_is_left_undone(pairs, least, monkeypatch):
    """The longest distance is one, of the two named; where nothing is left to do it is the diameter."""
    monkeypatch.setattr(rim, "PAIRS", pairs)
    monkeypatch.setattr(rim, "LEAST", least)
    ends = []
    for graph in (each for each in shapes(range(200, 230)) if each.m):
        theirs = largest_of(graph)
        place = {int(each): at for at, each in enumerate(graph.original(np.arange(graph.n)).tolist())}
        source = place[min(theirs)]
        levels = levels_from(graph, source)
        depth = levels.max()
        farthest = int(levels.argmax())
        for lowest in range(1, depth + 1):
            some = rim_of(levels, lowest)
            given = np.ones(len(some.ids), bool)
            longest, known = rim.closed(some, given, Apart(graph), (int(depth), source, farthest))
            one, other = (int(each) for each in graph.original(np.array(longest[1:])))
            assert nx.shortest_path_length(theirs, one, other) == longest[0] >= depth
            assert not known or longest[0] == nx.diameter(theirs)
            ends.append(known)
    assert not all(ends) and (10 * sum(ends) > len(ends) or pairs < 2048 or not least)


def test_who_is_farthest():
    """Whole levels, the last ones, as many as there is room for; none of a deep search."""
    levels = np.array([0, 1, 1, 2, 2, 2, 3, 3, 4, -1], np.int32)
    found = farthest.rim_of(levels, 4)
    assert found.ids.tolist() == list(range(1, 9)) and found.levels.tolist() == [1, 1, 2, 2, 2, 3, 3, 4]
    assert farthest.rim_of(np.array([0, -1], np.int32), 0) is None
    assert farthest.rim_of(np.arange(100, dtype=np.int32), 99) is None


@pytest.mark.parametrize(("room", "lowest"), [(0, None), (1, 4), (2, 4), (3, 3), (5, 3), (6, 2)])
def test_as_many_levels_as_there_is_room_for(room, lowest, monkeypatch):
    monkeypatch.setattr(farthest, "RIM", room)
    found = farthest.rim_of(np.array([0, 1, 1, 2, 2, 2, 3, 3, 4, -1], np.int32), 4)
    assert (found is None) if lowest is None else (found.levels.min() == lowest and (found.levels.max() == 4))


def test_a_small_world_takes_one_search():
    """A random graph with a long tail and a short one: nothing else can be the ends."""
    core = zoo.random(400, 4_000, seed=1)
    graph = zoo.build(420, zoo.join(core, zoo.path(417, first=405), zoo.path(420, first=417), ([0, 1], [405, 417])))
    theirs = largest_of(graph)
    found = check(graph, theirs, nx.eccentricity(theirs), verify=True)
    assert found.exact and found.record.sources == 1 and 15 < found.diameter[0] < 22
    assert found.radius[0] == (found.diameter[0] + 1) // 2


@pytest.mark.parametrize("least", [0, 2**15])
def test_searches_go_on_where_the_rim_does_not_tell(least, monkeypatch):
    """Every first search is followed by others where pairs are given up at once; diameters are right either way."""
    monkeypatch.setattr(rim, "LEAST", least)
    monkeypatch.setattr(apart, "LEAST", least)
    told, searches = [], []
    close = Sweeps._close_rim

    def watched(self, given):
        close(self, given)
        told.append(self.left == 0)

    monkeypatch.setattr(Sweeps, "_close_rim", watched)
    for graph in (each for each in shapes(range(160, 200)) if each.m):
        theirs = largest_of(graph)
        found = check(graph, theirs, nx.eccentricity(theirs), threads=1)
        assert found.exact
        searches.append(found.record.sources)
        check(graph, theirs, nx.eccentricity(theirs), stop=lambda: True)
    assert any(told) if least else max(searches) > 3 and not all(told)


def test_pairs_by_what_their_levels_add_up_to():
    """Each once, the largest sum first; from where there are too many on none."""
    ids, levels = np.array([5, 7, 8, 11, 20]), np.array([3, 4, 3, 2, 4])
    pairs, ends = rim.pairs_of(ids, levels, 4, 2, 20)
    by_sum = [{tuple(sorted(each)) for each in part.tolist()} for part in np.split(pairs, ends)[:-1]]
    assert by_sum == [{(7, 20)}, {(5, 7), (5, 20), (7, 8), (8, 20)}, {(5, 8), (7, 11), (11, 20)}] and ends == [1, 5, 8]
    assert rim.pairs_of(ids, levels, 4, 2, 5)[1] == [1, 5, -1]
    assert rim.pairs_of(ids, levels, 4, 2, 4)[1] == [1, -1, -1]
    assert rim.pairs_of(ids[:0], levels[:0], 4, 1, 4)[1] == [0, 0, 0, 0]
    assert rim.pairs_of(ids, levels, 4, 1, 10)[1] == [1, 5, 8, 10]


@pytest.mark.parametrize("room", [1, 5, 40])
def test_a_buffer_is_sifted_when_it_is_full(room, monkeypatch):
    monkeypatch.setattr(farthest, "RIM", room)
    drawn = np.random.default_rng(7)
    for depth in range(1, 30):
        levels = drawn.integers(-1, depth + 1, 900, np.int32)
        levels[drawn.integers(900)] = depth
        fits = [least for least in range(1, depth + 1) if (levels >= least).sum() <= room]
        found = farthest.rim_of(levels, depth)
        if fits:
            ids = np.flatnonzero(levels >= fits[0])
            assert found.ids.tolist() == ids.tolist() and found.levels.tolist() == levels[ids].tolist()
        else:
            assert found is None
