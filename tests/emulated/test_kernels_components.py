"""The kernels for connected components, emulated: every algorithm and switch, and graphs that are hard for them.

Labels against the reference, and after every launch the invariants of emulated/invariants.py. In the preempting build
every run has another seed. The whole zoo under the default switches is in test_kernels_engine.py. ``make test`` takes
all graphs in the plain build, and a few in the others, with one codec.
"""

from __future__ import annotations

import numpy as np
import pytest
import zoo
from wide import counted, in_turn, split

from bigbfs.algorithms.components.options import ComponentsOptions
from bigbfs.algorithms.components.reference import components as reference_components
from bigbfs.algorithms.gpu_engine import GpuEngine
from bigbfs.engines.gpu import planning as plan
from emulated.invariants import LabelWatch
from emulated.runtime import SimtRuntime, builds_here

HERE = builds_here()
VARIANTS = (
    ComponentsOptions(),
    *(ComponentsOptions(rounds=rounds, skip_giant=False) for rounds in (0, 1, 6)),
    ComponentsOptions(single_pass=True),
    ComponentsOptions(rounds=0, single_pass=True),
    ComponentsOptions("sv"),
    ComponentsOptions("sv", skip_giant=False, single_pass=True),
    ComponentsOptions("labelprop"),
    ComponentsOptions("labelprop", single_pass=True),
)
FEW_GRAPHS = ("two-hubs", "tiny-components", "wide-ids-hub", "directed-multi")
GRAPHS = (
    "empty", "isolated", *FEW_GRAPHS, "full-last-row", "binary-tree", "kronecker", "self-loops-kept", "relabelled",
    "directed-in-rows", "directed-out-only",
)  # fmt: skip
SANITIZED = not set(HERE) <= {"plain", "preempt"}
"""Under the sanitizers' slow builds, fewer graphs and switches."""


def check(graph, expected, variants, *, build, codec="plain", seeds=1, sms=2):
    """Run ``variants`` on ``graph``, in the preempting build each under ``seeds`` schedules."""
    runtime = SimtRuntime(build=build, sm_count=sms, resident=2, preempt_every=5)
    watch = LabelWatch(graph)
    watch.component = expected
    runtime.watchers.append(watch)
    with GpuEngine(graph.compress() if codec == "varint" else graph, residency="vram", runtime=runtime) as engine:
        for number, how in enumerate(variants):
            for seed in range(seeds if build == "preempt" else 1):
                runtime.seed = 1 + number + 100 * seed if build == "preempt" else 0
                result = engine.connected_components(how)
                np.testing.assert_array_equal(result.labels, expected, err_msg=f"{how}, seed {runtime.seed}")
                assert result.record.left == 0 or how.single_pass


def in_core(build, codec, heads, name):
    """Return whether ``make test`` runs this; wide ids, compiled for themselves, only in the plain build."""
    if build == "plain":
        return in_turn(codec, name)
    return name in FEW_GRAPHS and "wide" not in name and in_turn(codec, build)


SWITCHED = split(
    [
        (build, codec, heads, name)
        for build in HERE
        for codec, heads in (("plain", 1), ("varint", 0))
        for name in (FEW_GRAPHS if SANITIZED else GRAPHS)
    ],
    in_core,
)


@pytest.mark.parametrize(("build", "codec", "heads", "name"), SWITCHED)
def test_every_algorithm_and_switch(build, codec, heads, name, monkeypatch):
    monkeypatch.setattr(plan, "HEAD_GROUPS", (heads,))
    graph = zoo.shared()[name]
    check(graph, reference_components(graph), VARIANTS, build=build, codec=codec)


def shuffled(n, pairs, seed):
    """Return ``pairs`` between n vertices renumbered at random."""
    order = np.random.default_rng(seed).permutation(n)
    return order[np.asarray(pairs[0])], order[np.asarray(pairs[1])]


def comb(half):
    """Return a path of ``half`` vertices, each with one leaf."""
    return zoo.join(zoo.path(half), (np.arange(half), half + np.arange(half)))


