"""The GPU engine's own level loops and kernels, emulated: rules x codecs x residencies x the zoo x builds.

Levels, parents and labels against the reference, and after launches the invariants of emulated/invariants.py. A rule
bends the choice of directions, so that small graphs see every phase of a traversal. In the preempting build every
source has another seed, and so another schedule. Processes of the sanitizers' builds (test_kernels_sanitized.py) run
this file too. ``make test`` has every graph, and every rule in each build and codec; a graph meets a rule or two.
"""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pytest
import zoo
from wide import CODECS, CORE, damaged, damaged_ids, in_core, in_turn, once, split

from bigbfs.algorithms.bfs.gpu.costs import Costs
from bigbfs.algorithms.bfs.gpu.tuning import Tuning
from bigbfs.algorithms.bfs.reference import bfs as reference_bfs
from bigbfs.algorithms.bfs.validate import validate_tree
from bigbfs.algorithms.components.reference import components as reference_components
from bigbfs.algorithms.components.validate import validate_labels
from bigbfs.algorithms.gpu_engine import GpuEngine
from bigbfs.engines.gpu import planning as plan
from bigbfs.errors import FormatError
from bigbfs.graph import varint
from bigbfs.graph.adjacency import CompressedAdjacency, PlainAdjacency
from bigbfs.graph.graph import Graph
from emulated.invariants import LabelWatch, TraversalWatch
from emulated.runtime import SimtRuntime, builds_here

HERE = builds_here()
SEEDS = (0, 3, 1_000_003)

# Enough for every kernel and both id widths to meet every other thread: for the thread sanitizer and for mutants.
FEW_GRAPHS = (
    "one-vertex", "path", "clique", "two-hubs", "degree-32", "degree-1024", "vertices-33", "two-components",
    "tiny-components", "full-last-row", "random", "kronecker", "kronecker-dense", "duplicates-kept", "self-loops-kept",
    "wide-ids", "wide-ids-hub", "directed-in-rows", "directed-back-edges", "directed-multi",
)  # fmt: skip
SLOW = ("path", "comb", "directed-cycle", "directed-back-edges")
"""Graphs of many levels: fewer sources."""


def graphs(build):
    """Return the names of the graphs that ``build`` traverses."""
    few = build == "tsan" or os.environ.get("SIMT_GRAPHS") == "few"
    return FEW_GRAPHS if few else zoo.names()


CASES = [(build, codec, name) for build in HERE for codec in CODECS for name in graphs(build)]
EACH = [(build, codec) for build in HERE for codec in CODECS]
PAIRS = split(EACH, lambda build, codec: build == "plain" or in_turn(codec, build))
RACING = split(EACH, lambda build, codec: build != "asan" and in_turn(codec, build))
LABELS = ("build", "codec", "name")


@cache
def graph(name, codec):
    """Return a graph of the zoo in ``codec``."""
    plain = zoo.shared()[name]
    return plain.compress() if codec == "varint" else plain


@cache
def expected_levels(name, source):
    return reference_bfs(zoo.shared()[name], source)[0]


@cache
def expected_labels(name):
    return reference_components(zoo.shared()[name])


def runtime_of(build, name):
    """Return a runtime whose shape varies from graph to graph."""
    return SimtRuntime(
        build=build, sm_count=1 + sum(name.encode()) % 4, resident=1 if build in ("plain", "asan") else 3
    )


def set_seed(runtime, number):
    """Preempt differently for every ``number``, where the build preempts."""
    runtime.seed = 1 + number if runtime.build == "preempt" else 0


@dataclass(frozen=True)
class Rule:
    """How directions are chosen, and what else a test of BFS can set."""

    strategy: str = "auto"
    residency: str = "mapped"
    costs: Costs | None = None
    heads: int = 2
    thin_to: int = 1024
    sort_from: int = 1 << 15
    slots: int = 4096
    hot_share: float = 0.5
    local: bool = True
    wide: int = 16
    defer_from: int = 1 << 15
    window_bytes: int = 128 << 20

    @property
    def tuning(self):
        """How the persistent loop decides."""
        same = ("sort_from", "window_bytes", "thin_to", "local", "wide", "slots", "costs")
        own = {name: getattr(self, name) for name in same}
        return Tuning(defer_from_mapped=self.defer_from, defer_from_vram=self.defer_from, **own)


