"""Components over several emulated GPUs of one machine, each a thread: a forest on each, joined through peer memory.

Labels against the reference, and each run proved: the zoo by rules that make small graphs see every way (names looked
up, roots gathered, by id and by chance, with and without heads), with words dealt and with ranges, and with more
devices than vertices. In the thread sanitizer's build every block of every device is a system thread.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import zoo
from wide import CODECS, counted, in_bounds, in_turn, met, on_hosts, split

from bigbfs.algorithms.components.options import ComponentsOptions
from bigbfs.algorithms.components.reference import components as reference_components
from bigbfs.engines.gpu.runtime.arguments import LINE
from bigbfs.errors import DeviceError, VerificationError
from bigbfs.graph.adjacency import PlainAdjacency
from bigbfs.graph.graph import Graph
from emulated.peers import Peers, label
from emulated.runtime import builds_here

HERE = builds_here()
SANITIZED = not set(HERE) <= {"plain", "preempt"}
"""Under the sanitizers' slow builds, fewer ways and devices."""

RULES = {
    "by chance": Peers(2, head_groups=2),
    "by id": Peers(3, ranked=True, mapped=True, hot_bytes=900),
    "without heads": Peers(4, "ranges", head_groups=0),
    "by chance, ranges": Peers(5, "ranges", mapped=True, hot_bytes=500),
    "by id, ranges": Peers(2, "ranges", ranked=True, head_groups=2),
}
WAYS = (
    ComponentsOptions(),
    ComponentsOptions(rounds=0),
    ComponentsOptions(rounds=1),
    ComponentsOptions(rounds=3, skip_giant=False),
)
FEW = ("empty", "one-vertex", "isolated", "path", "two-hubs", "tiny-components", "wide-ids-hub", "directed-in-rows",
       "directed-out-only", "directed-multi")  # fmt: skip
"""What the builds other than the plain one label: nothing, no edge, long ways, hubs, wide ids, one way."""
SANITIZED_GRAPHS = ("empty", "path", "tiny-components", "directed-in-rows", "directed-multi")
"""Those of them of which ``make test`` labels some there."""

SEEDS = {"plain": 24, "preempt": 12, "asan": 6, "tsan": 6}
"""Random graphs in each build: those that take longer see of each what they are for."""


@cache
def graph(name, codec):
    """Return a graph of the zoo in ``codec``."""
    plain = zoo.shared()[name]
    return plain.compress() if codec == "varint" else plain


def check(plain, given, build, peers, ways=WAYS):
    """Hold the labels of each way against the reference."""
    expected = reference_components(plain)
    ways = ways[:2] if SANITIZED else ways
    found = label(given, build, peers, ways)
    for how, (labels, joined) in zip(ways, found, strict=True):
        assert np.array_equal(labels, expected), how
        assert {each.invalid_ids for each in joined} == {0}
        assert len({each.edges_read for each in joined}) == 1
    return found


def there(build, codec, name, number):
    """Return whether there is a case: few graphs by all rules, others by three with one codec; elsewhere than in the
    plain build few graphs by two, in the codec of the build."""
    if build != "plain":
        return name in FEW and met(build, name, number, len(RULES), (0, 2)) and in_turn(codec, build)
    return name in FEW or (met(build, name, number, len(RULES), (0, 3, 4)) and in_turn(codec, build, name, number))


CASES = [
    (build, codec, name, rule)
    for build in HERE for codec in CODECS for name in zoo.names() for number, rule in enumerate(RULES)
    if there(build, codec, name, number)
]  # fmt: skip


def in_core(build, codec, name, rule):
    """Return whether ``make test`` runs a case: few graphs, one rule each; wide ids in one build."""
    number = list(RULES).index(rule)
    turn = (sum(name.encode()) + len(build)) % len(RULES)
    if "wide" in name:
        return name in FEW and turn == number and build == "plain" and codec == "plain"
    if build == "plain":
        return name in FEW and turn == number and in_turn(codec, name, number)
    return name in SANITIZED_GRAPHS[1::2] and turn == number


@pytest.mark.parametrize(("build", "codec", "name", "rule"), split(CASES, in_core))
def test_labels_are_exact(build, codec, name, rule):
    peers = replace(RULES[rule], seed=1 + len(name) if build == "preempt" else 0)
    check(zoo.shared()[name], graph(name, codec), build, peers, WAYS[:2] if name in zoo.BIG else WAYS)


