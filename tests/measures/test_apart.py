"""Pairs searched for from both ends to end the search for a diameter: distances, what is given up, what is found."""

from __future__ import annotations

from itertools import combinations

import networkx as nx
import numpy as np
import pytest
import zoo
from measures.against import networkx_of
from measures.test_sweeping import check, largest_of, shapes

import bigbfs
from bigbfs.algorithms.sweeps.cpu import farthest
from bigbfs.errors import DoesNotFitError, FormatError
from bigbfs.graph.adjacency import PlainAdjacency
from bigbfs.graph.flags import GraphFlags
from bigbfs.graph.graph import Graph
from bigbfs.measures import apart, small, sweeping
from bigbfs.measures.apart import Apart
from bigbfs.measures.between import GIVEN_UP, LOOK, NO_PATH, UNENDING, PathFinder


def sparse(n=60, edges=90, seed=3):
    """Return a graph and the distances of all its pairs that have a path, as a dictionary."""
    graph = zoo.build(n, zoo.random(n, edges, seed=seed))
    found = dict(nx.all_pairs_shortest_path_length(networkx_of(graph)))
    place = graph.original(np.arange(graph.n)).tolist()
    pairs = combinations(range(graph.n), 2)
    return graph, {(u, v): found[place[u]][place[v]] for u, v in pairs if place[v] in found[place[u]]}


@pytest.fixture(autouse=True)
def _one_kernel_does_not_do_it_all(monkeypatch):
    """Small graphs are searched like large ones here."""
    monkeypatch.setattr(small, "EDGES", -1)


@pytest.mark.parametrize("codec", ["plain", "varint"])
@pytest.mark.parametrize("look", [0, LOOK, 10**9])
def test_the_first_pair_too_far_apart_ends_a_look(codec, look):
    graph, far = sparse()
    pairs = np.array(sorted(far))
    distances = np.array([far[u, v] for u, v in sorted(far)])
    finder = PathFinder(graph.compress() if codec == "varint" else graph)
    finder.look = look
    for enough in range(distances.max() + 2):
        beyond = np.flatnonzero(distances > enough)
        done, distance, read = finder.no_farther(pairs, enough, UNENDING)
        assert done == (beyond[0] if len(beyond) else len(pairs)) and read >= done
        assert distance == distances[min(done, len(pairs) - 1)]
        assert not any(side.seen.any() for side in finder.sides)


def test_a_pair_without_a_path_is_farther_than_any():
    finder = PathFinder(zoo.build(6, ([0, 1, 3], [1, 2, 4])))
    assert finder.no_farther(np.array([[0, 2], [2, 3], [0, 1]]), 5, UNENDING)[:2] == (1, NO_PATH)
    assert finder.no_farther(np.empty((0, 2), np.int64), 5, UNENDING) == (0, NO_PATH, 0)


@pytest.mark.parametrize("most", [0, 1, 5, 30, 200])
def test_a_look_reads_little_more_than_it_may(most):
    graph = zoo.build(400, (np.arange(400), np.roll(np.arange(400), 1)))
    finder, pairs = PathFinder(graph), np.array([[0, 50], [10, 11], [3, 203]])
    done, distance, read = finder.no_farther(pairs, 200, most)
    assert (done, distance) == (2 if most == 200 else 0, GIVEN_UP) and most < read <= most + 4
    assert finder.no_farther(pairs[1:2], 200, 10)[:2] == (1, 1)  # nothing is left of what was given up


def test_ids_that_are_no_vertices_are_refused():
    damaged = PlainAdjacency(np.array([0, 2, 3, 5, 6], np.uint64), np.array([1, 9, 0, 3, 9, 2], np.uint32))
    graph = Graph(damaged, GraphFlags(directed=False, symmetric=True))
    with pytest.raises(FormatError, match="no vertices"):
        Apart(graph).look_at(np.array([[0, 2]]), 9)