VRAM = {"residency": "vram", "thin_to": 0, "local": False}
RULES = {
    "auto": Rule(hot_share=1),
    "topdown": Rule("topdown", sort_from=3, heads=4, thin_to=4, window_bytes=256),
    "bottom-up": Rule(costs=Costs(0, 0, 10**6, 0), defer_from=0, **VRAM),
    "turns": Rule(
        costs=Costs(300, 10, 30, 100), thin_to=3, sort_from=20, heads=1, slots=5, defer_from=2, window_bytes=64
    ),
    "local": Rule(thin_to=0),
    "wide": Rule(costs=Costs(0, 10**6, 10**6, 0, 0, 0, 0), wide=1 << 40, **VRAM),
    "wide far": Rule(costs=Costs(0, 10**6, 10**6, 0, 0, 0, 0), wide=1 << 40, thin_to=0, local=False, sort_from=3),
    "all turns": Rule(costs=Costs(300, 40, 200, 20, 100, 30, 30), wide=64, heads=1, **VRAM),
    "mixed": Rule(costs=Costs(0, 0, 10**6, 1000, 0, 10**6, 10**6, 1), heads=1, **VRAM),
    "mixed far": Rule(costs=Costs(0, 0, 10**6, 1000, 0, 10**6, 10**6, 1), heads=1, thin_to=0, local=False, slots=3),
    "no heads": Rule(
        costs=Costs(0, 0, 10**6, 0), heads=0, thin_to=2, sort_from=1, hot_share=0.9, defer_from=0, window_bytes=4096
    ),
}


@pytest.fixture
def rule(request, monkeypatch):
    """Bend the engine to a rule."""
    chosen = RULES[request.param]
    monkeypatch.setattr(plan, "HEAD_GROUPS", (chosen.heads,))
    monkeypatch.setattr(plan, "MOST_GROUPS", chosen.heads)
    monkeypatch.setattr(plan, "HOT_SHARE", chosen.hot_share)
    return chosen


def check_bfs(engine, name, source):
    plain = zoo.shared()[name]
    result = engine.bfs(source)
    levels = expected_levels(name, source)
    assert np.array_equal(result.levels, levels)
    validate_tree(plain, source, result.levels, result.parents)
    record = result.record
    assert record.reached == int((levels >= 0).sum())
    assert record.depth == levels.max()
    assert record.edges == int(plain.degrees()[levels >= 0].sum())
    assert [level.frontier for level in record.levels] == np.bincount(levels[levels >= 0]).tolist()


RULED = [(*case, rule) for case in CASES for number, rule in enumerate(RULES) if once(*case, number)]


def in_core_ruled(build, codec, name, rule):
    """Return whether ``make test`` searches this graph by this rule."""
    number = list(RULES).index(rule)
    if build != "plain":
        return in_core(build, codec, name, number)
    mine = name in CORE or zoo.names().index(name) % len(RULES) == number
    return mine and (codec == "varint" if "wide" in name else in_turn(codec, number, name))


def in_core_labelled(build, codec, name):
    """Return whether ``make test`` labels this graph."""
    return in_turn(codec, name) or name in CORE if build == "plain" else in_core(build, codec, name)


@pytest.mark.covered("rule+build", "rule+codec", "build+codec")
@pytest.mark.parametrize((*LABELS, "rule"), split(RULED, in_core_ruled), indirect=["rule"])
def test_bfs(build, codec, name, rule):
    plain = zoo.shared()[name]
    runtime = runtime_of(build, name)
    runtime.watchers.append(TraversalWatch(plain))
    how = {"residency": rule.residency, "strategy": rule.strategy, "tuning": rule.tuning}
    with GpuEngine(graph(name, codec), **how, runtime=runtime) as engine:
        assert engine.residency == rule.residency
        count = 1 if build == "tsan" or name in SLOW or name in zoo.BIG else len(SEEDS)
        for number, source in enumerate(zoo.sources(plain, count)):
            set_seed(runtime, SEEDS[number])
            check_bfs(engine, name, source)


