"""What does not fit is refused before it is allocated: paths, eccentricities, distances on a disk."""

from __future__ import annotations

import tracemalloc
from types import SimpleNamespace

import numpy as np
import pytest
import zoo

import bigbfs
from bigbfs.errors import DoesNotFitError
from bigbfs.measures import eccentricity, paths, room

N = 40_000


def forest():
    """Return a graph of which nearly all is trees, so that everything that bounds take is large."""
    parents = np.random.default_rng(1).integers(0, np.arange(1, N))
    return zoo.build(N, (np.arange(1, N), parents))


def peak(work):
    """Return the most bytes that Python and NumPy held at once while ``work`` ran."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def ring():
    """Return a directed cycle with chords."""
    chords = zoo.random(N, 2 * N, seed=5)
    return zoo.build(N, zoo.join((np.arange(N), np.roll(np.arange(N), -1)), chords), directed=True)


@pytest.mark.parametrize("make", [forest, ring])
def test_what_eccentricities_take_is_known_beforehand(make):
    graph = make()
    two_ways = graph.flags.directed
    with bigbfs.engine(graph, backend="cpu", threads=2, work=eccentricity.WORK) as engine:
        bigbfs.eccentricity(zoo.build(9, zoo.path(9)), threads=2, seconds=0)  # compiles
        took = peak(lambda: bigbfs.eccentricity(engine, seconds=0))
    need = eccentricity.bytes_of(N, graph.ids, 2, two_ways=two_ways, on_cpu=True)
    assert took <= need <= 1.5 * took


@pytest.mark.parametrize("call", [bigbfs.eccentricity, bigbfs.diameter])
def test_eccentricities_that_do_not_fit_are_refused(call, monkeypatch):
    graph = zoo.build(900, zoo.random(900, 1_000, seed=3))
    need = eccentricity.bytes_of(900, graph.ids, 1, two_ways=False, on_cpu=True)
    monkeypatch.setattr("bigbfs.engines.cpu.memory.free_memory", lambda: need - 1)
    with pytest.raises(DoesNotFitError, match=r"900 vertices take .* are free; free some, .* lower bound"):
        call(graph, threads=1)
    monkeypatch.setattr("bigbfs.engines.cpu.memory.free_memory", lambda: need)
    assert call(graph, threads=1)


def test_paths_that_do_not_fit_are_refused(monkeypatch):
    graph = zoo.build(900, zoo.path(900))
    finder = paths.PathFinder(graph)
    assert sum(each.nbytes for each in vars(finder).values() if isinstance(each, np.ndarray)) == paths.bytes_of(900)
    monkeypatch.setattr("bigbfs.engines.cpu.memory.free_memory", lambda: paths.bytes_of(900) - 1)
    with pytest.raises(DoesNotFitError, match=r"900 vertices take .* are free; free some"):
        bigbfs.shortest_path(graph, 0, 899)
    monkeypatch.setattr("bigbfs.engines.cpu.memory.free_memory", lambda: paths.bytes_of(900))
    assert len(bigbfs.shortest_path(graph, 0, 899)) == 900


def parts():
    """Return 40 paths of 5 vertices each, with ids of one to three digits."""
    return zoo.build(200, (np.arange(199)[np.arange(1, 200) % 5 > 0], np.arange(1, 200)[np.arange(1, 200) % 5 > 0]))


def test_a_table_is_refused_where_the_disk_is_too_small_for_pairs_with_a_path(tmp_path, monkeypatch):
    """Not for all pairs: those of different components have no line."""
    graph, free = parts(), SimpleNamespace(free=0)
    monkeypatch.setattr(room.shutil, "disk_usage", lambda folder: free)
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
    monkeypatch.setattr(room.shutil, "disk_usage", lambda folder: SimpleNamespace(free=100))
    bigbfs.distances(graph, [199], output=tmp_path / "D.csv")
    assert (tmp_path / "D.csv").read_text().split()[1:] == ["199,199,0"]
