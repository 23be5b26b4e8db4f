"""BFS over emulated GPUs whose rows stay in the file: each rank streams its own, and hosts carry claims and bits.

Levels, parents and proofs against the reference, by rules that make small graphs see every step: stages as small as
they may be, claims in many rounds, levels pulled or not by turns, heads or none, hot rows or none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pytest
import zoo
from wide import CODECS, damaged, in_turn, once, split

from bigbfs.algorithms.bfs.gpu.hosts import streamed_loop as loop
from bigbfs.algorithms.bfs.gpu.hosts.streamed_loop import StreamedSearch, quicker
from bigbfs.algorithms.bfs.reference import bfs as reference_bfs
from bigbfs.algorithms.bfs.validate import validate_tree
from bigbfs.engines.gpu.placed_graph import PlacedGraph
from bigbfs.engines.gpu.placement.arrays import Sizes
from bigbfs.engines.gpu.ranks.streamed import OwnStreamed, own_range, own_rows_sound
from bigbfs.engines.gpu.ranks.transport import HostTransport
from bigbfs.engines.gpu.streamed import feed, ledger
from bigbfs.engines.gpu.streamed.buffers import Buffers
from bigbfs.engines.ranks.group import Group
from bigbfs.engines.ranks.numbering import whole
from bigbfs.engines.ranks.partition import Partition, cut
from bigbfs.engines.ranks.threads import run
from bigbfs.errors import VerificationError
from bigbfs.graph.adjacency import PlainAdjacency
from bigbfs.graph.graph import Graph
from emulated.loader import machine
from emulated.nccl import NcclOfThreads
from emulated.peers import SPINS, OneAtATime
from emulated.runtime import SimtRuntime, builds_here

HERE = builds_here()
GRAPHS = (
    "one-vertex", "path", "clique", "two-hubs", "degree-1024", "degree-2048", "vertices-33", "tiny-components",
    "full-last-row", "late-isolated", "random", "kronecker", "kronecker-dense", "duplicates-kept", "self-loops-kept",
    "relabelled", "wide-ids-hub", "directed-in-rows", "directed-out-only", "directed-multi",
)  # fmt: skip
UNDER_EVERY_RULE = ("two-hubs", "kronecker-dense", "directed-in-rows", "wide-ids-hub")


def by_turns(depth: int, down: float, up: float) -> bool:
    """Pull every other level."""
    return depth % 2 == 1


def never(depth: int, down: float, up: float) -> bool:
    """Pull none, whatever has been swept."""
    return False


@dataclass(frozen=True)
class Rule:
    """How many ranks there are, what they have in device memory, and how they choose and carry."""

    size: int
    heads: int = 1
    hot_bytes: int = 0
    bottom_up: bool = True
    sweep: float = 0.0
    rule: Any = quicker
    capacity: int | None = None
    carry: Callable[..., Any] = HostTransport
    blocks: tuple[int, ...] = (2, 1, 3)


RULES = {
    "alone": Rule(1, heads=2),
    "sweeps": Rule(2, heads=2),
    "by turns": Rule(3, rule=by_turns, capacity=64, carry=NcclOfThreads),
    "swept and down": Rule(2, rule=never, capacity=128, hot_bytes=3000),
    "no heads": Rule(4, heads=0, hot_bytes=5000, rule=by_turns),
    "dear sweeps": Rule(3, sweep=1.0, carry=NcclOfThreads),
    "top-down": Rule(4, bottom_up=False, capacity=64),
}


def cases() -> Iterator[tuple[str, str, str, str]]:
    """Yield (build, codec, graph, rule)."""
    names = list(RULES)
    for build in HERE:
        for number, (name, codec) in enumerate((name, codec) for name in GRAPHS for codec in CODECS):
            if build == "tsan" and not once(build, codec, name, number // 2):
                continue
            for rule in names if name in UNDER_EVERY_RULE and build == "plain" else [names[number % len(names)]]:
                yield build, codec, name, rule


def in_core(build: str, codec: str, name: str, rule: str) -> bool:
    """Return whether ``make test`` runs this."""
    number = list(RULES).index(rule)
    if build == "plain":
        return in_turn(codec, number, name) and (number + list(GRAPHS).index(name)) % 2 == 0
    return name in UNDER_EVERY_RULE and "wide" not in name and in_turn(codec, build)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make stages small."""
    monkeypatch.setattr(feed, "LEAST_ROOM", ledger.SMALLEST)


