"""The kernels for topological order, emulated: rounds of one block and of the grid, hubs, the hand-over to the CPU.

Rounds and order against the reference, and after every launch what must hold between queue, rounds and counters. In the
preempting build every run has another seed. ``make test`` takes one codec in turn, and fewer graphs in the slow builds.
"""

from __future__ import annotations

import numpy as np
import pytest
import zoo
from algorithms.topological.dags import NAMES, dag, layers, upward
from wide import CODECS, counted, damaged, in_turn, racing, split

from bigbfs.algorithms.topological.cycle import CycleError
from bigbfs.algorithms.topological.gpu.arguments import STAND, SUMS
from bigbfs.algorithms.topological.gpu.tuning import Tuning
from bigbfs.algorithms.topological.gpu.verify import verify_rounds_on_device
from bigbfs.algorithms.topological.options import TopologicalOptions
from bigbfs.algorithms.topological.reference import topological_order
from bigbfs.engines.gpu.engine import GpuEngine
from bigbfs.errors import FormatError, UsageError, VerificationError
from bigbfs.graph.adjacency import PlainAdjacency
from bigbfs.graph.graph import Graph
from emulated.invariants import array_at
from emulated.runtime import SimtRuntime, builds_here

HERE = builds_here()
SANITIZED = not set(HERE) <= {"plain", "preempt"}
QUICK_CPU = {"window": 2, "deep_width": 10**6, "round_us": 1e6, "mapped_round_us": 1e6}
TUNINGS = {
    "as measured": TopologicalOptions(),
    "whole grid": TopologicalOptions(tuning=Tuning(thin_edges=0)),
    "few slices": TopologicalOptions(tuning=Tuning(thin_edges=200, thin_slices_plain=3, thin_slices_varint=2)),
    "many launches": TopologicalOptions(hand_over=False, tuning=Tuning(most_rounds=3)),
    "handed over": TopologicalOptions(tuning=Tuning(**QUICK_CPU)),
}
FEW_GRAPHS = ("random", "duplicates", "no in-rows", "wide ids", "three hubs", "thin, wide, thin")
FEW_TUNINGS = ("whole grid", "few slices", "handed over")
SANITIZED_GRAPHS = ("duplicates", "no in-rows", "wide ids", "thin, wide, thin")
CORE = ("duplicates", "no in-rows", "thin, wide, thin")
"""What ``make test`` orders in the builds other than the plain one."""


class RoundWatch:
    """After the rounds of a launch: queue, rounds and counters agree; every vertex entered the queue once."""

    def __init__(self, graph):
        self.graph = graph
        self.launches = 0

    def __call__(self, name, grid, block, args):
        if name != "topo_rounds" or int(args[0]["out"]["n"]) != self.graph.n or self.graph.n == 0:
            return
        self.launches += 1
        state, n = args[0], self.graph.n
        stand = array_at(state["stand"], 1, STAND)[0]
        queue = array_at(state["queue"], n, self.graph.ids).astype(np.int64)
        rounds = array_at(state["rounds"], n, np.int32)
        used = queue[: int(stand["begin"]) + int(stand["count"])]
        assert (used < n).all(), "the queue holds what is no vertex"
        assert len(np.unique(used)) == len(used), "a vertex entered the queue twice"
        assert np.array_equal(np.sort(used), np.flatnonzero(rounds >= 0)), "the queue is not who has a round"
        assert (np.diff(rounds[used]) >= 0).all(), "the queue does not go by rounds"
        number, last = int(stand["number"]), used[int(stand["begin"]) :]
        assert (rounds[last] == number).all(), "the queue's last round is not the one that is counted"
        assert int(stand["alone"]) + int(stand["wide"]) == number, "the counters of rounds differ"
        done = used[: int(stand["begin"])]
        assert int(stand["taken"]) == self.graph.degrees()[done].sum(), "the counter of edges taken off differs"
        sums = array_at(state["round_sums"], 3, SUMS)
        assert (sums["freed"] <= n).all()


