"""Many searches where vertices with edges have numbers of their own, emulated: all that is collected is of the file's.

Sources without edges are among those of every batch.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import zoo
from wide import counted, split

import bigbfs
from bigbfs import api
from bigbfs.algorithms.bfs.options import BfsOptions
from bigbfs.algorithms.components.options import ComponentsOptions
from bigbfs.algorithms.many.gpu import numbered
from bigbfs.algorithms.many.gpu.directions import BOTTOM_UP, TOP_DOWN
from bigbfs.algorithms.many.options import ManyOptions
from bigbfs.algorithms.many.reference import many
from bigbfs.algorithms.many.validate import differences_of_sums
from bigbfs.algorithms.sweeps.options import SweepOptions
from bigbfs.engines.cpu.engine import CpuEngine
from bigbfs.engines.gpu import engine as engines
from bigbfs.engines.gpu import numbering
from bigbfs.engines.gpu.engine import GpuEngine
from bigbfs.engines.gpu.numbering import plan_and_numbers
from bigbfs.engines.gpu.placement.ledger import grain
from bigbfs.engines.gpu.placement.renumbered import Renumbered
from bigbfs.engines.gpu.planning import make_plan
from bigbfs.errors import FormatError, UsageError, VerificationError
from bigbfs.graph.adjacency import PlainAdjacency
from bigbfs.graph.graph import Graph
from emulated.many_watch import FrontierWatch, PartsWatch
from emulated.runtime import SimtRuntime, builds_here
from emulated.test_kernels_many import GRAPHS as OTHERS
from emulated.test_kernels_many import TUNINGS
from emulated.test_kernels_sweeps import GRAPHS as SWEEPS

HERE = builds_here()
EVERYTHING = {"sums": True, "harmonic": True, "columns": True, "fetch": True}
WORK = (SweepOptions(), ManyOptions(width=64, **EVERYTHING), ComponentsOptions())


def spread_out(plain: Graph, seed: int = 1) -> Graph:
    """Return ``plain`` with as many vertices more, without edges, anywhere between."""
    n = 2 * plain.n
    ids = np.sort(np.random.default_rng(seed).permutation(n)[: plain.n])
    degrees = np.zeros(n, np.int64)
    degrees[ids] = plain.degrees()
    indptr = np.concatenate([[0], np.cumsum(degrees)]).astype(np.uint64)
    rows = PlainAdjacency(indptr, ids[plain.adjacency.indices.astype(np.int64)].astype(plain.ids))
    return Graph(rows, plain.flags)


SPREAD = {name: spread_out(OTHERS[name]) for name in ("random", "three hubs and a path", "dense", "by degree")}
GRAPHS = {name: zoo.shared()[name] for name in ("kronecker", "early-isolated", "wide-ids-hub")} | SPREAD
SWEPT = SWEEPS["a hub, and a longer path"]
SANITIZED = ("three hubs and a path",)
FEW = ("three hubs and a path", "early-isolated", "random")


@pytest.fixture(autouse=True)
def always(monkeypatch):
    """Give numbers to the vertices of small graphs, too."""
    for module in (engines, numbering):
        monkeypatch.setattr(module, "renumbers", lambda graph: graph.m > 0 and graph.codec == "plain")


def sources_of(plain: Graph, count: int) -> np.ndarray:
    """Return ``count`` vertices: of three two with edges."""
    generator = np.random.default_rng(count)
    some, none = np.flatnonzero(plain.degrees()), np.flatnonzero(plain.degrees() == 0)
    alone = generator.choice(none, count // 3) if len(none) else none
    return generator.permutation(np.concatenate([generator.choice(some, count - len(alone)), alone]))


def cases():
    """Yield (build, graph, tuning, width, residency)."""
    names = {"plain": tuple(GRAPHS), "preempt": FEW}
    for build in HERE:
        for i, name in enumerate(names.get(build, SANITIZED)):
            for j, how in enumerate(TUNINGS):
                if build == "plain" and (i + j) % 2 == 0:
                    yield build, name, how, (64, 512, 128, 256)[(i + j) // 2 % 4], ("mapped", "vram")[(i + j) % 3 == 1]
                elif build != "plain" and (i + j) % 3 == 0:
                    yield build, name, how, 256, "mapped"


def in_core(build, name, how, width, residency):
    """Return whether ``make test`` runs this: elsewhere than in the plain build, and at the two wide widths, half."""
    return (build == "plain" and width < 256) or list(TUNINGS).index(how) % 2 == list(GRAPHS).index(name) // 2 % 2


@pytest.mark.covered("how+build", "width+residency")
@pytest.mark.parametrize(("build", "name", "how", "width", "residency"), split(cases(), in_core))
def test_searches(build, name, how, width, residency):
    plain = GRAPHS[name]
    count = (min(width, plain.n) if build == "plain" else 60) - 3
    sources = sources_of(plain, count)
    expected = many(plain, sources)
    work = ManyOptions(sources, width=width, tuning=TUNINGS[how], **EVERYTHING)
    runtime, numbers = SimtRuntime(build=build, seed=build == "preempt"), Renumbered(plain, 1)
    watch, parts = FrontierWatch(numbers.graph, width), PartsWatch(numbers.vertices, width)
    runtime.watchers += [watch, parts]
    with GpuEngine(plain, work=(work,), residency=residency, runtime=runtime) as engine:
        assert engine.placed.numbers is not None and engine.placed.n == np.count_nonzero(plain.degrees())
        for _ in range(2):
            found = engine.run(work)
            np.testing.assert_array_equal(found.levels, expected)
            assert differences_of_sums(found, expected) == []
            assert found.record.pairs == (expected >= 0).sum()
    assert watch.launches
    assert not parts.launches or (residency == "mapped" and how.startswith("split"))
    assert parts.launches or residency == "vram" or not how.startswith("split") or name == "wide-ids-hub"
    assert not found.record.steps[BOTTOM_UP] or how != "top-down"
    assert found.record.steps[TOP_DOWN]


@pytest.mark.parametrize("build", counted(HERE))
def test_depths_repeated_sources_and_batches_that_follow_each_other(build, monkeypatch):
    """A source without edges is alone in its batch's levels only; levels are copied in parts."""
    plain = GRAPHS["three hubs and a path"]
    alone, some = (np.flatnonzero((plain.degrees() > 0) == linked) for linked in (False, True))
    batch = np.concatenate([alone[[0, 0, -1]], some[[7, 7, -1]]])
    sources = np.concatenate([batch, np.resize(some, 64 - len(batch)), batch[::-1]])
    monkeypatch.setattr(numbered, "PART_BYTES", 64 * 4 * 100)
    with GpuEngine(plain, work=WORK, residency="mapped", runtime=SimtRuntime(build=build)) as engine:
        for depth in (None, 0, 2):
            seen = {}
            visit = {"visit": lambda first, levels: seen.update({first: levels.copy()}), "width": 64}
            expected = many(plain, sources, max_depth=depth)
            for backward in (False, True):
                found = engine.run(ManyOptions(sources, depth, backward, sums=True, columns=True, **visit))
                levels = np.concatenate([seen[0], seen[64]], axis=1).T
                np.testing.assert_array_equal(levels, expected)
                assert differences_of_sums(found, levels) == []
                assert found.record.batches == 2
                assert found.far[:3].tolist() == batch[:3].tolist() and (found.depth[:3] == 0).all()
        assert engine.placed.numbers is not None


