import shutil
import time

import numpy as np
import pytest
from emulated.runtime import SimtRuntime

import bigbfs
from bigbfs import api
from bigbfs.algorithms.bfs.options import BfsOptions
from bigbfs.algorithms.bfs.result import BfsResult, RunRecord
from bigbfs.engines.gpu import engine as gpu
from bigbfs.engines.gpu.engine import GpuEngine
from bigbfs.errors import FormatError, UsageError
from bigbfs.graph.adjacency import PlainAdjacency
from bigbfs.graph.flags import GraphFlags
from bigbfs.jit import compiling

# a path 10 - 20 - 30 and an edge 5 - 40, stored in the order 30, 10, 20, 40, 5
LABELS = [30, 10, 20, 40, 5]
INDPTR = [0, 1, 2, 4, 5, 6]
INDICES = [2, 2, 0, 1, 4, 3]


@pytest.fixture
def relabelled():
    return bigbfs.Graph.from_csr(INDPTR, INDICES, labels=LABELS)


def test_results_are_in_ascending_original_order(relabelled):
    result = bigbfs.bfs(relabelled, 30, backend="cpu", verify=True)
    # originals ascending: 5, 10, 20, 30, 40
    assert result.levels.tolist() == [-1, 2, 1, 0, -1]
    assert result.parents.tolist() == [-1, 20, 30, -1, -1]
    assert result.levels.dtype == np.int32
    assert result.parents.dtype == np.int64
    record = result.record
    assert (record.source, record.reached, record.depth, record.edges, record.verified) == (30, 3, 2, 4, True)


def test_labels_are_the_smallest_original_id(relabelled):
    result = bigbfs.connected_components(relabelled, backend="cpu", verify=True)
    assert result.labels.tolist() == [5, 10, 10, 10, 5]
    assert (result.record.components, result.record.largest, result.record.verified) == (2, 3, True)


def test_first_id_shifts_ids():
    graph = bigbfs.Graph(bigbfs.Graph.from_csr([0, 1, 2, 2], [1, 0]).adjacency, first_id=1)
    result = bigbfs.bfs(graph, 2, backend="cpu")
    assert result.levels.tolist() == [1, 0, -1]
    assert result.parents.tolist() == [2, -1, -1]
    assert bigbfs.connected_components(graph, backend="cpu").labels.tolist() == [1, 1, 3]
    with pytest.raises(UsageError, match="no vertex 0: ids are 1 to 3"):
        bigbfs.bfs(graph, 0, backend="cpu")


def test_sparse_labels_without_relabelling():
    graph = bigbfs.Graph.from_csr([0, 1, 2], [1, 0], labels=[7, 2**62])
    assert bigbfs.bfs(graph, 2**62, backend="cpu").parents.tolist() == [2**62, -1]
    with pytest.raises(UsageError, match="no vertex 8"):
        bigbfs.bfs(graph, 8, backend="cpu")


def test_max_depth(relabelled):
    assert bigbfs.bfs(relabelled, 10, backend="cpu", max_depth=1, verify=True).levels.tolist() == [-1, 0, 1, -1, -1]


def test_topological_order():
    graph = bigbfs.Graph.from_csr([0, 0, 1, 2], [0, 1], directed=True)  # 2 -> 1 -> 0
    assert bigbfs.topological_order(graph).tolist() == [2, 1, 0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"backend": "tpu"}, "backend 'tpu' is unknown"),
        ({"residency": "disk"}, "residency 'disk' is unknown"),
        ({"backend": "cpu", "residency": "vram"}, "^residency: for a GPU, and this run is on the CPU; leave it out"),
        ({"backend": "cpu", "vram_budget": 5, "ram_budget": 6}, "^vram_budget, ram_budget: for .*; leave them out"),
        ({"backend": "cpu", "strategy": "sideways"}, "sideways"),
        ({"backend": "gpu", "threads": 2}, '^threads: CPU threads, .* backend="cpu"'),
        ({"backend": "cpu", "threads": 100_000}, "this process may use"),
    ],
)
def test_options_that_cannot_work(relabelled, options, message):
    with pytest.raises(UsageError, match=message):
        bigbfs.bfs(relabelled, 10, **options)


