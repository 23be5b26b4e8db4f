"""The commands of many searches: tables, JSON, files, and what they refuse. `small` is the path 10-20-30, and 40-50."""

from __future__ import annotations

import json
import signal

import numpy as np
import pytest

from bigbfs.cli import manyopts

SHARED = {
    *("schema", "command", "graph", "backend", "device", "residency", "setup", "bytes"),
    *("searches", "batches", "width", "pairs", "edges_read", "seconds", "verified", "wrote"),
}


def test_distances(run, small):
    code, out, err = run("distances", "--source", 10, "--source", 50, "--targets", "30,40", "--verify")
    assert code == 0, err
    lines = [line.split() for line in out.splitlines()]
    assert ["10", "30", "2"] in lines and ["10", "40", "-"] in lines and ["50", "40", "1"] in lines
    assert "verified" in out
    code, out, err = run("distances", "--sources", "all", "-o", "D.npy", "--json")
    assert code == 0, err
    found = json.loads(out)
    assert set(found) == SHARED | {"sources", "targets", "distances"}
    assert found["sources"][2] == {"source": 30, "reached": 3, "depth": 2, "farthest": 10}
    assert found["wrote"][0]["path"] == "D.npy" and found["distances"] is None
    assert np.load("D.npy").tolist() == [
        [0, 1, 2, -1, -1],
        [1, 0, 1, -1, -1],
        [2, 1, 0, -1, -1],
        [-1, -1, -1, 0, 1],
        [-1, -1, -1, 1, 0],
    ]
    (small / "few.txt").write_text("50\n10\n")
    assert run("distances", "--sources", "@few.txt", "-o", "D.csv")[0] == 0
    assert (small / "D.csv").read_text().split()[1:] == ["50,40,1", "50,50,0", "10,10,0", "10,20,1", "10,30,2"]
    assert run("distances", "--sources", "@few.txt", "-o", "D.npy")[0] == 0  # ours, so it may be replaced
    assert run("distances", "--sources", "@few.txt", "-o", "few.txt")[0] == 2
    assert "--force" in run("distances", "--sources", "@few.txt", "-o", "D.csv")[2]


def test_closeness_and_hops(run, small):
    code, out, err = run("closeness", "--top", 2, "-o", "c.npy", "--verify")
    assert code == 0, err
    assert [line.split() for line in out.splitlines()[3:6]] == [
        ["vertex", "closeness"],
        ["20", "0.5"],
        ["10", "0.3333"],
    ]
    assert "every vertex was a source" in out and "wrote       c.npy: float64, 5" in out
    np.testing.assert_allclose(np.load("c.npy"), [1 / 3, 1 / 2, 1 / 3, 1 / 4, 1 / 4])
    code, out, err = run("closeness", "--kind", "harmonic", "--sources", "random:3", "--json")
    assert code == 0, err
    found = json.loads(out)
    assert set(found) == SHARED | {"kind", "exact", "error", "top"}
    assert (found["searches"], found["exact"]) == (3, False) and found["error"] > 0
    code, out, err = run("hops", "--json")
    assert code == 0, err
    found = json.loads(out)
    assert set(found) == SHARED | {"within", "effective_diameter", "average_distance", "exact", "sources"}
    assert (found["within"], found["average_distance"]) == ([5, 11, 13], 8 / 8 + 2 / 8)
    code, out, err = run("hops", "--source", 10, "--max-depth", 1)
    assert code == 0, err
    assert [line.split() for line in out.splitlines()[3:6]] == [
        ["hops", "pairs", "within", "10"],
        ["0", "1", "1"],
        ["1", "2", "2"],
    ]


def test_paths(run, small):
    assert "2 edges: 10 -> 20 -> 30" in run("path", "graph.csrbin", 10, 30)[1]
    code, out, err = run("path", "graph.csrbin", 10, 40)
    assert code == 0 and "no path     from 10 to 40" in out, err
    (small / "pairs.txt").write_text("10 30\n50 50\n40 10\n")
    code, out, err = run("path", "graph.csrbin", "--pairs", "@pairs.txt", "--json")
    assert code == 0, err
    assert [(row["distance"], row["path"]) for row in json.loads(out)["paths"]] == [
        (2, [10, 20, 30]),
        (0, [50]),
        (-1, []),
    ]
    assert "no path" in run("path", "graph.csrbin", "--pairs", "@pairs.txt")[1]


def test_diameter_and_eccentricity(run, small):
    code, out, err = run("diameter", "--verify")
    assert code == 0, err
    assert "diameter    2: " in out and "the largest component, 3 vertices" in out
    code, out, err = run("diameter", "--seconds", 0, "--json")
    assert code == 0, err
    found = json.loads(out)
    assert (found["searches"], found["diameter"], found["witness"]) == (1, [2, 2], [10, 30])
    code, out, err = run("eccentricity", "--component", "all", "-o", "e.csv")
    assert code == 0, err
    assert "known       5 of 5 vertices" in out and "2 components" in out
    assert (small / "e.csv").read_text().split() == ["id,eccentricity", "10,2", "20,1", "30,2", "40,1", "50,1"]
    found = json.loads(run("eccentricity", "--json")[1])
    assert (found["centre"], found["periphery"], found["known"]) == ([20], [10, 30], 3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("distances",), "--source V"),
        (("distances", "--source", 10, "--sources", "all"), "not with both"),
        (("distances", "--sources", "10,11,12"), "no such vertex: 11, 12"),
        (("distances", "--sources", "some"), "names no vertices"),
        (("distances", "--sources", "all", "-o", "D.txt"), "D.txt"),
        (("closeness", "--sources", "10"), "all or random:K"),
        (("path", "graph.csrbin", 10), "two ends"),
        (("path", "graph.csrbin"), "two vertices"),
        (("path", "graph.csrbin", "--pairs", "10"), "@FILE"),
        (("path", "graph.csrbin", 10, 11), "no such vertex: 11"),
        (("hops", "--sources", "random:0"), "K from 1 on"),
    ],
)
def test_what_is_refused(run, small, arguments, message):
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert message in err


def test_the_first_interrupt_ends_the_work_and_the_second_the_run():
    def second(number, frame):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, second)
    try:
        with manyopts.stopping() as stop:
            assert not stop()
            signal.raise_signal(signal.SIGINT)
            assert stop()
            with pytest.raises(KeyboardInterrupt):
                signal.raise_signal(signal.SIGINT)
        assert signal.getsignal(signal.SIGINT) is second
    finally:
        signal.signal(signal.SIGINT, before)


def test_values_go_to_standard_output_alone(run, small):
    code, out, err = run("eccentricity", "--component", "all", "-o", "-")
    assert (code, out.split()) == (0, ["id,eccentricity", "10,2", "20,1", "30,2", "40,1", "50,1"])
    assert "diameter    2" in err
    assert run("closeness", "-o", "-", "--json")[0] == 2
