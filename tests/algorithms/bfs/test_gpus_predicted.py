"""What searches over GPUs are predicted to count and to take: beside real searches, and what runs decide by."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import zoo
from wide import CODECS, in_turn, split

from bigbfs import generate
from bigbfs.algorithms.bfs.gpu.hosts.costs import link_of
from bigbfs.algorithms.bfs.ranks import expected as levels
from bigbfs.algorithms.bfs.ranks.expected import Degrees, Rows, degrees_of, expected, thin
from bigbfs.algorithms.bfs.ranks.gpus_model import Facts, Gpus, link_between, search, seconds_of
from bigbfs.algorithms.bfs.reference import bfs
from bigbfs.algorithms.components.ranks.gpus_model import components
from bigbfs.config import GpuLinks, find_profile, read_profile
from bigbfs.graph.graph import Graph

H200 = read_profile(find_profile("h200"))
ROWS = Rows(4.0, 8, False, 0.0, False)


def facts(graph: Graph, **more) -> Facts:
    known = Facts(graph.n, graph.m, 4, degrees_of(graph.adjacency), 4.0, False, False, True)
    return replace(known, **more)


@pytest.mark.parametrize(("codec", "name"), split([(codec, name) for codec in CODECS for name in zoo.names()], in_turn))
def test_degrees_are_counted(codec: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every vertex with edges once, in pieces or not; of long rows the mean is kept."""
    monkeypatch.setattr(levels, "BLOCK", 7)
    monkeypatch.setattr(levels, "EXACT", 8)
    graph = zoo.shared()[name]
    found = degrees_of((graph.compress() if codec == "varint" else graph).adjacency)
    degrees = np.asarray(graph.degrees())
    assert found.busy == np.count_nonzero(degrees) and found.edges == pytest.approx(graph.m)
    assert (np.diff(found.degree) > 0).all() and (found.counts > 0).all()
    short = degrees[(degrees > 0) & (degrees < 8)]
    assert found.counts[found.degree < 8].sum() == len(short)