def placed_on(runtime: SimtRuntime, graph: Graph, partition: Partition, rank: int, rule: Rule) -> Any:
    """Return own rows in place, and the buffers they come through."""
    buffers = Buffers(runtime, ledger.STAGES * ledger.SMALLEST)
    options = {"head_groups": rule.heads, "hot_bytes": rule.hot_bytes}
    out = OwnStreamed(runtime, graph.adjacency, buffers, partition, rank, **options)
    incoming = None
    if graph.in_adjacency is graph.adjacency:
        incoming = out
    elif graph.in_adjacency is not None:
        incoming = OwnStreamed(runtime, graph.in_adjacency, buffers, partition, rank, **options)
    chunks = max(each.chunks for each in (out, incoming) if each is not None)
    pool = OneAtATime(runtime, Sizes(graph.n, graph.m, chunks, graph.ids.itemsize, graph.n), graph.ids)
    return PlacedGraph(runtime, graph, out, incoming, "streamed", pool), buffers


def on_ranks(graph: Graph, build: str, rule: Rule, work: Callable[[StreamedSearch], Any]) -> list[Any]:
    """Return what ``work`` returns on each rank."""
    machine(build)
    partition = cut(np.asarray(graph.adjacency.indptr), rule.size)

    def rank(group: Group) -> Any:
        blocks = rule.blocks[group.rank % len(rule.blocks)]
        runtime = SimtRuntime(
            build=build, device=group.rank, sm_count=blocks, resident=1 if build in ("plain", "asan") else 3,
            spin_limit=SPINS, seed=(build == "preempt") * (1 + group.rank),
        )  # fmt: skip
        placed, buffers = placed_on(runtime, graph, partition, group.rank, rule)
        extra = (0, 20.0) if rule.carry is NcclOfThreads else ()
        carry = partial(rule.carry, runtime, group)
        search = StreamedSearch(
            placed, group, partition, (lambda nbytes: carry(*extra)) if extra else carry,
            bottom_up=rule.bottom_up, capacity=rule.capacity, rule=rule.rule,
        )  # fmt: skip
        search.warm()
        found = work(search)
        search.close()
        for rows in {placed.out, placed.incoming} - {None}:
            rows.close()
        buffers.close()
        return found

    return run(rule.size, rank, limit=300.0)


def trees(graph: Graph, build: str, rule: Rule, runs: list[tuple[int, int | None]]) -> list[Any]:
    """Search and prove; return for each run levels, parents, and what each rank says of it."""

    def work(search: StreamedSearch) -> list[Any]:
        results = []
        for source, depth in runs:
            found = search.run(source, depth)
            said = (found, search.reached, search.edges, search.rounds, search.traffic)
            # before the proof, which makes all of the tree known to all
            results.append((search.own_levels(), search.own_parents(), said))
            search.prove(source, depth)
        return results

    ranks = on_ranks(graph, build, rule, work)
    partition = cut(np.asarray(graph.adjacency.indptr), rule.size)
    owns = [partition.own(rank) for rank in range(rule.size)]
    results = []
    for each in zip(*ranks, strict=True):
        levels = whole([levels for levels, _, _ in each], owns, graph.n)
        ids = whole([parents for _, parents, _ in each], owns, graph.n)
        parents = ids.astype(np.int64)
        parents[ids == np.iinfo(graph.ids).max] = -1
        results.append((levels, parents, [said for _, _, said in each]))
    return results


