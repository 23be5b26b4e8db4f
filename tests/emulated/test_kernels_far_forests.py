"""Components over emulated GPUs whose rows stay in the file: each rank streams its own, and hosts carry what is told.

Labels against the reference, and each run proved: the zoo by rules that make small graphs see every way, through stages
as small as they may be. What is read of the file, and what is told wrong, shows.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import zoo
from wide import CODECS, in_turn, met, on_hosts, split

from bigbfs.algorithms.components.gpu.hosts import arguments
from bigbfs.algorithms.components.options import ComponentsOptions
from bigbfs.algorithms.components.reference import components as reference_components
from bigbfs.engines.gpu.ranks.streamed import own_range
from bigbfs.engines.gpu.ranks.transport import HostTransport
from bigbfs.engines.gpu.streamed import feed, ledger, listed
from bigbfs.engines.ranks.partition import cut
from bigbfs.errors import VerificationError
from bigbfs.graph.adjacency import PlainAdjacency
from bigbfs.graph.graph import Graph
from emulated.nccl import NcclOfThreads
from emulated.peers import Peers, label
from emulated.runtime import builds_here
from emulated.test_kernels_joint import FEW, SANITIZED_GRAPHS, SEEDS, WAYS, chains, check, graph, one_way, random_graph

HERE = builds_here()
STAGES = ledger.STAGES * ledger.SMALLEST
BOTH = (HostTransport, NcclOfThreads)

RULES = {
    "alone": Peers(1, "ranges", head_groups=2, carry=HostTransport, stages=STAGES),
    "heads": Peers(2, "ranges", head_groups=2, carry=HostTransport, stages=STAGES),
    "by id": Peers(3, "ranges", ranked=True, hot_bytes=3000, carry=NcclOfThreads, stages=STAGES),
    "without heads": Peers(4, "ranges", head_groups=0, carry=NcclOfThreads, hosts=("a", "a", "b", "b"), stages=STAGES),
    "small pieces": Peers(4, "ranges", carry=HostTransport, piece=1000, stages=STAGES),
}


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make batches small."""
    monkeypatch.setattr(feed, "LEAST_ROOM", ledger.SMALLEST)


def there(build, codec, name, number):
    """Return whether there is a case: few graphs by all rules, others by two, each with one codec; elsewhere than in
    the plain build few graphs by one, in the codec of the build."""
    if build != "plain":
        return name in FEW and met(build, name, number, len(RULES), (0,)) and in_turn(codec, build)
    meets = name in FEW or (sum(name.encode()) + number) % len(RULES) < 2
    return meets and in_turn(codec, name, number)


CASES = [
    (build, codec, name, rule)
    for build in HERE for codec in CODECS for name in zoo.names() for number, rule in enumerate(RULES)
    if there(build, codec, name, number)
]  # fmt: skip


