"""The engine's manners on an emulated device: what it refuses, what it pays for, and that it lets go of everything."""

import shutil

import numpy as np
import pytest
import zoo

from bigbfs import reference
from bigbfs.errors import DeviceError, FormatError, UsageError
from bigbfs.gpu import GpuEngine, engine
from bigbfs.graph import Graph

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="no g++: the kernels cannot be emulated")


@pytest.fixture
def runtime():
    """An emulated device that writes down what happens to it."""
    from simt.runtime import SimtRuntime

    class Recording(SimtRuntime):
        broken = False

        def __init__(self):
            super().__init__()
            self.events = []
            self.mapped = 0

        def map(self, array):
            mapping = super().map(array)
            self.mapped += 1
            close = mapping.close

            def closed():
                self.events.append("unmap")
                self.mapped -= 1
                close()

            mapping.close = closed
            return mapping

        def synchronize(self):
            self.events.append("synchronize")
            if self.broken:
                raise DeviceError("illegal address")

        def close(self):
            self.events.append("close")
            super().close()

    return Recording()


def damaged(graph):
    indices = np.array(graph.adjacency.indices)
    indices[1] = 4_000_000_000  # among the first two of a row, which components always read
    return Graph(type(graph.adjacency)(graph.adjacency.indptr, indices), graph.flags)


@pytest.mark.parametrize("strategy", ["auto", "topdown"])
def test_an_id_that_is_no_vertex_is_reported_not_followed(runtime, strategy):
    with GpuEngine(damaged(zoo.shared()["clique"]), runtime=runtime, strategy=strategy) as placed:
        with pytest.raises(FormatError, match=r"no vertices \(not below 65\).*bigbfs check"):
            placed.bfs(0)
        with pytest.raises(FormatError, match="no vertices"):
            placed.connected_components()


def test_max_depth(runtime):
    graph = zoo.shared()["grid-3d"]
    levels, _ = reference.bfs(graph, 5)
    with GpuEngine(graph, runtime=runtime) as placed:
        for depth in (0, 1, 4, 1000):
            result = placed.bfs(5, max_depth=depth)
            np.testing.assert_array_equal(result.levels, np.where(levels <= depth, levels, -1))
            assert result.record.depth == min(depth, levels.max())


def test_parents_are_not_paid_for_until_wanted(runtime):
    graph = zoo.shared()["grid-3d"]
    with GpuEngine(graph, runtime=runtime) as placed:
        before = placed.bytes.device
        assert (placed.bfs(0, want_parents=False).parents == -1).all()
        assert placed.bytes.device == before
        first = placed.bfs(0).parents
        assert placed.bytes.device == before + graph.n * graph.ids.itemsize
        assert (placed.bfs(0, want_parents=False).parents == -1).all()
        np.testing.assert_array_equal(placed.bfs(0).parents >= 0, first >= 0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda placed: placed.bfs(-1), "source -1 is no vertex"),
        (lambda placed: placed.bfs(257), "source 257 is no vertex: the graph has 257"),
        (lambda placed: placed.bfs(0, max_depth=-1), "max_depth -1"),
    ],
)
def test_impossible_arguments(runtime, call, message):
    with GpuEngine(zoo.shared()["path"], runtime=runtime) as placed, pytest.raises(UsageError, match=message):
        call(placed)


@pytest.mark.parametrize("options", [{"strategy": "sideways"}, {"residency": "cloud"}])
def test_unknown_names(runtime, options):
    with pytest.raises(UsageError, match="unknown: choose one of"):
        GpuEngine(zoo.shared()["path"], runtime=runtime, **options)


def test_close_waits_then_releases_once(runtime):
    placed = GpuEngine(zoo.shared()["directed-in-rows"], residency="mapped", runtime=runtime)
    assert runtime.mapped == 2
    runtime.events.clear()
    placed.close()
    placed.close()
    assert runtime.events == ["synchronize", "unmap", "unmap", "close"]
    with pytest.raises(UsageError, match="closed"):
        placed.bfs(0)


def test_a_fault_is_reported_and_everything_still_let_go(runtime):
    with (
        pytest.raises(DeviceError, match="illegal address"),
        GpuEngine(zoo.shared()["path"], residency="mapped", runtime=runtime),
    ):
        runtime.broken = True
        runtime.synchronize()
    assert runtime.mapped == 0
    assert runtime.closed


@pytest.mark.parametrize("stage", ["BfsLoop", "ComponentsLoop"])
def test_an_interrupt_half_way_releases_everything(runtime, monkeypatch, stage):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(engine, stage, interrupted)
    with pytest.raises(KeyboardInterrupt):
        GpuEngine(zoo.shared()["path"], residency="mapped", runtime=runtime)
    assert runtime.mapped == 0
    assert runtime.closed


def test_what_cannot_be_released_keeps_nothing_else(runtime, monkeypatch):
    placed = GpuEngine(zoo.shared()["dag"], residency="mapped", runtime=runtime)
    assert len(placed._placed) == 2
    monkeypatch.setattr(placed._placed[1], "close", lambda: 1 / 0)
    before = runtime.mapped
    with pytest.raises(ZeroDivisionError):
        placed.close()
    assert runtime.mapped < before
    assert runtime.closed


def test_level_records(runtime):
    graph = zoo.shared()["kronecker-dense"]
    with GpuEngine(graph, runtime=runtime) as placed:
        record = placed.bfs(int(np.argmax(graph.degrees()))).record
    assert [level.level for level in record.levels] == list(range(len(record.levels)))
    assert sum(level.frontier for level in record.levels) == record.reached
    assert {level.direction for level in record.levels} <= {"top-down", "bottom-up"}
    assert sum(level.seconds for level in record.levels) == pytest.approx(record.seconds)
