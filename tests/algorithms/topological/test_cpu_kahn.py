"""The rounds on the CPU against the reference: serial and parallel, plain and compressed, with and without in-rows."""

from __future__ import annotations

import numpy as np
import pytest
import zoo
from algorithms.topological.dags import NAMES, dag
from wide import CODECS, in_turn, split

from bigbfs.algorithms.topological.cpu import kahn, passes
from bigbfs.algorithms.topological.cpu.kahn import ALL, ONE, Kahn
from bigbfs.algorithms.topological.reference import topological_order
from bigbfs.engines.cpu.rows import rows_of, sample_rows
from bigbfs.graph.adjacency import PlainAdjacency
from bigbfs.graph.graph import Graph
from bigbfs.jit.njit import Kernel


def made(graph, threads=2, in_rows=True):
    incoming = graph.in_adjacency if in_rows else None
    rows = None if incoming is None else rows_of(incoming)
    return Kahn(rows_of(graph.adjacency), rows, graph.ids, graph.m, threads)


def check(graph, plain, **how):
    rounds = topological_order(plain)[1]
    program = made(graph, **how)
    for _ in range(2):  # the second run starts from what the first one left
        program.run()
        np.testing.assert_array_equal(program.rounds, rounds)
        assert program.faults == 0
        assert sum(program.ran.values()) == rounds.max(initial=-1) + 1
        queue = program.queue.astype(np.int64)
        assert sorted(queue.tolist()) == list(range(plain.n))
        assert (np.diff(rounds[queue]) >= 0).all(), "the queue goes by rounds"
    return program


ZOO = split(
    [(name, codec, in_rows) for name in NAMES for codec in CODECS for in_rows in (True, False)],
    lambda name, codec, in_rows: in_turn(codec, name, int(in_rows)),
)


@pytest.mark.parametrize(("name", "codec", "in_rows"), ZOO)
def test_rounds(name, codec, in_rows, monkeypatch):
    plain = dag(name)
    graph = plain.compress() if codec == "varint" else plain
    assert check(graph, plain, in_rows=in_rows).ran[ALL] == 0
    check(graph, plain, in_rows=in_rows, threads=1)
    monkeypatch.setattr(kahn, "WALK_EDGES", -1)
    assert check(graph, plain, in_rows=in_rows).ran[ONE] == 0
    assert check(graph, plain, in_rows=in_rows, threads=1).ran[ALL] == 0
    monkeypatch.setattr(kahn, "WALK_EDGES", 300)
    check(graph, plain, in_rows=in_rows, threads=3)


@pytest.mark.parametrize("codec", CODECS)
def test_hubs_are_shared_piece_by_piece(codec, monkeypatch):
    """Rows of three pieces and one id more, in rounds of all threads, beside short ones."""
    first, n = 3, 3 + 3 * passes.HUB_EDGES + 2
    leaves = np.arange(first, n)
    pairs = zoo.join(
        *((np.full(len(leaves), hub), leaves) for hub in range(first)), zoo.path(first), ([n - 2], [n - 1])
    )
    plain = zoo.build(n, pairs, directed=True)
    graph = plain.compress() if codec == "varint" else plain
    for walk in (-1, 30_000):
        monkeypatch.setattr(kahn, "WALK_EDGES", walk)
        for in_rows in (True, False):
            check(graph, plain, in_rows=in_rows)


@pytest.mark.parametrize("n", [1_000, 9_000])
def test_counting_with_and_without_an_array_for_each_thread(n):
    plain = zoo.build(n, np.sort(np.stack(zoo.random(n, 9_000, seed=3)), axis=0), directed=True, in_rows=False)
    program = made(plain, threads=3)
    assert (3 * n <= plain.m) == (n == 1_000)
    program._count_in_degrees()
    np.testing.assert_array_equal(program.left, np.bincount(plain.adjacency.indices, minlength=n))


@pytest.mark.parametrize("walk", [0, 10**9])
def test_a_cycle_leaves_vertices_without_a_round(walk, monkeypatch):
    monkeypatch.setattr(kahn, "WALK_EDGES", walk)
    program = made(zoo.shared()["directed-back-edges"])
    program.run()
    assert (program.rounds < 0).any()
    loops = zoo.build(4, ([0, 1, 1], [1, 1, 2]), directed=True, keep=True)
    program = made(loops)
    program.run()
    assert program.rounds.tolist() == [0, -1, -1, 0]


@pytest.mark.parametrize("walk", [-1, 10**9])
@pytest.mark.parametrize("in_rows", [True, False])
def test_ids_that_are_no_vertices_are_counted(in_rows, walk, monkeypatch):
    monkeypatch.setattr(kahn, "WALK_EDGES", walk)
    plain = dag("random")
    indices = plain.adjacency.indices.copy()
    indices[::97] = 2**32 - 1
    damaged = Graph(PlainAdjacency(plain.adjacency.indptr, indices), plain.flags, in_adjacency=plain.in_adjacency)
    program = made(damaged, in_rows=in_rows)
    program.run()
    assert program.faults > 0


@pytest.mark.parametrize("name", ["dense", "random", "wide ids"])
def test_it_goes_on_from_any_round(name):
    """As after a GPU run: the state of some round, and the rest here."""
    graph = dag(name)
    rounds = topological_order(graph)[1]
    edges = np.repeat(np.arange(graph.n), graph.degrees())
    for number in (0, 1, int(rounds.max()) // 2, int(rounds.max())):
        program = made(graph)
        queue = np.argsort(rounds, kind="stable")
        first, last = int((rounds < number).sum()), int((rounds <= number).sum())
        program.queue[:last] = queue[:last]
        program.rounds[:] = np.where(rounds <= number, rounds, -1)
        taken = rounds[edges] < number
        program.left[:] = np.bincount(graph.adjacency.indices[~taken], minlength=graph.n)
        program.go_on(first, last, number)
        np.testing.assert_array_equal(program.rounds, rounds)
        assert program.ran == {ONE: int(rounds.max()) + 1 - number, ALL: 0}


@pytest.mark.parametrize("threads", [1, 2])
def test_every_kernel_is_run_before_the_clock(threads, monkeypatch):
    """On an empty cache the first run was timed with the compiling of one: a sample that is a cycle has no round."""
    ran = set()

    def noted(name, kernel):
        def run(*arguments):
            ran.add(name)
            return kernel(*arguments)

        return run

    kernels = [name for name, it in vars(passes).items() if isinstance(it, Kernel) and not name.startswith("_")]
    for name in kernels:
        monkeypatch.setattr(passes, name, noted(name, getattr(passes, name)))
    sample = sample_rows(rows_of(dag(NAMES[0]).adjacency), np.dtype(np.uint32))
    Kahn(sample, sample, np.dtype(np.uint32), 2, threads).warm_up()
    assert ran == set(kernels) and "walk" in kernels