def test_what_is_near_is_searched_for_once_and_what_is_far_said():
    graph, far = sparse()
    pairs, longest = np.array(sorted(far)), max(far.values())
    at = int(np.flatnonzero([far[u, v] == longest for u, v in sorted(far)])[0])
    seen = Apart(graph)
    left, found = seen.look_at(pairs, longest - 1)
    assert found == (longest, *pairs[at].tolist())
    assert not left[:at].any() and left[at:].all()
    read = seen.read
    left, found = seen.look_at(pairs[:at, ::-1], longest - 1)  # whichever end comes first
    assert not left.any() and found is None and seen.read == read
    left, found = seen.look_at(pairs, longest)
    assert not left.any() and found is None and seen.read > read


@pytest.mark.parametrize("seed", [240, 480])
def test_what_is_near_in_a_component_that_is_no_majority(seed):
    """It is the largest all the same, if only by a tie: what is known of it is not forgotten by half."""
    draw = np.random.default_rng(seed)
    n = int(draw.integers(4, 40))
    one = zoo.random(n, int(draw.integers(1, 2 * n)), seed=seed)
    graph = zoo.build(2 * n, zoo.join(one, tuple(ends + n for ends in one)))
    theirs = largest_of(graph)
    assert check(graph, theirs, nx.eccentricity(theirs), threads=1).exact


def test_an_edge_without_its_twin_ends_the_search():
    """The pair is never known to be near, so that it would be searched for again and again."""
    rows = PlainAdjacency(np.array([0, 1, 2, 2], np.uint64), np.array([1, 2], np.uint32))
    graph = Graph(rows, GraphFlags(directed=False, symmetric=True))
    with pytest.raises(FormatError, match="no twin"):
        Apart(graph).look_at(np.array([[0, 2]]), 1)


def test_what_is_given_up_is_left(monkeypatch):
    monkeypatch.setattr(apart, "LEAST", 40)
    path = zoo.build(300, zoo.path(300))
    seen = Apart(path)
    left, found = seen.look_at(np.array([[0, 3], [5, 250], [1, 2]]), 299)
    assert left.tolist() == [False, True, True] and found is None


def test_without_room_all_are_left(monkeypatch):
    def refuse(*_):
        raise DoesNotFitError("no room")

    monkeypatch.setattr(apart, "PathFinder", refuse)
    graph, far = sparse()
    left, found = Apart(graph).look_at(np.array(sorted(far))[:3], 1)
    assert left.all() and found is None
    theirs = largest_of(graph)
    assert check(graph, theirs, nx.eccentricity(theirs)).exact


@pytest.mark.parametrize("least", [0, 30, 2**15])
def test_diameters_whatever_is_given_up(least, monkeypatch):
    """Of many small graphs: pairs end the search in some, lead to longer ways in others, and are given up in others."""
    monkeypatch.setattr(apart, "LEAST", least)
    monkeypatch.setattr(sweeping, "COVERED", 0)
    monkeypatch.setattr(farthest, "SHALLOW", 0)  # no pairs of those farthest from the first source before
    ended, longer, given_up = 0, 0, 0
    look_at = Apart.look_at

    def watched(self, pairs, longest):
        nonlocal ended, longer, given_up
        left, found = look_at(self, pairs, longest)
        ended += not left.any()
        longer += found is not None
        given_up += left.any() and found is None
        return left, found

    monkeypatch.setattr(Apart, "look_at", watched)
    for graph in (each for each in shapes(range(100, 160)) if each.m):
        theirs = largest_of(graph)
        assert check(graph, theirs, nx.eccentricity(theirs), threads=1).exact
    assert (ended and longer) if least else given_up


@pytest.mark.parametrize("seed", range(12))
def test_ends_found_as_a_pair_are_known_to_be_so_far_from_each_other(seed):
    """Neither need have been searched from, so that no search says that its eccentricity is the diameter."""
    graph = zoo.build(40, zoo.random(40, 45, seed=seed))
    found = bigbfs.eccentricity(graph, goal="diameter")
    lower = dict(zip(found.ids.tolist(), found.lower.tolist(), strict=True))
    assert found.diameter == (nx.diameter(largest_of(graph)),) * 2
    assert [lower[end] for end in found.witness] == [found.diameter[0]] * 2
