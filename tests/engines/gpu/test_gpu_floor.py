"""The floor that a device profile gives, and the costs of directions that follow from it."""

from dataclasses import replace

import pytest
import zoo

from bigbfs.algorithms.bfs.gpu.costs import Costs, costs
from bigbfs.algorithms.gpu_engine import make_plan
from bigbfs.config import find_profile, read_profile
from bigbfs.engines.gpu.floor import floors

ENOUGH = 1 << 40


@pytest.mark.parametrize("codec", ["plain", "varint"])
def test_floors(codec):
    graph = zoo.shared()["kronecker-dense"]
    graph = graph.compress() if codec == "varint" else graph
    profile = replace(read_profile(find_profile("h200")), barrier_seconds=1e-30)
    vram, mapped = (make_plan(graph, place, ENOUGH, hot_bytes=0) for place in ("vram", "mapped"))
    edges = graph.adjacency.edges.nbytes
    auto, down, parts = floors(graph, mapped, profile)
    assert [item.work for item in (auto, down, parts)] == ["bfs, auto", "bfs, topdown", "cc"]
    assert down.seconds == pytest.approx(edges / profile.link_bytes_per_second)
    assert down.gteps == pytest.approx(graph.m / down.seconds / 1e9)
    assert f"{edges:,} bytes over the link" in down.limit
    assert auto.seconds < down.seconds
    assert parts.gteps is None
    # in device memory the same bytes move at its own rate
    assert floors(graph, vram, profile)[1].seconds < down.seconds
    # without heads a row is read for every vertex
    bare = make_plan(graph, "mapped", ENOUGH, head_groups=0, hot_bytes=0)
    assert auto.seconds < floors(graph, bare, profile)[0].seconds <= down.seconds
    # a slower link is a slower floor; a barrier is one too
    assert floors(graph, mapped, replace(profile, link_bytes_per_second=1e9))[1].seconds == pytest.approx(edges / 1e9)
    assert floors(graph, mapped, replace(profile, barrier_seconds=1.0))[0].seconds == 1.0


def test_no_search_stops_early_without_in_neighbours():
    graph = zoo.shared()["directed-out-only"]
    auto, down, _ = floors(graph, make_plan(graph, "mapped", ENOUGH), read_profile(find_profile("h200")))
    assert auto.seconds == down.seconds


def test_costs_follow_the_profile_and_are_an_h200s_by_default():
    h200 = read_profile(find_profile("h200"))
    for n in (0, 1000, 2**26, 2**33 + 7):
        for residency in ("vram", "mapped"):
            usual = costs(n, residency)
            assert usual == costs(n, residency, h200)
            slow = costs(n, residency, replace(h200, memory_bytes_per_second=4.3e11, link_lines_per_second=1e8))
            assert (slow.vertex, slow.edge, slow.look) == (10 * usual.vertex, 10 * usual.edge, 10 * usual.look)
            assert slow.line == (10_000 if residency == "mapped" else 10 * usual.line)
    assert costs(2**26, "mapped") == Costs(4_000_000 + 2**26 // 6, 12, 35, 2500, look=4)
    assert costs(0, "vram", replace(h200, barrier_seconds=3e-6)).sweep == 8_000_000
