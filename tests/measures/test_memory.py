"""What does not fit is refused before it is allocated: paths, eccentricities, distances on a disk."""

from __future__ import annotations

import shutil
import tracemalloc
from types import SimpleNamespace

import numpy as np
import pytest
import zoo

import bigbfs
from bigbfs.algorithms.sweeps.cpu import program as sweeps
from bigbfs.errors import DoesNotFitError
from bigbfs.measures import between, bounding, eccentricity, room, small
from bigbfs.sizes import format_size

N = 40_000


def trees(n):
    """Return a graph of trees and what they hang on, of which most eccentricities stay open for long."""
    return zoo.build(n, zoo.random(n, n, seed=3))


def peak(work):
    """Return the most bytes that Python and NumPy held at once while ``work`` ran."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def ring(n):
    """Return a directed cycle with chords."""
    chords = zoo.random(n, 2 * n, seed=5)
    return zoo.build(n, zoo.join((np.arange(n), np.roll(np.arange(n), -1)), chords), directed=True)


@pytest.mark.parametrize(("make", "room"), [(trees, 2**50), (trees, 0), (ring, 2**50)])
def test_what_eccentricities_take_is_known_beforehand(make, room, monkeypatch):
    """With batches, or, where there is no room for these, with one search after the other."""
    graph = make(N)
    two_ways = graph.flags.directed
    monkeypatch.setattr(bounding, "free_memory", lambda: room)
    asked = [False] * (1 if two_ways else 7)  # seven batches, of which the last has 32 sources
    with bigbfs.engine(graph, backend="cpu", threads=2, work=eccentricity.WORK) as engine:
        bigbfs.eccentricity(make(900), component="all", threads=2)  # compiles, which takes memory too
        stop = lambda: asked.pop() if asked else True  # noqa: E731
        took = peak(lambda: bigbfs.eccentricity(engine, component="all" if not two_ways else "largest", stop=stop))
    need = bounding.bytes_of(N, graph.ids, 2, two_ways=two_ways, on_cpu=True, batches=room > 0)
    assert took <= need <= 1.6 * took


@pytest.mark.parametrize("call", [bigbfs.eccentricity, bigbfs.diameter])
def test_eccentricities_that_do_not_fit_are_refused(call, monkeypatch):
    n = 5_000
    graph = zoo.build(n, zoo.random(n, 5_500, seed=3))
    right = call(graph, threads=1)
    monkeypatch.setattr(small, "EDGES", -1)  # what is small is another test's
    need = sweeps.bytes_of(n, graph.ids)
    if call is bigbfs.eccentricity:
        need = bounding.bytes_of(n, graph.ids, 1, two_ways=False, on_cpu=True, batches=False)
    for module in ("bigbfs.engines.cpu.memory", "bigbfs.measures.bounding"):
        monkeypatch.setattr(f"{module}.free_memory", lambda: need - 1)
    with pytest.raises(DoesNotFitError, match=r"5,000 vertices take .* are free; free some, .* lower bound"):
        call(graph, threads=1)
    for module in ("bigbfs.engines.cpu.memory", "bigbfs.measures.bounding"):
        monkeypatch.setattr(f"{module}.free_memory", lambda: need)
    found = call(graph, threads=1)  # no batch of 64 fits: one search after the other
    assert found == right if isinstance(right, int) else (found.lower == right.lower).all() and found.exact


def test_paths_that_do_not_fit_are_refused(monkeypatch):
    graph = zoo.build(900, zoo.path(900))
    need = between.bytes_of(900, graph.ids)
    assert sum(each.nbytes for side in between.PathFinder(graph).sides for each in side) == need
    monkeypatch.setattr("bigbfs.engines.cpu.memory.free_memory", lambda: need - 1)
    with pytest.raises(DoesNotFitError, match=r"900 vertices take .* are free; free some"):
        bigbfs.shortest_path(graph, 0, 899)
    monkeypatch.setattr("bigbfs.engines.cpu.memory.free_memory", lambda: need)
    assert len(bigbfs.shortest_path(graph, 0, 899)) == 900


def parts():
    """Return 40 paths of 5 vertices each, with ids of one to three digits."""
    return zoo.build(200, (np.arange(199)[np.arange(1, 200) % 5 > 0], np.arange(1, 200)[np.arange(1, 200) % 5 > 0]))


def test_a_table_is_refused_where_the_disk_is_too_small_for_pairs_with_a_path(tmp_path, monkeypatch):
    """Not for all pairs: those of different components have no line."""
    graph, free = parts(), SimpleNamespace(free=0)
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: free)
    free.free = 10**6
    bigbfs.distances(graph, "all", output=tmp_path / "D.csv")
    size = (tmp_path / "D.csv").stat().st_size
    header = len("source,target,distance\n")
    assert size - header == room._least_bytes(
        bigbfs.connected_components(graph).labels, *(np.arange(200),) * 2, *(room._digits(graph, np.arange(200)),) * 2
    )
    free.free = size - header
    bigbfs.distances(graph, "all", output=tmp_path / "E.csv")
    assert (tmp_path / "E.csv").read_bytes() == (tmp_path / "D.csv").read_bytes()
    free.free -= 1
    with pytest.raises(DoesNotFitError, match=r"200 sources x 200 targets take at least .* the disk of .*F\.csv"):
        bigbfs.distances(graph, "all", output=tmp_path / "F.csv")
    few = bigbfs.distances(graph, "all", output=tmp_path / "F.csv", max_depth=0)  # how many lines is not known
    assert few.levels is None and len((tmp_path / "F.csv").read_text().split()) == 201


def test_how_large_a_table_of_a_directed_graph_becomes_is_not_known(tmp_path, monkeypatch):
    graph = zoo.build(200, zoo.path(200), directed=True)
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: SimpleNamespace(free=100))
    bigbfs.distances(graph, [199], output=tmp_path / "D.csv")
    assert (tmp_path / "D.csv").read_text().split()[1:] == ["199,199,0"]


def test_the_size_on_the_disk_is_known_beforehand(tmp_path, monkeypatch):
    """That of an array to the byte but for its header, of a table as an upper bound that deep paths come near."""
    graph, free = zoo.build(120, zoo.path(120)), SimpleNamespace(free=10**9)
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: free)
    all_of = np.arange(120)
    said = room.size_on_disk(graph, all_of, all_of, None, tmp_path / "D.csv")
    bigbfs.distances(graph, "all", output=tmp_path / "D.csv")
    most = room._most_bytes(*(room._digits(graph, all_of),) * 2, 119)
    assert 0.8 * most < (tmp_path / "D.csv").stat().st_size <= most
    assert said == f"120 sources x 120 targets take {format_size(most)} at most; 954 MiB are free"
    free.free = most - 1
    for depth, wide in ((None, 119), (9, 9)):  # distances of one digit
        said = room.size_on_disk(graph, all_of, all_of, depth, tmp_path / "D.csv")
        assert ("may be too few" in said) is (wide == 119)
    said = room.size_on_disk(graph, all_of[:7], all_of, None, tmp_path / "D.npy")
    assert said.startswith("7 sources x 120 targets take 1.64 KiB as int16; ")
    deep = zoo.build(40_000, zoo.path(40_000))
    free.free = 120 * 40_000 * 2
    said = room.size_on_disk(deep, all_of, np.arange(40_000), None, tmp_path / "D.npy")
    assert "9.16 MiB as int16, 18.3 MiB as int32 if a distance is above 32,767; " in said and "too few" in said
    free.free -= 1  # what is certain is said once, as the error
    with pytest.raises(bigbfs.DoesNotFitError, match=r"120 sources x 40,000 targets take 9\.16 MiB"):
        room.size_on_disk(deep, all_of, np.arange(40_000), None, tmp_path / "D.npy")


def test_a_distance_too_large_for_int16_is_refused_where_only_int16_fits(tmp_path, monkeypatch):
    graph = zoo.build(40_000, zoo.path(40_000))
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: SimpleNamespace(free=3 * 40_000))
    with pytest.raises(DoesNotFitError, match=r"1 source x 40,000 targets take 157 KiB, and 117 KiB are free"):
        bigbfs.distances(graph, [0], output=tmp_path / "D.npy")
    assert list(tmp_path.iterdir()) == []
    bigbfs.distances(graph, [20_000], output=tmp_path / "D.npy")
    assert np.load(tmp_path / "D.npy").dtype == np.int16
