"""Components of graphs by degree in one pass: over several emulated GPUs that each have all rows, and on one GPU.

Labels against the reference, and each run proved. Which way a run took is what each rank says: graphs that have a giant
and strays take the one pass, others the way of own rows, whoever of the ranks finds out.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import zoo
from wide import CODECS, in_turn, on_hosts, racing, split

from bigbfs.algorithms.components.options import ComponentsOptions
from bigbfs.algorithms.components.reference import components as reference_components
from bigbfs.algorithms.gpu_engine import GpuEngine
from bigbfs.errors import DeviceError
from emulated.peers import Peers, label
from emulated.runtime import SimtRuntime, builds_here
from emulated.test_kernels_whole import by_degree

HERE = builds_here()
FEW = ("empty", "one-vertex", "isolated", "path", "two-hubs", "tiny-components", "kronecker", "directed-in-rows")
"""What the builds other than the plain one label."""

SANITIZED_GRAPHS = ("path", "two-hubs", "kronecker")
"""Those of them of which ``make test`` labels some there."""


USUAL = (ComponentsOptions(),)


def found_by(plain, given, build, peers, ways=USUAL):
    """Label in each way, hold the labels against the reference, and return at once or not, strays, bytes, by rank."""
    seen = [[] for _ in range(peers.size)]

    def touch(forest):
        run = forest.run

        def watched(how):
            joined = run(how)
            strays = forest.placed.runtime.download(forest._strays).tolist() if forest.at_once else None
            seen[forest.group.rank].append((forest.at_once, strays))
            return joined

        forest.run = watched

    peers = replace(peers, whole=True, ranked=True, touch=touch)
    expected = reference_components(plain)
    labelled = label(given, build, peers, ways)
    for how, (labels, joined) in zip(ways, labelled, strict=True):
        assert np.array_equal(labels, expected), how
        assert {each.invalid_ids for each in joined} == {0}
    sent = [[each.sent for each in joined[0].ranks] for _, joined in labelled]
    at_once = [{rank[turn][0] for rank in seen} for turn in range(len(ways))]
    assert all(len(each) == 1 for each in at_once)  # all ranks the same way
    strays = [[rank[turn][1] for rank in seen] for turn in range(len(ways))]
    return [each.pop() for each in at_once], strays, sent


def in_core(build, codec, name, size):
    """Return whether ``make test`` runs a case."""
    if build == "plain":
        return name in FEW and (size == 2 or name == "kronecker") and in_turn(codec, name, size)
    return name in SANITIZED_GRAPHS[1:] and size == 3 and in_turn(codec, build)


CASES = [
    (build, codec, name, size)
    for build in HERE for codec in CODECS for name in zoo.names() for size in (1, 2, 3, 4)
    if (build == "plain" and in_turn(codec, name, size)) or (name in FEW and size > 1 and in_turn(codec, build))
]  # fmt: skip


@pytest.mark.covered("build+size")
@pytest.mark.parametrize(("build", "codec", "name", "size"), split(CASES, in_core))
def test_labels_are_exact(build, codec, name, size):
    """Of the zoo, as it is numbered and by degree, words dealt one by one or four together."""
    plain = zoo.shared()[name]
    seed = size if build == "preempt" else 0
    peers = Peers(size, together=1 if size % 2 else 4, head_groups=1 + size % 2, seed=seed)
    both_ends = plain.in_adjacency is plain.adjacency
    for graph in (plain, by_degree(plain)) if both_ends and plain.n else (plain,):
        found_by(graph, graph.compress() if codec == "varint" else graph, build, peers)


def giant_and_strays(hub=60, n=9000, by_hub=False):
    """Return a star, a smaller one that edges between leaves join to it, a star alone, pairs, a path.

    ``by_hub``: the smaller one is joined by an edge between its hub and a leaf.
    """
    first, second, third = np.arange(3, n), n + np.arange(hub), n + hub + np.arange(20)
    ends = n + hub + 20
    few = np.array([0, 2, 4, 5]) + ends, np.array([1, 3, 5, 6]) + ends
    stars = (0 * first, first), (0 * second + 1, second), (0 * third + 2, third)
    bridges = (np.array([7]), np.array([1])) if by_hub else (np.array([7, 9]), np.array([n + 3, n + 5]))
    return by_degree(zoo.build(ends + 40, zoo.join(*stars, bridges, few)))


STRAYS = 60 + 1 + 20 + 1 + 7
"""What is outside of the giant there; of the leaves of the second star none, though two are joined to the first's."""


