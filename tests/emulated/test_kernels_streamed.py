"""Streamed edges, emulated: BFS and components from a file in batches of a few rows, and what verifies them.

Stages are as small as they may be, so that graphs take many batches, rows go over their edges, and hubs are larger than
one. The emulated stage copies as late as it may and spoils what was in it. A rule bends the choice of directions. Which
rule a graph meets differs from graph to graph; some graphs meet all. ``make test`` takes one codec in turn.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, replace

import numpy as np
import pytest
import zoo
from wide import CODECS, damaged, damaged_ids, in_turn, once, split

from bigbfs.algorithms.bfs.gpu import streamed as bfs
from bigbfs.algorithms.bfs.reference import bfs as reference_bfs
from bigbfs.algorithms.bfs.validate import validate_tree
from bigbfs.algorithms.components.options import ComponentsOptions
from bigbfs.algorithms.components.reference import components as reference_components
from bigbfs.algorithms.gpu_engine import GpuEngine
from bigbfs.engines.gpu import planning as plan
from bigbfs.engines.gpu.streamed import feed, ledger, listed
from bigbfs.errors import FormatError, VerificationError
from bigbfs.graph import varint
from bigbfs.graph.adjacency import PlainAdjacency
from bigbfs.graph.graph import Graph
from emulated.invariants import LabelWatch, array_at, members
from emulated.runtime import SimtRuntime, builds_here

HERE = builds_here()
GRAPHS = (
    "one-vertex", "clique", "two-hubs", "degree-1024", "degree-2048", "vertices-33", "tiny-components", "full-last-row",
    "late-isolated", "random", "kronecker", "kronecker-dense", "duplicates-kept", "self-loops-kept", "relabelled",
    "wide-ids-hub", "directed-in-rows", "directed-out-only", "directed-multi",
)  # fmt: skip
UNDER_EVERY_RULE = ("two-hubs", "kronecker-dense", "directed-in-rows", "wide-ids-hub")


@dataclass(frozen=True)
class Rule:
    """How directions are chosen."""

    strategy: str = "auto"
    heads: int = 2
    hot_share: float = 0.5
    sweep: float = 0.0
    """Seconds that a sweep over the heads is said to cost: nothing, and it is always made."""
    listed: bool = True
    """Whether the device lists few rows, or the host plans all."""


RULES = {
    "sweeps": Rule(hot_share=0),
    "hot": Rule(heads=1, hot_share=0.6),
    "no heads": Rule(heads=0),
    "dear sweeps": Rule(sweep=1.0, heads=1, hot_share=0, listed=False),
    "topdown": Rule("topdown", heads=0, hot_share=0, listed=False),
}


def cases():
    """Yield (build, codec, graph, rule)."""
    names = list(RULES)
    for build in HERE:
        for number, (name, codec) in enumerate((name, codec) for name in GRAPHS for codec in CODECS):
            if build == "tsan" and not once(build, codec, name, number // 2):  # the slowest: one codec
                rules = []
            elif name in UNDER_EVERY_RULE and build == "asan":  # slow: each rule with one codec
                rules = names[(number // 2 + number) % 2 :: 2]
            elif build == "plain" or (name in UNDER_EVERY_RULE and build == "preempt"):
                rules = names
            else:
                rules = [names[number % len(names)]]
            for rule in rules:
                yield build, codec, name, rule


def in_core(build, codec, name, rule):
    """Return whether ``make test`` runs this: elsewhere than in the plain build few graphs, by every other rule."""
    number = list(RULES).index(rule)
    if build == "plain":
        mine = GRAPHS.index(name) % len(RULES) == number
        return (
            codec == "varint" and mine
            if "wide" in name
            else in_turn(codec, number, name) and (mine or name in UNDER_EVERY_RULE)
        )
    if name not in UNDER_EVERY_RULE or "wide" in name or not in_turn(codec, build):
        return False
    return build != "preempt" or (number + UNDER_EVERY_RULE.index(name)) % 2 == 0


PAIRS = split(
    [(build, codec) for build in HERE for codec in CODECS],
    lambda build, codec: build == "plain" or in_turn(codec, build),
)


@pytest.fixture
def rule(request, monkeypatch):
    """Bend the engine to a rule, and make its stages small."""
    chosen = RULES[getattr(request, "param", "sweeps")]
    monkeypatch.setattr(plan, "HEAD_GROUPS", (chosen.heads,))
    monkeypatch.setattr(plan, "HOT_SHARE", chosen.hot_share)
    monkeypatch.setattr(bfs, "sweep_seconds", lambda n, groups: chosen.sweep)
    monkeypatch.setattr(ledger, "STAGE_BYTES", ledger.SMALLEST)
    monkeypatch.setattr(feed, "LEAST_ROOM", ledger.SMALLEST)
    if not chosen.listed:
        monkeypatch.setattr(listed.Lister, "capacity", staticmethod(lambda nbytes: 0))
    return chosen


def runtime_of(build, name):
    """Return a runtime whose shape varies from graph to graph."""
    resident = 1 if build in ("plain", "asan") else 3
    return SimtRuntime(build=build, sm_count=1 + sum(name.encode()) % 4, resident=resident, seed=build == "preempt")


class SearchWatch:
    """After a level's kernels: visited is the union of what had a level before and of `next`, and neither counts
    twice."""

    def __init__(self, n):
        self.n = n

    def __call__(self, name, grid, block, args):
        if name not in ("streamed_expand", "streamed_search", "streamed_heads", "streamed_list", "streamed_hot"):
            return
        if int(args[0]["n"]) != self.n or self.n == 0:
            return
        state, words = args[1], -(-self.n // 32)
        visited = members(array_at(state["visited"], words, np.uint32), self.n)
        found = members(array_at(state["next"], words, np.uint32), self.n)
        assert np.isin(found, visited).all(), f"{name} found a vertex without visiting it"
        assert int(array_at(state["tallies"], 6, np.uint64)[4]) == len(found), f"{name} counted a vertex twice, or not"
        levels = array_at(state["levels"], self.n, np.int32)
        assert np.array_equal(found, np.flatnonzero(levels == int(state["level"]) + 1)), "levels are not what was found"


def check_bfs(engine, plain, source):
    levels = reference_bfs(plain, source)[0]
    result = engine.bfs(source)
    assert np.array_equal(result.levels, levels)
    validate_tree(plain, source, result.levels, result.parents)
    record = result.record
    assert (record.reached, record.depth) == (int((levels >= 0).sum()), levels.max())
    assert record.edges == int(plain.degrees()[levels >= 0].sum())
    assert [level.frontier for level in record.levels] == np.bincount(levels[levels >= 0]).tolist()
    return record


@pytest.mark.covered("rule+build", "rule+codec")
@pytest.mark.parametrize(("build", "codec", "name", "rule"), split(cases(), in_core), indirect=["rule"])
def test_streamed(build, codec, name, rule):
    plain = zoo.shared()[name]
    runtime = runtime_of(build, name)
    watch = LabelWatch(plain)
    watch.component = reference_components(plain)
    runtime.watchers += [SearchWatch(plain.n), watch]
    graph = plain.compress() if codec == "varint" else plain
    with GpuEngine(graph, residency="streamed", strategy=rule.strategy, runtime=runtime) as engine:
        for source in zoo.sources(plain, 1 if build == "tsan" else 2):
            record = check_bfs(engine, plain, source)
            if rule.strategy == "topdown":
                assert {level.direction for level in record.levels} == {"top-down"}
        assert np.array_equal(engine.connected_components().labels, watch.component)


@pytest.mark.parametrize(
    ("build", "codec"),
    split([(build, codec) for build in HERE for codec in CODECS], lambda *case: case == ("plain", "varint")),
)
def test_the_file_is_read_and_no_more_than_is_needed(tmp_path, rule, codec, build):
    """A level reads the rows of its frontier, or of those whose heads are no parent, and what lies between them."""
    plain = zoo.build(3_000, zoo.random(3_000, 120_000, seed=5))
    path = tmp_path / ("g.ccsr" if codec == "varint" else "g.csrbin")
    (plain.compress() if codec == "varint" else plain).save(path)
    with Graph.open(path) as graph, GpuEngine(graph, residency="streamed", runtime=SimtRuntime(build=build)) as engine:
        assert engine.edges_kind == "file"
        edges = engine.rows().units * engine.rows().unit
        assert edges <= engine.rows().traffic.bytes <= 1.01 * edges
        run = engine.run_bfs(0)
        assert run.traffic[0].bytes == int(np.diff(graph.adjacency.indptr)[0]) * engine.rows().unit
        last = run.traffic[-1]
        assert (last.bytes, last.batches) == (0, 0)
        assert sum(read.bytes for read in run.traffic) < edges
        assert sum(read.batches for read in run.traffic) > 1
        check_bfs(engine, plain, 2_999)


@pytest.mark.covered("build+codec")
@pytest.mark.parametrize(("build", "codec"), PAIRS)
@pytest.mark.parametrize("name", ["two-hubs", "kronecker-dense", "wide-ids-hub"])
def test_the_device_lists_rows_where_they_lie(build, codec, name, rule):
    """Every row asked for, hot or not, whole or in its chunks, once; and none where there is no room for all."""
    plain = zoo.shared()[name]
    graph = plain.compress() if codec == "varint" else plain
    rows = graph.adjacency
    indptr, unit = np.asarray(rows.indptr).astype(np.int64), rows.edges.itemsize if codec == "plain" else 1
    runtime = runtime_of(build, name)
    with GpuEngine(graph, residency="streamed", runtime=runtime) as engine:
        lister, placed = engine.rows().feed._lister, engine.rows()
        for share in (1.0, 0.3, 0.0):
            chosen = np.flatnonzero((plain.degrees() > 0) & (np.random.default_rng(3).random(plain.n) < share))
            bits = np.zeros(-(-plain.n // 32) * 32, bool)
            bits[chosen] = True
            wanted = runtime.upload(np.packbits(bits, bitorder="little").view(np.uint32))
            found = lister.list(placed.struct, wanted, runtime.stage(1 << 20))
            assert found is not None
            starts, counts, places = found.stretches.astype(np.int64).T
            vertices, ones, begins, ends, moved = found.pieces.reshape(-1, 5).astype(np.int64).T
            assert (ones == 1).all() and (places % listed.ALIGN == 0).all()
            assert (places[1:] >= places[:-1] + counts[:-1]).all() and found.bytes >= (places + counts).max(initial=0)
            assert np.array_equal(starts, begins * unit) and np.array_equal(counts, (ends - begins) * unit)
            assert np.array_equal((begins - moved) * unit, places)
            order = np.lexsort((begins, vertices))
            joined = np.flatnonzero(np.diff(vertices[order]))
            firsts, lasts = (order[np.r_[0, joined + 1]], order[np.r_[joined, -1]]) if len(order) else (order, order)
            assert np.array_equal(vertices[firsts], chosen), "rows are missing, or there are others"
            assert np.array_equal(begins[firsts], indptr[chosen]) and np.array_equal(ends[lasts], indptr[chosen + 1])
            inside = np.setdiff1d(order, firsts)
            assert np.array_equal(np.sort(begins[inside]), np.sort(ends[np.setdiff1d(order, lasts)])), (
                "chunks do not join"
            )
            cuts = list(found.batches(ledger.SMALLEST))
            assert [low for low, _ in cuts[1:]] == [high for _, high in cuts[:-1]]
            assert all(places[high - 1] + counts[high - 1] - places[low] <= ledger.SMALLEST for low, high in cuts)
            room = listed.HEADER_BYTES + len(vertices) * (listed.STRETCH_BYTES + 40)
            assert lister.list(placed.struct, wanted, runtime.stage(room)) is not None
            assert not len(vertices) or lister.list(placed.struct, wanted, runtime.stage(room - 1)) is None


@pytest.mark.parametrize(("build", "codec"), PAIRS)
def test_proofs_read_the_file(build, codec, rule):
    plain = zoo.shared()["kronecker-dense"]
    graph = plain.compress() if codec == "varint" else plain
    source = int(np.argmax(plain.degrees()))
    with GpuEngine(graph, residency="streamed", runtime=runtime_of(build, "proof")) as engine:
        engine.run_bfs(source)
        engine.verify_tree(source)
        levels, parents = engine.tree_arrays()
        reached = np.flatnonzero((levels == 1) & (parents == source))
        parents[reached[0]] = reached[1]
        with pytest.raises(VerificationError, match="vertices of the BFS tree"):
            engine.verify_tree(source)
        levels[reached[0]] = 3
        with pytest.raises(VerificationError, match="edges of the BFS tree"):
            engine.verify_tree(source)
        engine.run_components()
        engine.verify_labels()
        engine.label_array()[reached[0]] = reached[0]
        with pytest.raises(VerificationError, match="edges between labels"):
            engine.verify_labels()


SWITCHES = (
    ComponentsOptions("sv"),
    ComponentsOptions("labelprop"),
    ComponentsOptions(single_pass=True),
    ComponentsOptions(rounds=0),
    ComponentsOptions(rounds=3, skip_giant=False),
)


SWITCHED = split(
    [(build, codec, rule) for build in HERE for codec in CODECS for rule in ("sweeps", "no heads")],
    lambda build, codec, rule: in_turn(codec, build, len(rule) // 2) and (build == "plain" or rule == "sweeps"),
)


@pytest.mark.parametrize(("build", "codec", "rule"), SWITCHED, indirect=["rule"])
def test_every_algorithm_for_components(build, codec, rule):
    for name in ("two-hubs", "tiny-components", "directed-out-only", "directed-in-rows"):
        plain = zoo.shared()[name]
        graph = plain.compress() if codec == "varint" else plain
        with GpuEngine(graph, residency="streamed", runtime=runtime_of(build, name)) as engine:
            for options in SWITCHES:
                result = engine.connected_components(options)
                assert np.array_equal(result.labels, reference_components(plain)), (name, options)


@pytest.mark.parametrize("build", damaged(HERE))
def test_an_id_out_of_range_is_an_error_and_no_access(build, rule):
    plain = zoo.shared()["kronecker"]
    indices = plain.adjacency.indices.copy()
    indices[::97] = 2**32 - 1
    damaged = Graph(PlainAdjacency(plain.adjacency.indptr, indices), plain.flags)
    options = {"residency": "streamed", "prove": False}
    with GpuEngine(damaged, **options, runtime=SimtRuntime(build=build)) as engine:
        with pytest.raises(FormatError, match="no vertices"):
            engine.bfs(int(plain.degrees().argmax()))
        with pytest.raises(FormatError, match="no vertices"):
            engine.connected_components()


@pytest.mark.parametrize(("build", "codec"), PAIRS)
def test_a_depth_limit_and_results_not_wanted(codec, rule, build):
    plain = zoo.shared()["binary-tree"]
    levels = reference_bfs(plain, 0)[0]
    graph = plain.compress() if codec == "varint" else plain
    with GpuEngine(graph, residency="streamed", runtime=SimtRuntime(build=build)) as engine:
        before = engine.bytes.device
        record = engine.traverse(0, want_levels=False, want_parents=False)
        assert (record.reached, engine.bytes.device) == (plain.n, before)
        for depth in (0, 1, 4, 100):
            result = engine.bfs(0, max_depth=depth, want_parents=False)
            assert np.array_equal(result.levels, np.where(levels <= depth, levels, -1))
            assert result.record.depth == min(depth, levels.max())
        check_bfs(engine, plain, 5)


@pytest.mark.parametrize("rule", ["hot"], indirect=True)
@pytest.mark.parametrize(("build", "codec"), PAIRS)
def test_hot_rows_are_not_read_again(codec, rule, build):
    plain = zoo.shared()["two-hubs"]
    graph = plain.compress() if codec == "varint" else plain
    with GpuEngine(graph, residency="streamed", runtime=SimtRuntime(build=build)) as engine:
        assert engine.rows().hot_bytes
        hub = int(np.argmax(plain.degrees()))
        assert engine.run_bfs(hub).traffic[0].bytes == 0
        check_bfs(engine, plain, hub)


@pytest.mark.parametrize(("build", "ids"), damaged_ids(HERE))
def test_damaged_varint_bytes_never_reach_outside(build, ids, rule):
    """Random bytes in place of the blob: any answer or a FormatError, but no access outside an array."""
    whole = varint.encode(zoo.build(400, zoo.random(400, 3_000, seed=1), ids=ids).adjacency)
    options = {"residency": "streamed", "prove": False}
    for seed in range(3):
        rng = np.random.default_rng(seed)
        noise = rng.integers(0, 256, len(whole.blob)).astype(np.uint8)
        damaged = replace(whole, blob=np.where(rng.random(len(whole.blob)) < (0.05, 0.5, 1)[seed], noise, whole.blob))
        with GpuEngine(Graph(damaged), **options, runtime=SimtRuntime(build=build)) as engine:
            for run in (lambda engine=engine: engine.bfs(0), engine.connected_components):
                with contextlib.suppress(FormatError):
                    run()