def engine_on(graph, options, *, build, seed=0, residency="vram", **how):
    runtime = SimtRuntime(build=build, seed=seed if build == "preempt" else 0, **how)
    watch = RoundWatch(graph)
    runtime.watchers.append(watch)
    return GpuEngine(graph, work=(options,), residency=residency, runtime=runtime), watch


def check(plain, options, *, build, codec="plain", seeds=1, **how):
    """Run ``options`` twice, in the preempting build under ``seeds`` schedules; return the last record."""
    order, rounds = topological_order(plain)
    graph = plain.compress() if codec == "varint" else plain
    for seed in range(1, 1 + (seeds if build == "preempt" else 1)):
        engine, watch = engine_on(graph, options, build=build, seed=seed, **how)
        with engine:
            for _ in range(2):  # the second run starts from what the first one left
                result = engine.run(options)
                np.testing.assert_array_equal(result.rounds, rounds)
                np.testing.assert_array_equal(result.order, order)
                assert sum(result.record.ran.values()) == result.record.rounds == rounds.max(initial=-1) + 1
            engine.program(options).verify(options, result)
            assert watch.launches >= 2 * bool(plain.n)
    return result.record


def cases():
    """Yield (build, codec, tuning, graph): everything in the plain build, a few graphs and codecs in turn elsewhere."""
    names = {"plain": NAMES, "preempt": FEW_GRAPHS}
    for build in HERE:
        for how in FEW_TUNINGS if SANITIZED else TUNINGS:
            for number, name in enumerate(names.get(build, SANITIZED_GRAPHS)):
                for codec in CODECS:
                    mine = in_turn(codec, build) if name in CORE else in_turn(codec, number, how)
                    if build == "plain" or mine:
                        yield build, codec, how, name


def in_core(build, codec, how, name):
    """Return whether ``make test`` runs this; wide ids, compiled for themselves, only in the plain build."""
    if build == "plain":
        mine = name in FEW_GRAPHS or list(NAMES).index(name) % len(TUNINGS) == list(TUNINGS).index(how)
        return mine and (codec == "varint" if "wide ids" in name else in_turn(codec, how, name))
    if (name, how) == ("thin, wide, thin", "many launches"):  # seventy launches
        return False
    return name in CORE and (name != "duplicates" or build == "preempt")


@pytest.mark.covered("how+build", "how+codec")
@pytest.mark.parametrize(("build", "codec", "how", "name"), split(cases(), in_core))
def test_rounds(build, codec, how, name):
    residency = ("vram", "mapped")[(len(name) + len(how)) % 2]
    ran = check(dag(name), TUNINGS[how], build=build, codec=codec, residency=residency).ran
    if how == "whole grid" and dag(name).m:
        assert ran["whole grid"] > 0
    if how == "handed over" and name in ("path", "path shuffled", "random"):
        assert ran["one thread"] > 0


RACES = {
    "layers": zoo.build(30 * 70, layers(30, 70, seed=1), directed=True, in_rows=False),
    "into a few": zoo.build(400, (np.repeat(np.arange(390), 10), np.tile(np.arange(390, 400), 390)), directed=True),
    "dense": zoo.build(150, upward(zoo.random(150, 9_000, seed=2), 150, seed=3), directed=True),
    # a warp's buffer is neither empty nor full when the next hundred come
    "rows of a hundred": zoo.build(4_040, (np.repeat(np.arange(40), 100), 40 + np.arange(4_000)), directed=True),
    "hubs": zoo.build(3_000, (np.repeat(np.arange(3), 2_900), np.tile(np.arange(100, 3_000), 3)), directed=True),
}


RACED = split(
    [
        (build, how, name)
        for build in HERE
        for how in (["whole grid", "few slices"] if SANITIZED else ["as measured", "whole grid", "few slices"])
        for name in RACES
    ],
    lambda build, how, name: (
        build == "plain" or (build != "asan" and how != "as measured" and in_turn("plain", how, name))
    ),
)


