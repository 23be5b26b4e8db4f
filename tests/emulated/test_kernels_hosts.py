"""BFS over emulated GPUs that reach nobody's memory: hosts run the levels, and carry what is told.

Levels, parents and proofs against the reference, and what is counted: the zoo by rules that make small graphs see every
phase and every way to tell, with words dealt and with ranges, over hosts' memory and over a NCCL that threads play.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
import zoo
from wide import CODECS, in_bounds, in_turn, met, on_hosts, split

from bigbfs.algorithms.bfs.gpu.costs import Costs
from bigbfs.algorithms.bfs.gpu.hosts import arguments, loop
from bigbfs.algorithms.bfs.gpu.tuning import Tuning
from bigbfs.algorithms.bfs.ranks.costs import NEVER, Forced
from bigbfs.algorithms.bfs.reference import bfs as reference_bfs
from bigbfs.algorithms.bfs.validate import validate_tree
from bigbfs.engines.gpu.ranks.transport import HostTransport
from bigbfs.graph.adjacency import PlainAdjacency
from bigbfs.graph.graph import Graph
from emulated.nccl import NcclOfThreads
from emulated.peers import Peers, search
from emulated.runtime import SimtRuntime, builds_here

HERE = builds_here()

TURNS = (False, True, True, False, True)

RULES = {
    "auto": Peers(2, head_groups=2, carry=HostTransport, prove=True),
    "list": Peers(3, mapped=True, hot_bytes=900, carry=HostTransport, forced=Forced("list", TURNS), prove=True),
    "bitmap": Peers(
        4, "ranges", head_groups=0, capacity=5, carry=HostTransport, forced=Forced("bitmap", TURNS),
        tuning=Tuning(defer_from_vram=0), piece=1000,
    ),
    "top-down": Peers(
        5, "ranges", mapped=True, hot_bytes=500, bottom_up=False, capacity=64, carry=NcclOfThreads, prove=True,
        forced=Forced("bitmap"), hosts=("a", "a", "b", "b", "c"),
    ),
    "bottom-up": Peers(
        3, head_groups=4, carry=NcclOfThreads, forced=Forced("bitmap", (True,)), tuning=Tuning(defer_from_vram=0)
    ),
    "in order": Peers(
        2, mapped=True, hot_bytes=4000, head_groups=1, carry=NcclOfThreads, forced=Forced(NEVER, (False,)),
        tuning=Tuning(sort_from=3, costs=Costs(0, 0, 10**6, 0)),
    ),
    "back": Peers(4, "ranges", head_groups=1, carry=NcclOfThreads, forced=Forced("list", (True, False)), capacity=3),
    "in parts": Peers(3, mapped=True, carry=HostTransport, forced=Forced("bitmap", (False, False, True)), parts=3),
    "in parts, rounds": Peers(4, "ranges", carry=NcclOfThreads, bottom_up=False, parts=2, capacity=7, prove=True),
}  # fmt: skip
FEW = (
    "one-vertex", "path", "two-hubs", "degree-1024", "two-components", "kronecker-dense", "wide-ids-hub",
    "directed-in-rows", "directed-multi",
)  # fmt: skip

FAR_ENOUGH = 64
"""Levels of the path outside the plain build: each takes its kernels, and 256 show no more."""


@cache
def graph(name: str, codec: str) -> Graph:
    plain = zoo.shared()[name]
    return plain.compress() if codec == "varint" else plain


def check(plain: Graph, source: int, searched: Any, depth: int | None = None) -> None:
    """Hold one search against the reference."""
    levels = reference_bfs(plain, source)[0]
    if depth is not None:
        levels = np.where(levels <= depth, levels, -1)
    assert np.array_equal(searched.levels, levels)
    validate_tree(plain, source, searched.levels, searched.parents, max_depth=depth)
    sizes = np.bincount(levels[levels >= 0])
    for told in searched.found:
        assert (told.reached, told.found.faults) == (int((levels >= 0).sum()), 0)
        assert told.found.depth == levels.max()
        assert told.edges == int(plain.degrees()[levels >= 0].sum())
        frontiers = [level.frontier for level in told.found.levels]
        assert frontiers == (sizes.tolist() if depth is None else sizes[: len(frontiers)].tolist())
        assert told.found.exchanges == searched.found[0].found.exchanges


def there(build: str, codec: str, name: str, number: int) -> bool:
    """Return whether there is a case: each rule with one codec, few graphs by all, others by three; elsewhere than in
    the plain build few graphs by three, in the codec of the build."""
    if build != "plain":
        return name in FEW and met(build, name, number, len(RULES), (0, 1, 2)) and in_turn(codec, build)
    return (name in FEW or met(build, name, number, len(RULES), (0, 2, 4))) and in_turn(codec, name, number)


CASES = [
    (build, codec, name, rule)
    for build in HERE
    for codec in CODECS
    for name in zoo.names()
    for number, rule in enumerate(RULES)
    if zoo.shared()[name].n and there(build, codec, name, number)
]


def in_core(build: str, codec: str, name: str, rule: str) -> bool:
    """Return whether ``make test`` runs a case: few graphs, one rule each."""
    number = list(RULES).index(rule)
    turn = (sum(name.encode()) + len(build)) % len(RULES)
    if name not in FEW or ("wide" in name and (build, codec) != ("plain", "plain")):
        return False
    if build == "plain":
        return number == turn and in_turn(codec, name, number)
    return build == "preempt" and number == turn and name in FEW[::2]


@pytest.mark.covered("build+rule")
@pytest.mark.parametrize(("build", "codec", "name", "rule"), split(CASES, in_core))
def test_levels_and_parents_are_exact(build: str, codec: str, name: str, rule: str) -> None:
    plain = zoo.shared()[name]
    peers = replace(RULES[rule], seed=1 + len(name) if build == "preempt" else 0)
    if name in zoo.BIG or "hub" in name:
        peers = replace(peers, capacity=None)
    sources = zoo.sources(plain, 2 if build == "plain" and name not in (*zoo.BIG, "path") else 1)
    depth = FAR_ENOUGH if build != "plain" and name == "path" else None
    runs = [(source, depth) for source in sources]
    for (source, _), searched in zip(runs, search(graph(name, codec), build, peers, runs), strict=True):
        check(plain, source, searched, depth)


@pytest.mark.parametrize("build", HERE[:1])
def test_claims_beyond_an_outbox_go_in_another_round(build: str) -> None:
    leaves = np.arange(2, 152)
    hubs = zoo.join(
        (np.zeros(150, int), leaves), (np.ones(150, int), leaves), (leaves[:120], 152 + np.arange(120) % 40)
    )
    fan = zoo.build(192, hubs)
    for carry in (HostTransport, NcclOfThreads):
        peers = Peers(3, bottom_up=False, capacity=4, carry=carry, forced=Forced(NEVER))
        for source, searched in zip((0, 191), search(fan, build, peers, [(0, None), (191, None)]), strict=True):
            check(fan, source, searched)
            assert searched.found[0].rounds >= (15 if source == 0 else 0)


class Late:
    """Kernels that are to run beside a call do so when it has ended: the last moment that a second stream has."""

    def __init__(self) -> None:
        self._work: list[Any] = []

    def launch(self, work: Any) -> None:
        self._work.append(work)

    def join(self) -> None:
        self._work.pop()()


@pytest.mark.covered("build+late", "build+carry")
@pytest.mark.parametrize(
    ("build", "late"),
    split([(build, late) for build in HERE for late in (False, True)], lambda build, late: late or build == "plain"),
)
@pytest.mark.parametrize(("parts", "capacity", "carry"), [(2, None, HostTransport), (4, 40, NcclOfThreads)])
def test_parts_of_a_level(
    build: str, late: bool, parts: int, capacity: int | None, carry: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Claims of one part travel while the next is read: whenever that runs, nothing is lost, nothing told twice."""
    if late:
        monkeypatch.setattr(SimtRuntime, "beside", lambda runtime: Late())
    plain = zoo.shared()["kronecker-dense" if parts == 2 else "degree-1024"]
    peers = Peers(3, carry=carry, bottom_up=False, capacity=capacity, seed=build == "preempt", forced=Forced("bitmap"))
    source = int(plain.degrees().argmax())
    runs = [(source, None), (plain.n - 1, None)]
    whole, cut = (search(plain, build, replace(peers, parts=each), runs) for each in (1, parts))
    for (start, _), one, many in zip(runs, whole, cut, strict=True):
        check(plain, start, one)
        check(plain, start, many)
        levels = len(one.found[0].found.levels)
        more = many.found[0].rounds - one.found[0].rounds + (parts - 1) * levels
        numbers = 8 * (3 + 1) * 2 * more  # how many claims each rank has for each, and has left
        sent = [sum(told.found.traffic.sent for told in each.found) for each in (one, many)]
        assert sent[1] <= sent[0] + 3 * numbers
        if build == "plain" and start == source:
            assert sent[1] > sent[0]