@pytest.mark.parametrize("residency", ["vram", "mapped"])
def test_verified(residency):
    plain = GRAPHS["dense"]
    work = ManyOptions(sources_of(plain, 40), sums=True, width=128)
    with GpuEngine(plain, work=(work,), residency=residency, runtime=SimtRuntime()) as engine:
        found = engine.run(work)
        engine.program(work).verify(work, found)
        for vertices in (plain.degrees() > 0, plain.degrees() == 0):
            wrong = int(np.flatnonzero(vertices)[3])
            found.reach[wrong] += 1
            with pytest.raises(VerificationError, match="reach"):
                engine.program(work).verify(work, found)
            found.reach[wrong] -= 1
        found.depth[int(np.argmax(plain.degrees()[work.sources] == 0))] += 1
        with pytest.raises(VerificationError, match="depth"):
            engine.program(work).verify(work, found)


@pytest.mark.parametrize("residency", ["vram", "mapped"])
def test_an_id_without_a_number_is_refused(residency):
    plain = GRAPHS["dense"]
    alone = int(np.flatnonzero(plain.degrees() == 0)[-1])
    for bad in (alone, plain.n, 2**32 - 1):
        indices = plain.adjacency.indices.copy()
        indices[::41] = bad
        damaged = Graph(PlainAdjacency(plain.adjacency.indptr, indices), plain.flags)
        for how in ("top-down", "bottom-up"):
            work = ManyOptions(np.flatnonzero(plain.degrees())[:20], width=64, tuning=TUNINGS[how])
            options = {"residency": residency, "prove": False, "head_groups": 0, "hot_bytes": 0}
            with (
                GpuEngine(damaged, work=(work,), runtime=SimtRuntime(), **options) as engine,
                pytest.raises(FormatError, match=rf"not below {plain.n}, or without edges of their own"),
            ):
                engine.run(work)


