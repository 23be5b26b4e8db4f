"""The byte ledger: what is chosen, what is refused, and that a run takes no more than was planned."""

import shutil
from dataclasses import replace

import numpy as np
import pytest
import zoo

from bigbfs.adjacency import BLOCK_IDS, PlainAdjacency
from bigbfs.errors import DoesNotFitError, UsageError
from bigbfs.gpu import plan
from bigbfs.gpu.hot import NOTHING_HOT, hottest
from bigbfs.gpu.plan import GRAIN, default_budget, make_plan

ENOUGH = 1 << 40


def buffer(plan, name):
    return next(found for found in plan.buffers if found.name == name)


def test_vram_if_it_fits_else_mapped_else_refused():
    graph = zoo.shared()["clique"]
    vram = make_plan(graph, "vram", ENOUGH)
    mapped = make_plan(graph, "mapped", ENOUGH, hot_bytes=0)
    assert vram.host_bytes == 0
    assert mapped.host_bytes == buffer(vram, "edges (indices)").bytes
    assert vram.device_bytes == mapped.device_bytes + mapped.host_bytes
    heads = {
        place: sum(found.bytes for found in plan.buffers if "heads" in found.name)
        for place, plan in (("vram", vram), ("mapped", mapped))
    }
    assert (vram.head_groups, mapped.head_groups) == (2, 2)
    assert make_plan(graph, "auto", vram.device_bytes) == replace(vram, budget=vram.device_bytes)
    fewer = make_plan(graph, "auto", vram.device_bytes - 1)
    assert (fewer.residency, fewer.head_groups) == ("vram", 1)
    least = vram.device_bytes - heads["vram"]
    assert make_plan(graph, "auto", least).head_groups == 0
    assert make_plan(graph, "auto", least - 1).residency == "mapped"
    assert make_plan(graph, "mapped", mapped.device_bytes).head_groups == 2
    with pytest.raises(DoesNotFitError) as caught:
        make_plan(graph, "auto", mapped.device_bytes - heads["mapped"] - 1)
    assert caught.value.exit_code == 5


@pytest.mark.parametrize(
    ("residency", "codec", "helps"),
    [
        ("vram", "plain", ["--residency mapped", "--compressed", "--vram-budget", "--backend cpu"]),
        ("vram", "varint", ["--residency mapped", "--vram-budget", "--backend cpu"]),
        ("mapped", "plain", ["--vram-budget", "--backend cpu"]),
    ],
)
def test_the_refusal_says_what_helps(residency, codec, helps):
    graph = zoo.shared()["clique"]
    with pytest.raises(DoesNotFitError) as caught:
        make_plan(graph.compress() if codec == "varint" else graph, residency, 1000)
    lines = str(caught.value).splitlines()
    assert [
        word for word in ("--residency mapped", "--compressed", "--vram-budget", "--backend cpu") if word in lines[-1]
    ] == helps
    assert any("indptr" in line and "device" in line for line in lines)
    assert "1 kB" in lines[-2]


def test_hot_rows_take_what_is_left():
    graph = zoo.shared()["two-hubs"]
    bare = make_plan(graph, "mapped", ENOUGH, hot_bytes=0)
    assert bare.hot_bytes == 0
    edges = bare.host_bytes
    half = make_plan(graph, "mapped", ENOUGH)
    assert edges // 2 - GRAIN < half.hot_bytes <= edges // 2
    assert half.device_bytes == bare.device_bytes + half.hot_bytes
    assert "hot rows" in half.ledger()
    for left in (0, GRAIN, 4 * GRAIN, 10_000):
        plan = make_plan(graph, "mapped", bare.device_bytes + left)
        assert plan.hot_bytes in (0, left // GRAIN * GRAIN)
        assert plan.device_bytes <= plan.budget
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
    assert any(found.name.startswith("in-") for found in stored.buffers)
    assert not any(found.name.startswith("in-") for found in absent.buffers)


@pytest.mark.parametrize("free", [0, 1, 100 << 20, 6 << 30, 140 << 30])
def test_default_budget_leaves_a_reserve(free):
    assert free // 2 <= default_budget(free) <= free


@pytest.mark.parametrize("codec", ["plain", "varint"])
@pytest.mark.parametrize("residency", ["vram", "mapped"])
def test_a_run_takes_no_more_than_planned(residency, codec):
    if shutil.which("g++") is None:
        pytest.skip("no g++: the kernels cannot be emulated")
    from simt.runtime import SimtRuntime

    from bigbfs.gpu import GpuEngine

    class Counting(SimtRuntime):
        """Adds up allocations as the device's pool does, none ever freed."""

        taken = 0

        def empty(self, shape, dtype):
            array = super().empty(shape, dtype)
            self.taken += -(-array.nbytes // GRAIN) * GRAIN
            return array

        def upload(self, array):
            copy = super().upload(array)
            self.taken += -(-copy.nbytes // GRAIN) * GRAIN
            return copy

        def map(self, array):
            before = self.taken
            mapping = super().map(array)
            self.taken = before
            return mapping

    for name in ("two-hubs", "degree-2048", "wide-ids-hub", "directed-in-rows", "one-vertex", "empty"):
        graph = zoo.shared()[name]
        graph = graph.compress() if codec == "varint" else graph
        runtime = Counting()
        with GpuEngine(graph, residency=residency, runtime=runtime) as engine:
            if graph.n:
                engine.bfs(int(np.argmax(graph.degrees())))
            engine.connected_components()
            assert engine.bytes.device <= runtime.taken <= engine.plan.device_bytes, name


@pytest.mark.parametrize("degrees", [[2049], [1025] * 3, [1024] * 5, [3000, 1025, 10, 4097], [1]])
def test_as_many_chunks_are_planned_as_hubs_can_have(degrees):
    indptr = np.concatenate([[0], np.cumsum(degrees)]).astype(np.uint64)
    adjacency = PlainAdjacency(indptr, np.zeros(int(indptr[-1]), np.uint32))
    assert plan._chunks(adjacency) >= sum(-(-degree // BLOCK_IDS) for degree in degrees if degree > BLOCK_IDS)
