"""Many searches at once on a device: the zoo and larger graphs against single searches, at every width, repeatedly."""

import numpy as np
import pytest
import zoo

import bigbfs
from bigbfs.algorithms.many.gpu.tuning import Tuning
from bigbfs.algorithms.many.options import ManyOptions
from bigbfs.algorithms.many.reference import many
from bigbfs.algorithms.many.validate import differences_of_sums
from bigbfs.engines.gpu.engine import GpuEngine
from bigbfs.errors import UsageError

N = 60_000
TUNINGS = {
    "as estimated": None,
    "top-down": Tuning(push_edge=1e-9, sort_from=64),
    "bottom-up": Tuning(push_edge=1e9, apart_ids=16, mapped_apart_ids=0, span=5),
    "rows apart": Tuning(push_edge=1e9, apart_ids=1024, mapped_apart_ids=1024),
    "bottom-up by a bitmap": Tuning(push_edge=1e9, sparse_share=2.0),
    # what bottom-up reads is dear, looking at vertices is a gift: most sources are spread
    "split": Tuning(push_edge=1.0, pull_edge=1e3, pull_vertex=-1e9, shares=(0.1, 0.4), split_from=0),
}
LARGE = {
    "random": lambda: zoo.build(N, zoo.random(N, 8 * N, seed=1)),
    "thin": lambda: zoo.build(N, zoo.grid(1_000, 60)),
    "hubs": lambda: zoo.build(N, zoo.join(zoo.star(N, hub=5), zoo.random(N, N, seed=2), zoo.path(900))),
    "one way": lambda: zoo.build(N, zoo.random(N, 3 * N, seed=3), directed=True),
}
EVERYTHING = {"sums": True, "harmonic": True, "columns": True, "fetch": True}


def check(graph, work, expected, residency="auto", runs=1):
    with GpuEngine(graph, work=(work,), residency=residency) as engine:
        for _ in range(runs):
            found = engine.run(work)
            np.testing.assert_array_equal(found.levels, expected)
            assert differences_of_sums(found, expected) == []
    return found


@pytest.mark.parametrize("residency", ["vram", "mapped"])
@pytest.mark.parametrize("codec", ["plain", "varint"])
@pytest.mark.parametrize("name", zoo.names(big=False))
def test_the_zoo(name, codec, residency):
    plain = zoo.shared()[name]
    graph = plain.compress() if codec == "varint" else plain
    if not graph.n:
        return
    for width, how in zip((64, 128, 256, 512, 256, 512), TUNINGS, strict=True):
        sources = np.random.default_rng(width).integers(0, graph.n, min(width - 3, 2 * graph.n))
        work = ManyOptions(sources, width=width, tuning=TUNINGS[how], **EVERYTHING)
        check(graph, work, many(plain, sources), residency)


@pytest.mark.parametrize("how", TUNINGS)
@pytest.mark.parametrize("width", [64, 512])
@pytest.mark.parametrize("name", LARGE)
def test_larger_graphs_run_after_run(name, width, how):
    plain = LARGE[name]()
    sources = np.random.default_rng(7).integers(0, plain.n, width)
    expected = many(plain, sources)
    for residency, graph in (("vram", plain), ("mapped", plain.compress())):
        work = ManyOptions(sources, width=width, tuning=TUNINGS[how], **EVERYTHING)
        check(graph, work, expected, residency, runs=3)


def test_backward_and_verified():
    graph = LARGE["one way"]()
    twin = bigbfs.Graph(graph.in_adjacency, graph.flags, in_adjacency=graph.adjacency)
    sources = np.arange(0, N, N // 100)
    work = ManyOptions(sources, backward=True, **EVERYTHING)
    check(graph, work, many(twin, sources))
    with bigbfs.engine(graph, backend="gpu", work=(work,)) as engine:
        assert engine.measure(work, verify=True).records[0].verified


def test_a_budget_makes_batches_narrow_and_the_plan_says_so():
    graph = LARGE["random"]()
    work = ManyOptions(columns=True)
    with GpuEngine(graph, work=(work,)) as engine:
        full = engine.plan.device_bytes
    with GpuEngine(graph, work=(work,), vram_budget=full - 50 * N, residency="vram") as engine:
        assert engine.plan.work[0].bits == 256
        found = engine.run(ManyOptions(np.arange(512), columns=True))
        assert (found.record.width, found.record.batches) == (256, 2)
        np.testing.assert_array_equal(found.columns.sum(axis=0), (many(graph, np.arange(512)) >= 0).sum(axis=1))


def test_measures_are_the_same_on_both_backends():
    graph = LARGE["hubs"]()
    for kind in ("closeness", "harmonic"):
        here, there = (bigbfs.closeness(graph, kind=kind, sources="random:600", backend=b) for b in ("cpu", "gpu"))
        np.testing.assert_array_equal(here.values, there.values)
    here, there = (bigbfs.hops(graph, "random:70", backend=b) for b in ("cpu", "gpu"))
    np.testing.assert_array_equal(here.within, there.within)
    here, there = (bigbfs.distances(graph, "random:70", backend=b) for b in ("cpu", "gpu"))
    np.testing.assert_array_equal(here.levels, there.levels)
    here, there = (bigbfs.eccentricity(graph, goal="diameter", backend=b) for b in ("cpu", "gpu"))
    assert here.diameter == there.diameter
    with pytest.raises(UsageError, match="streamed"):
        bigbfs.engine(graph, backend="gpu", residency="streamed", work=(ManyOptions(),))