@pytest.mark.covered
@pytest.mark.parametrize("residency", ["vram", "mapped"])
@pytest.mark.parametrize("name", ["early-isolated", "random"])
def test_measures_are_those_of_the_cpu(name, residency):
    plain = GRAPHS[name]
    there = GpuEngine(plain, work=WORK, residency=residency, runtime=SimtRuntime())
    with api.Engine(plain, there, "auto") as engine:
        both = ((plain, "cpu"), (engine, "auto"))
        for kind in ("closeness", "harmonic", "lin"):
            for sources in ("all", "random:20"):
                one, other = (bigbfs.closeness(each, kind=kind, sources=sources, backend=on) for each, on in both)
                np.testing.assert_array_equal(one.values, other.values)
        for options in ({}, {"max_depth": 2}):
            one, other = (bigbfs.hops(each, "random:70", backend=on, **options) for each, on in both)
            np.testing.assert_array_equal(one.within, other.within)
            one, other = (bigbfs.distances(each, "random:9", backend=on, **options) for each, on in both)
            np.testing.assert_array_equal(one.levels, other.levels)
            np.testing.assert_array_equal(one.far, other.far)
        targets = np.arange(0, plain.n, 5)
        one, other = (bigbfs.distances(each, "random:9", targets=targets, verify=True, backend=on) for each, on in both)
        np.testing.assert_array_equal(one.levels, other.levels)
        for goal, component in (("diameter", "largest"), ("radius", "largest"), ("all", "largest"), ("all", "all")):
            options = {"goal": goal, "component": component}
            one, other = (bigbfs.eccentricity(each, backend=on, **options) for each, on in both)
            known = "radius" if goal == "radius" else "diameter"
            assert one.exact and other.exact and getattr(one, known) == getattr(other, known)
            np.testing.assert_array_equal(one.ids, other.ids)
            if goal == "all":
                np.testing.assert_array_equal(one.lower, other.lower)
        assert there.placed.numbers is not None


