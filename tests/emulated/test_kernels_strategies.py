"""Every strategy whose levels the host launches, emulated: strategies x codecs x the zoo, and what each invites.

Levels, parents and counters against the reference, and between launches the invariants of ``LevelWatch``. The zoo is
for the plain build; the others take few graphs, because each strategy is compiled for each. Blocks, records and queues
are made so small that small graphs fill them. ``make test`` runs each strategy on the core of the zoo in the plain
build, and on two to four graphs in the others, with one codec in turn.
"""

from __future__ import annotations

import contextlib
import os
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import wide
import zoo
from wide import split

from bigbfs.algorithms.bfs.gpu import levels as loop
from bigbfs.algorithms.bfs.gpu.levels import LevelBfs
from bigbfs.algorithms.bfs.reference import bfs as reference_bfs
from bigbfs.algorithms.bfs.strategies import STRATEGIES
from bigbfs.algorithms.bfs.validate import validate_tree
from bigbfs.engines.gpu.placed_graph import PlacedGraph
from bigbfs.engines.gpu.placement.arrays import Pool, Sizes
from bigbfs.engines.gpu.placement.placed import PlacedAdjacency
from bigbfs.engines.gpu.runtime.arguments import no_vertex
from bigbfs.graph import varint
from bigbfs.graph.adjacency import CompressedAdjacency, PlainAdjacency
from bigbfs.graph.graph import Graph
from emulated.invariants import LevelWatch
from emulated.runtime import SimtRuntime, builds_here

HERE = builds_here()
CODECS = ("plain", "varint")
NAMES = [name for name, strategy in STRATEGIES.items() if strategy.loop == "levels"]
FEW_GRAPHS = (
    "clique",
    "two-hubs",
    "two-components",
    "degree-1024",
    "degree-2048",
    "random",
    "duplicates-kept",
    "wide-ids-hub",
    "directed-multi",
)
"""Both widths of ids, rows of all classes, and vertices that many threads find at once."""

# names of an even length meet the same codec and size of a block: a strategy is compiled once for them
CORE = {
    "preempt": ("two-hubs", "two-components", "directed-multi", "path"),
    "asan": ("two-hubs", "directed-multi"),
    "tsan": ("two-components", "directed-multi"),
}
"""Graphs that ``make test`` runs in the slow builds."""

DEEP = ("path", "comb", "directed-cycle", "directed-back-edges", "cycle", "lollipop", "binary-tree")


def graphs(build):
    """Return the names of the graphs that ``build`` traverses; the sanitizers' compile for one width of ids."""
    if build == "tsan":  # which ends without a word in a process that has run some three hundred such searches
        return ["degree-1024", "random", "two-components", "directed-multi"]
    if build == "asan":
        return ["two-hubs", "degree-1024", "random", "duplicates-kept", "directed-multi"]
    few = build == "preempt" or os.environ.get("SIMT_GRAPHS") == "few"
    return (*FEW_GRAPHS, "path") if few else [name for name in zoo.names() if name != "empty"]


def codecs(build, strategy, name):
    """Return both codecs for a few graphs in the plain build, and one of them in turn everywhere else."""
    both = build == "plain" and name in FEW_GRAPHS
    return CODECS if both else (codec_in_turn(build, strategy, name),)


def codec_in_turn(build, strategy, name="even"):
    """Return the codec of a strategy in a build; that of graphs whose names have an odd length is the other one."""
    return CODECS[(len(build) + len(strategy) + len(name)) % 2]


def in_core(build, strategy, codec, name):
    """Return whether ``make test`` runs this."""
    return codec == codec_in_turn(build, strategy, name) and name in (wide.CORE if build == "plain" else CORE[build])


TURNS = split(
    [(build, strategy, codec) for build in HERE for strategy in NAMES for codec in CODECS],
    lambda build, strategy, codec: build != "tsan" and codec == codec_in_turn(build, strategy),
)


def of_codec(codec, names=NAMES):
    """Return builds and strategies for tests of damage in one codec; in ``make test`` one of the two looks at it."""
    return split(
        [(build, strategy) for build in HERE for strategy in names],
        lambda build, strategy: build in ("plain", "asan") and codec == codec_in_turn(build, strategy),
    )