@pytest.mark.parametrize("build", on_hosts(HERE))
def test_bytes_of_parts_are_those_of_the_level_and_of_their_numbers(build: str) -> None:
    """A star whose leaves have edges of their own: a claim for each vertex of the others, however it is cut."""
    leaves = np.arange(1, 65)
    star = zoo.build(128, zoo.join((np.zeros(64, int), leaves), (leaves, 64 + np.arange(64))))
    sent = {}
    for parts in (1, 2, 3):
        peers = Peers(2, bottom_up=False, carry=HostTransport, forced=Forced("bitmap"), parts=parts)
        (searched,) = search(star, build, peers, [(0, None)])
        check(star, 0, searched)
        sent[parts] = sum(told.found.traffic.sent for told in searched.found)
    levels = len(searched.found[0].found.levels)
    for parts in (2, 3):
        assert sent[parts] == sent[1] + (parts - 1) * levels * 2 * 8 * 3


@pytest.mark.parametrize("build", on_hosts(HERE))
def test_a_part_that_counts_what_the_one_before_has_found_is_seen(build: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "_OF_A_PART", [])
    plain = zoo.shared()["kronecker-dense"]
    source = int(plain.degrees().argmax())
    peers = Peers(2, bottom_up=False, carry=HostTransport, forced=Forced("bitmap"), parts=2)
    (searched,) = search(plain, build, peers, [(source, None)])
    with pytest.raises(AssertionError):
        check(plain, source, searched)


