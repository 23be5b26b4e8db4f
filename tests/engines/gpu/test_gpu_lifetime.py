"""The engine's manners on an emulated device: what it refuses, what it pays for, and that it lets go of everything."""

import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import zoo
from emulated.runtime import SimtRuntime

from bigbfs.algorithms.bfs.gpu import program as bfs_program
from bigbfs.algorithms.bfs.gpu.costs import Costs
from bigbfs.algorithms.bfs.gpu.tuning import Tuning
from bigbfs.algorithms.bfs.reference import bfs as reference_bfs
from bigbfs.algorithms.bfs.validate import validate_tree
from bigbfs.algorithms.components.gpu import program as components_program
from bigbfs.algorithms.gpu_engine import GpuEngine
from bigbfs.engines.gpu.placement.placed import PlacedAdjacency
from bigbfs.errors import DeviceError, FormatError, UsageError
from bigbfs.graph.adjacency import CompressedAdjacency, PlainAdjacency
from bigbfs.graph.graph import Graph

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="no g++: the kernels cannot be emulated")


@pytest.fixture
def runtime():
    """An emulated device that writes down what happens to it."""

    class Recording(SimtRuntime):
        broken = False

        def __init__(self):
            super().__init__()
            self.events = []
            self.mapped = 0

        def map(self, array, use):
            mapping = super().map(array, use)
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
    with GpuEngine(damaged(zoo.shared()["clique"]), prove=False, runtime=runtime, strategy=strategy) as placed:
        with pytest.raises(FormatError, match=r"no vertices \(not below 65\).*bigbfs check"):
            placed.bfs(0)
        with pytest.raises(FormatError, match="no vertices"):
            placed.connected_components()


def test_max_depth(runtime):
    graph = zoo.shared()["grid-3d"]
    levels, _ = reference_bfs(graph, 5)
    with GpuEngine(graph, runtime=runtime) as placed:
        for depth in (0, 1, 4, 1000):
            result = placed.bfs(5, max_depth=depth)
            np.testing.assert_array_equal(result.levels, np.where(levels <= depth, levels, -1))
            assert result.record.depth == min(depth, levels.max())


@pytest.mark.parametrize("codec", ["plain", "varint"])
def test_what_is_not_wanted_is_not_paid_for(runtime, codec):
    graph = zoo.shared()["grid-3d"]
    levels, _ = reference_bfs(graph, 7)
    with GpuEngine(graph.compress() if codec == "varint" else graph, runtime=runtime) as placed:
        bare = placed.bytes.device
        neither = placed.bfs(7, want_levels=False, want_parents=False)
        assert (neither.levels == -1).all() and (neither.parents == -1).all()
        assert placed.bytes.device == bare
        only_parents = placed.bfs(7, want_levels=False)
        assert placed.bytes.device == bare + graph.n * graph.ids.itemsize
        assert (only_parents.levels == -1).all()
        only_levels = placed.bfs(7, want_parents=False)
        assert placed.bytes.device == bare + graph.n * (4 + graph.ids.itemsize)
        assert (only_levels.parents == -1).all()
        np.testing.assert_array_equal(only_levels.levels, levels)
        # the tree of a run without levels is one of the levels that the other run found
        validate_tree(graph, 7, levels, only_parents.parents)
        records = [neither.record, only_parents.record, only_levels.record, placed.traverse(7)]
        assert len({(item.source, item.reached, item.depth, item.edges) for item in records}) == 1


@pytest.mark.parametrize("name", ["kronecker-dense", "two-hubs", "directed-in-rows", "binary-tree", "one-vertex"])
def test_directions_do_not_depend_on_levels(runtime, name):
    """The sample that decides on a direction must see the frontier where no levels tell it."""
    graph = zoo.shared()[name]
    tuning = Tuning(thin_to=0, local=False, costs=Costs(1, 1, 30, 100))
    source = int(np.argmax(graph.degrees()))
    with GpuEngine(graph, runtime=runtime, tuning=tuning) as placed:
        with_levels, without = placed.traverse(source), placed.traverse(source, want_levels=False)
    assert [level.direction for level in with_levels.levels] == [level.direction for level in without.levels]
    assert [level.frontier for level in with_levels.levels] == [level.frontier for level in without.levels]


def test_a_graph_of_no_structure_is_refused_before_anything_is_placed(runtime):
    rows = PlainAdjacency(np.array([0, 2, 1, 3], np.uint64), np.array([1, 2, 0], np.uint32))
    with pytest.raises(FormatError, match="indptr descends at entry 2"):
        GpuEngine(Graph(rows), residency="mapped", runtime=runtime)
    assert runtime.mapped == 0
    assert runtime.closed
    assert runtime.launches == 0


@pytest.mark.parametrize("residency", ["vram", "mapped", "streamed"])
@pytest.mark.parametrize("codec", ["plain", "varint"])
def test_rows_are_proved_once_while_they_are_placed(runtime, residency, codec):
    sound = zoo.shared()["directed-in-rows"]
    sound = sound.compress() if codec == "varint" else sound
    graph = Graph(sound.adjacency, sound.flags, in_adjacency=sound.in_adjacency)
    assert not graph.proved
    with GpuEngine(graph, residency=residency, runtime=runtime) as placed:
        assert graph.proved
        np.testing.assert_array_equal(placed.bfs(1).levels, reference_bfs(sound, 1)[0])
    assert placed.setup.open > 0