@pytest.mark.parametrize(LABELS, split(CASES, in_core_labelled))
def test_components(build, codec, name):
    plain = zoo.shared()[name]
    runtime = runtime_of(build, name)
    watch = LabelWatch(plain)
    watch.component = expected_labels(name)
    runtime.watchers.append(watch)
    with GpuEngine(graph(name, codec), residency="vram", runtime=runtime) as engine:
        for number in SEEDS if build == "preempt" else SEEDS[:1]:
            set_seed(runtime, number)
            result = engine.connected_components()
            assert np.array_equal(result.labels, expected_labels(name))
            validate_labels(plain, result.labels)
            sizes = np.bincount(expected_labels(name)) if plain.n else np.zeros(1, int)
            assert (result.record.components, result.record.largest) == (np.count_nonzero(sizes), sizes.max())


WIDER = ("clique", "two-hubs", "kronecker-dense", "binary-tree")
LEVELS = split([(build, WIDER) for build in HERE], lambda build, names: build != "preempt")
ALONE = split([(build, ("wide-ids-hub",)) for build in HERE], lambda build, names: build == "plain")


@pytest.mark.parametrize("asks", [False, True])
@pytest.mark.parametrize(("build", "names"), LEVELS + ALONE)
def test_wide_levels_that_write_no_parents(build, asks, names):
    """Rows beside each other, hubs and random ones: levels are wide, and say what they found."""
    tuning = replace(RULES["wide"].tuning, asks=asks)
    for number, name in enumerate(names):
        plain = zoo.shared()[name]
        runtime = runtime_of(build, name)
        runtime.watchers.append(TraversalWatch(plain))
        set_seed(runtime, number)
        with GpuEngine(plain, residency="vram", tuning=tuning, runtime=runtime) as engine:
            for source in zoo.sources(plain, 2):
                run = engine.run_bfs(source, want_parents=False)
                levels = expected_levels(name, source)
                sizes = [*np.bincount(levels[levels >= 0], minlength=2)[1:], 0]
                used = run.slots[: np.count_nonzero(run.slots["direction"])]
                assert (used["found"] + used["queued"]).tolist() == sizes[: len(used)]
                assert used["found"][0] > 0  # later levels may seem to have no edges, and are narrow
                assert np.array_equal(engine.bfs(source, want_parents=False).levels, levels)


