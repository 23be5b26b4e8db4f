"""``bigbfs info``: what it says of each kind of file, and that it needs no edge."""

import json

import numpy as np
import pytest
import zoo

from bigbfs.formats.container import csrbin
from bigbfs.formats.container.describe import degree_summary
from bigbfs.formats.writers.export import export
from bigbfs.graph.flags import GraphFlags
from bigbfs.graph.graph import Graph


def test_text_and_json(run, folder):
    graph = zoo.build(7, ([0, 0, 0, 1], [1, 2, 3, 2]), labels=np.arange(7) * 10)
    csrbin.save_graph(graph.compress(), folder / "g.ccsr", {"source": "x"})
    code, out, err = run("info", "g.ccsr")
    assert (code, err) == (0, "")
    for part in (
        "g.ccsr: container version 1, varint",
        "7 (original ids in labels, 4 bytes each)",
        "8 directed",
        "symmetric, sorted, deduplicated, loops_removed",
        "min 0, median 1, mean 1.14, max 3; 3 isolated",
        "block_ptr",
        '"source": "x"',
        "2 to 3              3",
    ):
        assert part in out, out
    code, out, err = run("info", "g.ccsr", "--json")
    found = json.loads(out)
    assert found["graph"] == {"path": "g.ccsr", "vertices": 7, "edges": 8, "codec": "varint"}
    assert found["degrees"] == {
        "minimum": 0,
        "median": 1,
        "mean": 8 / 7,
        "maximum": 3,
        "isolated": 3,
        "histogram": [3, 1, 3],
    }
    assert found["provenance"] == {"source": "x"} and found["labels"] and not found["flags"]["directed"]
    assert [section["name"] for section in found["sections"]][:2] == ["provenance", "labels"]
    assert found["file_bytes"] == (folder / "g.ccsr").stat().st_size


@pytest.mark.parametrize("to", ["raw", "sg"])
def test_files_of_others(run, folder, to):
    export(zoo.build(3, ([0], [1]), directed=True), to, folder / "g")
    code, out, _ = run("info", "g")
    assert code == 0 and "foreign" in out and "directed, sorted" in out and "section" not in out
    assert json.loads(run("info", "g", "--json")[1])["in_neighbours"] == (to == "sg")


@pytest.mark.parametrize("n", [0, 1])
def test_graphs_without_edges(run, folder, n):
    zoo.build(n, ([], [])).save("g")
    code, out, _ = run("info", "g")
    assert code == 0 and "0 directed" in out
    assert json.loads(run("info", "g", "--json")[1])["bytes_per_edge"] is None


def test_errors(run, folder):
    (folder / "x").write_bytes(b"hello")
    assert run("info", "x")[0] == 1 and run("info", "none")[0] == 1 and run("info")[0] == 2
    assert run("info", ".")[0] == 1


def test_offsets_that_descend_are_not_described(run, folder):
    path = folder / "g.csrbin"
    zoo.build(5, ([0, 1], [1, 2])).save(path)
    data = bytearray(path.read_bytes())
    data[4096 + 8] = 200
    path.write_bytes(data)
    code, out, err = run("info", path)
    assert code == 1 and "indptr descends" in err and out == ""


@pytest.mark.parametrize("codec", ["plain", "varint"])
def test_summary_agrees_with_numpy(codec, monkeypatch):
    monkeypatch.setattr("bigbfs.formats.container.describe.BLOCK", 100)
    rng = np.random.default_rng(8)
    for n in (1, 2, 3, 500, 1001):
        graph = zoo.build(
            n, ((rng.random(3000) ** 5 * n).astype(int), rng.integers(0, n, 3000)), directed=True, keep=True
        )
        degrees = np.sort(graph.degrees())
        found = degree_summary(graph if codec == "plain" else graph.compress())
        assert (found.minimum, found.maximum) == (degrees[0], degrees[-1])
        assert found.median == degrees[(n - 1) // 2] and found.mean == pytest.approx(degrees.mean())
        assert found.isolated == (degrees == 0).sum() and sum(found.histogram) == n
        for i, count in enumerate(found.histogram):
            assert count == ((degrees >= 2**i >> 1) & (degrees < 2**i)).sum()


def test_degrees_at_powers_of_two():
    lengths = [0, 1, 2, 3, 4, 7, 8, 1023, 1024]
    indptr = np.cumsum([0, *lengths]).astype(np.uint64)
    ids = np.zeros(int(indptr[-1]), np.uint32)
    from bigbfs.graph.adjacency import PlainAdjacency

    graph = Graph(PlainAdjacency(indptr, ids), GraphFlags(directed=True, symmetric=False))
    assert degree_summary(graph).histogram == [1, 1, 2, 2, 1, 0, 0, 0, 0, 0, 1, 1]


def test_the_median_of_large_degrees(monkeypatch):
    from bigbfs.graph.adjacency import PlainAdjacency

    monkeypatch.setattr("bigbfs.formats.container.describe.BIN_BITS", 3)  # several passes
    degrees = np.random.default_rng(4).integers(2**20, 2**21, 501)
    indptr = np.concatenate([[0], np.cumsum(degrees)]).astype(np.uint64)
    indices = np.broadcast_to(np.zeros(1, np.uint32), int(indptr[-1]))  # takes no memory
    graph = Graph(PlainAdjacency(indptr, indices), GraphFlags(directed=True, symmetric=False))
    assert degree_summary(graph).median == np.median(degrees)


def test_a_graph_from_standard_input(run, folder, monkeypatch):
    (folder / "in.txt").write_text("1 2\n")
    with (folder / "in.txt").open() as stream:
        monkeypatch.setattr("sys.stdin", stream)
        assert run("convert", "-", "-o", "g.csrbin")[0] == 0
    code, out, err = run("info", "g.csrbin")
    assert (code, err) == (0, "") and "made from" in out
