"""The byte ledger: what is chosen, what is refused, and that a run takes no more than was planned."""

import shutil
from dataclasses import replace

import numpy as np
import pytest
import zoo

from bigbfs import generate
from bigbfs.algorithms.components.options import ComponentsOptions
from bigbfs.algorithms.gpu_engine import make_plan
from bigbfs.algorithms.words import usual_work
from bigbfs.engines.gpu import planning as plan
from bigbfs.engines.gpu.floor import vertices_with_edges
from bigbfs.engines.gpu.placement import ledger
from bigbfs.engines.gpu.placement.hot import NOTHING_HOT, hottest
from bigbfs.engines.gpu.placement.ledger import PLACES, grain
from bigbfs.engines.gpu.planning import GRAIN, Limits, choose_residency, default_budget
from bigbfs.engines.gpu.streamed import ledger as stages
from bigbfs.engines.gpu.streamed.ledger import SMALLEST, STAGES, stage_capacity, stage_sizes
from bigbfs.errors import DoesNotFitError, UsageError
from bigbfs.graph.adjacency import BLOCK_IDS, PlainAdjacency
from bigbfs.graph.graph import Graph
from bigbfs.sizes import parse_size

ENOUGH = 1 << 40


def buffer(plan, name):
    return next(found for found in plan.buffers if found.name == name)


def test_vram_if_it_fits_else_mapped_else_refused():
    graph = zoo.shared()["clique"]
    vram = make_plan(graph, "vram", ENOUGH)
    mapped = make_plan(graph, "mapped", ENOUGH, head_groups=2, hot_bytes=0)
    assert vram.host_bytes == 0
    assert mapped.host_bytes == buffer(vram, "indices").bytes
    assert vram.device_bytes == mapped.device_bytes + mapped.host_bytes
    heads = {
        place: sum(found.bytes for found in plan.buffers if "heads" in found.name)
        for place, plan in (("vram", vram), ("mapped", mapped))
    }
    assert (vram.head_groups, mapped.head_groups) == (2, 2)
    tight = make_plan(graph, "auto", vram.device_bytes)
    assert tight == replace(vram, limits=tight.limits, why=tight.why)
    fewer = make_plan(graph, "auto", vram.device_bytes - 1)
    assert (fewer.residency, fewer.head_groups) == ("vram", 1)
    least = vram.device_bytes - heads["vram"]
    assert make_plan(graph, "auto", least).head_groups == 0
    assert make_plan(graph, "auto", least - 1).residency == "mapped"
    assert make_plan(graph, "mapped", mapped.device_bytes).head_groups == 2
    # without the records of levels and the list of chunks of a launch for all levels
    assert make_plan(graph, "auto", mapped.device_bytes - heads["mapped"] - 1).residency == "streamed"
    with pytest.raises(DoesNotFitError) as caught:
        make_plan(graph, "auto", 100_000)
    assert caught.value.exit_code == 5


OPTIONS = ("residency", "vram_budget", "ram_budget", "compressed", "backend")


@pytest.mark.parametrize(
    ("residency", "codec", "ram", "helps"),
    [
        ("vram", "plain", None, ["vram_budget", "compressed", "backend"]),
        ("vram", "varint", None, ["vram_budget", "backend"]),
        ("mapped", "plain", None, ["vram_budget", "compressed", "backend"]),
        ("mapped", "plain", 2000, ["vram_budget", "ram_budget", "compressed", "backend"]),
    ],
)
def test_the_refusal_says_what_helps(residency, codec, ram, helps):
    graph = zoo.shared()["clique"]
    with pytest.raises(DoesNotFitError) as caught:
        make_plan(graph.compress() if codec == "varint" else graph, residency, 1000, ram_budget=ram)
    lines = str(caught.value).splitlines()
    assert [remedy.what.name for remedy in caught.value.remedies] == helps
    assert lines[-1].startswith("what helps: ") and lines[-1].endswith('use backend="cpu"')
    assert residency in lines[0] and "does not fit" in lines[0]
    assert any(line.split()[:1] == ["indptr"] and " vram " in line for line in lines)
    assert lines[-3].split()[-3:] == ["1,000", "B", "vram"]


@pytest.fixture(scope="module", params=["plain", "varint"])
def on_disk(request, tmp_path_factory):
    made = generate.graph("kronecker", scale=13, edge_factor=128, seed=1)
    path = tmp_path_factory.mktemp("plan") / "g.csrbin"
    (made if request.param == "plain" else made.compress()).save(path)
    with Graph.open(path) as graph:
        yield graph


