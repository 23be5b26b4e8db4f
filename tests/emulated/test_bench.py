"""A bench on a GPU, emulated: what only a GPU has is in its rows."""

import bigbfs
from bigbfs import generate
from bigbfs.bench.contenders import Contender
from bigbfs.bench.graphs import Prepared, Variant
from bigbfs.bench.measure import Plan, facts, measure
from bigbfs.report.rows import Record
from bigbfs.report.summary import summarize
from emulated.runtime import SimtRuntime, builds_here

HERE = builds_here()  # skips where the emulation cannot be built


def test_rows_of_a_gpu_hold_kernels_launches_and_edges(tmp_path):
    path = tmp_path / "graph.csrbin"
    generate.graph("kronecker", scale=7, edge_factor=8).save(path)
    with bigbfs.open(path) as graph:
        sources = [int(graph.original(int(graph.degrees().argmax())))]
    prepared = Prepared("graph", "made here", (Variant(path, "plain", "original"),))
    gpu = [Contender(name, "gpu", "vram", where={"runtime": SimtRuntime()}) for name in ("auto", "topdown")]
    plan = Plan([*gpu, Contender("reference", "serial", baseline=True)], sources, trials=2)
    record = Record()
    record.add(facts(prepared, sources))
    for row in measure(prepared, plan, print):
        record.add(row)
    auto, topdown, serial = record.rows
    assert auto.backend == topdown.backend == "gpu"
    for row in (auto, topdown):
        assert row.launches >= 1
        assert row.reads >= 1
        assert len(row.kernel_seconds) == 1
        assert row.kernel_seconds[0] > 0
        assert {"bfs_traverse"} <= {kernel["name"] for kernel in row.kernels}
        assert row.verified
        assert row.levels.frontier[0] == 1
    assert auto.checked <= topdown.checked == topdown.edges == serial.edges
    assert auto.levels.down == topdown.levels.down
    assert sum(topdown.levels.down) == topdown.edges
    lines = {line.contender: line for line in summarize(record)}
    assert lines["auto"].kernel is not None
    assert lines["serial reference"].kernel is None
    assert lines["auto"].moved_bytes <= lines["topdown"].moved_bytes
