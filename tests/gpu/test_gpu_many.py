"""Many searches at once on a device: the zoo and larger graphs against single searches, at every width, repeatedly."""

import numpy as np
import pytest
import zoo

import bigbfs
from bigbfs import generate
from bigbfs.algorithms.many.gpu.tuning import Tuning
from bigbfs.algorithms.many.options import ManyOptions
from bigbfs.algorithms.many.reference import many
from bigbfs.algorithms.many.validate import differences_of_sums
from bigbfs.engines.gpu.engine import GpuEngine
from bigbfs.engines.gpu.streamed import feed, ledger, listed
from bigbfs.graph.graph import Graph
from bigbfs.measures.eccentricity import DIAMETER

N = 60_000
TUNINGS = {
    "as estimated": None,
    "top-down": Tuning(push_edge=1e-9, file_edge=1e-9, sort_from=64),
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
    # a third of its vertices have no edges, so that those that have get numbers of their own
    "numbers of their own": lambda: generate.graph("kronecker", scale=17, edge_factor=16, seed=3),
}
RESIDENCIES = ("vram", "mapped", "streamed")
EVERYTHING = {"sums": True, "harmonic": True, "columns": True, "fetch": True}


@pytest.fixture
def tiny(monkeypatch):
    """Make the stages of streamed rows so small that a level takes many batches."""
    monkeypatch.setattr(ledger, "STAGE_BYTES", ledger.SMALLEST)
    monkeypatch.setattr(feed, "LEAST_ROOM", ledger.SMALLEST)


@pytest.fixture(scope="module", params=["plain", "varint"])
def stored(request, tmp_path_factory):
    """A Kronecker graph of some million edges in a file, and the same in memory."""
    path = tmp_path_factory.mktemp("many") / ("kronecker.csrbin" if request.param == "plain" else "kronecker.ccsr")
    plain = generate.graph("kronecker", scale=17, edge_factor=16, seed=2)
    (plain.compress() if request.param == "varint" else plain).save(path)
    with Graph.open(path) as opened:
        yield opened, plain


def check(graph, work, expected, residency="auto", runs=1):
    with GpuEngine(graph, work=(work,), residency=residency) as engine:
        for _ in range(runs):
            found = engine.run(work)
            np.testing.assert_array_equal(found.levels, expected)
            assert differences_of_sums(found, expected) == []
    return found


@pytest.mark.parametrize("residency", RESIDENCIES)
@pytest.mark.parametrize("codec", ["plain", "varint"])
@pytest.mark.parametrize("name", zoo.names(big=False))
def test_the_zoo(name, codec, residency, tiny):
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
def test_larger_graphs_run_after_run(name, width, how, tiny):
    plain = LARGE[name]()
    sources = np.random.default_rng(7).integers(0, plain.n, width)
    expected = many(plain, sources)
    small = plain.compress()
    mapped = plain if "numbers" in name else small
    for residency, graph in (("vram", plain), ("mapped", mapped), ("streamed", plain if width == 64 else small)):
        work = ManyOptions(sources, width=width, tuning=TUNINGS[how], **EVERYTHING)
        check(graph, work, expected, residency, runs=3)


@pytest.mark.parametrize("rule", ["heads and hot rows", "neither, planned", "neither, listed"])
def test_rows_of_a_file_in_many_batches(stored, rule, monkeypatch):
    graph, plain = stored
    monkeypatch.setattr(ledger, "STAGE_BYTES", 1 << 17)
    monkeypatch.setattr(feed, "LEAST_ROOM", 1 << 16)
    if rule.endswith("planned"):
        monkeypatch.setattr(listed.Lister, "capacity", staticmethod(lambda nbytes: 0))
    sources = np.flatnonzero(plain.degrees())[::500][:200]
    expected = many(plain, sources)
    few = {} if rule.startswith("heads") else {"head_groups": 0, "hot_bytes": 0}
    for how in ("as estimated", "top-down", "bottom-up", "split"):
        work = ManyOptions(sources, width=256, tuning=TUNINGS[how], **EVERYTHING)
        with GpuEngine(graph, work=(work,), residency="streamed", **few) as engine:
            assert engine.edges_kind == "file"
            program = engine.program(work)
            program.batches.trace = []
            found = engine.run(work)
            np.testing.assert_array_equal(found.levels, expected)
            assert differences_of_sums(found, expected) == []
            rows = engine.placed.out
            read = sum(step.file for step in program.batches.trace)
            assert read >= (0.9 if few else 0.01) * rows.units * rows.unit


@pytest.mark.parametrize("residency", ["vram", "mapped"])
def test_vertices_with_edges_have_numbers_of_their_own(residency):
    """Of the vertices between others half have no edges; some sources are among these."""
    plain = generate.graph("kronecker", scale=17, edge_factor=16, seed=2)
    some, alone = (np.flatnonzero((plain.degrees() > 0) == linked) for linked in (True, False))
    sources = np.random.default_rng(3).permutation(np.concatenate([some[::500][:240], alone[::4_000][:10]]))
    expected = many(plain, sources)
    for width in (64, 128, 256, 512):
        for how in ("as estimated", "top-down", "bottom-up", "split"):
            work = ManyOptions(sources, width=width, tuning=TUNINGS[how], **EVERYTHING)
            with GpuEngine(plain, work=(work,), residency=residency) as engine:
                assert engine.placed.numbers is not None
                for _ in range(2):
                    found = engine.run(work)
                    np.testing.assert_array_equal(found.levels, expected)
                    assert differences_of_sums(found, expected) == []
                assert engine.bytes.device <= engine.plan.device_bytes
    here, there = (bigbfs.eccentricity(plain, goal="diameter", backend=backend) for backend in ("cpu", "gpu"))
    assert here.diameter == there.diameter


@pytest.mark.parametrize("residency", ["auto", "streamed"])
def test_backward_and_verified(residency):
    graph = LARGE["one way"]()
    twin = bigbfs.Graph(graph.in_adjacency, graph.flags, in_adjacency=graph.adjacency)
    sources = np.arange(0, N, N // 100)
    work = ManyOptions(sources, backward=True, **EVERYTHING)
    check(graph, work, many(twin, sources), residency)
    with bigbfs.engine(graph, backend="gpu", residency=residency, work=(work,)) as engine:
        assert engine.measure(work, verify=True).records[0].verified


@pytest.mark.parametrize("residency", ["vram", "streamed"])
def test_a_budget_makes_batches_narrow_and_the_plan_says_so(residency):
    graph = LARGE["random"]()
    work = ManyOptions(columns=True)
    with GpuEngine(graph, work=(work,), hot_bytes=0, residency=residency) as engine:
        full = engine.plan.device_bytes
    with GpuEngine(graph, work=(work,), vram_budget=full - 50 * N, hot_bytes=0, residency=residency) as engine:
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
    with bigbfs.engine(graph, backend="gpu", residency="streamed", work=DIAMETER) as engine:
        assert bigbfs.eccentricity(engine, goal="diameter").diameter == here.diameter