@pytest.mark.parametrize("build", racing(HERE))
def test_strays_are_united_with_the_giant_or_stay_outside(build):
    plain = giant_and_strays()
    for size in (1, 2, 3, 4) if build == "plain" else (3,):
        at_once, strays, sent = found_by(plain, plain, build, Peers(size, seed=size if build == "preempt" else 0))
        assert at_once == [True]
        assert sum(each[0] for each in strays[0]) == STRAYS and not any(each[1] or each[2] for each in strays[0])
        assert sum(sent[0]) == (size - 1) * 2 * 2 * 8  # two pairs, read twice by each other rank


@pytest.mark.parametrize("build", split(HERE, lambda build: build == "plain"))
@pytest.mark.parametrize("codec", split(CODECS, "plain".__eq__))
def test_a_hub_outside(build, codec):
    """Its row is of several chunks, and told by those."""
    plain = giant_and_strays(hub=1100, n=150_000, by_hub=True)
    given = plain.compress() if codec == "varint" else plain
    at_once, strays, _ = found_by(plain, given, build, Peers(2, together=16))
    assert at_once == [True] and sorted(each[1] for each in strays[0]) == [0, 1]


def hub_that_comes_first(children, grown, joined=True):
    """Return a small star of the largest hub, joined to a tree of many more vertices whose root has one edge less."""
    leaves = 2 + np.arange(children + 1)
    middle = leaves[-1] + 1 + np.arange(children)
    lower = middle[-1] + 1 + np.arange(children * grown)
    stars = (0 * leaves, leaves), (0 * middle + 1, middle), (np.repeat(middle, grown), lower)
    return by_degree(zoo.build(int(lower[-1]) + 30, zoo.join(*stars, (leaves[:joined], lower[-1:][:joined]))))


@pytest.mark.parametrize("build", split(HERE, lambda build: build in ("plain", "tsan")))
def test_a_giant_that_is_hung_below_another_root(build):
    """All vertices change their labels."""
    children = 210 if build == "plain" else 140
    plain = hub_that_comes_first(children, children - 5)
    for size in (1, 2, 4) if build == "plain" else (2,):
        at_once, *_ = found_by(plain, plain, build, Peers(size, seed=size if build == "preempt" else 0))
        assert at_once == [True]


@pytest.mark.parametrize("build", on_hosts(HERE))
def test_a_giant_whose_root_is_not_the_first_vertex(build):
    """Nobody tells of it, and not every rank has its root."""
    plain = hub_that_comes_first(140, 135, joined=False)
    assert found_by(plain, plain, build, Peers(3))[0] == [True]


def far_away(steps, n=20_000):
    """Return a star, and a path that ends at it, whose vertices have more edges the nearer they are."""
    along = np.arange(steps)
    fringe = [(0 * np.arange(3 * (steps - i)) + i + 1, 1) for i in range(steps - 1)]
    hubs = np.concatenate([each for each, _ in fringe])
    leaves = steps + 1 + np.arange(len(hubs))
    star = leaves[-1] + 1 + np.arange(n)
    return by_degree(zoo.build(int(star[-1]) + 1, zoo.join((along, along + 1), (hubs, leaves), (0 * star, star))))


@pytest.mark.parametrize("build", on_hosts(HERE))
def test_ways_that_are_too_long_are_gone_otherwise(build):
    """What one rank finds out, all know."""
    for steps, short in ((20, True), (40, False)):
        plain = far_away(steps)
        for size in (1, 3):
            assert found_by(plain, plain, build, Peers(size))[0] == [short]


@pytest.mark.parametrize("build", on_hosts(HERE))
def test_more_pairs_than_vertices_are_told_otherwise(build):
    """Hubs whose neighbours are all below a larger one: each edge of theirs is a pair."""
    n, hubs, edges = 4000, 12, 500
    leaves = hubs + 1 + np.arange(n)
    drawn = np.random.default_rng(1)
    rows = [(0 * leaves[:edges] + 1 + i, drawn.choice(leaves, edges, replace=False)) for i in range(hubs)]
    plain = by_degree(zoo.build(n + 200, zoo.join((0 * leaves, leaves), *rows)))
    assert found_by(plain, plain, build, Peers(2))[0] == [False]
    fewer = by_degree(zoo.build(n + 200, zoo.join((0 * leaves, leaves), *rows[:5])))
    assert found_by(fewer, fewer, build, Peers(2))[0] == [True]


