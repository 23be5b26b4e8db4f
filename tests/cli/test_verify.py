import json

import numpy as np
import pytest
import zoo
from wide import CORE, WIDE

from bigbfs import verification
from bigbfs.algorithms import ALGORITHMS
from bigbfs.algorithms.bfs.oracle import sources_of
from bigbfs.algorithms.bfs.result import BfsResult
from bigbfs.algorithms.components.result import ComponentsResult
from bigbfs.cli.verify import GENERATED
from bigbfs.engines.cpu.engine import CpuEngine
from bigbfs.formats.container import csrbin
from bigbfs.graph.graph import Graph
from bigbfs.report import progress

FEW = tuple(name for name in CORE if "wide" not in name)  # for which every kernel would be compiled again


@pytest.mark.parametrize("graphs", [FEW, pytest.param((), marks=WIDE)], ids=["few", "all"])
def test_zoo_generated_and_files_agree(run, small, monkeypatch, graphs):
    """Few: of the zoo those of ``CORE`` without wide ids, and of the generated ones the two that are least alike."""
    made = {name: how for name, how in GENERATED.items() if not graphs or name.startswith(("grid2d", "dag"))}
    if graphs:
        monkeypatch.setattr("bigbfs.cli.verify.zoo", lambda: {name: zoo.shared()[name] for name in graphs})
        monkeypatch.setattr("bigbfs.cli.verify.GENERATED", made)
    monkeypatch.setattr(progress, "LOGGED", (1e9, 1e9))  # where kernels are compiled that takes a minute
    least, least_of_few = (len(graphs), 0) if graphs else (25, 2)
    code, out, err = run("verify", "graph.csrbin", "--backend", "cpu", "--sources", 2, "--json")
    assert code == 0, err
    result = json.loads(out)
    assert result["graphs"] > least
    said = [line.rpartition(", ")[0] for line in err.splitlines()]  # off a terminal a line a phase: a minute is long
    assert said[0].startswith("bigbfs: verify ") and said[0].endswith("small graphs")
    assert said[1:] == [f"bigbfs: verify {name}" for name in (*made, "graph.csrbin")]
    settings = {(check["algorithm"], check["setting"]["codec"]) for check in result["checks"]}
    assert settings == {(name, codec) for name in ALGORITHMS for codec in ("plain", "varint")}
    few = {name for name, entry in ALGORITHMS.items() if entry.needs}  # not every graph will do
    for check in result["checks"]:
        assert check["differences"] == []
        assert check["runs"] > (least_of_few if check["algorithm"] in few else least)


def test_a_difference_ends_with_3(run, folder, monkeypatch):
    right = CpuEngine.run

    def wrong(self, work):
        result = right(self, work)
        if isinstance(result, ComponentsResult) and len(result.labels) == 3:
            result.labels[:] = 0
        return result

    monkeypatch.setattr(CpuEngine, "run", wrong)
    monkeypatch.setattr("bigbfs.cli.verify.zoo", lambda: {"three": Graph.from_csr([0, 1, 2, 2], [1, 0])})
    monkeypatch.setattr("bigbfs.cli.verify.GENERATED", {})
    code, out, err = run("verify", "--backend", "cpu")
    assert code == 3 and err.startswith("bigbfs: verify 1 small graph, ")
    assert "DIFFERENCE: three: 1 labels differ, first at vertex 2: have 0, reference 2" in out
    assert "differences from the reference" in err


def test_sources_are_different_and_hold_the_hub():
    star = Graph.from_csr([0, 1, 2, 4], [2, 2, 0, 1])
    assert sources_of(star, 2) == [0, 2]
    assert sources_of(Graph.from_csr([0], np.array([], np.uint32)), 4) == []


def test_a_missing_file_is_refused_before_the_first_graph_is_checked(run, small, monkeypatch):
    monkeypatch.setattr(verification, "Expected", lambda *_: pytest.fail("a graph was checked"))
    code, _, err = run("verify", "graph.csrbin", "gone.csrbin", "--backend", "cpu")
    assert code == 1 and "gone.csrbin: cannot open" in err


def test_a_damaged_file_is_refused_before_the_reference_reads_it(run, small, monkeypatch):
    monkeypatch.setattr("bigbfs.cli.verify.zoo", dict)
    monkeypatch.setattr("bigbfs.cli.verify.GENERATED", {})
    monkeypatch.setattr(verification, "Expected", lambda *_: pytest.fail("the damaged graph was used"))
    offset = csrbin.open_container(small / "graph.csrbin").sections["indices"].offset
    with (small / "graph.csrbin").open("r+b") as stream:
        stream.seek(offset)
        stream.write(b"\xff\xff\xff\xee")
    code, _, err = run("verify", "graph.csrbin", "--backend", "cpu")
    assert code == 1 and "graph.csrbin: corrupted: indices[0] = 4009754623" in err


@pytest.mark.parametrize(
    ("kind", "field", "says"),
    [
        (BfsResult, "edges", "source, reached, depth, edges are (0, 2, 1, 3), reference (0, 2, 1, 2)"),
        (BfsResult, "depth", "are (0, 2, 2, 2), reference (0, 2, 1, 2)"),
        (ComponentsResult, "components", "components and largest are (3, 2), reference (2, 2)"),
        (ComponentsResult, "largest", "components and largest are (2, 3), reference (2, 2)"),
    ],
)
def test_a_wrong_count_is_a_difference(monkeypatch, kind, field, says):
    right = CpuEngine.run

    def wrong(self, work):
        result = right(self, work)
        if isinstance(result, kind):
            setattr(result.record, field, getattr(result.record, field) + 1)
        return result

    monkeypatch.setattr(CpuEngine, "run", wrong)
    expected = verification.Expected("three", Graph.from_csr([0, 1, 2, 2], [1, 0]), 1)
    tallies = expected.check(verification.Setting("cpu", "auto", "plain", "auto"))
    assert [says in line for tally in tallies for line in tally.differences] == [True]