@pytest.mark.parametrize("build", on_hosts(HERE))
def test_more_devices_than_vertices_and_one_alone(build: str) -> None:
    plain = zoo.build(5, zoo.path(5))
    for kind, carry in (("words", HostTransport), ("ranges", NcclOfThreads)):
        for forced in (Forced("list", TURNS), Forced("bitmap", TURNS)):
            (searched,) = search(plain, build, Peers(6, kind, carry=carry, forced=forced, prove=True), [(2, None)])
            check(plain, 2, searched)
    alone = zoo.shared()["kronecker"]
    source = int(alone.degrees().argmax())
    (searched,) = search(alone, build, Peers(1, carry=HostTransport, prove=True), [(source, None)])
    check(alone, source, searched)
    assert searched.found[0].found.traffic.sent == 0


@pytest.mark.parametrize("build", on_hosts(HERE))
def test_depths_and_sources_in_turn(build: str) -> None:
    """What a search has left, also where it ended early, does not show in the next."""
    plain = zoo.shared()["binary-tree"]
    runs = [(0, 3), (5, None), (plain.n - 1, 0), (7, 1), (0, None)]
    for rule in ("auto", "list", "back"):
        for (source, depth), searched in zip(runs, search(plain, build, RULES[rule], runs), strict=True):
            check(plain, source, searched, depth)


@pytest.mark.parametrize("build", in_bounds(HERE))
def test_ids_that_are_no_vertices_are_counted(build: str) -> None:
    plain = zoo.shared()["kronecker"]
    indices = plain.adjacency.indices.copy()
    indices[::97] = plain.n
    damaged = Graph(PlainAdjacency(plain.adjacency.indptr, indices), plain.flags)
    source = int(plain.degrees().argmax())
    (searched,) = search(damaged, build, Peers(2, head_groups=0, carry=HostTransport), [(source, None)])
    assert searched.found[0].found.faults > 0
    assert len({told.found.faults for told in searched.found}) == 1


@pytest.mark.parametrize("build", on_hosts(HERE))
@pytest.mark.parametrize("carry", split((HostTransport, NcclOfThreads), lambda carry: carry is HostTransport))
def test_bytes_sent_are_those_of_claims_bits_and_numbers(build: str, carry: Any) -> None:
    """A path over two ranks: claims where it goes from one to the other, and a few numbers a level."""
    plain = zoo.build(160, zoo.path(160))
    for kind, crossings in (("words", 2), ("ranges", 1)):
        peers = Peers(2, kind, bottom_up=False, carry=carry, forced=Forced(NEVER))
        (searched,) = search(plain, build, peers, [(0, None)])
        check(plain, 0, searched)
        levels = len(searched.found[0].found.levels)
        sent = [told.found.traffic.sent for told in searched.found]
        # back, too: whoever has claimed is claimed by what it led to
        assert sum(sent) == 8 * 2 * crossings + 2 * levels * (8 * 3 + 8 * 3)
    peers = Peers(2, carry=carry, forced=Forced("bitmap", (True,)))
    (searched,) = search(plain, build, peers, [(0, None)])
    check(plain, 0, searched)
    levels = len(searched.found[0].found.levels)
    assert sum(told.found.traffic.sent for told in searched.found) == 2 * levels * (8 * 2 + 8 * 3)


def test_a_list_is_never_longer_than_the_bits_of_all() -> None:
    ids = np.dtype(np.uint32)
    assert arguments.longest_list(1 << 20, ids) * 4 == (1 << 20) // 8
    assert arguments.longest_list(100, ids) == arguments.LEAST_LIST
