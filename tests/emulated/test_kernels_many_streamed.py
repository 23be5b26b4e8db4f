"""Many searches at once whose edges stay in the file, emulated: the zoo against single searches, in tiny batches.

Stages are as small as they may be, so that a level takes many batches and hubs go over their edges. A rule says which
rows the device holds and who lists the others; which rule a graph meets differs from graph to graph. What must hold
between launches is watched as in ``test_kernels_many.py``.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, replace

import numpy as np
import pytest
import zoo
from wide import CODEC_OF, CODECS, damaged, split

import bigbfs
from bigbfs import api
from bigbfs.algorithms.components.options import ComponentsOptions
from bigbfs.algorithms.many.gpu.directions import BOTTOM_UP, TOP_DOWN
from bigbfs.algorithms.many.options import ManyOptions
from bigbfs.algorithms.many.reference import many
from bigbfs.algorithms.sweeps.options import SweepOptions
from bigbfs.engines.gpu import planning
from bigbfs.engines.gpu.engine import GpuEngine
from bigbfs.engines.gpu.planning import make_plan
from bigbfs.engines.gpu.streamed import feed, ledger, listed
from bigbfs.errors import FormatError
from bigbfs.graph.adjacency import PlainAdjacency
from bigbfs.graph.graph import Graph
from bigbfs.measures import eccentricity as eccentric
from emulated.runtime import SimtRuntime, builds_here
from emulated.test_kernels_many import GRAPHS, TUNINGS, WIDTHS, check
from emulated.test_kernels_streamed import GRAPHS as ZOO

HERE = builds_here()
CASES = {name: zoo.shared()[name] for name in ZOO if zoo.shared()[name].m} | GRAPHS
SANITIZED = ("three hubs and a path",)
ELSEWHERE = {"plain": tuple(CASES), "preempt": (*SANITIZED, "no in-rows", "directed")}
"""Graphs of each build, where they are not those of the sanitizers."""

WAYS = {name: tuning for name, tuning in TUNINGS.items() if name != "bottom-up by a bitmap"}


@dataclass(frozen=True)
class Rule:
    """What the device holds, and whether it lists few rows, or the host plans all."""

    heads: int = 2
    hot_share: float = 0.5
    listed: bool = True


RULES = {
    "heads": Rule(hot_share=0),
    "hot": Rule(heads=1, hot_share=0.6),
    "hot, without heads": Rule(heads=0, listed=False),
    "nothing": Rule(heads=0, hot_share=0),
    "planned": Rule(heads=1, hot_share=0, listed=False),
    "many heads": Rule(heads=8, hot_share=0.3),
}


@pytest.fixture
def rule(request, monkeypatch):
    """Bend the engine to a rule, and make its stages small."""
    chosen = RULES[getattr(request, "param", "heads")]
    monkeypatch.setattr(planning, "HEAD_GROUPS", (chosen.heads,))
    monkeypatch.setattr(planning, "HOT_SHARE", chosen.hot_share)
    monkeypatch.setattr(ledger, "STAGE_BYTES", ledger.SMALLEST)
    monkeypatch.setattr(feed, "LEAST_ROOM", ledger.SMALLEST)
    if not chosen.listed:
        monkeypatch.setattr(listed.Lister, "capacity", staticmethod(lambda nbytes: 0))
    return chosen


def cases():
    """Yield (build, codec, width, graph, way, rule): in the plain build each graph under each way, rules in turn."""
    rules = list(RULES)
    for build in HERE:
        for i, name in enumerate(ELSEWHERE.get(build, SANITIZED)):
            for j, how in enumerate(WAYS):
                for codec in CODECS if build == "plain" else (CODEC_OF.get(build, CODECS[j % 2]),):
                    width = WIDTHS[(i + j) % 4] if build == "plain" else (64, 256)[j % 2]
                    yield build, codec, width, name, how, rules[(i + 2 * j + len(codec)) % len(rules)]


def in_core(build, codec, width, name, how, rule):
    """Return whether ``make test`` runs this: one of four widths and a codec in turn; elsewhere one graph."""
    turn = list(CASES).index(name) + list(WAYS).index(how)
    if build != "plain":
        return name in SANITIZED and list(WAYS).index(how) % 3 == 1
    return (
        width == (64, 512)[turn % 2]
        and (turn // 4 % 2 == 0) == (codec == "plain")
        and (name in GRAPHS or turn % 3 == 0)
    )


@pytest.mark.covered("build+how")
@pytest.mark.parametrize(
    ("build", "codec", "width", "name", "how", "rule"), split(cases(), in_core), indirect=["rule"]
)  # fmt: skip
def test_searches(build, codec, width, name, how, rule):
    graph = CASES[name]
    sources = np.arange(0, graph.n, max(1, graph.n // 40))[:40] if build != "plain" else None
    record = check(
        graph, WAYS[how], width, build=build, codec=codec, residency="streamed", seed=1, sources=sources
    )  # fmt: skip
    if how.startswith("top-down") or name in ("no in-rows", "directed-out-only"):
        assert not record.steps[BOTTOM_UP]
    elif how == "bottom-up" and name in GRAPHS:
        assert record.steps[BOTTOM_UP] >= 1 and record.steps[TOP_DOWN] == 1  # the first level


def engine_of(graph, work, build="plain", **options):
    """Return an engine whose rows are streamed."""
    return GpuEngine(graph, work=work, residency="streamed", runtime=SimtRuntime(build=build), **options)


@pytest.mark.parametrize("codec", CODECS)
def test_a_row_is_read_once_for_all_sources_and_only_if_it_is_needed(tmp_path, rule, codec):
    plain = zoo.build(1_000, zoo.random(1_000, 25_000, seed=5))
    path = tmp_path / ("g.ccsr" if codec == "varint" else "g.csrbin")
    (plain.compress() if codec == "varint" else plain).save(path)
    sources = np.arange(64)
    for how in ("top-down", "bottom-up"):
        work = ManyOptions(sources, fetch=True, width=64, tuning=WAYS[how])
        with Graph.open(path) as graph, engine_of(graph, (work,)) as engine:
            assert engine.edges_kind == "file"
            program = engine.program(work)
            program.batches.trace = []
            np.testing.assert_array_equal(engine.run(work).levels, many(plain, sources))
            steps, rows = program.batches.trace, engine.placed.out
            edges = rows.units * rows.unit
            if how == "top-down":
                # every level asks for the rows of its frontier, and for each of them once
                levels = sum(step.levels for step in steps)
                assert edges <= sum(step.file for step in steps) <= levels * edges
                continue
            lengths = np.diff(graph.adjacency.indptr)[:64].astype(np.int64) * rows.unit
            assert steps[0].file == lengths.sum()  # no heads hold them
            # nearly all are reached by all from level 2 on, and heads say so
            assert 0 < sum(step.file for step in steps[1:]) <= 2 * edges and steps[-1].file == 0


def test_levels_that_need_no_row_are_one_launch(rule):
    """A path lies in the heads as a whole: its levels run as in device memory, and nothing is read."""
    graph = zoo.build(60, zoo.path(60))
    work = ManyOptions([0, 30], fetch=True, width=64)
    with engine_of(graph, (work,)) as engine:
        program = engine.program(work)
        program.batches.trace = []
        np.testing.assert_array_equal(engine.run(work).levels, many(graph, [0, 30]))
        assert [(step.levels, step.file) for step in program.batches.trace] == [(60, 0)]


@pytest.mark.parametrize("rule", ["heads", "nothing", "planned"], indirect=True)
def test_depths_repeated_sources_and_counts_that_are_taken_on_the_way(rule):
    for how, name in (("top-down", "random"), ("bottom-up", "random"), ("top-down", "path")):
        sources = np.array([7, 7, 8, GRAPHS[name].n - 1, 7])
        for depth in (0, 1, 3, None):
            check(GRAPHS[name], replace(WAYS[how], span=4), 64, residency="streamed", sources=sources, max_depth=depth)


@pytest.mark.parametrize("build", damaged(HERE))
@pytest.mark.parametrize("how", ["top-down", "bottom-up"])
def test_an_id_out_of_range_is_an_error_and_no_access(build, how, rule):
    plain = GRAPHS["dense"]
    indices = plain.adjacency.indices.copy()
    indices[::41] = 2**32 - 1
    broken = Graph(PlainAdjacency(plain.adjacency.indptr, indices), plain.flags, in_adjacency=None)
    both = Graph(broken.adjacency, plain.flags, in_adjacency=broken.adjacency)
    for graph in (broken, both):
        work = ManyOptions(np.arange(20), width=64, tuning=WAYS[how])
        engine = engine_of(graph, (work,), build, prove=False, head_groups=0)
        with engine, pytest.raises(FormatError, match="no vertices"):
            engine.run(work)


@pytest.mark.parametrize("build", damaged(HERE))
def test_damaged_varint_bytes_never_reach_outside(build, rule):
    whole = zoo.build(400, zoo.random(400, 3_000, seed=1)).compress().adjacency
    for seed, how in enumerate(("top-down", "bottom-up", "split")):
        rng = np.random.default_rng(seed)
        noise = rng.integers(0, 256, len(whole.blob)).astype(np.uint8)
        blob = np.where(rng.random(len(whole.blob)) < (0.05, 0.5, 1)[seed], noise, whole.blob)
        broken = Graph(replace(whole, blob=blob))
        work = ManyOptions(np.arange(20), width=64, tuning=WAYS[how])
        with engine_of(broken, (work,), build, prove=False) as engine, contextlib.suppress(FormatError):
            engine.run(work)


def test_a_plan_streams_what_fits_no_memory_with_the_widest_batches_that_fit():
    graph = GRAPHS["random"]
    work = (ManyOptions(sums=True),)
    plan = make_plan(graph, "auto", 1 << 30, ram_budget=1 << 30, work=work)
    assert plan.residency == "vram"
    streamed = make_plan(graph, "streamed", 1 << 30, hot_bytes=0, work=work)
    assert streamed.work[0].bits == 512
    assert {"wanted", "stages"} <= {buffer.name for buffer in streamed.buffers}
    budget = streamed.device_bytes
    for bits in (256, 128, 64):
        plan = make_plan(graph, "streamed", budget - 1, hot_bytes=0, work=work)
        assert (plan.work[0].bits, plan.residency) == (bits, "streamed")
        budget = plan.device_bytes
    with engine_of(graph, work, vram_budget=budget) as engine:
        assert (engine.plan.work[0].bits, engine.plan.device_bytes) == (64, budget)
        assert engine.bytes.device <= budget
        engine.run(ManyOptions(np.arange(100), sums=True))
        assert engine.bytes.device <= budget


def test_auto_streams_where_neither_the_device_nor_the_host_has_room(tmp_path):
    plain = zoo.build(3_000, zoo.random(3_000, 200_000, seed=5))
    plain.save(tmp_path / "g.csrbin")
    work = (ManyOptions(width=64),)
    with Graph.open(tmp_path / "g.csrbin") as graph:
        edges = graph.adjacency.edges.nbytes
        limits = {"ram_budget": edges - 1, "work": work}
        least = make_plan(graph, "streamed", 1 << 30, hot_bytes=0, **limits).device_bytes
        assert make_plan(graph, "auto", least, ram_budget=1 << 30, work=work).residency == "mapped"
        plan = make_plan(graph, "auto", min(least, edges), **limits)
        assert plan.residency == "streamed"


def test_measures_and_diameters_are_those_of_the_cpu(rule):
    graph = GRAPHS["random"]
    work = (ManyOptions(sums=True, harmonic=True, columns=True, fetch=True, width=64), ComponentsOptions())
    work += (SweepOptions(),)
    with api.Engine(graph, engine_of(graph, work), "streamed") as there:
        for kind in ("closeness", "harmonic"):
            one, other = (bigbfs.closeness(each, kind=kind, backend="cpu") for each in (graph, there))
            np.testing.assert_array_equal(one.values, other.values)
        one, other = (bigbfs.hops(each, "random:70", backend="cpu") for each in (graph, there))
        np.testing.assert_array_equal(one.within, other.within)
        one, other = (bigbfs.distances(each, "random:9", backend="cpu") for each in (graph, there))
        np.testing.assert_array_equal(one.levels, other.levels)
        for goal in ("all", "diameter"):
            one, other = (bigbfs.eccentricity(each, goal=goal, backend="cpu") for each in (graph, there))
            assert one.exact and other.exact and one.diameter == other.diameter
    with api.Engine(graph, engine_of(graph, eccentric.DIAMETER), "streamed") as there:
        assert bigbfs.eccentricity(there, goal="diameter", backend="cpu").diameter == one.diameter


def test_backward_and_verified(rule):
    graph = GRAPHS["directed"]
    work = ManyOptions(np.arange(70), sums=True, backward=True, width=128)
    with engine_of(graph, (work,)) as engine:
        found = engine.run(work)
        np.testing.assert_array_equal(found.reach, (many(graph, np.arange(graph.n))[:, :70].T > 0).sum(axis=0))
        engine.program(work).verify(work, found)


def test_nothing_to_search(rule):
    for graph in (Graph.from_csr([0], []), Graph.from_csr([0, 0, 0], [])):
        with engine_of(graph, (ManyOptions(),)) as engine:
            found = engine.run(ManyOptions(np.arange(graph.n), columns=True))
            assert found.far.tolist() == list(range(graph.n)) and not found.depth.any()