def is_too_slow(strategy, name):
    """Every level of a quadratic strategy looks at all vertices."""
    return "quadratic" in STRATEGIES[strategy].frontier and name in (*DEEP, *zoo.BIG) and name != "path"


@cache
def graph(name, codec):
    plain = zoo.shared()[name]
    return plain.compress() if codec == "varint" else plain


@cache
def expected_levels(name, source):
    return reference_bfs(zoo.shared()[name], source)[0]


@contextlib.contextmanager
def search_of(whole, strategy, runtime, *, mapped=False):
    """Yield a search by ``strategy`` of a graph placed on ``runtime``."""
    with contextlib.ExitStack() as stack:

        def place(adjacency):
            return stack.enter_context(PlacedAdjacency(runtime, adjacency, mapped=mapped))

        out = incoming = place(whole.adjacency)
        if whole.in_adjacency is not whole.adjacency:
            incoming = None if whole.in_adjacency is None else place(whole.in_adjacency)
        pool = Pool(runtime, Sizes(whole.n, whole.m, out.chunks, whole.ids.itemsize, whole.n), whole.ids)
        placed = PlacedGraph(runtime, whole, out, incoming, "mapped" if mapped else "vram", pool)
        search = LevelBfs(placed, STRATEGIES[strategy])
        search.warm()
        yield search


def runtime_of(build, name):
    """Return a runtime whose shape varies from graph to graph."""
    return SimtRuntime(
        build=build, sm_count=1 + sum(name.encode()) % 3, resident=1 if build in ("plain", "asan") else 3
    )


def check(search, plain, source, levels, **asked):
    """Run from ``source`` and compare everything."""
    found = search.run(source, asked.pop("max_depth", None), want_parents=True, **asked)
    assert np.array_equal(search.levels(), levels)
    parents = search.parents()
    signed = parents.astype(np.int64)
    signed[parents == no_vertex(search.ids)] = -1
    if (levels >= 0).sum() == (reference_bfs(plain, source)[0] >= 0).sum():
        validate_tree(plain, source, search.levels(), signed)
    sizes = np.bincount(levels[levels >= 0]).tolist()
    assert found.reached == int((levels >= 0).sum())
    assert found.depth == levels.max()
    assert found.edges == int(plain.degrees()[levels >= 0].sum())
    assert [level.frontier for level in found.level_records] == sizes
    assert found.invalid_ids == 0
    rows = int(plain.degrees()[(levels >= 0) & (levels < len(found.level_records))].sum())
    checked = sum(level.checked for level in found.level_records)
    if search.strategy.racing:
        assert checked >= rows
    elif not search.strategy.bottom_up:
        assert checked == rows, "a row is read twice, or not to its end"
    return found


CASES = [
    (build, strategy, codec, name)
    for build in HERE
    for strategy in NAMES
    for name in graphs(build)
    for codec in codecs(build, strategy, name)
    if not is_too_slow(strategy, name)
]


@pytest.mark.covered("strategy+build", "strategy+codec", "name+codec", "name+build")
@pytest.mark.parametrize(("build", "strategy", "codec", "name"), split(CASES, in_core))
def test_bfs(build, strategy, codec, name, monkeypatch):
    monkeypatch.setattr(loop, "THREADS", 64 if len(name) % 2 == 0 or "wide" in name else 256)
    plain = zoo.shared()[name]
    runtime = runtime_of(build, name)
    runtime.watchers.append(LevelWatch(plain, STRATEGIES[strategy]))
    with search_of(graph(name, codec), strategy, runtime, mapped=len(name) % 2 == 0) as search:
        few = build != "plain" or name not in FEW_GRAPHS
        for number, source in enumerate(zoo.sources(plain, 1 if few else 2)):
            runtime.seed = 1 + number if build == "preempt" else 0
            check(search, plain, source, expected_levels(name, source))