N = 240
RACES = {
    "path in random order": (N, shuffled(N, zoo.path(N), 1)),
    "path descending": (N, tuple(N - 1 - np.asarray(side) for side in zoo.path(N))),
    "comb in random order": (N, shuffled(N, comb(N // 2), 2)),
    "interleaved combs": (
        2 * N,
        zoo.join(*((2 * np.asarray(a) + k, 2 * np.asarray(b) + k) for k in (0, 1) for a, b in [comb(N // 2)])),
    ),
    "bipartite hubs": (N, np.nonzero(np.arange(N)[:, None] < np.minimum(6, np.arange(N)[None, :]))),
    "star": (N, zoo.star(N, hub=N // 2)),
    "two giants": (2 * N, zoo.join(zoo.random(N, 3 * N, seed=4), zoo.random(N, 3 * N, seed=4, first=N))),
    "giant without vertex 0": (N + 40, zoo.join(zoo.path(40), zoo.random(N, 3 * N, seed=5, first=40))),
    "pairs": (N, shuffled(N, (np.arange(0, N, 2), np.arange(1, N, 2)), 3)),
}


RACED = split(
    [(build, name) for build in HERE for name in RACES],
    lambda build, name: (
        build == "plain"
        or (
            build == "preempt"
            and name not in ("path descending", "interleaved combs", "giant without vertex 0", "pairs")
        )
        or (build == "tsan" and name in ("comb in random order", "bipartite hubs", "two giants"))
    ),
)


@pytest.mark.covered("name")
@pytest.mark.parametrize(("build", "name"), RACED)
def test_races(build, name):
    graph = zoo.build(*RACES[name])
    quick = [how for how in VARIANTS if how.algorithm != "labelprop" or how.single_pass]
    check(graph, reference_components(graph), quick[::2] if SANITIZED else quick, build=build, seeds=4, sms=3)


ONE_WAY = split(
    [
        (build, name, in_rows)
        for build in HERE
        for name in ("path in random order", "comb in random order", "bipartite hubs")
        for in_rows in (True, False)
    ],
    lambda build, name, in_rows: not SANITIZED or name == "bipartite hubs",
)


@pytest.mark.covered("build+in_rows")
@pytest.mark.parametrize(("build", "name", "in_rows"), ONE_WAY)
def test_edges_in_one_direction_only(build, name, in_rows):
    n, pairs = RACES[name]
    graph = zoo.build(n, pairs, directed=True, in_rows=in_rows)
    check(graph, reference_components(graph), (VARIANTS[0], VARIANTS[4], VARIANTS[6]), build=build, seeds=3)


@pytest.mark.parametrize("build", HERE)
def test_a_run_leaves_nothing_for_the_next_and_parents_work_again(build):
    """Components work in the array of the parents: a search after them starts from nothing of theirs."""
    graph = zoo.shared()["kronecker"]
    labels = reference_components(graph)
    source = int(graph.degrees().argmax())
    with GpuEngine(graph, runtime=SimtRuntime(build=build)) as engine:
        before = engine.bfs(source)
        np.testing.assert_array_equal(engine.connected_components().labels, labels)
        after = engine.bfs(source)
    np.testing.assert_array_equal(before.levels, after.levels)
    assert ((before.parents >= 0) == (after.parents >= 0)).all()


@pytest.mark.parametrize("heads", [0, 2])
@pytest.mark.parametrize("codec", ["plain", "varint"])
@pytest.mark.parametrize("build", counted(HERE))
def test_the_rounds_leave_next_to_nothing_to_read(build, codec, heads, monkeypatch):
    """A round that misses vertices costs no label, and the reading of nearly every edge."""
    monkeypatch.setattr(plan, "HEAD_GROUPS", (heads,))
    for name in ("kronecker", "grid-2d", "binary-tree"):
        plain = zoo.shared()[name]
        graph = plain.compress() if codec == "varint" else plain
        with GpuEngine(graph, residency="vram", runtime=SimtRuntime(build=build)) as engine:
            assert engine.connected_components().record.edges_read < plain.m / 10, name