def check(plain: Graph, source: int, result: Any, depth: int | None = None) -> None:
    """Hold one search against the reference."""
    levels, parents, said = result
    expected = reference_bfs(plain, source)[0]
    if depth is not None:
        expected = np.where(expected <= depth, expected, -1)
    assert np.array_equal(levels, expected)
    validate_tree(plain, source, levels, parents, max_depth=depth)
    for found, reached, edges, _, traffic in said:
        assert (reached, found.depth) == (int((expected >= 0).sum()), expected.max())
        assert edges == int(plain.degrees()[expected >= 0].sum())
        counts = np.bincount(expected[expected >= 0]).tolist()
        assert [level.frontier for level in found.levels] == counts[: len(found.levels)]
        assert len(found.levels) == len(found.exchanges) == len(traffic) and found.faults == 0


def graph_of(name: str, codec: str) -> tuple[Graph, Graph]:
    """Return a graph of the zoo, plain and as it is asked for."""
    plain = zoo.shared()[name]
    return plain, plain.compress() if codec == "varint" else plain


@pytest.mark.covered("build+rule")
@pytest.mark.parametrize(("build", "codec", "name", "rule"), split(cases(), in_core))
def test_trees(build: str, codec: str, name: str, rule: str, small: None, monkeypatch: pytest.MonkeyPatch) -> None:
    plain, graph = graph_of(name, codec)
    chosen = RULES[rule]
    monkeypatch.setattr(loop, "sweep_seconds", lambda n, groups: chosen.sweep - 1e9 * (chosen.sweep == 0))
    sources = zoo.sources(plain, 1 if build == "tsan" or name == "path" else 2)
    results = trees(graph, build, chosen, [(source, None) for source in sources])
    for source, result in zip(sources, results, strict=True):
        check(plain, source, result)
        directions = {level.direction for level in result[2][0][0].levels}
        if chosen.rule is never or not chosen.bottom_up or chosen.sweep:
            assert directions == {"top-down"}


PAIRS = split(
    [(build, codec) for build in HERE for codec in CODECS],
    lambda build, codec: build == "plain" or in_turn(codec, build),
)


@pytest.mark.covered
@pytest.mark.parametrize(("build", "codec"), PAIRS)
def test_a_depth_limit_and_results_not_wanted(build: str, codec: str, small: None) -> None:
    """What a search leaves out does not show in the next; no parents: claims have none."""
    plain, graph = graph_of("kronecker-dense", codec)
    source, other = zoo.sources(plain, 2)
    rule = RULES["by turns"]
    for depth, result in zip((0, 1, 2), trees(graph, build, rule, [(source, each) for each in (0, 1, 2)]), strict=True):
        check(plain, source, result, depth)

    def work(search: StreamedSearch) -> list[Any]:
        found = []
        for levels, parents in ((False, False), (True, False), (False, True), (True, True)):
            search.run(other, None, parents, levels)
            found.append((search.reached, levels and search.own_levels(), parents and search.own_parents()))
        return found

    expected, partition = reference_bfs(plain, other)[0], cut(np.asarray(graph.adjacency.indptr), rule.size)
    owns = [partition.own(rank) for rank in range(rule.size)]
    everyone = list(zip(*on_ranks(graph, build, rule, work), strict=True))
    assert {reached for each in everyone for reached, _, _ in each} == {int((expected >= 0).sum())}
    for number in (1, 3):
        assert np.array_equal(whole([levels for _, levels, _ in everyone[number]], owns, plain.n), expected)
    ids = [whole([parents for _, _, parents in everyone[number]], owns, plain.n) for number in (2, 3)]
    for parents in ids:
        found = parents.astype(np.int64)
        found[parents == np.iinfo(graph.ids).max] = -1
        validate_tree(plain, other, expected, found)