def random_graph(seed):
    """Return a small graph, of few edges or many, directed or not, and how it is shared."""
    drawn = np.random.default_rng(seed)
    n = int(drawn.integers(1, 600))
    m = int(n * drawn.choice([0.3, 0.6, 1.0, 4]))
    pairs = drawn.integers(0, n, m), (n * drawn.random(m) ** drawn.choice([1, 3])).astype(np.int64)
    directed = {"directed": True, "in_rows": bool(drawn.integers(2))} if drawn.integers(3) == 0 else {}
    peers = Peers(
        int(drawn.integers(2, 6)),
        str(drawn.choice(["words", "ranges"])),
        mapped=bool(drawn.integers(2)),
        head_groups=int(drawn.integers(0, 3)),
        ranked=bool(drawn.integers(2)),
        hot_bytes=int(drawn.choice([0, 300, 4000])),
        seed=seed,
    )
    return zoo.build(n, pairs, **directed), peers


@pytest.mark.parametrize(
    ("build", "seed"),
    split(
        [(build, seed) for build in HERE for seed in range(SEEDS[build])],
        lambda build, seed: seed < (6 if build == "plain" else 2),
    ),
)
def test_random_graphs(build, seed):
    plain, peers = random_graph(seed)
    given = plain if seed % 2 else plain.compress()
    check(plain, given, build, replace(peers, seed=peers.seed if build == "preempt" else 0), WAYS[:3])


def chains():
    """Return paths of 64 vertices, each at home on one rank, joined at their ends: no rank's links show the giant."""
    words = 64 * np.arange(12)
    paths = zoo.join(*(zoo.path(64, first=int(first)) for first in words))
    bridges = (words[:-1] + 63, words[1:])
    tails = (words + 5, 768 + np.arange(12))
    return zoo.build(800, zoo.join(paths, bridges, tails, (np.array([790]), np.array([791]))))


@pytest.mark.parametrize(
    ("build", "size"),
    split(
        [(build, size) for build in HERE for size in ((2, 3, 4) if build == "plain" else (3,))],
        lambda build, size: build in ("plain", "tsan") and size == 3,
    ),
)
def test_a_giant_that_every_rank_sees_another_part_of(build, size):
    plain = chains()
    for peers in (Peers(size), Peers(size, ranked=True), Peers(size, head_groups=0), Peers(size, "ranges")):
        check(plain, plain, build, replace(peers, seed=size if build == "preempt" else 0))


def of_a_third():
    """Return stars at home on a rank each, some of whose leaves are joined with vertices of a third rank."""
    leaves = np.arange(1, 768)
    return zoo.build(832, zoo.join((leaves - leaves % 64, leaves), (leaves[70::7], 768 + np.arange(100) % 60)))


def one_way():
    """Return a sparse random graph whose edges are stored one way."""
    drawn = np.random.default_rng(1042)
    n, m = int(drawn.integers(1, 900)), int(drawn.integers(6)) and 542
    ends = drawn.integers(0, n, m), (n * drawn.random(m) ** drawn.choice([1, 3])).astype(np.int64)
    return zoo.build(n, ends, directed=True, in_rows=False)


@pytest.mark.parametrize("build", counted(HERE))
def test_names_of_vertices_that_a_third_rank_owns(build):
    """By id, no round: what is linked to vertices that nobody asked for goes by the names that their owners have."""
    plain, directed = of_a_third(), one_way()
    ways = (ComponentsOptions(rounds=1), ComponentsOptions(rounds=1, skip_giant=False))
    for size in (3, 5) if build == "plain" else (3,):
        peers = Peers(size, ranked=True, seed=size if build == "preempt" else 0)
        check(plain, plain, build, peers, ways)
    for turn in range(8 if build == "plain" else 2):
        peers = Peers(4, "ranges", ranked=True, seed=1 + turn if build == "preempt" else 0)
        check(directed, directed, build, peers, ways[:1])


@pytest.mark.parametrize("build", counted(HERE))
def test_more_devices_than_vertices(build):
    plain = zoo.build(5, zoo.path(4))
    for kind in ("words", "ranges"):
        check(plain, plain, build, Peers(6, kind))