def test_to_original_leaves_the_unreached():
    graph = bigbfs.Graph.from_csr([0, 0, 0], [], labels=[3, 9])
    record = RunRecord(source=1, reached=1, depth=0, edges=0, seconds=1.0)
    result = BfsResult(np.array([-1, 0], np.int32), np.array([-1, -1]), record).original(graph)
    assert (result.record.source, result.parents.tolist()) == (9, [-1, -1])


def test_scipy_round_trip():
    scipy_sparse = pytest.importorskip("scipy.sparse")
    matrix = scipy_sparse.random_array((50, 50), density=0.1, rng=np.random.default_rng(1), format="csr")
    matrix = (matrix + matrix.T).tocsr()
    graph = bigbfs.Graph.from_scipy(matrix)
    assert graph.flags == GraphFlags(loops_removed=not matrix.diagonal().any())
    assert ((graph.to_scipy() != 0) != (matrix != 0)).nnz == 0
    count, labels = scipy_sparse.csgraph.connected_components(matrix)
    result = bigbfs.connected_components(graph, backend="cpu")
    assert result.record.components == count
    assert len(np.unique(np.stack([labels, result.labels]), axis=1).T) == count


def test_convert_from_python(tmp_path):
    (tmp_path / "a.txt").write_text("# two edges\n1 2\n2 3\n")
    report = bigbfs.convert(tmp_path / "a.txt")
    with bigbfs.open(report.output) as graph:
        assert bigbfs.bfs(graph, 1, backend="cpu").levels.tolist() == [0, 1, 2]


class Emulated(GpuEngine):
    """An engine on an emulated device, and the last one of them."""

    last = None

    def __init__(self, *arguments, **options):
        Emulated.last = self
        super().__init__(*arguments, **options, runtime=SimtRuntime())


@pytest.mark.skipif(shutil.which("g++") is None, reason="no g++: the kernels cannot be emulated")
@pytest.mark.parametrize("damage", ["a row that descends", "an id that is no vertex", "an offset", None])
def test_rows_are_proved_before_a_gpu_engine_is_of_use(damage, monkeypatch):
    monkeypatch.setattr(gpu, "GpuEngine", Emulated)
    monkeypatch.setattr(api, "choose_backend", lambda backend: "gpu")
    indptr, indices = np.array(INDPTR, np.uint64), np.array(INDICES, np.uint32)
    if damage == "a row that descends":
        indices[2:4] = 1, 0
    elif damage == "an id that is no vertex":
        indices[0] = 7
    elif damage == "an offset":
        indptr[2] = 9
    graph = bigbfs.Graph(PlainAdjacency(indptr, indices), labels=np.array(LABELS), flags=GraphFlags(relabelled=True))
    if damage is None:
        with api.engine(graph, backend="gpu", residency="mapped") as engine:
            # 30 - 20 - 10, and 40 - 5 out of reach
            assert engine.bfs(10).levels.tolist() == [-1, 0, 1, 2, -1]
            assert engine.setup.open > 0
        return
    with pytest.raises(FormatError, match=r"does not ascend|is no vertex|descends"):
        api.engine(graph, backend="gpu", residency="mapped")
    with pytest.raises(UsageError, match="closed"):
        Emulated.last.run(BfsOptions(0))


def test_a_gpu_that_is_not_there_is_looked_for_once(monkeypatch):
    from bigbfs.engines.gpu.runtime import device

    asked = []
    monkeypatch.setattr(device, "available", lambda: bool(asked.append(1)))
    assert [api.choose_backend("auto") for _ in range(3)] == ["cpu"] * 3 and len(asked) == 1
    monkeypatch.setattr(device, "available", lambda: True)
    assert api.choose_backend("auto") == "gpu"


def test_kernels_that_are_compiled_while_a_graph_is_checked_are_no_time_of_opening(monkeypatch):
    """In a first run those of the whole command are: the check needs the first of them."""

    def check(graph):
        with compiling.measured("a kernel"):
            time.sleep(0.2)

    monkeypatch.setattr(bigbfs.Graph, "require_valid", check)
    graph = bigbfs.Graph(PlainAdjacency(np.array(INDPTR, np.uint64), np.array(INDICES, np.uint32)), GraphFlags())
    with api.engine(graph, backend="cpu", threads=1) as engine:
        assert engine.setup.open < 0.1 and engine.setup.compile >= 0.2
