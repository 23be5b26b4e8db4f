"""The studies on a GPU, emulated: every kernel reads what it should, exact filters let nothing pass twice."""

import json

import numpy as np
import pytest
import study
import study_page
import zoo
from studies import bed, culling, gather, heads, orders
from studies.tree import frontiers, tree_of

from bigbfs import generate
from bigbfs.algorithms.plain_rows import plain_rows
from bigbfs.errors import UsageError, VerificationError
from emulated.runtime import SimtRuntime, builds_here

HERE = builds_here()  # skips where the emulation cannot be built
GRAPHS = ("two-hubs", "duplicates-kept", "wide-ids-hub")
"""Rows of all classes, both widths of ids, ends that are found many times."""

CASES = [(build, name) for build in HERE for name in (GRAPHS if build == "plain" else ("random",))]


def naive_frontiers(graph, levels):
    """The logical frontiers by Python's own sets."""
    found = {name: [] for name in ("vertices", "edges", "ends", "unreached", "new")}
    indptr, indices = plain_rows(graph)
    for level in range(levels.max() + 1):
        vertices = np.flatnonzero(levels == level)
        ends = [int(u) for v in vertices for u in indices[indptr[v] : indptr[v + 1]]]
        fresh = [u for u in ends if levels[u] == level + 1]
        for name, value in zip(found, (vertices, ends, set(ends), fresh, set(fresh)), strict=True):
            found[name].append(len(value))
    return found


def tree_in(name):
    graph = zoo.shared()[name]
    return graph, tree_of(graph, int(graph.degrees().argmax()))


@pytest.mark.parametrize("name", [*GRAPHS, "directed-multi", "path"])
def test_logical_frontiers_are_those_of_sets(name):
    graph, tree = tree_in(name)
    assert frontiers(graph, tree) == naive_frontiers(graph, tree.levels)
    assert tree.edges == sum(frontiers(graph, tree)["edges"])


@pytest.mark.parametrize(("build", "name"), CASES)
def test_every_gathering_reads_the_rows_of_the_frontier(build, name, monkeypatch):
    monkeypatch.setattr(gather, "TRIALS", 1)
    graph, tree = tree_in(name)
    found = gather.study(SimtRuntime(build=build, resident=2), graph, tree)
    assert sum(found["edges"]) == tree.edges
    assert set(found["seconds"]) == {*gather.WAYS, *gather.LOOKUPS}
    assert all(None not in column and len(column) == len(tree.sizes) for column in found["seconds"].values())


def test_a_gathering_that_reads_something_else_is_refused(monkeypatch):
    monkeypatch.setattr(gather, "TRIALS", 1)
    counted = gather.sums(*tree_in("random"))
    monkeypatch.setattr(gather, "sums", lambda graph, tree: counted | {"sum": counted["sum"] + 1})
    with pytest.raises(VerificationError, match="gather_serial, level 0: counted"):
        gather.study(SimtRuntime(), *tree_in("random"))


@pytest.mark.parametrize(("build", "name"), CASES)
def test_filters_lose_no_end_and_the_exact_one_lets_none_pass_twice(build, name):
    graph, tree = tree_in(name)
    runtime = SimtRuntime(build=build, seed=0 if build == "plain" else 3, resident=2)
    found = culling.study(runtime, graph, tree)
    assert found["false"]["atomicOr"] == 0
    assert found["passed"]["atomicOr"] == tree.reached - 1
    assert found["false"]["label"] >= found["false"]["bitmask + label"] >= 0 or build != "plain"
    for column in found["levels"].values():
        assert len(column) == len(tree.sizes)


def test_a_filter_that_loses_an_end_is_refused(monkeypatch):
    monkeypatch.setitem(culling.FILTERS, "label", culling.LABEL | culling.EXACT)  # the source's bit alone is set
    graph, tree = tree_in("random")
    monkeypatch.setattr(bed.Bed, "reach", lambda self, level: self.runtime.fill(self.arrays["bitmask"], 2**32 - 1))
    with pytest.raises(VerificationError, match=r"label, level 0: 0 ends pass"):
        culling.study(SimtRuntime(), graph, tree)


def test_compressed_rows_are_refused():
    graph, tree = tree_in("random")
    with pytest.raises(UsageError, match="plain rows"):
        bed.Bed(SimtRuntime(), graph.compress(), tree)


def test_orders_and_heads_run_every_way():
    with generate.graph("dag", vertices=60, edges=900) as dag:
        found = orders.study(SimtRuntime, dag)
    assert list(found["seconds"]) == [*orders.GPU_WAYS, "CPU", "CPU, one thread", "serial Kahn", "depth-first search"]
    assert found["ran"]["GPU, whole grid"]["whole grid"] == found["rounds"] - 1  # the last has no edge
    assert found["ran"]["GPU"] == {"one block": found["rounds"]}
    graph = zoo.shared()["random"]
    found = heads.study(SimtRuntime, graph, [0, 1])
    assert found["head_groups"]["vram"]["no heads"] == found["hot_bytes"]["mapped"]["neither"] == 0
    assert set(found["seconds"]["mapped"]) == set(heads.WAYS)


def test_the_tool_writes_a_row_for_each_study_and_the_page_shows_them(tmp_path, monkeypatch):
    suite, rows = tmp_path / "suite.toml", tmp_path / "rows.jsonl"
    suite.write_text('[[cases]]\nname = "g"\nkind = "kronecker"\nparameters = { scale = 6 }\nsources = 2\n')
    monkeypatch.setattr(heads, "LEAST_EDGES", 0)
    study.main(["--suite", str(suite), "--output", str(rows)], SimtRuntime)
    kept = [json.loads(line) for line in rows.read_text().splitlines()]
    assert [row["study"] for row in kept] == list(study.OF_SEARCHES)
    assert {row["device"] for row in kept} == {"emulated GPU"}
    assert set(kept[1]["found"]["ways"]) == {"auto (CPU)", "auto (GPU)", "hybrid-td-bu (GPU)"}
    pytest.importorskip("altair", reason="the extra `plot` is not installed")
    page = tmp_path / "studies.md"
    monkeypatch.setattr("sys.argv", ["study_page.py", str(rows), "--output", str(page)])
    study_page.main()
    text = page.read_text()
    for title in [title for name in study.OF_SEARCHES for title, *_ in study_page.SECTIONS[name]]:
        assert f"## {title}" in text
    assert (tmp_path / "studies" / "frontiers-g.svg").exists() == (len(kept[0]["found"]["edges"]) >= 4)