@pytest.mark.covered
@pytest.mark.parametrize("strategy", NAMES)
@pytest.mark.parametrize("build", split(HERE, lambda build: build in ("plain", "preempt")))
def test_levels_ahead_of_the_host_and_few_records(build, strategy, monkeypatch):
    """Levels launched before the host has read a size, and records that begin again, change nothing."""
    monkeypatch.setattr(loop, "THREADS", 64)
    monkeypatch.setattr(loop, "AHEAD", 3)
    monkeypatch.setattr(loop, "SLOTS", 4)
    name = "grid-2d" if build == "plain" else "vertices-129"
    plain = zoo.shared()[name]
    with search_of(graph(name, codec_in_turn(build, strategy)), strategy, runtime_of(build, strategy)) as search:
        levels = reference_bfs(plain, 0)[0]
        found = check(search, plain, 0, levels)
        assert search.reads <= len(found.level_records) + 1


@pytest.mark.parametrize(("build", "strategy", "codec"), TURNS)
def test_a_depth_limit_and_no_parents(build, strategy, codec, monkeypatch):
    monkeypatch.setattr(loop, "THREADS", 64)
    plain = zoo.shared()["vertices-129"]
    whole = expected_levels("vertices-129", 0)
    with search_of(graph("vertices-129", codec), strategy, runtime_of(build, strategy)) as search:
        for depth in (0, 1, 2, 100):
            levels = np.where(whole <= depth, whole, -1)
            found = search.run(0, depth, want_parents=False)
            assert np.array_equal(search.levels(), levels)
            assert found.reached == (levels >= 0).sum()
        # a run with parents after one without sees nothing of it
        check(search, plain, 5, expected_levels("vertices-129", 5))


@pytest.mark.parametrize(("build", "strategy"), of_codec("plain"))
def test_ids_that_are_no_vertices_are_counted_and_never_used(build, strategy, monkeypatch):
    monkeypatch.setattr(loop, "THREADS", 64)
    plain = zoo.shared()["kronecker-dense"]
    indices = plain.adjacency.indices.copy()
    indices[::97] = plain.n
    indices[1::97] = 2**32 - 1
    damaged = Graph(PlainAdjacency(plain.adjacency.indptr, indices), plain.flags)
    with search_of(damaged, strategy, runtime_of(build, strategy)) as search:
        found = search.run(int(plain.degrees().argmax()), None, want_parents=True)
        rows = np.repeat(search.levels() >= 0, np.diff(plain.adjacency.indptr.astype(np.int64)))
        wrong = int(np.count_nonzero(indices[rows] >= plain.n))
        if search.strategy.racing or search.strategy.bottom_up:
            assert found.invalid_ids > 0
        else:  # each reading of a row counts them
            assert found.invalid_ids in (wrong, 3 * wrong)


@pytest.mark.parametrize(("build", "strategy"), of_codec("varint"))
def test_damaged_varint_bytes_never_reach_outside(build, strategy, monkeypatch):
    """Random bytes in place of the blob: any answer, but no access outside an array."""
    monkeypatch.setattr(loop, "THREADS", 64)
    whole = varint.encode(zoo.build(400, zoo.random(400, 3_000, seed=1)).adjacency)
    for seed in range(3):
        rng = np.random.default_rng(seed)
        noise = rng.integers(0, 256, len(whole.blob)).astype(np.uint8)
        blob = np.where(rng.random(len(whole.blob)) < (0.05, 0.5, 1)[seed], noise, whole.blob)
        damaged = CompressedAdjacency(whole.indptr, whole.degree, blob, whole.hubs, whole.hub_ptr, whole.block_ptr)
        with search_of(Graph(damaged), strategy, runtime_of(build, strategy)) as search:
            search.run(0, 3, want_parents=True)


MERRILL = [name for name in NAMES if STRATEGIES[name].racing]
OVERFLOWING = split(
    [
        (build, strategy, codec, name)
        for build in HERE
        for strategy in MERRILL
        for codec, name in (
            ("plain", "vertices-129"), ("varint", "vertices-129"), ("plain", "kronecker-dense"),
            ("plain", "degree-1024"), ("varint", "degree-1024"), ("varint", "wide-ids"),
        )
        if build == "plain" or name == "vertices-129"
    ],
    lambda build, strategy, codec, name: name == "vertices-129"
    and build in ("plain", "preempt")
    and codec == codec_in_turn(build, strategy),
)  # fmt: skip
"""Graphs whose levels do not fit the small queues."""