@pytest.mark.parametrize("residency", ["auto", "vram", "mapped", "streamed"])
@pytest.mark.parametrize(("vram", "ram"), [(1000, 1000), (1000, ENOUGH), (1 << 20, 1000), (3 << 19, 1000)])
def test_every_hint_helps_and_one_step_less_does_not(on_disk, residency, vram, ram):
    def fits(residency="auto", vram_budget=vram, ram_budget=ram):
        try:
            return make_plan(on_disk, residency, vram_budget, ram_budget=ram_budget).fits
        except DoesNotFitError:
            return False

    with pytest.raises(DoesNotFitError) as caught:
        make_plan(on_disk, residency, vram, ram_budget=ram)
    found = {each.what.name: each.what.value for each in caught.value.remedies if each.what.name in OPTIONS[:3]}
    if "residency" in found:
        assert fits(found.pop("residency"))
    sizes = {name: parse_size(size) for name, size in found.items()}
    assert sizes
    for given in [sizes] if "together" in str(caught.value) else [{name: size} for name, size in sizes.items()]:
        assert fits(residency, **given)
        for name, size in given.items():
            assert not fits(residency, **given | {name: size - (1 << 20)})


def test_locked_host_memory_is_limited():
    graph = zoo.shared()["kronecker-dense"]
    need = make_plan(graph, "mapped", ENOUGH).host_bytes
    assert make_plan(graph, "mapped", ENOUGH, ram_budget=need).residency == "mapped"
    with pytest.raises(DoesNotFitError, match=r"ram_budget=") as caught:
        make_plan(graph, "mapped", ENOUGH, ram_budget=need - 1)
    assert caught.value.exit_code == 5
    # what needs no host memory does not care
    assert make_plan(graph, "auto", ENOUGH, ram_budget=0).residency == "vram"
    least = make_plan(graph, "vram", ENOUGH, head_groups=0).device_bytes
    with pytest.raises(DoesNotFitError, match=r"vram: .* does not fit; mapped: .* does not fit"):
        make_plan(graph, "auto", least - 1, ram_budget=need - 1)


def test_by_default_nearly_all_of_the_machine_may_be_locked(tmp_path, monkeypatch):
    zoo.shared()["kronecker-dense"].save(tmp_path / "g.csrbin")
    with Graph.open(tmp_path / "g.csrbin") as graph:
        need = make_plan(graph, "mapped", ENOUGH).host_bytes
        monkeypatch.setattr(plan, "total_memory", lambda: int(need / plan.LOCKED_SHARE) + 1)
        assert make_plan(graph, "mapped", ENOUGH).host_bytes == need
        monkeypatch.setattr(plan, "total_memory", lambda: need)
        with pytest.raises(DoesNotFitError):
            make_plan(graph, "mapped", ENOUGH)
    # an array in memory takes no more of it by being locked
    assert make_plan(zoo.shared()["kronecker-dense"], "mapped", ENOUGH).residency == "mapped"


def test_pages_of_a_file_are_mapped_a_copy_is_pinned(tmp_path):
    zoo.shared()["two-hubs"].save(tmp_path / "g.csrbin")
    with Graph.open(tmp_path / "g.csrbin") as graph:
        assert buffer(make_plan(graph, "mapped", ENOUGH), "indices").where == "mapped"
        copied = make_plan(graph, "mapped", ENOUGH, registers_read_only=False)
        assert buffer(copied, "indices").where == "pinned"
        assert copied.host_bytes == copied.bytes_in("pinned") > 0
    # a small array of the caller's is copied too
    assert buffer(make_plan(zoo.shared()["two-hubs"], "mapped", ENOUGH), "indices").where == "pinned"


def test_why_names_every_residency_that_was_considered():
    graph = zoo.shared()["clique"]
    assert [line.split(":")[0] for line in make_plan(graph, "auto", ENOUGH).why] == ["vram"]
    least = make_plan(graph, "vram", ENOUGH, head_groups=0).device_bytes
    why = make_plan(graph, "auto", least - 1).why
    assert [line.split(":")[0] for line in why] == ["vram", "mapped"]
    assert "does not fit" in why[0] and "the first that fits" in why[1]
    assert "asked for" in make_plan(graph, "mapped", ENOUGH).why[0]


def test_the_decision_is_one_function():
    graph = zoo.shared()["two-hubs"]
    for residency in ("auto", "vram", "mapped"):
        chosen = choose_residency(graph, residency, Limits(ENOUGH, ENOUGH), work=usual_work())
        assert chosen == make_plan(graph, residency, ENOUGH, hot_bytes=0, ram_budget=ENOUGH)
    assert {item.where for item in chosen.buffers} <= set(PLACES)


