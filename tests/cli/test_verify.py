import json

import numpy as np

from bigbfs import verification
from bigbfs.graph import Graph


def test_zoo_generated_and_files_agree(run, small):
    code, out, err = run("verify", "graph.csrbin", "--backend", "cpu", "--sources", 2, "--json")
    assert code == 0, err
    result = json.loads(out)
    assert result["graphs"] > 25
    settings = {(check["algorithm"], check["setting"]["codec"]) for check in result["checks"]}
    assert settings == {("bfs", "plain"), ("bfs", "varint"), ("cc", "plain"), ("cc", "varint")}
    assert all(check["differences"] == [] and check["runs"] > 25 for check in result["checks"])


def test_a_difference_ends_with_3(run, folder, monkeypatch):
    from bigbfs.cpu import CpuEngine

    right = CpuEngine.connected_components

    def wrong(self):
        result = right(self)
        if len(result.labels) == 3:
            result.labels[:] = 0
        return result

    monkeypatch.setattr(CpuEngine, "connected_components", wrong)
    monkeypatch.setattr("bigbfs.cli.verify.zoo", lambda: {"three": Graph.from_csr([0, 1, 2, 2], [1, 0])})
    monkeypatch.setattr("bigbfs.cli.verify.GENERATED", {})
    code, out, err = run("verify", "--backend", "cpu")
    assert code == 3
    assert "DIFFERENCE: three: 1 labels differ, first at vertex 2: have 0, reference 2" in out
    assert "differences from the reference" in err


def test_sources_are_different_and_hold_the_hub():
    star = Graph.from_csr([0, 1, 2, 4], [2, 2, 0, 1])
    assert verification.sources_of(star, 2) == [0, 2]
    assert verification.sources_of(Graph.from_csr([0], np.array([], np.uint32)), 4) == []