@pytest.mark.parametrize("build", on_hosts(HERE))
def test_one_device_alone_moves_nothing(build):
    plain = zoo.shared()["kronecker"]
    for _, (joined,) in check(plain, plain, build, Peers(1)):
        assert joined.ranks[0].sent == 0


@pytest.mark.parametrize("build", on_hosts(HERE))
def test_bytes_over_the_link_are_ids_asked_for_gathered_and_told(build):
    """A star: by id each other rank asks for its hub, by chance nobody does; all are in the giant: nothing is told."""
    plain = zoo.build(1024, zoo.star(1024, hub=0))
    ((_, joined),) = check(plain, plain, build, Peers(4, ranked=True), WAYS[:1])
    assert [rank.sent for rank in joined[0].ranks] == [0, 4, 4, 4]
    ((_, joined),) = check(plain, plain, build, Peers(4), WAYS[:1])
    asked = [rank.sent - 4 * 768 for rank in joined[0].ranks]  # by chance the other three quarters are gathered
    hub_label = 2 * 4 * 3
    assert asked == [hub_label, 0, 0, 0]


@pytest.mark.parametrize("build", on_hosts(HERE))
def test_a_device_that_does_not_come_is_named(build):
    def leave(forest):
        forest._meetings._number = 7 * (forest.group.rank == 0)  # rank 1 is behind, for ever

    with pytest.raises(
        DeviceError, match=r"rank 1 \(host here\) has not come to a meeting of components: .* for 0.5 s"
    ):
        label(zoo.shared()["clique"], build, Peers(2, patience=0.5, touch=leave), WAYS[:1])


def spoil(forest):
    """Put ids that are no vertices, and values that never end, where the rows of others lie: of ranges, in the lines of
    the first and the last own row."""
    offsets = np.asarray(forest.placed.graph.adjacency.indptr).astype(np.int64)
    mapped, share = forest.placed.out._mapping.array, forest.placed.out._share
    assert share.dealt or mapped.nbytes <= share.nbytes + 2 * LINE
    kept = np.zeros(len(mapped), bool)
    for v in forest.partition.vertices(forest.group.rank):
        kept[offsets[v] - share.first : offsets[v + 1] - share.first] = True
    mapped[~kept] = np.iinfo(mapped.dtype).max


@pytest.mark.parametrize("build", in_bounds(HERE))
@pytest.mark.parametrize("codec", split(CODECS, "varint".__eq__))
def test_only_own_rows_are_read(build, codec):
    """What other ranks own is spoilt where it is mapped; in device memory it is not there at all."""
    plain, whole = zoo.shared()["two-hubs"], graph("two-hubs", codec)
    for kind in ("words", "ranges"):
        for heads in (0, 1):
            check(plain, whole, build, Peers(3, kind, mapped=True, head_groups=heads, touch=spoil))


@pytest.mark.parametrize("build", on_hosts(HERE))
def test_a_wrong_label_is_not_proved(build):
    """A label of one rank's vertex is another vertex before the proof; or two components share one."""
    plain = zoo.shared()["two-components"]
    halves = np.flatnonzero(reference_components(plain) == 0)

    def one(forest):
        if forest.group.rank == 1:
            found = forest.labels if forest.found_in == "labels" else forest.forest
            found[int(forest.partition.vertices(1)[3])] += 1

    def all_alike(forest):
        found = forest.labels if forest.found_in == "labels" else forest.forest
        found[...] = 0

    assert 0 < len(halves) < plain.n
    for change, said in ((one, r"rank \d \(host here\): wrong result"), (all_alike, r"1 labels, and \d+ components")):

        def touch(forest, change=change):
            run = forest.run
            forest.run = lambda how: (run(how), change(forest))[0]

        for peers in (Peers(2, touch=touch), Peers(2, ranked=True, touch=touch)):
            with pytest.raises(VerificationError, match=said):
                label(plain, build, peers, WAYS[:1])


@pytest.mark.parametrize("build", in_bounds(HERE))
def test_ids_that_are_no_vertices_are_counted(build):
    plain = zoo.shared()["kronecker"]
    indices = plain.adjacency.indices.copy()
    indices[::97] = plain.n
    damaged = Graph(PlainAdjacency(plain.adjacency.indptr, indices), plain.flags)
    ways = (ComponentsOptions(skip_giant=False),)
    ((_, joined),) = label(damaged, build, Peers(2, head_groups=0), ways, prove=False)
    assert {each.invalid_ids for each in joined} != {0}