@pytest.mark.covered
@pytest.mark.parametrize(("build", "codec"), PAIRS)
def test_claims_in_rounds_and_bytes_sent(build: str, codec: str, small: None) -> None:
    """A star whose centre claims all vertices of the other ranks, in as many rounds as an inbox takes; each once."""
    n = 1_500
    plain = zoo.build(n, (np.zeros(n - 1, np.int64), np.arange(1, n)))
    graph = plain.compress() if codec == "varint" else plain
    for capacity, rounds in ((64, None), (None, 0)):
        rule = Rule(3, bottom_up=False, capacity=capacity)
        (result,) = trees(graph, build, rule, [(0, None)])
        check(plain, 0, result)
        partition = cut(np.asarray(graph.adjacency.indptr), 3)
        others = sum(partition.local_vertices(rank) for rank in (1, 2))
        expected = max(partition.counts()) - 1 if rounds is None else rounds
        assert {said[3] for said in result[2]} == {expected}
        sent = sum(said[0].traffic.sent for said in result[2])
        # claims, each with its parent; numbers: three agreements, what is claimed by whom for each level and round
        tables = 2 + (expected + 1 if rounds is None else 0)
        assert sent == 8 * others + 3 * 2 * 8 * (3 * 3 + 3 * tables)


@pytest.mark.covered
@pytest.mark.parametrize(("build", "codec"), PAIRS)
def test_each_rank_reads_its_own_rows_and_no_more(build: str, codec: str, small: None) -> None:
    plain = zoo.build(3_000, zoo.random(3_000, 60_000, seed=5))
    graph = plain.compress() if codec == "varint" else plain
    rule = Rule(3, heads=2, bottom_up=False)
    (result,) = trees(graph, build, rule, [(0, None)])
    check(plain, 0, result)
    partition = cut(np.asarray(graph.adjacency.indptr), 3)
    unit = 1 if codec == "varint" else graph.ids.itemsize
    total = 0
    for rank, said in enumerate(result[2]):
        own = own_range(partition, rank)
        whole_stretch = int(graph.adjacency.indptr[own.stop] - graph.adjacency.indptr[own.start]) * unit
        read = [traffic.bytes for traffic in said[4]]
        assert max(read) <= whole_stretch
        assert (read[0] > 0) == (rank == 0)
        total += sum(read)
    assert total >= graph.adjacency.edges.nbytes * 0.9


@pytest.mark.parametrize("array", ["levels", "parents"])
def test_a_wrong_tree_is_not_proved(array: str, small: None) -> None:
    """A level, or a parent, of one rank's vertex is changed before the proof: a rank says so."""
    _, graph = graph_of("two-hubs", "plain")

    def work(search: StreamedSearch) -> None:
        search.run(0, None)
        if search.group.rank == 1:
            vertex = own_range(search.partition, 1)[5]
            found = search._arrays[array]
            found[vertex] = 0 if array == "parents" else found[vertex] + 1
        with pytest.raises(VerificationError, match=r"rank \d .*wrong result: \d+ edges and \d+ vert"):
            search.prove(0, None)

    on_ranks(graph, HERE[0], RULES["dear sweeps"], work)


@pytest.mark.parametrize("build", damaged(HERE))
def test_ids_out_of_range_are_counted_and_never_used(build: str, small: None) -> None:
    plain = zoo.shared()["kronecker"]
    indices = plain.adjacency.indices.copy()
    indices[::97] = 2**32 - 1
    wrong = Graph(PlainAdjacency(plain.adjacency.indptr, indices), plain.flags)
    source = int(plain.degrees().argmax())
    for rule in ("sweeps", "top-down"):
        found = on_ranks(wrong, build, RULES[rule], lambda search: search.run(source, None).faults)
        assert len(set(found)) == 1
        assert rule == "sweeps" or found[0] > 0


def test_each_rank_looks_at_its_own_rows() -> None:
    """Of a wrong id somewhere, its owner's look says so and no other's."""
    plain = zoo.shared()["kronecker"]
    partition = cut(np.asarray(plain.adjacency.indptr), 3)
    for place in (0, plain.m // 2, plain.m - 1):
        indices = plain.adjacency.indices.copy()
        indices[place] = plain.n
        wrong = PlainAdjacency(plain.adjacency.indptr, indices)
        row = int(np.searchsorted(plain.adjacency.indptr, np.uint64(place), side="right")) - 1
        for rank in range(3):
            own = own_range(partition, rank)
            assert own_rows_sound(wrong, own) == (row not in own)
            assert own_rows_sound(plain.adjacency, own) and own_rows_sound(plain.compress().adjacency, own)
