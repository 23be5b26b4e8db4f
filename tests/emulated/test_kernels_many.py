"""The kernels for many searches at once, emulated: widths, directions, hubs, thin levels, what is collected.

Levels and everything collected against single searches, and after every launch what must hold between the two arrays
of bits, the frontier's bitmap and its queue (many_watch.py). In the preempting build every run has another seed.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import zoo
from wide import CODEC_OF, counted, damaged, split

import bigbfs
from bigbfs import api
from bigbfs.algorithms.components.options import ComponentsOptions
from bigbfs.algorithms.many.gpu import program
from bigbfs.algorithms.many.gpu.directions import BOTTOM_UP, TOP_DOWN
from bigbfs.algorithms.many.gpu.tuning import Tuning
from bigbfs.algorithms.many.options import ManyOptions
from bigbfs.algorithms.many.reference import many
from bigbfs.algorithms.many.validate import differences_of_sums
from bigbfs.engines.gpu.engine import GpuEngine
from bigbfs.engines.gpu.planning import make_plan
from bigbfs.errors import DoesNotFitError, FormatError, UsageError, VerificationError
from bigbfs.graph.adjacency import PlainAdjacency
from bigbfs.graph.flags import GraphFlags
from bigbfs.graph.graph import Graph
from emulated.invariants import array_at
from emulated.many_watch import FrontierWatch
from emulated.runtime import SimtRuntime, builds_here

HERE = builds_here()
SANITIZED = not set(HERE) <= {"plain", "preempt"}
TUNINGS = {
    "top-down": Tuning(push_edge=1e-9, file_edge=1e-9, sort_from=8, hubs_from=300),
    "bottom-up": Tuning(push_edge=1e9, apart_ids=16, mapped_apart_ids=0, span=5),
    "rows apart": Tuning(push_edge=1e9, apart_ids=1024, mapped_apart_ids=1024),
    "bottom-up by a bitmap": Tuning(push_edge=1e9, sparse_share=2.0),
    # what bottom-up reads is dear, looking at vertices is a gift: most sources are spread
    "split": Tuning(push_edge=1.0, pull_edge=1e3, pull_vertex=-1e9, shares=(0.1, 0.4), split_from=0, sparse_share=0.0),
    "split, by a bitmap": Tuning(pull_edge=1e3, pull_vertex=-1e9, shares=(0.3,), split_from=0, sparse_share=2.0),
    # levels that are launched one by one, whose hubs have a kernel of their own
    "top-down, wide": Tuning(push_edge=1e-9, pull_edge=1e9, pull_vertex=0.0, split_from=1 << 60, few_words=8),
    "in turn": Tuning(push_edge=1.0, pull_vertex=0.5, sort_from=1),
}
WIDTHS = (64, 256, 512, 128)

BIPARTITE = zoo.join(
    (np.repeat(np.arange(3), 2_100), np.tile(np.arange(10, 2_110), 3)),
    (np.arange(10, 2_110), np.arange(10, 2_110) * 7 % 90 + 2_200),
    zoo.path(40, first=2_295),
)


def by_degree(n: int, m: int) -> Graph:
    """Return ``m`` random edges of ``n`` vertices, most of them of a few, stored by descending degree."""
    ends = (n * np.random.default_rng(9).random((2, m)) ** 3).astype(np.int64)
    ranks = np.argsort(np.argsort(-zoo.build(n, ends).degrees(), kind="stable"), kind="stable")
    return Graph(zoo.build(n, ranks[ends]).adjacency, GraphFlags(relabelled=True))


GRAPHS = {
    "random": zoo.build(170, zoo.random(170, 850, seed=3)),
    "three hubs and a path": zoo.build(2_400, BIPARTITE),
    "directed": zoo.build(150, zoo.random(150, 500, seed=5), directed=True),
    "no in-rows": zoo.build(150, zoo.random(150, 500, seed=6), directed=True, in_rows=False),
    "path": zoo.build(40, zoo.path(40)),
    "dense": zoo.build(90, zoo.random(90, 2_500, seed=7)),
    "wide ids": zoo.shared()["wide-ids-hub"],
    "by degree": by_degree(300, 4_000),
}
FEW = ("random", "three hubs and a path", "no in-rows")
SANITIZED_GRAPHS = ("three hubs and a path",)


def check(graph, tuning, width, *, build="plain", codec="plain", residency="vram", seed=0, sources=None, **options):
    """Run twice on one engine and hold everything against single searches; return the last record."""
    if sources is None:
        sources = np.random.default_rng(width).integers(0, graph.n, min(width - 3, 2 * graph.n))
    expected = many(graph, sources, max_depth=options.get("max_depth"))
    work = ManyOptions(
        sources, sums=True, harmonic=True, columns=True, fetch=True, width=width, tuning=tuning, **options
    )  # fmt: skip
    runtime = SimtRuntime(build=build, seed=seed if build == "preempt" else 0)
    watch = FrontierWatch(graph, width)
    runtime.watchers.append(watch)
    placed = graph.compress() if codec == "varint" else graph
    with GpuEngine(placed, work=(work,), residency=residency, runtime=runtime) as engine:
        for _ in range(2):  # the second run starts from what the first one left
            found = engine.run(work)
            np.testing.assert_array_equal(found.levels, expected)
            assert differences_of_sums(found, expected) == []
            assert found.record.pairs == (expected >= 0).sum()
    assert watch.launches or options.get("max_depth") == 0
    return found.record


def cases():
    """Yield (build, graph, tuning, codec, width): all graphs and tunings in the plain build, few elsewhere.

    ``make test`` takes two of the four widths in the plain build, and one codec elsewhere: each variant is compiled.
    """
    names = {"plain": GRAPHS, "preempt": FEW}
    for build in HERE:
        for i, name in enumerate(names.get(build, SANITIZED_GRAPHS)):
            for j, how in enumerate(TUNINGS):
                if (build == "preempt" and (i + j) % 2) or (name == "wide ids" and j > 1):
                    continue
                if build == "plain":
                    yield build, name, how, ("plain", "varint")[(i + j // 2) % 2], WIDTHS[(i + j) % 4]
                else:
                    yield from ((build, name, how, *variant) for variant in (("plain", 64), ("varint", 256)))


def in_core(build, name, how, codec, width):
    """Return whether ``make test`` runs this: in the plain build every graph, and every tuning on the first two."""
    if build != "plain":
        return codec == CODEC_OF[build] and list(TUNINGS).index(how) % 4 == list(GRAPHS).index(name) % 4
    return width == 64 or (width == 512 and list(GRAPHS).index(name) < 2)


@pytest.mark.covered("how+build", "codec+width", "build+codec")
@pytest.mark.parametrize(("build", "name", "how", "codec", "width"), split(cases(), in_core))
def test_searches(build, name, how, codec, width):
    sources = np.arange(0, GRAPHS[name].n, max(1, GRAPHS[name].n // 60))[:60] if build != "plain" else None
    residency = ("vram", "mapped")[len(how) % 2]
    record = check(
        GRAPHS[name], TUNINGS[how], width, build=build, codec=codec, residency=residency, seed=1, sources=sources
    )  # fmt: skip
    if how.startswith("top-down") or name == "no in-rows":
        assert not record.steps[BOTTOM_UP]
    elif how != "in turn" and name != "wide ids":
        # the first level, and where all vertices are full, so that none is a gift to look at any more, the last one
        ended = (name, how) == ("dense", "split, by a bitmap")
        assert record.steps[BOTTOM_UP] >= 1 and record.steps[TOP_DOWN] == 1 + ended


@pytest.mark.parametrize(("codec", "sparse"), [("plain", 0.0), ("varint", 2.0)])
@pytest.mark.parametrize("build", [build for build in HERE if build == "plain"])
def test_a_wide_row_brings_the_sources_of_each_lane_by_other_ids(build, codec, sparse):
    """Lanes hold 64 sources each; those of the first lane stand in the front of the row, and every id brings one."""
    legs = np.arange(1, 601)
    graph = zoo.build(1_201, (np.concatenate([legs * 0, legs]), np.concatenate([legs, legs + 600])))
    tuning = replace(TUNINGS["bottom-up"], sparse_share=sparse)
    record = check(graph, tuning, 512, build=build, codec=codec, sources=np.arange(601, 1_101))
    assert record.steps[BOTTOM_UP] >= 1


@pytest.mark.parametrize("build", counted(HERE))
def test_depths_and_repeated_sources(build):
    graph = GRAPHS["random"]
    sources = np.array([7, 7, 8, 169, 7])
    for how in ("top-down", "bottom-up"):
        for depth in (0, 1, 3):
            check(graph, TUNINGS[how], 64, build=build, sources=sources, max_depth=depth)


@pytest.mark.parametrize("build", [build for build in HERE if build == "plain"])
@pytest.mark.parametrize("how", ["top-down", "bottom-up", "in turn"])
def test_counts_may_be_taken_after_every_level_or_every_other(build, how):
    for span in (1, 2):
        for name, residency in (("path", "vram"), ("random", "mapped"), ("random", "streamed")):
            tuning = replace(TUNINGS[how], span=span)
            record = check(GRAPHS[name], tuning, 64, build=build, residency=residency, sources=np.arange(0, 40, 7))
            assert sum(record.steps.values()) > 3


@pytest.mark.parametrize("field", ["span", "most_levels"])
def test_no_level_at_a_time_is_refused(field):
    with pytest.raises(UsageError, match=f"{field}.* must be 1 or more"):
        Tuning(**{field: 0})


@pytest.mark.parametrize("ranked", [True, False])
def test_sources_whose_neighbours_are_strong_have_the_first_bits(ranked):
    graph = GRAPHS["three hubs and a path"]
    sources = np.random.default_rng(1).permutation(graph.n)[:60]
    begun = []

    def watch(name, grid, block, args):
        if name == "many_begin" and grid and int(args[2]):
            begun.append(array_at(args[0]["many_sources"], len(sources), np.uint64).astype(np.int64))

    work = ManyOptions(sources, columns=True, fetch=True, width=64, tuning=Tuning(ranked_bits=ranked))
    expected = many(graph, sources)
    runtime = SimtRuntime()
    runtime.watchers.append(watch)
    with GpuEngine(graph, work=(work,), runtime=runtime) as engine:
        found = engine.run(work)
    np.testing.assert_array_equal(found.levels, expected)
    np.testing.assert_array_equal(found.depth, expected.max(axis=1))
    rows, degrees = graph.adjacency, graph.degrees()
    strengths = [degrees[rows.indices[rows.indptr[v] : rows.indptr[v + 1]]].max(initial=0) for v in begun[-1]]
    assert (np.diff(strengths) <= 0).all() == ranked


def test_batches_follow_each_other_and_sums_go_on():
    graph = GRAPHS["random"]
    sources = np.arange(150)
    expected = many(graph, sources)
    work = ManyOptions(sources, sums=True, columns=True, fetch=True, width=64)
    seen = []
    stopped = iter([False, False, True])
    with GpuEngine(graph, work=(work,), runtime=SimtRuntime()) as engine:
        found = engine.run(work)
        np.testing.assert_array_equal(found.levels, expected)
        assert differences_of_sums(found, expected) == []
        assert (found.record.batches, found.record.width, found.record.sources) == (3, 64, 150)
        narrow = ManyOptions(sources, visit=lambda first, levels: seen.append((first, levels.shape)), width=32)
        assert engine.run(narrow).record.batches == 5
        assert seen[-1] == (128, (170, 22))
        half = engine.run(ManyOptions(sources, stop=lambda: next(stopped), width=64))
        np.testing.assert_array_equal(half.depth, expected.max(axis=1)[:128])
        assert half.record.sources == 128


def test_backward_and_verified():
    graph = GRAPHS["directed"]
    work = ManyOptions(np.arange(70), sums=True, backward=True, width=128)
    with GpuEngine(graph, work=(work,), runtime=SimtRuntime()) as engine:
        found = engine.run(work)
        assert differences_of_sums(found, many(graph, np.arange(graph.n))[:, :70].T) == []
        engine.program(work).verify(work, found)
        found.reach[3] += 1
        with pytest.raises(VerificationError, match="reach"):
            engine.program(work).verify(work, found)
    with pytest.raises(UsageError, match="in-neighbours"):
        GpuEngine(GRAPHS["no in-rows"], work=(work,), runtime=SimtRuntime())


def test_levels_for_which_there_is_no_memory_are_verified_on_the_cpu(monkeypatch):
    graph = GRAPHS["directed"]
    work = ManyOptions(np.arange(5), sums=True)
    elsewhere = []

    def search(again):
        again.visit(0, many(graph, again.sources).T)
        elsewhere.append(again)

    with GpuEngine(graph, work=(work,), runtime=SimtRuntime()) as engine:
        found = engine.run(work)
        monkeypatch.setattr(SimtRuntime, "free_bytes", lambda self: 100)
        monkeypatch.setattr(program, "_on_cpu", lambda graph, options: search)
        engine.program(work).verify(work, found)
        with pytest.raises(DoesNotFitError, match="1 source at a time take 600 B of GPU memory more"):
            engine.run(ManyOptions(np.arange(5), fetch=True))
    assert len(elsewhere) == 1


@pytest.mark.parametrize("build", damaged(HERE))
@pytest.mark.parametrize("how", ["top-down", "bottom-up", "rows apart"])
def test_an_id_out_of_range_is_an_error_and_no_access(build, how):
    plain = GRAPHS["dense"]
    indices = plain.adjacency.indices.copy()
    indices[::41] = 2**32 - 1
    damaged = Graph(PlainAdjacency(plain.adjacency.indptr, indices), plain.flags, in_adjacency=None)
    both = Graph(damaged.adjacency, plain.flags, in_adjacency=damaged.adjacency)
    for graph in (damaged, both):
        work = ManyOptions(np.arange(20), width=64, tuning=TUNINGS[how])
        engine = GpuEngine(graph, work=(work,), prove=False, head_groups=0, runtime=SimtRuntime(build=build))
        with engine, pytest.raises(FormatError, match="no vertices"):
            engine.run(work)


def test_nothing_to_search():
    empty = Graph.from_csr([0], [])
    with GpuEngine(empty, work=(ManyOptions(),), runtime=SimtRuntime()) as engine:
        assert engine.run(ManyOptions()).record.sources == 0
    lonely = Graph.from_csr([0, 0, 0], [])
    with GpuEngine(lonely, work=(ManyOptions(),), runtime=SimtRuntime()) as engine:
        found = engine.run(ManyOptions([1, 0], columns=True))
        assert found.depth.tolist() == [0, 0] and found.far.tolist() == [1, 0] and found.columns.tolist() == [[1, 1]]


def test_a_plan_takes_the_widest_batches_that_fit_and_names_them():
    graph = GRAPHS["random"]
    work = (ManyOptions(sums=True),)
    most = make_plan(graph, "vram", 1 << 30, work=work)
    assert most.work[0].bits == 512 and "512 sources" in most.ledger()
    budget = most.device_bytes
    for bits, groups in ((512, 1), (256, 2), (256, 1), (128, 2), (128, 1), (64, 2)):
        plan = make_plan(graph, "vram", budget - 1, work=work)
        assert (plan.work[0].bits, plan.head_groups) == (bits, groups)
        budget = plan.device_bytes
    assert make_plan(graph, "vram", budget - 1, work=work).head_groups < 2
    with pytest.raises(DoesNotFitError, match="does not fit"):
        make_plan(graph, "vram", budget - 1, work=(ManyOptions(sums=True, width=256),))
    with GpuEngine(graph, work=work, vram_budget=budget, residency="vram", runtime=SimtRuntime()) as engine:
        assert engine.plan.work[0].bits == 64


def test_measures_are_those_of_the_cpu():
    graph = GRAPHS["random"]
    work = (ManyOptions(sums=True, harmonic=True, columns=True, fetch=True, width=64), ComponentsOptions())
    with api.Engine(graph, GpuEngine(graph, work=work, runtime=SimtRuntime()), "auto") as there:
        for kind in ("closeness", "harmonic"):
            one, other = (bigbfs.closeness(each, kind=kind, backend="cpu") for each in (graph, there))
            np.testing.assert_array_equal(one.values, other.values)
        one, other = (bigbfs.hops(each, "random:70", backend="cpu") for each in (graph, there))
        np.testing.assert_array_equal(one.within, other.within)
        one, other = (bigbfs.distances(each, "random:9", backend="cpu") for each in (graph, there))
        np.testing.assert_array_equal(one.levels, other.levels)
        one, other = (bigbfs.eccentricity(each, backend="cpu") for each in (graph, there))
        np.testing.assert_array_equal(one.lower, other.lower)
        assert one.exact and other.exact