@pytest.mark.parametrize("residency", ["vram", "mapped", "streamed"])
@pytest.mark.parametrize("where", ["adjacency", "in_adjacency"])
def test_a_row_that_descends_is_refused_and_what_was_placed_goes(runtime, residency, where):
    sound = zoo.shared()["directed-in-rows"]
    rows = {name: getattr(sound, name) for name in ("adjacency", "in_adjacency")}
    row = int(np.flatnonzero(rows[where].degrees() >= 2)[0])
    indices = np.array(rows[where].indices)
    start = int(rows[where].indptr[row])
    indices[start : start + 2] = indices[start : start + 2][::-1]
    rows[where] = PlainAdjacency(rows[where].indptr, indices)
    graph = Graph(rows["adjacency"], sound.flags, in_adjacency=rows["in_adjacency"])
    with pytest.raises(FormatError, match=rf"row {row} does not ascend"):
        GpuEngine(graph, residency=residency, runtime=runtime)
    assert runtime.mapped == 0 and runtime.closed and not graph.proved


@pytest.mark.parametrize("residency", ["vram", "mapped", "streamed"])
def test_what_is_refused_once_is_refused_again(runtime, residency):
    """A varint of six bytes, the last of them zeros: the right id, but a kernel may lose bits of such."""
    blob = np.array([0x81, 0x80, 0x80, 0x80, 0x80, 0x00, 0x00], np.uint8)
    none = np.zeros(0, np.uint32)
    degree = np.array([2, 1], np.uint32)  # so that there may be six bytes
    blob = np.insert(blob, 0, 0)
    rows = CompressedAdjacency(
        np.array([0, 7, 8], np.uint64), degree, blob, none, np.zeros(1, np.uint64), none.astype(np.uint64)
    )
    graph = Graph(rows)
    for _ in range(2):
        with pytest.raises(FormatError, match="row 0 does not hold as many"):
            GpuEngine(graph, residency=residency, runtime=runtime)
        with pytest.raises(FormatError, match="row 0 does not hold as many"):
            graph.require_valid()
        assert not graph.proved


def test_what_the_device_alone_finds_is_an_error_too(runtime, monkeypatch):
    monkeypatch.setattr(PlacedAdjacency, "sound", property(lambda self: False, lambda self, value: None), raising=False)
    graph = zoo.shared()["path"]
    fresh = Graph(graph.adjacency, graph.flags)
    with pytest.raises(FormatError, match="do not ascend, or hold ids"):
        GpuEngine(fresh, runtime=runtime)
    assert not fresh.proved and runtime.closed


def test_a_row_of_more_bytes_than_its_ids_take_is_no_structure(runtime):
    sound = zoo.shared()["path"].compress().adjacency
    for row, size in ((0, 0), (0, 6)):
        indptr = sound.indptr.copy()
        indptr[row + 1] = indptr[row] + np.uint64(size)
        indptr[1:] = np.maximum(indptr[1:], indptr[1])
        with pytest.raises(FormatError, match=f"row {row} has {size} bytes for 1 ids"):
            GpuEngine(Graph(replace(sound, indptr=indptr)), runtime=runtime)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda placed: placed.bfs(-1), "source -1 is no vertex"),
        (lambda placed: placed.bfs(257), "source 257 is no vertex: the graph has 257"),
        (lambda placed: placed.bfs(0, max_depth=-1), "max_depth is -1"),
    ],
)
def test_impossible_arguments(runtime, call, message):
    with GpuEngine(zoo.shared()["path"], runtime=runtime) as placed, pytest.raises(UsageError, match=message):
        call(placed)


@pytest.mark.parametrize("options", [{"strategy": "sideways"}, {"residency": "cloud"}])
def test_unknown_names(runtime, options):
    with pytest.raises(UsageError, match="unknown: choose one of"):
        GpuEngine(zoo.shared()["path"], runtime=runtime, **options)
    assert runtime.events[-1] == "close"


def test_no_numba_on_the_way_to_a_first_result(tmp_path):
    """Importing Numba takes longer than placing and proving a graph of billions of edges."""
    path = tmp_path / "g.csrbin"
    zoo.shared()["relabelled"].save(path)
    code = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parents[2])!r})
import bigbfs
from bigbfs.cli import bfs
from bigbfs.cli.sources import choose_sources
from bigbfs.algorithms.gpu_engine import GpuEngine
from emulated.runtime import SimtRuntime
with bigbfs.open({str(path)!r}) as graph:
    with GpuEngine(graph, residency="mapped", runtime=SimtRuntime()) as engine:
        assert engine.traverse(graph.vertex(choose_sources(graph, (), "random:1", 1)[0])).reached > 0
assert "numba" not in sys.modules
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


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


@pytest.mark.parametrize(
    "stage", [(bfs_program, "BfsLoop"), (components_program, "ComponentsLoop")], ids=lambda s: s[1]
)
def test_an_interrupt_half_way_releases_everything(runtime, monkeypatch, stage):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(*stage, interrupted)
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
