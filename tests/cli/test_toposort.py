import json

import numpy as np
import pytest

import bigbfs
from bigbfs import api


@pytest.fixture
def dag(folder):
    """graph.csrbin in the working folder: 30 -> 10 -> 40, 30 -> 40, 20 alone but for 20 -> 50."""
    (folder / "graph.txt").write_text("30 10\n10 40\n30 40\n20 50\n")
    bigbfs.convert("graph.txt", directed=True)
    return folder


def test_order_levels_and_table(run, dag):
    code, out, err = run("toposort", "-o", "o.npy", "--levels", "l.npy", "--verify", "--backend", "cpu")
    assert code == 0, err
    order, levels = np.load("o.npy"), np.load("l.npy")
    assert (order.dtype, order.tolist()) == (np.int64, [20, 30, 10, 50, 40])
    assert (levels.dtype, levels.tolist()) == (np.int32, [1, 0, 0, 2, 1])  # of 10, 20, 30, 40, 50
    header, row = (line.split() for line in out.splitlines()[3:5])
    assert header[:7] == ["rounds", "widest", "thin", "edges", "ms", "MTEPS", "verified"]
    assert [row[0], row[1], row[2], row[3], row[6]] == ["3", "2", "3", "4", "yes"]
    assert "3 by one thread" in out
    assert "verify" in out


@pytest.mark.parametrize("compressed", [[], ["--compressed"]])
def test_json(run, dag, compressed):
    code, out, err = run("toposort", "graph.csrbin", "--json", "--trials", 2, "--backend", "cpu", *compressed)
    assert code == 0, err
    result = json.loads(out)
    assert set(result) == {
        *("schema", "command", "graph", "backend", "device", "residency", "strategy", "setup", "bytes"),
        *("rounds", "widest", "thin", "runs", "wrote", "notes"),
    }
    assert (result["command"], result["strategy"]) == ("toposort", "kahn")
    assert (result["rounds"], result["widest"], result["thin"]) == (3, 2, 3)
    assert len(result["runs"]) == 2
    for each in result["runs"]:
        assert set(each) == {"seconds", "mteps", "verified", "ran", "disturbed", "switches"}
        assert each["verified"] is None
        assert each["ran"] == {"one thread": 3, "all threads": 0}


def test_a_cycle_ends_with_1_and_is_named(run, folder):
    (folder / "graph.txt").write_text("1 10\n10 20\n20 30\n30 10\n30 40\n")
    bigbfs.convert("graph.txt", directed=True)
    code, out, err = run("toposort", "-o", "o.npy", "--backend", "cpu")
    assert (code, out) == (1, "")
    assert "no topological order" in err
    assert "is a cycle of 3 edges" in err
    assert {word for word in err.split() if word.isdigit()} == {"10", "20", "30", "3"}
    assert not (folder / "o.npy").exists()


def test_an_undirected_graph_is_refused_with_what_helps(run, small):
    code, _, err = run("toposort", "--backend", "cpu")
    assert code == 2
    assert "undirected" in err
    assert "`bigbfs convert SOURCE --directed`" in err


def test_a_wrong_result_ends_with_3(run, dag, monkeypatch):
    from bigbfs.algorithms.topological.cpu.program import CpuTopological

    right = CpuTopological.run

    def wrong(self, options):
        result = right(self, options)
        result.order[[0, -1]] = result.order[[-1, 0]]
        return result

    monkeypatch.setattr(CpuTopological, "run", wrong)
    code, _, err = run("toposort", "--verify", "--backend", "cpu", "-o", "o.npy")
    assert code == 3
    assert "an edge leads forward" in err
    assert not (dag / "o.npy").exists()


def test_outputs_are_checked_before_any_work(run, dag):
    for line in (["-o", "order.txt"], ["--levels", "levels.bin"]):
        code, _, err = run("toposort", *line, "--backend", "cpu")
        assert code == 2
        assert ".npy" in err


def test_python(dag):
    with bigbfs.open("graph.csrbin") as graph:
        assert bigbfs.topological_order(graph, backend="cpu", verify=True).tolist() == [20, 30, 10, 50, 40]
        result = bigbfs.topological_rounds(graph, backend="cpu")
        assert result.rounds.tolist() == [1, 0, 0, 2, 1]
        assert result.order.tolist() == [20, 30, 10, 50, 40]
        assert result.record.rounds == 3
        assert result.ids.tolist() == [10, 20, 30, 40, 50]
        with api.engine(graph, backend="cpu") as engine:
            assert engine.topological_order().order.tolist() == result.order.tolist()


def test_a_relabelled_graph_gives_the_same_order(folder):
    rng = np.random.default_rng(5)
    low, high = np.sort(rng.integers(0, 400, (2, 1_500)), axis=0)
    lines = "\n".join(f"{u} {v}" for u, v in zip(low, high, strict=True) if u != v)
    (folder / "graph.txt").write_text(lines)
    found = {}
    for order in ("original", "degree"):
        bigbfs.convert("graph.txt", f"{order}.csrbin", directed=True, order=order)
        with bigbfs.open(f"{order}.csrbin") as graph:
            result = bigbfs.topological_rounds(graph, backend="cpu", verify=True)
            found[order] = (result.order.tolist(), result.rounds.tolist())
    assert found["original"] == found["degree"]