@pytest.mark.parametrize("residency", ["vram", "mapped"])
@pytest.mark.parametrize("build", HERE)
def test_sweeps_are_those_of_the_cpu(build, residency):
    """Field by field; the vertex half-way lies at half the depth."""
    plain = spread_out(SWEPT)
    runtime = SimtRuntime(build=build, seed=build == "preempt")
    work = (SweepOptions(), ManyOptions(width=64))
    with CpuEngine(plain, work=()) as here, GpuEngine(plain, work=work, residency=residency, runtime=runtime) as there:
        hub = here.run(SweepOptions())
        assert there.run(SweepOptions()) == hub
        asked, kept = SweepOptions(hub.vertex, anew=True, keep=0, central=True), 0
        for number in range(6):
            one, other = (engine.run(asked) for engine in (here, there))
            same = (replace(each, halfway=0, seconds=0, listed=None, rim=None) for each in (one, other))
            assert next(same) == next(same)
            for each in ("ids", "upper", "levels"):
                np.testing.assert_array_equal(getattr(one.listed, each), getattr(other.listed, each))
            kept = kept if asked.keep is None else asked.keep
            ours, theirs = (engine.run(SweepOptions(keep=kept)) for engine in (here, there))
            assert all(len(each) == plain.n for each in theirs)
            inside = ours[1] >= 0
            np.testing.assert_array_equal(theirs[1] >= 0, inside)
            for mine, its in zip(ours, theirs, strict=True):
                np.testing.assert_array_equal(mine[inside], its[inside])
            if asked.halfway and asked.keep is not None:
                assert ours[2][other.halfway] == one.depth // 2
            source = (one.far, one.central, max(one.next))[number % 3]
            keep = (1, 2, None)[number % 3]
            asked = SweepOptions(source if source >= 0 else hub.vertex, keep=keep, halfway=True, central=True)
        assert there.placed.numbers is not None
        with pytest.raises(UsageError, match="has no edges"):
            there.run(SweepOptions(int(np.flatnonzero(plain.degrees() == 0)[0])))


def test_a_plan_counts_the_vertices_that_have_numbers():
    plain = GRAPHS["random"]
    work = (ManyOptions(sums=True),)
    own = Renumbered(plain, 1).graph
    assert own.n * 2 <= plain.n
    for residency in ("vram", "mapped"):
        few = make_plan(own, residency, 1 << 30, hot_bytes=0, work=work).device_bytes
        assert few < make_plan(plain, residency, 1 << 30, hot_bytes=0, work=work).device_bytes
        plan, numbers = plan_and_numbers(plain, (residency, few, None, 0, None, True), work)
        assert numbers is not None and plan.work[0].bits == 512 and plan.device_bytes == few
        options = {"residency": residency, "hot_bytes": 0, "vram_budget": few}
        with GpuEngine(plain, work=work, runtime=SimtRuntime(), **options) as engine:
            engine.run(ManyOptions(np.arange(512) % plain.n, sums=True))
            planned = {item.name: item.bytes for item in engine.plan.buffers if item.where == "vram"}
            taken = engine.buffers()
            assert taken.keys() <= planned.keys() and ("numbers" in taken) == (residency == "mapped")
            assert all(grain(size) <= planned[name] for name, size in taken.items())
            assert taken["seen"] == own.n * 64
    rest = (1 << 30, None, None, None, True)
    assert plan_and_numbers(plain, ("vram", *rest), (BfsOptions(),))[1] is None, "made while edges are copied"
    streamed, numbers = plan_and_numbers(plain, ("streamed", *rest), work)
    assert numbers is None and streamed.residency == "streamed"


def test_who_wants_the_vertices_of_the_file_is_planned_for_anew():
    plain = GRAPHS["dense"]
    work = ManyOptions(sources_of(plain, 30), fetch=True, width=64)
    queue = BfsOptions(int(np.argmax(plain.degrees())), strategy="queue")
    with GpuEngine(plain, work=(work,), runtime=SimtRuntime()) as engine:
        planned = engine.plan
        found = engine.run(work)
        alone = engine.run(queue)
        assert engine.placed.numbers is None and engine.placed.n == plain.n
        assert engine.plan is not planned and engine.plan.work == (queue,)
        np.testing.assert_array_equal(alone.levels, many(plain, np.array([queue.source]))[0])
        np.testing.assert_array_equal(engine.run(work).levels, found.levels)