def in_core(build, codec, name, rule):
    """Return whether ``make test`` runs a case: few graphs, one rule each; wide ids in one build."""
    number = list(RULES).index(rule)
    if build == "plain":
        return name in FEW and met(build, name, number, len(RULES), (0,))
    return name in SANITIZED_GRAPHS[1::2] and "wide" not in name


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
def test_random_graphs_in_small_rooms(build, seed, monkeypatch):
    """Ranks send three pairs at once."""
    monkeypatch.setattr(arguments, "LEAST_ROOM", 3)
    monkeypatch.setattr(arguments, "MOST_ROOM", 3)
    plain, peers = random_graph(seed)
    how = {"kind": "ranges", "mapped": False, "carry": BOTH[seed // 2 % 2], "stages": STAGES}
    peers = replace(peers, seed=seed if build == "preempt" else 0, **how)
    check(plain, plain if seed % 2 else plain.compress(), build, peers, WAYS[:3])


@pytest.mark.parametrize("build", split(HERE, lambda build: build in ("plain", "tsan")))
def test_giants_that_no_rank_sees_whole(build):
    for plain in (chains(), one_way()):
        for size in (2, 3, 4) if build == "plain" else (3,):
            peers = Peers(size, "ranges", carry=BOTH[size % 2], stages=STAGES, seed=size if build == "preempt" else 0)
            check(plain, plain, build, peers)


@pytest.mark.parametrize("build", on_hosts(HERE))
def test_more_devices_than_vertices(build):
    plain = zoo.build(5, zoo.path(4))
    check(plain, plain, build, Peers(6, "ranges", carry=HostTransport, stages=STAGES))


def counted_reads(given, build, peers, ways):
    """Return what each rank has read of the file: bytes in each run, and in each proof, which runs take turns with."""
    told = {}

    def touch(forest):
        mine = told[forest.group.rank] = []
        run, look = forest.run, forest.look_at_edges

        def ran(how):
            found = run(how)
            mine.append(sum(each.bytes for each in forest.traffic))
            return found

        def looked(labels, faults):
            look(labels, faults)
            mine.append(sum(each.bytes for each in forest.traffic))

        forest.run, forest.look_at_edges = ran, looked

    label(given, build, replace(peers, touch=touch), ways)
    return told


@pytest.mark.parametrize("build", on_hosts(HERE))
@pytest.mark.parametrize("codec", split(CODECS, "varint".__eq__))
def test_each_rank_reads_its_own_rows_and_no_more(build, codec):
    """All of them, once, where none are left out, and for a proof; of a giant next to nothing."""
    plain = zoo.build(3_000, zoo.random(3_000, 60_000, seed=5))
    given = plain.compress() if codec == "varint" else plain
    ways = (ComponentsOptions(), ComponentsOptions(skip_giant=False), ComponentsOptions(rounds=0))
    unit = 1 if codec == "varint" else given.ids.itemsize
    partition = cut(np.asarray(given.adjacency.indptr), 3)
    told = counted_reads(given, build, Peers(3, "ranges", carry=HostTransport, stages=STAGES), ways)
    for rank, read in told.items():
        own = own_range(partition, rank)
        stretch = int(given.adjacency.indptr[own.stop] - given.adjacency.indptr[own.start]) * unit
        skipped, proof, everything, again, _, last = read
        assert skipped < stretch / 10
        assert [everything, proof, again, last] == [stretch] * 4


@pytest.mark.parametrize("build", on_hosts(HERE))
def test_few_rows_are_listed_by_the_device(build, monkeypatch):
    """Those outside the giant, as on one GPU: no host looks for them in a bitmap."""
    plain = zoo.build(600, zoo.random(600, 9_000, seed=5))
    found, made = [], listed.Lister.list
    monkeypatch.setattr(listed.Lister, "list", lambda *given: found.append(made(*given)) or found[-1])
    peers = Peers(3, "ranges", head_groups=0, carry=HostTransport, stages=STAGES)
    label(plain, build, peers, (ComponentsOptions(skip_giant=False),), prove=False)
    assert None not in found and len(found) == 3


@pytest.mark.parametrize("build", on_hosts(HERE))
def test_rows_that_heads_hold_are_not_read(build):
    """A ring has two neighbours at each vertex: no run reads its file, whatever it leaves out; the proof does."""
    at = np.arange(900)
    plain = zoo.build(900, (at, (at + 1) % 900))
    peers = Peers(3, "ranges", carry=HostTransport, stages=STAGES)
    for read in counted_reads(plain, build, peers, (ComponentsOptions(skip_giant=False),)).values():
        assert read[0] == 0 and read[1] > 0


@pytest.mark.parametrize("build", on_hosts(HERE))
def test_a_wrong_label_is_not_proved(build):
    """A label of one rank's vertex is another vertex before the proof; or two components share one."""
    plain = zoo.shared()["two-components"]

    def one(forest):
        if forest.group.rank == 1:
            forest.forest[own_range(forest.partition, 1)[3]] += 1

    def all_alike(forest):
        forest.forest[...] = 0

    for change, said in ((one, r"rank \d \(host here\): wrong result"), (all_alike, r"1 labels, and \d+ components")):

        def touch(forest, change=change):
            run = forest.run
            forest.run = lambda how: (run(how), change(forest))[0]

        with pytest.raises(VerificationError, match=said):
            label(plain, build, Peers(2, "ranges", carry=HostTransport, stages=STAGES, touch=touch), WAYS[:1])


@pytest.mark.parametrize("build", on_hosts(HERE))
def test_ids_that_are_no_vertices_are_counted(build):
    plain = zoo.shared()["kronecker"]
    indices = plain.adjacency.indices.copy()
    indices[::97] = plain.n
    damaged = Graph(PlainAdjacency(plain.adjacency.indptr, indices), plain.flags)
    peers = Peers(2, "ranges", head_groups=0, carry=HostTransport, stages=STAGES)
    ((_, joined),) = label(damaged, build, peers, (ComponentsOptions(skip_giant=False),), prove=False)
    assert {each.invalid_ids for each in joined} == {len(indices[::97])}


def lose_a_batch(forest):
    """The first batch of rows that a rank reads is not linked."""
    made, lost = forest._linker, []

    def linker(wanted):
        link = made(wanted)
        return lambda *batch: link(*batch) if lost else lost.append(1)

    forest._linker = linker


@pytest.mark.parametrize("build", on_hosts(HERE))
def test_rows_that_are_lost_show(build):
    """Labels are wrong then, and the proof says so."""
    plain = chains()
    peers = Peers(2, "ranges", carry=HostTransport, stages=STAGES, head_groups=0, touch=lose_a_batch)
    ((labels, _),) = label(plain, build, peers, WAYS[:1], prove=False)
    assert not np.array_equal(labels, reference_components(plain))
    with pytest.raises(VerificationError, match="wrong result"):
        label(plain, build, peers, WAYS[:1])