@pytest.mark.parametrize("kind", ["kronecker", "uniform"])
def test_levels_are_those_of_searches(kind: str) -> None:
    """The two levels that find most find as many as in searches from vertices of the middle degree: to 5 % of all."""
    graph = generate.graph(kind, scale=15, edge_factor=16, seed=2)
    degrees = np.asarray(graph.degrees())
    known = degrees_of(graph.adjacency)
    mine = np.array([level.found for level in expected(known, replace(ROWS, even=kind == "uniform"))])
    sources = np.flatnonzero(degrees == round(known.middle))[:: max(1, 15_000 // 20)][:20]
    sizes = []
    for source in sources:
        found, _ = bfs(graph, int(source))
        sizes.append(np.sort(np.bincount(found[found > 0]))[-2:])
    np.testing.assert_allclose(np.sort(mine)[-2:], np.median(sizes, axis=0), rtol=0, atol=known.busy / 20)


def test_levels_find_each_vertex_once() -> None:
    degrees = Degrees(np.array([2.0, 8.0, 500.0]), np.array([900.0, 300.0, 2.0]))
    found = expected(degrees, ROWS)
    assert sum(level.found for level in found) + 1 == pytest.approx(degrees.busy, rel=1e-2)
    assert found[0].vertices == 1 and found[0].edges == degrees.middle == 2
    assert all(now.vertices == before.found for before, now in pairwise(found))
    assert all(level.missed <= level.unvisited for level in found)
    assert expected(Degrees(np.zeros(0), np.zeros(0)), ROWS) == []


def test_lines_of_hot_and_held_rows() -> None:
    """Hubs are hot first; where rows are even, any; short rows are read from heads where these hold them."""
    degrees = Degrees(np.array([4.0, 32.0, 320.0]), np.array([80.0, 10.0, 1.0]))
    every = degrees.counts
    rows, lines, held = replace(ROWS, hot=1 / 3, holds=True).counted(degrees, every / every.sum() * 1e-3)
    share = 1e-3 / every.sum()
    assert rows == pytest.approx(10 * share) and lines == pytest.approx(10 * 2 * share, rel=1e-3)
    assert held == pytest.approx(80 * 1.125 * share, rel=1e-3)
    rows, lines, held = replace(ROWS, hot=0.25, even=True).counted(degrees, every / 2)
    assert rows == pytest.approx(0.75 * every.sum() / 2) and held == 0
    assert lines == pytest.approx(0.75 * (degrees.degree / 32 + 0.5) @ every / 2)


@pytest.mark.parametrize("transport", ["nccl", "mpi"])
@pytest.mark.parametrize("hosts", [1, 2])
def test_links_are_those_of_runs(transport: str, hosts: int) -> None:
    """What the plan reckons with where nothing was measured is what a run chooses by."""
    mine, theirs = link_between(H200, Gpus(2, hosts, transport, "vram", 8, 0.0)), link_of(transport, hosts == 1)
    assert mine is not None and mine.call == pytest.approx(theirs.call)
    assert mine.bytes_per_second == pytest.approx(theirs.bytes_per_second, rel=0.03)
    assert link_between(H200, Gpus(1, 1, transport, "vram", 8, 0.0)) is None
    assert link_between(H200, Gpus(2, 1, "peers", "vram", 8, 0.0)) is None


@pytest.mark.parametrize("transport", ["peers", "nccl", "mpi"])
@pytest.mark.parametrize("residency", ["vram", "mapped"])
@pytest.mark.parametrize("top_down", [False, True])
def test_more_gpus_work_less(transport: str, residency: str, top_down: bool) -> None:
    """Work falls with the GPUs where all levels go one way; alone nothing is told; slower links take longer, unless
    another way is taken for them."""
    known = facts(generate.graph("kronecker", scale=14, seed=1))
    degrees = replace(known.degrees, counts=known.degrees.counts * 2**12)
    big = replace(known, degrees=degrees, n=1 << 26, m=known.m << 12)
    slow = GpuLinks(peer_bytes_per_second=20e9, nccl_bytes_per_second=2e9, mpi_bytes_per_second=1e8)
    before = None
    for ranks in (1, 2, 4, 8):
        gpus = Gpus(ranks, 1, transport, residency, 8, 0.0)
        found = search(big, gpus, H200, top_down=top_down)
        assert not top_down or {each.direction for each in found} == {"top-down"}
        told = sum(each.bytes for each in found)
        if ranks == 1:
            assert told == 0 and {each.told for each in found} == {"nothing"}
            assert sum(each.exchange for each in found) == 0
        else:
            assert told > 0
            other = search(big, gpus, replace(H200, gpus=slow), top_down=top_down)
            ways = [[(each.direction, each.told) for each in levels] for levels in (found, other)]
            assert seconds_of(other) > seconds_of(found) or ways[0] != ways[1]
        work = sum(each.work for each in found)
        if top_down:
            assert before is None or work < before
        before = work


def test_deep_graphs_are_slower_on_two() -> None:
    """Thousands of thin levels: all alike, two meetings in each."""
    graph = generate.graph("grid2d", rows=40, columns=40)
    known = facts(graph, deep=80)
    (one,), (two,) = (search(known, Gpus(ranks, 1, "peers", "vram", 8, 0.0), H200) for ranks in (1, 2))
    assert one.levels == two.levels == 80 and two.exchange >= 80 * 2 * GpuLinks().meeting_seconds
    assert seconds_of([two]) > 5 * seconds_of([one])
    each = thin(known.degrees, ROWS, 80)
    assert len(each) == 80 and sum(level.found for level in each) == pytest.approx(graph.n)


@pytest.mark.parametrize("transport", ["peers", "nccl"])
def test_levels_that_degrees_do_not_tell(transport: str) -> None:
    """More levels by the small search: thin ones, in each of which GPUs meet."""
    known, gpus = (
        facts(generate.graph("uniform", scale=12, edge_factor=8, seed=1)),
        Gpus(2, 1, transport, "vram", 8, 0.0),
    )
    found = search(known, gpus, H200)
    more = search(replace(known, least=len(found) + 9), gpus, H200)
    assert more[:-1] == found and (more[-1].levels, more[-1].vertices) == (9, 1.0)
    assert search(replace(known, least=len(found)), gpus, H200) == found
    assert more[-1].exchange > 9 * 1e-5


def test_a_slower_device_takes_longer() -> None:
    known = facts(generate.graph("uniform", scale=14, edge_factor=16, seed=1))
    gpus = Gpus(1, 1, "peers", "mapped", 8, 0.0)
    slower = replace(H200, memory_bytes_per_second=1e12, link_lines_per_second=1e8)
    assert seconds_of(search(known, gpus, slower)) > seconds_of(search(known, gpus, H200))


def test_components_where_each_gpu_has_all_rows_are_a_pass_over_own_vertices() -> None:
    """By degree; in another order it is as with words dealt."""

    def seconds(ranks: int, *, by_degree: bool = True, whole: bool = True) -> float:
        return components(2**29, 2**28, 4, ranks, H200, by_degree=by_degree, whole=whole).seconds

    assert 1.6 < seconds(2) / seconds(4) < 1.8 and seconds(2) < seconds(2, whole=False)
    assert seconds(2, by_degree=False) == seconds(2, by_degree=False, whole=False)