def test_hot_rows_take_what_is_left():
    graph = zoo.shared()["two-hubs"]
    bare = make_plan(graph, "mapped", ENOUGH, hot_bytes=0)
    assert bare.hot_bytes == 0
    edges = bare.host_bytes
    half = make_plan(graph, "mapped", ENOUGH)
    assert edges // 2 - GRAIN < half.hot_bytes <= edges // 2
    assert half.device_bytes == bare.device_bytes + half.hot_bytes
    assert "rows of the largest hubs" in half.ledger()
    for left in (0, GRAIN, 4 * GRAIN, 10_000):
        plan = make_plan(graph, "mapped", bare.device_bytes + left)
        assert plan.hot_bytes in (0, left // GRAIN * GRAIN)
        assert plan.device_bytes <= plan.limits.vram
    assert make_plan(graph, "mapped", bare.device_bytes + GRAIN).hot_bytes == 0, "no room for their offsets"
    assert make_plan(graph, "vram", ENOUGH).hot_bytes == 0
    assert make_plan(zoo.shared()["path"], "mapped", ENOUGH).hot_bytes == 0


def test_the_hottest_rows():
    ids = np.array([2000, 5000, 3000, 3000, 1100])
    assert hottest(ids, 4 * ids, 10**6)[::2] == (1100, 8064 + 20096 + 2 * 12032 + 4480)
    hot_from, offsets, total = hottest(ids, 4 * ids, 20096 + 2 * 12032)
    assert (hot_from, offsets.tolist(), total) == (3000, [0, 0, 20096, 32128, 0], 44160)
    # one of two equal rows would fit
    assert hottest(ids, 4 * ids, 44159) == (5000, pytest.approx(np.zeros(5)), 20096)
    assert hottest(ids, 4 * ids, 20095)[::2] == (NOTHING_HOT, 0)
    assert hottest(ids, 4 * ids, -5)[::2] == (NOTHING_HOT, 0)
    none = np.empty(0, np.int64)
    assert hottest(none, none, 100)[::2] == (NOTHING_HOT, 0)


def test_unknown_residency():
    with pytest.raises(UsageError, match="cloud"):
        make_plan(zoo.shared()["path"], "cloud", ENOUGH)


def test_in_rows_count_only_where_they_are_stored():
    stored = make_plan(zoo.shared()["directed-in-rows"], "vram", ENOUGH)
    absent = make_plan(zoo.shared()["directed-out-only"], "vram", ENOUGH)
    assert any(found.name.startswith("in_") for found in stored.buffers)
    assert not any(found.name.startswith("in_") for found in absent.buffers)


@pytest.mark.parametrize("free", [0, 1, 100 << 20, 6 << 30, 140 << 30])
def test_default_budget_leaves_a_reserve(free):
    assert free // 2 <= default_budget(free) <= free


def counting_runtime():
    """Return an emulated runtime that adds up what is allocated in `taken`."""
    from emulated.runtime import SimtRuntime

    class Counting(SimtRuntime):
        """Adds up allocations as the device's pool does, none ever freed."""

        taken = 0

        def take(self, array):
            self.taken += -(-array.nbytes // GRAIN) * GRAIN
            return array

        def empty(self, shape, dtype):
            return self.take(super().empty(shape, dtype))

        def upload(self, array):
            return self.take(super().upload(array))

        def map(self, array, use):
            before = self.taken
            mapping = super().map(array, use)
            self.taken = before
            return mapping

    return Counting()


@pytest.mark.covered
@pytest.mark.parametrize("codec", ["plain", "varint"])
@pytest.mark.parametrize("residency", ["vram", "mapped", "streamed"])
def test_the_ledger_is_what_is_allocated(residency, codec):
    """Line by line: each array has its own, of its size; the arrays of hubs may be smaller, by what no degree says."""
    if shutil.which("g++") is None:
        pytest.skip("no g++: the kernels cannot be emulated")
    from bigbfs.algorithms.gpu_engine import GpuEngine

    # one hub of more chunks than a line of 512 bytes names
    hub = zoo.build(140_001, (np.zeros(140_000, int), np.arange(1, 140_001)), directed=True, in_rows=False)
    for name in ("two-hubs", "degree-2048", "wide-ids-hub", "directed-in-rows", "one-vertex", "empty", "hub"):
        graph = hub if name == "hub" else zoo.shared()[name]
        graph = graph.compress() if codec == "varint" else graph
        runtime = counting_runtime()
        with GpuEngine(graph, residency=residency, runtime=runtime) as engine:
            if graph.n:
                engine.bfs(int(np.argmax(graph.degrees())))
            engine.connected_components()
            if name != "hub":
                engine.connected_components(ComponentsOptions("labelprop"))
            assert engine.bytes.device == sum(engine.buffers().values())
            assert engine.bytes.device <= runtime.taken <= engine.plan.device_bytes, name
            planning = sum(item.bytes for item in engine.plan.buffers if "planning" in item.name)
            assert engine.bytes.host <= engine.plan.host_bytes + planning
            taken = engine.buffers()
            planned = {item.name: item.bytes for item in engine.plan.buffers if item.where == "vram"}
            if not graph.n:
                planned["parents"] = planned["levels"] = 0
            assert set(taken) >= set(planned) - {"placement", "in_placement"} - HOT - NO_RUN[not graph.n]
            for key, size in taken.items():
                if size == 0:  # takes nothing, wherever its line says that it would
                    continue
                rounded = grain(size)
                upper_bound = key.removeprefix("in_") in AT_MOST
                assert rounded <= planned[key] if upper_bound else rounded == planned[key], (name, key)


AT_MOST = {"hubs", "hub_ptr", "chunk_hub", "chunk_list", "hot", "hot_ptr"}
"""What hubs take is known when offsets have been read."""
HOT = {"hot", "hot_ptr", "in_hot", "in_hot_ptr"}
NO_RUN = {False: set(), True: {"levels", "parents"}}
"""Allocated by the first traversal: a graph without vertices has none."""


def test_what_may_not_be_locked_is_streamed():
    graph = zoo.shared()["star"]
    mapped = make_plan(graph, "mapped", ENOUGH, hot_bytes=0)
    streamed = make_plan(graph, "auto", mapped.device_bytes, head_groups=2, ram_budget=mapped.host_bytes - 1)
    assert (mapped.residency, streamed.residency) == ("mapped", "streamed")
    assert streamed.bytes_in("pinned") == streamed.stage_bytes < mapped.host_bytes
    assert streamed.bytes_in("mapped") == 0
    assert [line.split(":")[0] for line in streamed.why] == ["vram", "mapped", "streamed"]
    assert "mapped" in streamed.why[1] and "does not fit" in streamed.why[1]
    with pytest.raises(DoesNotFitError, match='residency="streamed"'):
        make_plan(graph, "mapped", ENOUGH, ram_budget=mapped.host_bytes - 1)
    least = stage_sizes(graph)[-1]
    assert make_plan(graph, "streamed", ENOUGH, ram_budget=least).stage_bytes == least
    with pytest.raises(DoesNotFitError, match="ram_budget=") as caught:
        make_plan(graph, "streamed", ENOUGH, ram_budget=least - 1)
    assert "streamed" not in str(caught.value).splitlines()[-1]


@pytest.mark.parametrize("name", ["kronecker-dense", "one-vertex", "directed-in-rows"])
def test_stages_are_a_few_sizes_and_hold_a_chunk(name, monkeypatch):
    graph = zoo.shared()[name]
    sizes = stage_sizes(graph)
    assert sizes == sorted(sizes, reverse=True)
    assert all(size >= STAGES * SMALLEST and size == STAGES * stage_capacity(size) for size in sizes)
    monkeypatch.setattr(stages, "STAGE_BYTES", SMALLEST)
    assert set(stage_sizes(graph)) == {STAGES * SMALLEST}


@pytest.mark.parametrize("degrees", [[2049], [1025] * 3, [1024] * 5, [3000, 1025, 10, 4097], [1]])
def test_as_many_chunks_are_planned_as_hubs_can_have(degrees):
    indptr = np.concatenate([[0], np.cumsum(degrees)]).astype(np.uint64)
    adjacency = PlainAdjacency(indptr, np.zeros(int(indptr[-1]), np.uint32))
    assert ledger.chunks_of(adjacency) >= sum(-(-degree // BLOCK_IDS) for degree in degrees if degree > BLOCK_IDS)


@pytest.mark.parametrize("codec", ["plain", "varint"])
def test_vertices_with_edges(codec):
    for name in ("isolated", "kronecker", "empty", "late-isolated"):
        graph = zoo.shared()[name]
        adjacency = (graph.compress() if codec == "varint" else graph).adjacency
        assert vertices_with_edges(adjacency, block=7) == np.count_nonzero(graph.degrees())