@pytest.mark.covered("name+build", "how+build")
@pytest.mark.parametrize(("build", "how", "name"), RACED)
def test_races(build, how, name):
    check(RACES[name], TUNINGS[how], build=build, seeds=4, sm_count=3, preempt_every=5)


@pytest.mark.parametrize("build", racing(HERE))
def test_a_block_that_begins_when_another_is_done(build):
    """Rounds of one block that are over at once, under many schedules: the others begin where it began."""
    plain = zoo.build(1, ([], []), directed=True)
    check(plain, TUNINGS["many launches"], build=build, seeds=40, sm_count=3, preempt_every=3, team=32)


@pytest.mark.parametrize("build", counted(HERE))
def test_where_rounds_run(build):
    """Thin rounds stay with one block in one launch, wide ones get the grid, the CPU takes what it is quicker with."""
    plain = dag("thin, wide, thin")
    record = check(plain, TopologicalOptions(hand_over=False), build=build)
    assert record.ran == {"one block": 200, "whole grid": 1}
    assert (record.rounds, record.widest, record.thin) == (201, 2_000, 200)
    tuning = Tuning(window=16, deep_width=2, **{k: v for k, v in QUICK_CPU.items() if k.endswith("us")})
    ran = check(plain, TopologicalOptions(tuning=tuning), build=build).ran
    assert ran == {"one block": 16, "whole grid": 0, "one thread": 185, "all threads": 0}
    costly = Tuning(window=16, deep_width=2, cpu_edge_ns_plain=1e9)
    assert check(plain, TopologicalOptions(tuning=costly), build=build).ran["whole grid"] == 1
    assert check(plain, TopologicalOptions(hand_over=False, tuning=tuning), build=build).ran["whole grid"] == 1
    # a window of two rounds of one vertex is as wide as this says, and not thinner
    narrow = Tuning(window=2, deep_width=1, **{k: v for k, v in QUICK_CPU.items() if k.endswith("us")})
    assert check(plain, TopologicalOptions(tuning=narrow), build=build).ran["whole grid"] == 1


@pytest.mark.parametrize("build", counted(HERE))
def test_slices_that_do_not_fit_one_block_go_to_the_grid(build):
    """Rows of nine ids are slices: more of them than one block may have, of fewer edges than it may have."""
    plain = zoo.build(200, (np.repeat(np.arange(20), 9), 20 + np.arange(180)), directed=True)
    options = TopologicalOptions(tuning=Tuning(thin_slices_plain=10))
    # 20 vertices and slices, then 180 vertices, more than a block has threads
    assert check(plain, options, build=build).ran == {"one block": 0, "whole grid": 2}
    # 21 slices: one of the rows lies across two loads
    wider = TopologicalOptions(tuning=Tuning(thin_slices_plain=20))
    assert check(plain, wider, build=build).ran == {"one block": 0, "whole grid": 2}
    wider = TopologicalOptions(tuning=Tuning(thin_slices_plain=21))
    assert check(plain, wider, build=build).ran == {"one block": 1, "whole grid": 1}


@pytest.mark.parametrize("in_rows", [True, False])
@pytest.mark.parametrize("how", ["as measured", "whole grid", "handed over"])
@pytest.mark.parametrize("build", counted(HERE))
def test_a_cycle_is_named(build, how, in_rows):
    # a long way in, a cycle of three, and a long way out
    pairs = zoo.join(zoo.path(40), ([39, 40, 41, 42, 42], [40, 41, 42, 40, 43]), zoo.path(90, first=43))
    graph = zoo.build(90, pairs, directed=True, in_rows=in_rows, first_id=100)
    engine, _ = engine_on(graph, TUNINGS[how], build=build)
    with engine, pytest.raises(CycleError, match="is a cycle of 3 edges") as caught:
        engine.run(TUNINGS[how])
    assert sorted(caught.value.cycle) == [140, 141, 142]