@cache
def late_hubs(codec):
    """Return a binary tree whose leaves lead to hubs of two chunks: bottom-up finds each twice at the same time."""
    size, count = 2_047 * 2 + 1, 24
    tree = (np.arange(1, size), (np.arange(1, size) - 1) // 2)
    leaves = np.arange(size - 1_100, size)
    hubs = [(leaves, np.full(len(leaves), size + hub)) for hub in range(count)]
    plain = zoo.build(size + count, zoo.join(tree, *hubs))
    return plain.compress() if codec == "varint" else plain


@pytest.mark.parametrize("rule", ["no heads"], indirect=True)
@pytest.mark.parametrize(("build", "codec"), RACING)
def test_hubs_that_many_warps_find_at_once(build, codec, rule):
    plain = late_hubs("plain")
    levels = reference_bfs(plain, 0)[0]
    runtime = SimtRuntime(build=build, sm_count=3, resident=3, preempt_every=3)
    runtime.watchers.append(TraversalWatch(plain))
    with GpuEngine(late_hubs(codec), runtime=runtime, tuning=rule.tuning) as engine:
        for number in range(4 if build == "preempt" else 1):
            set_seed(runtime, number)
            result = engine.bfs(0)
            assert result.record.levels[-2].direction == "bottom-up"
            assert np.array_equal(result.levels, levels)
            validate_tree(plain, 0, result.levels, result.parents)


@pytest.mark.parametrize(("build", "codec"), PAIRS)
def test_hot_rows_are_read_and_the_others_too(build, codec):
    """Of two hubs of unequal length one is hot: what is read from it must not come from the mapped rows."""
    plain = zoo.build(
        9_000, zoo.join((np.zeros(6_000, int), np.arange(1, 6_001)), (np.ones(2_500, int), 6_001 + np.arange(2_500)))
    )
    whole = plain.compress() if codec == "varint" else plain
    with GpuEngine(whole, residency="mapped", runtime=SimtRuntime(build=build)) as engine:
        rows = engine.rows()
        assert int(rows.struct["hot_from"]) == plain.degrees()[0]
        # all of the hot row, spoilt where it lies in host memory: nobody may look there
        edges = rows._mapping.array
        edges[: int(whole.adjacency.indptr[1])] = 0
        for source in (0, 1, 6_000, 8_000, 8_999):
            levels = reference_bfs(plain, source)[0]
            assert np.array_equal(engine.bfs(source).levels, levels)
        assert np.array_equal(engine.connected_components().labels, reference_components(plain))


@cache
def rivals(codec):
    """Return a one-way graph of triples that meet only in vertices which eight of them lead to.

    The first two neighbours of a vertex stay inside its triple, so that all links between triples are made by the last
    pass, each edge seen from one end alone, by threads that want to hang the same root under different ones.
    """
    count = 400
    first = 3 * np.arange(count)
    inside = zoo.join((first + 1, first), (first + 2, first), (first + 2, first + 1))
    plain = zoo.build(
        3 * count + count // 8, zoo.join(inside, (first + 2, 3 * count + first // 24)), directed=True, in_rows=False
    )
    return plain.compress() if codec == "varint" else plain


@pytest.mark.parametrize(("build", "codec"), RACING)
def test_threads_that_link_the_same_root(build, codec):
    expected = reference_components(rivals("plain"))
    assert len(np.unique(expected)) == 50
    runtime = SimtRuntime(build=build, sm_count=2, resident=2, preempt_every=3)
    watch = LabelWatch(rivals("plain"))
    watch.component = expected
    runtime.watchers.append(watch)
    with GpuEngine(rivals(codec), runtime=runtime) as engine:
        for number in range(3 if build == "preempt" else 1):
            set_seed(runtime, number)
            assert np.array_equal(engine.connected_components().labels, expected)


@pytest.mark.parametrize(("build", "codec"), PAIRS)
def test_a_depth_limit_and_no_parents(build, codec):
    plain = zoo.shared()["binary-tree"]
    levels = expected_levels("binary-tree", 0)
    with GpuEngine(graph("binary-tree", codec), runtime=SimtRuntime(build=build)) as engine:
        for depth in (0, 1, 4, 100):
            result = engine.bfs(0, max_depth=depth, want_parents=False)
            assert np.array_equal(result.levels, np.where(levels <= depth, levels, -1))
            assert (result.parents == -1).all()
        # a run with parents after one without sees nothing of it
        result = engine.bfs(5)
        validate_tree(plain, 5, result.levels, result.parents)


@pytest.mark.parametrize("build", damaged(HERE))
def test_an_id_out_of_range_is_an_error_and_no_access(build):
    plain = zoo.shared()["kronecker"]
    indices = plain.adjacency.indices.copy()
    for bad in (plain.n, 2**32 - 1):
        indices[::97] = bad
        damaged = Graph(PlainAdjacency(plain.adjacency.indptr, indices), plain.flags)
        with GpuEngine(damaged, prove=False, runtime=SimtRuntime(build=build)) as engine:
            with pytest.raises(FormatError, match="no vertices"):
                engine.bfs(int(plain.degrees().argmax()))
            with pytest.raises(FormatError, match="no vertices"):
                engine.connected_components()


@pytest.mark.parametrize(("build", "ids"), damaged_ids(HERE))
def test_damaged_varint_bytes_never_reach_outside(build, ids):
    """Random bytes in place of the blob: any answer or a FormatError, but no access outside an array."""
    whole = varint.encode(zoo.build(400, zoo.random(400, 3_000, seed=1), ids=ids).adjacency)
    for seed in range(4):
        rng = np.random.default_rng(seed)
        noise = rng.integers(0, 256, len(whole.blob)).astype(np.uint8) | np.uint8(0x80 * (seed == 3))
        blob = np.where(rng.random(len(whole.blob)) < (0.05, 0.5, 1, 1)[seed], noise, whole.blob)
        damaged = CompressedAdjacency(whole.indptr, whole.degree, blob, whole.hubs, whole.hub_ptr, whole.block_ptr)
        with GpuEngine(Graph(damaged), prove=False, runtime=SimtRuntime(build=build)) as engine:
            for run in (lambda engine=engine: engine.bfs(0), engine.connected_components):
                with contextlib.suppress(FormatError):
                    run()
