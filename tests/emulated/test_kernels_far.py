"""Components over emulated GPUs that reach nobody's memory: forests, bits of members and pairs that hosts carry.

Labels against the reference, and each run proved: the zoo by rules that make small graphs see every way, with words
dealt and with ranges, over hosts' memory and over a NCCL that threads play, in rooms of few pairs, and with more
devices than vertices. What is sent is counted; and what is told wrong, or not waited for, shows.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import zoo
from wide import CODECS, counted, in_bounds, in_turn, met, on_hosts, split

from bigbfs.algorithms.components.gpu.hosts import arguments
from bigbfs.algorithms.components.gpu.hosts.loop import longest_row
from bigbfs.algorithms.components.options import ComponentsOptions
from bigbfs.algorithms.components.reference import components as reference_components
from bigbfs.engines.gpu.ranks.transport import HostTransport
from bigbfs.engines.ranks import threads
from bigbfs.engines.ranks.partition import deal
from bigbfs.errors import VerificationError
from bigbfs.graph.adjacency import PlainAdjacency
from bigbfs.graph.graph import Graph
from emulated.nccl import NcclOfThreads
from emulated.peers import Peers, label
from emulated.runtime import builds_here
from emulated.test_kernels_joint import (
    FEW,
    SANITIZED_GRAPHS,
    SEEDS,
    WAYS,
    chains,
    check,
    graph,
    of_a_third,
    one_way,
    random_graph,
    spoil,
)

HERE = builds_here()

RULES = {
    "heads": Peers(2, head_groups=2, carry=HostTransport),
    "by id": Peers(3, ranked=True, mapped=True, hot_bytes=900, carry=NcclOfThreads),
    "without heads": Peers(4, "ranges", head_groups=0, carry=NcclOfThreads, hosts=("a", "a", "b", "b")),
    "ranges": Peers(5, "ranges", mapped=True, hot_bytes=500, carry=HostTransport, piece=1000),
    "by id, ranges": Peers(2, "ranges", ranked=True, head_groups=2, carry=NcclOfThreads, hosts=("a", "b")),
}
BOTH = (HostTransport, NcclOfThreads)


@pytest.fixture
def small_rooms(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let ranks send three pairs at once."""
    monkeypatch.setattr(arguments, "LEAST_ROOM", 3)
    monkeypatch.setattr(arguments, "MOST_ROOM", 3)


def there(build, codec, name, number):
    """Return whether there is a case: each rule with one codec, few graphs by all, others by three; elsewhere than in
    the plain build few graphs by two, in the codec of the build."""
    if build != "plain":
        return name in FEW and met(build, name, number, len(RULES), (0, 2)) and in_turn(codec, build)
    meets = name in FEW or (sum(name.encode()) + number) % len(RULES) < 3
    return meets and in_turn(codec, name, number)


CASES = [
    (build, codec, name, rule)
    for build in HERE for codec in CODECS for name in zoo.names() for number, rule in enumerate(RULES)
    if there(build, codec, name, number)
]  # fmt: skip


def in_core(build, codec, name, rule):
    """Return whether ``make test`` runs a case: few graphs, one rule each; wide ids in one build."""
    mine = met(build, name, list(RULES).index(rule), len(RULES), (0,))
    if build == "plain":
        return mine and name in FEW
    return mine and name in SANITIZED_GRAPHS[1::2]


@pytest.mark.parametrize(("build", "codec", "name", "rule"), split(CASES, in_core))
def test_labels_are_exact(build, codec, name, rule):
    peers = replace(RULES[rule], seed=1 + len(name) if build == "preempt" else 0)
    check(zoo.shared()[name], graph(name, codec), build, peers, WAYS[:2] if name in zoo.BIG else WAYS)


