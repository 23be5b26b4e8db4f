"""BFS over several emulated GPUs of one machine, each a thread: their kernels run at the same time and meet.

Levels and parents against the reference, and what is counted: the zoo by rules that make small graphs see every phase,
with words dealt and with ranges, inboxes that overflow, more devices than vertices. Under the thread sanitizer a block
is a system thread.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import zoo
from wide import CODECS, counted, in_bounds, in_turn, met, on_hosts, split

from bigbfs.algorithms.bfs.gpu.costs import Costs
from bigbfs.algorithms.bfs.gpu.tuning import Tuning
from bigbfs.algorithms.bfs.reference import bfs as reference_bfs
from bigbfs.algorithms.bfs.validate import validate_tree
from bigbfs.engines.gpu.ranks.own import OwnAdjacency
from bigbfs.engines.gpu.runtime.arguments import LINE
from bigbfs.engines.ranks import partition as partitions
from bigbfs.errors import DeviceError
from bigbfs.graph.adjacency import CompressedAdjacency, PlainAdjacency
from bigbfs.graph.graph import Graph
from emulated.peer_rules import RULES
from emulated.peers import Peers, cut, search
from emulated.runtime import SimtRuntime, builds_here

HERE = builds_here()
FEW = (
    "one-vertex", "path", "two-hubs", "degree-1024", "two-components", "kronecker-dense", "wide-ids-hub",
    "directed-in-rows", "directed-multi",
)  # fmt: skip
"""What all builds search: no edge, many levels, hubs, frontiers that meet, wide ids, one way."""
FAR_ENOUGH = 64
"""Levels of the path outside the plain build: each takes its kernels, and 256 show no more."""


@cache
def graph(name, codec):
    """Return a graph of the zoo in ``codec``."""
    plain = zoo.shared()[name]
    return plain.compress() if codec == "varint" else plain


def check(plain, source, searched, depth=None):
    """Hold one search against the reference."""
    levels = reference_bfs(plain, source)[0]
    if depth is not None:
        levels = np.where(levels <= depth, levels, -1)
    assert np.array_equal(searched.levels, levels)
    validate_tree(plain, source, searched.levels, searched.parents, max_depth=depth)
    sizes = np.bincount(levels[levels >= 0])
    for found in searched.found:
        assert (found.reached, found.invalid) == (int((levels >= 0).sum()), 0)
        assert found.depth == levels.max()
        assert found.edges == int(plain.degrees()[levels >= 0].sum())
        told = [level.frontier for level in found.levels]
        assert told == (sizes.tolist() if depth is None else sizes[: len(told)].tolist())


def names(build):
    """Return the graphs that ``build`` searches."""
    return [name for name in zoo.names() if zoo.shared()[name].n and (build == "plain" or name in FEW)]


def there(build, codec, name, number):
    """Return whether there is a case: few graphs by all rules, others by three with one codec; elsewhere than in the
    plain build few graphs by four, in the codec of the build."""
    if build != "plain":
        return name in FEW and met(build, name, number, len(RULES), (0, 1, 3, 8)) and in_turn(codec, build)
    return name in FEW or (met(build, name, number, len(RULES), (1, 2, 3)) and in_turn(codec, build, name, number))


CASES = [
    (build, codec, name, rule)
    for build in HERE for codec in CODECS for name in names(build) for number, rule in enumerate(RULES)
    if there(build, codec, name, number)
]  # fmt: skip


def in_core(build, codec, name, rule):
    """Return whether ``make test`` runs a case: few graphs, one or two rules each; wide ids in one build."""
    number = list(RULES).index(rule)
    turn = (sum(name.encode()) + len(build)) % len(RULES)
    if name not in FEW:
        return False
    if "wide" in name:
        return turn == number and build == "plain" and codec == "plain"
    if build == "plain":
        return number in (turn, (turn + 2) % len(RULES)) and in_turn(codec, name, number)
    return turn == number and name in FEW[1::2]


@pytest.mark.covered
@pytest.mark.parametrize(("build", "codec", "name", "rule"), split(CASES, in_core))
def test_levels_and_parents_are_exact(build, codec, name, rule):
    plain = zoo.shared()[name]
    peers = replace(RULES[rule], seed=1 + len(name) if build == "preempt" else 0)
    if name in zoo.BIG or "hub" in name:
        peers = replace(peers, capacity=None)
    sources = zoo.sources(plain, 2 if build == "plain" and name not in (*zoo.BIG, "path") else 1)
    depth = FAR_ENOUGH if build != "plain" and name == "path" else None
    runs = [(source, depth) for source in sources]
    for (source, _), searched in zip(runs, search(graph(name, codec), build, peers, runs), strict=True):
        check(plain, source, searched, depth)


@cache
def fan():
    """Return two hubs with 150 leaves in common, which lead to 40 others: all of a rank's claims in one level."""
    leaves = np.arange(2, 152)
    hubs = zoo.join(
        (np.zeros(150, int), leaves), (np.ones(150, int), leaves), (leaves[:120], 152 + np.arange(120) % 40)
    )
    return zoo.build(192, hubs)