@pytest.mark.parametrize("how", ["as measured", "whole grid", "handed over"])
@pytest.mark.parametrize("build", damaged(HERE))
def test_an_id_out_of_range_is_an_error_and_no_access(build, how):
    for bad in (700, 2**32 - 1):
        for name in ("random", "no in-rows"):
            plain = dag(name)
            indices = plain.adjacency.indices.copy()
            indices[::97] = bad
            damaged = Graph(
                PlainAdjacency(plain.adjacency.indptr, indices), plain.flags, in_adjacency=plain.in_adjacency
            )
            engine = GpuEngine(damaged, work=(TUNINGS[how],), prove=False, runtime=SimtRuntime(build=build))
            with engine, pytest.raises(FormatError, match="no vertices"):
                engine.run(TUNINGS[how])


@pytest.mark.parametrize("how", ["as measured", "handed over"])
@pytest.mark.parametrize("build", damaged(HERE))
def test_in_neighbours_that_are_not_those_of_the_edges(build, how):
    plain, other = dag("random"), dag("no in-rows")
    assert plain.in_adjacency is not None
    backwards = np.append(0, np.cumsum(np.diff(plain.in_adjacency.indptr)[::-1])).astype(np.uint64)
    for twin in (
        PlainAdjacency(np.zeros(plain.n + 1, np.uint64), np.zeros(0, np.uint32)),
        PlainAdjacency(plain.in_adjacency.indptr, other.adjacency.indices[: plain.m].copy()),
        PlainAdjacency(backwards, plain.in_adjacency.indices),
    ):
        damaged = Graph(plain.adjacency, plain.flags, in_adjacency=twin)
        same = np.array_equal(twin.indptr, plain.in_adjacency.indptr)
        with GpuEngine(damaged, work=(TUNINGS[how],), prove=False, runtime=SimtRuntime(build=build)) as engine:
            if same:  # only their lengths are looked at
                np.testing.assert_array_equal(engine.run(TUNINGS[how]).rounds, topological_order(plain)[1])
                continue
            with pytest.raises(FormatError, match="in-neighbours stored are not those"):
                engine.run(TUNINGS[how])


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("build", HERE)
def test_the_proof_on_the_device_finds_wrong_rounds(build, codec):
    plain = dag("three hubs")
    rounds = topological_order(plain)[1]
    options = TopologicalOptions()
    engine, _ = engine_on(plain.compress() if codec == "varint" else plain, options, build=build)
    with engine:
        placed = engine.placed
        verify_rounds_on_device(placed, placed.runtime.upload(rounds))
        for vertex, wrong in ((0, 1), (plain.n - 1, 9), (plain.n - 1, 1), (4_000, -1), (3, 4)):
            broken = rounds.copy()
            broken[vertex] = wrong
            with pytest.raises(VerificationError, match="break a rule"):
                verify_rounds_on_device(placed, placed.runtime.upload(broken))


@pytest.mark.parametrize("build", HERE)
def test_the_proof_on_the_device_finds_an_edge_inside_a_round(build):
    """Of a round that another edge leads to, so that nothing else is wrong."""
    options = TopologicalOptions()
    engine, _ = engine_on(zoo.build(3, ([0, 0, 1], [1, 2, 2]), directed=True), options, build=build)
    with engine, pytest.raises(VerificationError, match="1 edges between rounds break a rule"):
        verify_rounds_on_device(engine.placed, engine.placed.runtime.upload(np.array([0, 1, 1], np.int32)))


def test_streamed_edges_are_refused_before_anything_is_placed():
    options = TopologicalOptions()
    with pytest.raises(UsageError, match="vram or mapped, not streamed"):
        GpuEngine(dag("random"), work=(options,), residency="streamed", runtime=SimtRuntime())