@pytest.mark.parametrize(("build", "strategy", "codec", "name"), OVERFLOWING)
def test_queues_that_overflow_lose_nothing(build, strategy, codec, name, monkeypatch):
    """Edge queues of a few dozen ids, a gather buffer of 32: levels are read in windows, or found by their labels."""
    monkeypatch.setattr(loop, "THREADS", 32)
    entry = STRATEGIES[strategy]
    small = replace(
        entry,
        arrays=tuple(
            replace(array, count="37") if array.count.startswith("4 * n") else array for array in entry.arrays
        ),
        defines=(*entry.defines, ("GATHER_IDS", "32")),
    )
    monkeypatch.setitem(STRATEGIES, strategy, small)
    plain = zoo.shared()[name]
    runtime = runtime_of(build, name)
    runtime.watchers.append(LevelWatch(plain, small))
    with search_of(graph(name, codec), strategy, runtime) as search:
        runtime.seed = 1 if build == "preempt" else 0
        source = int(plain.degrees().argmax())
        check(search, plain, source, expected_levels(name, source))


@pytest.mark.parametrize(
    ("build", "strategy"), of_codec("plain", [n for n in MERRILL if ("queue", "next_queue") in STRATEGIES[n].swaps])
)
def test_a_vertex_queue_that_overflows_is_rebuilt(build, strategy, monkeypatch):
    """A queue said to hold fewer than a level finds: the rest is found by its labels, each vertex once."""
    monkeypatch.setattr(loop, "THREADS", 64)
    plain = zoo.shared()["kronecker-dense"]
    with search_of(plain, strategy, runtime_of(build, strategy)) as search:
        runtime, arrays, state, rebuild = search._runtime, search._arrays, search._state, search.rebuild
        rebuilt = []

        def watched():
            queues = [search._now(name) for name in ("next_queue", "queue")]
            rebuilt.append((queues[0][40:].view(np.uint8) == 0xCB).all())
            state["capacity"] = plain.n
            rebuild()
            state["capacity"] = 40
            runtime.fill(queues[1], int(np.frombuffer(b"\xcb" * 8, plain.ids)[0]))

        for name in ("queue", "next_queue"):
            arrays[name].view(np.uint8).fill(0xCB)
        state["capacity"] = 40
        monkeypatch.setattr(search, "overflows", lambda size: size > 40)
        monkeypatch.setattr(search, "rebuild", watched)
        source = int(plain.degrees().argmax())
        check(search, plain, source, expected_levels("kronecker-dense", source))
        assert rebuilt and all(rebuilt), "entries beyond the capacity were stored"


@pytest.mark.parametrize(
    ("build", "strategy"),
    of_codec("plain", [n for n in MERRILL if any(step.kernel == "expand_found" for step in STRATEGIES[n].steps)]),
)
def test_more_vertices_than_the_queue_holds_are_swept(build, strategy, monkeypatch):
    """Where the rows of what a level has found are read at once, a queue that is too small leaves them to a sweep."""
    monkeypatch.setattr(loop, "THREADS", 64)
    plain = zoo.shared()["kronecker-dense"]
    with search_of(plain, strategy, runtime_of(build, strategy)) as search:
        found = search._arrays["next_queue"]
        found.view(np.uint8).fill(0xCB)
        search._state["capacity"] = 10
        source = int(plain.degrees().argmax())
        check(search, plain, source, expected_levels("kronecker-dense", source))
        assert (found[10:].view(np.uint8) == 0xCB).all(), "entries beyond the capacity were stored"


@pytest.mark.parametrize(("build", "strategy"), of_codec("plain", MERRILL))
def test_a_row_of_one_chunk_is_no_hub(build, strategy, monkeypatch):
    """The row of 1,024 ids is read in a level in which the hub, whose chunks a mistake would take, is not found yet."""
    monkeypatch.setattr(loop, "THREADS", 64)
    plain = zoo.shared()["degree-1024"]
    source = int(np.flatnonzero(plain.degrees() == 1024)[0])
    with search_of(plain, strategy, runtime_of(build, strategy)) as search:
        check(search, plain, source, expected_levels("degree-1024", source))
