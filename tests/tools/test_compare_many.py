"""Comparing many searches with other programs: turns, answers that differ, programs that fail, and what is printed."""

from __future__ import annotations

import importlib.util
import json
import stat
import sys
from pathlib import Path

import compare_many
import many_contenders
import numpy as np
import peer_many
import pytest
import zoo

from bigbfs.errors import UsageError

FAKE = """#!{python}
import json, sys
import networkx as nx
import numpy as np
words = np.fromfile(sys.argv[1], "<i4")
n, m = int(words[0]), int(words[1])
indptr, indices = words[2 : n + 3], words[n + 3 : n + 3 + m]
graph = nx.Graph([(u, int(v)) for u in range(n) for v in indices[indptr[u] : indptr[u + 1]]])
graph.add_nodes_from(range(n))
if len(sys.argv) == 2:
    print(f"final diameter: {{nx.diameter(graph) + {wrong}}}\\niterations: 3\\nruntime: 0.25 s")
else:
    sources = np.fromfile(sys.argv[4], "<u4").tolist()
    sums = [sum(nx.single_source_shortest_path_length(graph, source).values()) + {wrong} for source in sources]
    np.array(sums, "<u8").tofile(sys.argv[5])
    print(json.dumps({{"seconds": 0.5, "cpu": 0.4}}))
"""


F_DIAM = ("f-diam", "f-diam-cpu")


def fake(folder: Path, name: str, wrong: int = 0) -> str:
    """Return ``NAME=PROGRAM`` of a program that is right, or wrong by so much."""
    path = folder / name
    path.write_text(FAKE.format(python=sys.executable, wrong=wrong))
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return f"{name}={path}"


@pytest.fixture
def graph(tmp_path):
    """Return the path of a graph of two components."""
    made = zoo.build(80, zoo.join(zoo.path(40), (np.arange(41, 79), np.arange(42, 80))))
    made.save(tmp_path / "g.csrbin")
    return tmp_path / "g.csrbin"


def rows_of(monkeypatch, tmp_path, *arguments):
    """Return the rows that a call of the tool writes."""
    output = tmp_path / "rows.jsonl"
    line = ["compare_many", *map(str, arguments), "--threads", "1", "--trials", "2", "--output", str(output)]
    monkeypatch.setattr(sys, "argv", line)
    compare_many.main()
    return [json.loads(text) for text in output.read_text().splitlines()]


def test_searches_and_diameters_take_turns(graph, tmp_path, monkeypatch, capsys):
    peers = [word for name in ("ms-bfs", *F_DIAM) for word in ("--peer", fake(tmp_path, name))]
    rows = rows_of(monkeypatch, tmp_path, "searches", graph, "--width", 64, "--few", 4, *peers)
    assert [row["name"] for row in rows] == ["bigbfs", "bigbfs, single", "ms-bfs"]
    assert [len(row["trials"]) for row in rows] == [2, 2, 2] and (rows[2]["seconds"], rows[2]["cpu"]) == (0.5, 0.4)
    assert "ms a source" in capsys.readouterr().out
    rows = rows_of(monkeypatch, tmp_path, "diameter", graph, *peers)[3:]
    assert [(row["name"], row["n"]) for row in rows] == [("bigbfs", 40), ("F-Diam", 40)]
    assert (rows[1]["seconds"], rows[1]["cpu"]) == (0.25, 0.25)


@pytest.mark.parametrize("directed", [False, True])
def test_libraries_find_the_same_centralities(graph, tmp_path, monkeypatch, directed):
    """NetworkX is here; what there is of igraph and NetworKit goes the same way."""
    if directed:
        made = zoo.build(60, zoo.join(zoo.path(40), zoo.random(60, 90, seed=2)), directed=True)
        made.save(graph)
    names = ["networkx", *(name for name in ("igraph", "networkit") if importlib.util.find_spec(name))]
    call = [graph, "--python", sys.executable, *(word for name in names for word in ("--library", name))]
    for work in ("closeness", "harmonic"):
        more = ("--peer", fake(tmp_path, "ms-bfs"))
        rows = [row for row in rows_of(monkeypatch, tmp_path, work, *call, *more) if row["work"] == work]
        others = ["ms-bfs"] * (work == "closeness" and not directed) + [
            many_contenders.LIBRARIES[name] for name in names
        ]
        assert [row["name"] for row in rows] == ["bigbfs", *others]
        assert all("error" not in row and row["cpu"] > 0 for row in rows), rows


def test_a_wrong_answer_has_no_time(graph, tmp_path, monkeypatch, capsys):
    peers = [word for name in F_DIAM for word in ("--peer", fake(tmp_path, name, wrong=1))]
    rows = rows_of(monkeypatch, tmp_path, "diameter", graph, *peers)
    assert "seconds" not in rows[1] and rows[1]["error"] == "F-Diam: [40] ..., and ours [39] ..."
    assert "F-Diam: [40] ..., and ours [39] ..." in capsys.readouterr().out


def test_a_program_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(UsageError, match="write ms-bfs=PROGRAM"):
        compare_many.peers_of(["ms-bfs=gone"])
    with pytest.raises(UsageError, match="give F-Diam in both builds"):
        compare_many.peers_of([fake(tmp_path, "f-diam")])


def test_the_largest_component_keeps_its_distances(graph):
    with compare_many.Graph.open(graph) as opened:
        part = many_contenders.largest_component(opened)
    assert (part.n, part.m) == (40, 78) and part.flags.symmetric


def test_others_read_what_is_written(graph, tmp_path):
    with compare_many.Graph.open(graph) as opened:
        rows = many_contenders.plain_rows(opened)
        for ours, theirs in zip(rows, peer_many.read(compare_many.write_ecl(tmp_path, *rows)), strict=True):
            np.testing.assert_array_equal(ours, theirs)
