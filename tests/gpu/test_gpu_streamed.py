"""Edges streamed from a file on a device: many batches, twins of stages in turn, and no pinned memory left behind."""

import numpy as np
import pytest
import zoo

from bigbfs import generate
from bigbfs.algorithms.bfs.reference import bfs as reference_bfs
from bigbfs.algorithms.components.reference import components as reference_components
from bigbfs.algorithms.gpu_engine import GpuEngine
from bigbfs.engines.gpu.streamed import feed, ledger
from bigbfs.errors import DoesNotFitError
from bigbfs.graph.graph import Graph


@pytest.fixture(scope="module", params=["plain", "varint"])
def stored(request, tmp_path_factory):
    """A Kronecker graph of some million edges in a file."""
    path = tmp_path_factory.mktemp("streamed") / ("kronecker.csrbin" if request.param == "plain" else "kronecker.ccsr")
    graph = generate.graph("kronecker", scale=17, edge_factor=16, seed=2)
    (graph.compress() if request.param == "varint" else graph).save(path)
    with Graph.open(path) as opened:
        yield opened


@pytest.mark.parametrize("heads", [0, 1, 2])
def test_many_batches_from_a_file(stored, heads, monkeypatch):
    monkeypatch.setattr(ledger, "STAGE_BYTES", 1 << 17)
    monkeypatch.setattr(feed, "LEAST_ROOM", 1 << 16)
    plain = stored.decompress()
    with GpuEngine(stored, residency="streamed", head_groups=heads, hot_bytes=0) as engine:
        assert engine.edges_kind == "file"
        batches = 0
        for source in zoo.sources(plain, 6):
            result = engine.bfs(source)
            np.testing.assert_array_equal(result.levels, reference_bfs(plain, source)[0])
            run = engine.run_bfs(source)
            engine.verify_tree(source)
            batches += sum(read.batches for read in run.traffic)
        assert heads or batches > 20
        np.testing.assert_array_equal(engine.connected_components().labels, reference_components(plain))
        engine.verify_labels()


@pytest.mark.alone
def test_a_hundred_engines_leave_no_pinned_memory(stored):
    from cupy.cuda import runtime

    with GpuEngine(stored, residency="streamed") as engine:
        engine.run_bfs(0)
    free = runtime.memGetInfo()[0]
    for _ in range(100):
        with GpuEngine(stored, residency="streamed") as engine:
            engine.run_bfs(0)
    assert runtime.memGetInfo()[0] >= free - (64 << 20)


def test_little_host_memory_is_enough_and_none_is_not(stored):
    least = ledger.stage_sizes(stored)[-1]
    with GpuEngine(stored, ram_budget=least, residency="streamed") as engine:
        assert engine.plan.stage_bytes == least
    with pytest.raises(DoesNotFitError, match="ram_budget="):
        GpuEngine(stored, ram_budget=least - 1, residency="streamed")