@pytest.mark.parametrize(
    ("build", "seed"),
    split(
        [(build, seed) for build in HERE for seed in range(SEEDS[build])],
        lambda build, seed: seed < 4 - 3 * (build != "plain"),
    ),
)
def test_random_graphs_in_small_rooms(build, seed, small_rooms):
    plain, peers = random_graph(seed)
    peers = replace(peers, seed=seed if build == "preempt" else 0, carry=BOTH[seed // 2 % 2])
    check(plain, plain if seed % 2 else plain.compress(), build, peers, WAYS[:3])


@pytest.mark.parametrize("build", split(HERE, lambda build: build in ("plain", "tsan")))
def test_giants_that_no_rank_sees_whole(build):
    """Nor does the longest row belong to them; names are those of a third rank's vertices; edges go one way."""
    sizes, ways = ((2, 3, 4), WAYS) if build == "plain" else ((3,), WAYS[:2])
    for plain in (chains(), of_a_third(), one_way()):
        for number, size in enumerate(sizes):
            seed = size if build == "preempt" else 0
            peers = Peers(size, ("words", "ranges")[number % 2], ranked=number == 0, seed=seed, carry=BOTH[number % 2])
            check(plain, plain, build, peers, ways)
            check(plain, plain, build, replace(peers, head_groups=0), WAYS[:1])


@pytest.mark.parametrize("build", on_hosts(HERE))
def test_any_vertex_may_be_the_hub(build):
    """It is chosen for speed: labels are exact with one that has no edge, too."""
    plain = zoo.shared()["two-components"]
    labels = reference_components(plain)
    for hub in (0, int(np.flatnonzero(labels != labels[0])[0]), plain.n - 1):
        check(plain, plain, build, Peers(3, carry=HostTransport, touch=lambda forest, hub=hub: forest._take_hub(hub)))
    late = zoo.shared()["late-isolated"]
    alone = int(np.flatnonzero(late.degrees() == 0)[0])
    check(late, late, build, Peers(2, carry=HostTransport, touch=lambda forest: forest._take_hub(alone)))


@pytest.mark.parametrize("build", counted(HERE))
def test_more_devices_than_vertices(build):
    plain = zoo.build(5, zoo.path(4))
    for kind, carry in zip(("words", "ranges"), BOTH, strict=True):
        check(plain, plain, build, Peers(6, kind, carry=carry))


@pytest.mark.parametrize("build", on_hosts(HERE))
def test_one_device_alone_sends_nothing(build):
    plain = zoo.shared()["kronecker"]
    for _, (joined,) in check(plain, plain, build, Peers(1, carry=HostTransport)):
        assert joined.ranks[0].sent == 0


@pytest.mark.parametrize("build", on_hosts(HERE))
@pytest.mark.parametrize("carry", BOTH)
def test_bytes_sent_are_those_of_bits_numbers_and_pairs(build, carry):
    for name in ("two-giants", "directed-out-only"):
        plain, made = zoo.shared()[name], {}
        for size in (2, 4):
            peers = Peers(size, carry=carry, touch=lambda forest: made.update({forest.group.rank: forest}))
            ((_, (joined, *_)),) = label(plain, build, peers, WAYS[:1], prove=False)
            words = -(-plain.n // 64)
            for rank in joined.ranks:
                pairs, classes = made[rank.rank].told
                bits, numbers = 8 * -(-words // size), 8 * size + 8
                assert rank.sent == (size - 1) * (bits + numbers) + 8 * pairs + 8 * classes * (size - 1)
    # of the giant nothing is told in pairs; of another one, each vertex by who does not own it
    assert 8 * plain.n > max(rank.sent for rank in joined.ranks)


@pytest.mark.parametrize("build", in_bounds(HERE))
@pytest.mark.parametrize("codec", split(CODECS, "plain".__eq__))
def test_only_own_rows_are_read(build, codec):
    """What other ranks own is spoilt where it is mapped; in device memory it is not there at all."""
    plain, whole = zoo.shared()["two-hubs"], graph("two-hubs", codec)
    for kind in ("words", "ranges"):
        for heads in (0, 1):
            check(plain, whole, build, Peers(3, kind, mapped=True, head_groups=heads, touch=spoil, carry=HostTransport))


@pytest.mark.parametrize("build", on_hosts(HERE))
def test_rows_of_the_giant_are_left_out(build):
    plain = zoo.shared()["kronecker-dense"]
    ways = (ComponentsOptions(), ComponentsOptions(skip_giant=False))
    skipped, all_rows = (joined[0].edges_read for _, joined in check(plain, plain, build, RULES["heads"], ways))
    assert skipped < plain.m / 10 and all_rows > plain.m / 2


def test_the_longest_row() -> None:
    for name in ("two-hubs", "kronecker", "isolated", "one-vertex"):
        plain = zoo.shared()[name]
        for size in (1, 3, 80):
            found = threads.run(size, lambda group, plain=plain: longest_row(plain.adjacency, group))
            assert set(found) == {int(plain.degrees().argmax())}


@pytest.mark.parametrize("build", on_hosts(HERE))
def test_a_wrong_label_is_not_proved(build):
    """A label of one rank's vertex is another vertex before the proof; or two components share one."""
    plain = zoo.shared()["two-components"]

    def one(forest):
        if forest.group.rank == 1:
            forest.forest[int(forest.partition.vertices(1)[3])] += 1

    def all_alike(forest):
        forest.forest[...] = 0

    for change, said in ((one, r"rank \d \(host here\): wrong result"), (all_alike, r"1 labels, and \d+ components")):

        def touch(forest, change=change):
            run = forest.run
            forest.run = lambda how: (run(how), change(forest))[0]

        with pytest.raises(VerificationError, match=said):
            label(plain, build, Peers(2, carry=HostTransport, touch=touch), WAYS[:1])


@pytest.mark.parametrize("build", in_bounds(HERE))
def test_ids_that_are_no_vertices_are_counted(build):
    plain = zoo.shared()["kronecker"]
    indices = plain.adjacency.indices.copy()
    indices[::97] = plain.n
    damaged = Graph(PlainAdjacency(plain.adjacency.indptr, indices), plain.flags)
    ways = (ComponentsOptions(skip_giant=False),)
    ((_, joined),) = label(damaged, build, Peers(2, head_groups=0, carry=HostTransport), ways, prove=False)
    assert {each.invalid_ids for each in joined} != {0}


def lose_a_pair(forest):
    """The last pair that comes from a rank is lost."""
    accept = forest._merge._accept
    forest._merge._accept = lambda pairs, counts: accept(pairs, np.maximum(counts - (len(counts) > 1), 0))


def lose_a_class(forest):
    """The last of the names that a rank sends is lost."""
    forest._merge._join = lambda pairs, counts, join=forest._merge._join: join(pairs, np.maximum(counts - 1, 0))


def swap_bits(forest):
    """The bits of two ranks are put in one another's place."""
    gather = forest.transport.gather

    def swapped(parts):
        gather(parts)
        if np.shares_memory(parts[0], forest._bits):
            first, other = parts[0].copy(), parts[1].copy()
            parts[0][...], parts[1][...] = other, first

    forest.transport.gather = swapped


def forget_the_hub(forest):
    """Nobody says what the root of the hub is called."""
    accept = forest._merge._accept
    forest._merge._accept = lambda pairs, counts: accept(pairs, counts) if len(counts) > 1 else None


def do_not_wait(forest):
    """Nothing of NCCL is waited for: it arrives after the next kernels, or never."""
    forest.transport._wait = lambda start: None


@pytest.mark.parametrize("build", on_hosts(HERE))
@pytest.mark.parametrize("plant", [lose_a_pair, lose_a_class, swap_bits, forget_the_hub, do_not_wait])
def test_what_is_planted_shows(build, plant):
    """On some graph of few labels are wrong, and the proof says so."""
    shown = proved = 0
    road = zoo.build(128, zoo.path(128), directed=True, in_rows=False)  # one edge from rank to rank
    for plain in (zoo.shared()["two-giants"], zoo.shared()["random-sparse"], chains(), one_way(), road):
        peers = Peers(2, carry=NcclOfThreads, touch=plant, head_groups=0)
        ((labels, _),) = label(plain, build, peers, WAYS[1:2], prove=False)
        if np.array_equal(labels, reference_components(plain)):
            continue
        shown += 1
        try:
            label(plain, build, peers, WAYS[1:2])
        except VerificationError:
            proved += 1
    assert shown and shown == proved


def test_rooms_and_bytes_at_once() -> None:
    ids = np.dtype(np.uint32)
    assert arguments.room_of(deal(1 << 20, 4)) == 1 << 16
    assert arguments.room_of(deal(100, 4)) == arguments.LEAST_ROOM
    assert arguments.room_of(deal(1 << 40, 4)) == arguments.MOST_ROOM
    assert arguments.most_sent(deal(1 << 20, 4), ids) == 2 * 4 * 4 << 16