@pytest.mark.parametrize("build", HERE)
def test_claims_beyond_an_inbox_are_delivered_in_another_round(build):
    """An inbox of four: what a level claims takes many rounds, read and written in turn."""
    for capacity, seed in ((4, 3), (37, 5)):
        peers = Peers(3, bottom_up=False, capacity=capacity, seed=seed if build == "preempt" else 0)
        for source, searched in zip((0, 191), search(fan(), build, peers, [(0, None), (191, None)]), strict=True):
            check(fan(), source, searched)
            claims = 64 if source == 0 else 1
            assert max(found.rounds for found in searched.found) >= claims // capacity - 1


@pytest.mark.parametrize("build", counted(HERE))
def test_first_blocks_go_on_alone_through_thin_levels(build):
    """A path, leaves on a path, and two stars whose leaves meet; launches that end in the midst of thin levels."""
    leaves = zoo.join(zoo.path(24), (np.arange(24), np.arange(24, 48)))
    stars = zoo.join((np.zeros(99, int), np.arange(1, 100)), (np.arange(1, 100), np.full(99, 100)))
    for plain in (zoo.build(50, zoo.path(50)), zoo.build(48, leaves), zoo.build(101, stars)):
        for slots in (5, 4096):
            seed = slots if build == "preempt" else 0
            peers = Peers(3, ("words", "ranges")[slots > 5], tuning=Tuning(slots=slots), seed=seed)
            runs = [(0, None), (plain.n - 1, 3), (plain.n // 2, None)]
            for (source, depth), searched in zip(runs, search(plain, build, peers, runs), strict=True):
                check(plain, source, searched, depth)
                told = {kind for found in searched.found for kind in found.told}
                assert told == {"claims"}


@pytest.mark.parametrize("build", counted(HERE))
def test_a_hub_that_bits_or_marks_have_found_is_no_thin_level(build):
    """One vertex in 32 says how many edges lead on from those found: the only one, a hub, is not among them."""
    clique = np.argwhere(np.triu(np.ones((101, 101), bool), 1)).T
    plain = zoo.build(1700, zoo.join(clique, ([7], [131]), (np.full(1500, 131), np.arange(200, 1700))))
    for kind, tuning in (
        ("bitmap", Tuning(costs=Costs(300, 10, 30, 100), wide=0)),
        ("marks", Tuning(costs=Costs(0, 10**6, 10**6, 0, 0, 0, 0), wide=1)),
    ):
        peers = Peers(3, tuning=tuning, seed=3 if build == "preempt" else 0)
        (searched,) = search(plain, build, peers, [(0, None)])
        check(plain, 0, searched)
        assert [found.told[:3] for found in searched.found] == [("claims", kind, "claims")] * 3


@pytest.mark.parametrize("build", counted(HERE))
def test_levels_that_are_marked_and_those_that_are_not(build):
    """Marks, bits and claims in turn: each of them was told for some level."""
    plain = zoo.shared()["kronecker"]
    source = int(plain.degrees().argmax())
    for rule, kinds in (
        ("marks", {"marks"}),
        ("marks and bits", {"marks", "bitmap"}),
        ("turns", {"bitmap", "bitmap claims"}),
        ("whole, marks", {"marks", "nothing"}),
        ("whole, marks and bits", {"marks", "bitmap"}),
        ("whole, mixed", {"bitmap marks", "bitmap"}),
    ):
        peers = replace(RULES[rule], capacity=None, seed=3 if build == "preempt" else 0)
        (searched,) = search(plain, build, peers, [(source, None)])
        check(plain, source, searched)
        assert {kind for found in searched.found for kind in found.told} >= kinds, rule


@pytest.mark.parametrize("build", HERE)
def test_ranks_that_claim_the_same_vertices_at_once(build):
    """Two ranks have hubs, the third their leaves, each twice in its inbox: one of two claims counts."""
    leaves = (192 * np.arange(4)[:, None] + np.arange(1, 64)).ravel()
    hubs = [(np.full(len(leaves), hub), leaves) for hub in (64, 65, 128, 129)]
    plain = zoo.build(4 * 192, zoo.join((np.zeros(4, int), np.array([64, 65, 128, 129])), *hubs))
    for seed in range(3 if build == "preempt" else 1):
        for thin_to in (0, 8):
            how = {"seed": seed + 1 if build == "preempt" else 0, "tuning": Tuning(thin_to=thin_to)}
            peers = Peers(3, bottom_up=False, blocks=(4, 1, 2), **how)
            (searched,) = search(plain, build, peers, [(0, None)])
            check(plain, 0, searched)


@pytest.mark.parametrize("build", counted(HERE))
def test_more_devices_than_vertices(build):
    plain = zoo.build(5, zoo.path(5))
    for kind in ("words", "ranges"):
        check(plain, 2, *search(plain, build, Peers(6, kind), [(2, None)]))


@pytest.mark.parametrize("build", on_hosts(HERE))
def test_depths_and_sources_in_turn(build):
    """What a search has left, also where it ended early, does not show in the next."""
    plain = zoo.shared()["binary-tree"]
    runs = [(0, 3), (5, None), (plain.n - 1, 0), (7, 1), (0, None)]
    for rule in (rule for rule in RULES if rule in ("auto", "bottom-up", "turns") or "whole" in rule):
        for (source, depth), searched in zip(runs, search(plain, build, RULES[rule], runs), strict=True):
            check(plain, source, searched, depth)


@pytest.mark.parametrize("build", on_hosts(HERE))
def test_one_device_alone(build):
    plain = zoo.shared()["kronecker"]
    (searched,) = search(plain, build, Peers(1), [(1, None)])
    check(plain, 1, searched)


@pytest.mark.parametrize("build", in_bounds(HERE))
@pytest.mark.parametrize("codec", split(CODECS, "plain".__eq__))
def test_only_own_rows_are_read(build, codec):
    """What other ranks own is spoilt where it is there, in the lines of the first and the last own row."""
    plain, whole = zoo.shared()["two-hubs"], graph("two-hubs", codec)
    offsets = np.asarray(whole.adjacency.indptr).astype(np.int64)

    def spoil(state):
        out, share = state.placed.out, state.placed.out._share
        mapped = state.placed.residency == "mapped"
        held = out._mapping.array if mapped else out.arrays["blob" if codec == "varint" else "indices"]
        if share.dealt and not mapped:
            assert held.nbytes == share.nbytes
            return
        assert share.dealt or held.nbytes <= share.nbytes + 2 * LINE
        kept = np.zeros(len(held), bool)
        for v in state.partition.vertices(state.group.rank):
            kept[offsets[v] - share.first : offsets[v + 1] - share.first] = True
        held[~kept] = 0xFF

    for mapped in (True, False):
        for kind in ("words", "ranges"):
            peers = Peers(3, kind, mapped=mapped, head_groups=0, touch=spoil)
            for source, searched in zip((0, 1), search(whole, build, peers, [(0, None), (1, None)]), strict=True):
                check(plain, source, searched)


@pytest.mark.parametrize("build", on_hosts(HERE))
def test_a_device_that_does_not_come_is_named(build):
    plain = zoo.shared()["clique"]

    def leave(state):
        if state.group.rank == 1:
            state._traverse = lambda *arguments: None

    with pytest.raises(DeviceError, match=r"rank 1 \(host here\) has not come to meeting 2, in level 0"):
        search(plain, build, Peers(3, patience=0.5, touch=leave), [(0, None)])


@pytest.mark.parametrize("build", in_bounds(HERE))
def test_ids_that_are_no_vertices_are_counted(build):
    plain = zoo.shared()["kronecker"]
    indices = plain.adjacency.indices.copy()
    indices[::97] = plain.n
    damaged = Graph(PlainAdjacency(plain.adjacency.indptr, indices), plain.flags)
    source = int(plain.degrees().argmax())
    (searched,) = search(damaged, build, Peers(2, head_groups=0), [(source, None)])
    assert {found.invalid for found in searched.found} != {0}


@pytest.mark.parametrize(
    ("build", "codec"),
    split(
        [(build, codec) for build in HERE for codec in CODECS],
        lambda build, codec: in_turn(codec, build) or build == "plain",
    ),
)
def test_own_rows_in_device_memory_are_the_rows(build, codec):
    """Offsets, chunks and bytes of own rows moved together, and heads by the degrees of all vertices."""
    plain, whole = zoo.shared()["degree-1024"], graph("degree-1024", codec)
    for kind, size in (("words", 3), ("ranges", 2), ("words", 40)):
        partition = cut(whole, Peers(size, kind))
        for rank in range(min(size, 3)):
            runtime = SimtRuntime(build=build)
            with OwnAdjacency(runtime, whole.adjacency, partition, rank, mapped=False, head_groups=1) as own:
                offsets = own.arrays["indptr"].astype(np.int64) - own._share.first
                mine = partition.vertices(rank)
                assert own.with_edges == np.count_nonzero(plain.degrees()[mine])
                rows = own.arrays["blob" if codec == "varint" else "indices"]
                heads = own.arrays["heads"].reshape(plain.n, 4)
                for v in mine:
                    begin, end = whole.adjacency.indptr[v : v + 2]
                    assert np.array_equal(rows[offsets[v] : offsets[v + 1]], whole.adjacency.edges[begin:end])
                    neighbours = plain.adjacency.indices[slice(*plain.adjacency.indptr[v : v + 2].astype(int))]
                    best = np.sort(plain.degrees()[neighbours])[::-1][:4]
                    if len(neighbours) <= 128:
                        assert np.array_equal(plain.degrees()[heads[v]][: len(best)], best)
                others = np.setdiff1d(np.arange(plain.n), mine)
                if kind == "words":
                    assert offsets[-1] == own.struct["data_bytes"] // whole.adjacency.edges.itemsize
                    assert (np.diff(offsets)[others] == 0).all()
                if isinstance(whole.adjacency, CompressedAdjacency):
                    for i, hub in enumerate(whole.adjacency.hubs):
                        if hub in mine:
                            assert own.arrays["block_ptr"][whole.adjacency.hub_ptr[i]] == own.arrays["indptr"][hub]


@pytest.mark.parametrize("kind", ["words", "ranges"])
def test_every_rank_has_its_part(kind):
    """What the kernels get is what the partition says."""
    plain = zoo.shared()["kronecker"]
    partition = partitions.deal(plain.n, 3) if kind == "words" else cut(plain, Peers(3, "ranges"))
    runtime = SimtRuntime(build=HERE[0])
    seen = np.zeros(plain.n, int)
    for rank in range(3):
        with OwnAdjacency(runtime, plain.adjacency, partition, rank, mapped=True) as own:
            bits = np.unpackbits(own.arrays["rows"].view(np.uint8), bitorder="little")[: plain.n]
            assert np.array_equal(
                np.flatnonzero(bits), np.intersect1d(partition.vertices(rank), np.flatnonzero(plain.degrees()))
            )
            seen += bits
    assert np.array_equal(seen, (plain.degrees() > 0).astype(int))