@pytest.mark.parametrize("build", on_hosts(HERE))
def test_switches_and_the_order_choose_the_way(build):
    plain = giant_and_strays()
    ways = (
        ComponentsOptions(rounds=1),
        ComponentsOptions(),
        ComponentsOptions(skip_giant=False),
        ComponentsOptions(),
    )
    assert found_by(plain, plain, build, Peers(2), ways)[0] == [False, True, False, True]
    assert found_by(plain, plain, build, Peers(2, head_groups=0))[0] == [False]
    (labels, _), *_ = label(plain, build, Peers(3, whole=True), USUAL)  # by chance
    assert np.array_equal(labels, reference_components(plain))


@pytest.mark.parametrize("build", on_hosts(HERE))
def test_a_device_that_does_not_come_is_named(build):
    def leave(forest):
        forest._meetings._number = 7 * (forest.group.rank == 0)  # rank 1 is behind, for ever

    peers = Peers(2, whole=True, ranked=True, patience=0.5, touch=leave)
    with pytest.raises(DeviceError, match=r"rank 1 \(host here\) has not come to a meeting of components"):
        label(giant_and_strays(), build, peers, USUAL)


def on_one(plain, build, codec="plain", residency="vram", how=USUAL[0]):
    """Label on one GPU, twice; return whether that took one pass."""
    every = 5 if plain.n < 10_000 else 50
    # a pass over a large graph has no barrier in it: the watchdog would take its switches for those of a livelock
    switches = max(SimtRuntime.spin_limit, 200 * plain.n)
    runtime = SimtRuntime(
        build=build, sm_count=2, resident=2, preempt_every=every, seed=int(build == "preempt"), spin_limit=switches
    )
    expected = reference_components(plain)
    given = plain.compress() if codec == "varint" else plain
    with GpuEngine(given, residency=residency, runtime=runtime, work=(how,)) as engine:
        for _ in range(2):
            result = engine.connected_components(how)
            assert np.array_equal(result.labels, expected)
            engine.verify_labels()
        return engine.program(how).loop.at_once


GRAPHS = {
    "strays": giant_and_strays,
    "hub": lambda: giant_and_strays(hub=1100, n=150_000, by_hub=True),
    "hung": lambda: hub_that_comes_first(140, 135),
    "near": lambda: far_away(20),
}


@pytest.mark.parametrize(
    ("build", "name"),
    split(
        [(build, name) for build in HERE for name in GRAPHS], lambda build, name: build == "plain" or name == "strays"
    ),
)
def test_one_gpu_takes_one_pass(build, name):
    plain = GRAPHS[name]()
    assert on_one(plain, build)
    if build == "plain" and name != "hub":
        assert on_one(plain, build, codec="varint", residency="mapped")


@pytest.mark.parametrize("build", on_hosts(HERE))
def test_one_gpu_goes_otherwise_where_that_finds_no_labels(build):
    """Ways that are too long; no giant; switches; edges seen from one end."""
    assert not on_one(far_away(40), build)
    assert not on_one(by_degree(zoo.shared()["tiny-components"]), build)
    plain = giant_and_strays()
    for how in (ComponentsOptions(rounds=1), ComponentsOptions(skip_giant=False), ComponentsOptions(single_pass=True)):
        assert not on_one(plain, build, how=how)
    assert not on_one(plain, build, residency="streamed")


@pytest.mark.parametrize("build", on_hosts(HERE))
def test_one_pass_between_runs_that_have_its_arrays(build):
    """Arguments that were laid out once are laid out anew where the arrays are others; each run is right."""
    plain = giant_and_strays()
    expected = reference_components(plain)
    ways = (ComponentsOptions(), ComponentsOptions(algorithm="labelprop"), ComponentsOptions(algorithm="sv"))
    runtime = SimtRuntime(build=build, sm_count=2, resident=2)
    with GpuEngine(plain, residency="vram", runtime=runtime, work=ways) as engine:
        for how in (ways[0], ways[1], ways[0], ways[2], ways[0]):
            assert np.array_equal(engine.connected_components(how).labels, expected)
        loop = engine.program(ways[0]).loop
        assert loop.at_once
        loop._pool._arrays.clear()  # as if another algorithm had asked for longer ones
        loop._pool._holders.clear()
        assert np.array_equal(engine.connected_components(ways[0]).labels, expected) and loop.at_once
