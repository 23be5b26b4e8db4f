import json

import numpy as np
import pytest


def test_the_line_of_the_readme(run, small):
    code, out, err = run("cc", "--afforest", "--backend", "cpu", "--verify")
    assert code == 0, err
    header, row = (line.split() for line in out.splitlines() if line.startswith(("components", " ")))
    assert header == ["components", "largest", "%", "ms", "verified"]
    assert (row[0], row[1], row[2], row[4]) == ("2", "3", "60", "yes")


@pytest.mark.parametrize("compressed", [[], ["--compressed"]])
def test_json_and_labels(run, small, compressed):
    line = ["cc", "--json", "--verify", "--trials", 2, "--labels", "c.npy", "--backend", "cpu", *compressed]
    code, out, err = run(*line)
    assert code == 0, err
    result = json.loads(out)
    assert set(result) == {
        *("schema", "command", "graph", "backend", "device", "residency", "strategy"),
        *("components", "largest", "runs", "setup", "bytes"),
    }
    assert (result["components"], result["largest"]) == (2, 3)
    assert [item["verified"] for item in result["runs"]] == [True, True]
    labels = np.load("c.npy")
    assert (labels.dtype, labels.tolist()) == (np.int64, [10, 10, 10, 40, 40])


def test_a_wrong_result_ends_with_3(run, small, monkeypatch):
    from bigbfs.cpu import CpuEngine

    right = CpuEngine.connected_components

    def wrong(self):
        result = right(self)
        result.labels[-1] = result.labels[0]
        return result

    monkeypatch.setattr(CpuEngine, "connected_components", wrong)
    code, _, err = run("cc", "--verify", "--backend", "cpu", "--labels", "c.npy")
    assert code == 3
    assert "edge 40 -> 50 joins labels 40 and 10" in err
    assert not (small / "c.npy").exists()
