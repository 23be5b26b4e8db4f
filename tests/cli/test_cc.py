import json

import numpy as np
import pytest

import bigbfs
import bigbfs.generate


def test_the_line_of_the_readme(run, small):
    code, out, err = run("cc", "--afforest", "--backend", "cpu", "--verify")
    assert code == 0, err
    header, row = (line.split() for line in out.splitlines()[3:5])
    assert header == ["components", "largest", "%", "ms", "verified"]
    assert (row[0], row[1], row[2], row[4]) == ("2", "3", "60", "yes")


@pytest.mark.parametrize("command", ["bfs", "cc"])
def test_help_says_what_a_graph_may_be(run, command):
    said = " ".join(run(command, "--help")[1].split())
    assert "a folder of shards, of which each rank opens its own, or a table of edges" in said


@pytest.mark.parametrize("switch", [("--rounds", "2"), ("--single-pass",), ("--algorithm", "sv")])
def test_help_says_what_ranks_refuse_and_they_name_it(run, small, switch):
    """Shards on CPUs are as ranks, also those of one process."""
    assert run("split", "graph.csrbin", "--shards", 2)[0] == 0
    code, out, err = run("cc", "graph.shards", "--backend", "cpu", *switch)
    assert (code, out) == (2, "") and err.startswith(f"bigbfs: error: {' '.join(switch)}: over ranks on CPUs, and of")
    assert run("cc", "graph.shards", "--backend", "cpu", "--no-skip-giant", "--verify")[0] == 0
    said = " ".join(run("cc", "--help")[1].split())
    assert "Not for ranks, or shards, on CPUs." in said and "it leaves is finished. Not for ranks." in said
    assert "Over ranks on CPUs, and of shards there, only --no-skip-giant is a choice." in said


@pytest.mark.parametrize("compressed", [[], ["--compressed"]])
def test_json_and_labels(run, small, compressed):
    line = ["cc", "--json", "--verify", "--trials", 2, "--labels", "c.npy", "--backend", "cpu", *compressed]
    code, out, err = run(*line)
    assert code == 0, err
    result = json.loads(out)
    assert set(result) == {
        *("schema", "command", "graph", "backend", "device", "residency", "strategy"),
        *("components", "largest", "share", "sizes", "largest_components", "runs", "setup", "bytes", "wrote", "notes"),
    }
    assert result["share"] == 0.6
    assert result["sizes"] == [{"smallest": 2, "largest": 3, "components": 2, "vertices": 5}]
    assert (result["components"], result["largest"]) == (2, 3)
    assert [item["verified"] for item in result["runs"]] == [True, True]
    labels = np.load("c.npy")
    assert (labels.dtype, labels.tolist()) == (np.int64, [10, 10, 10, 40, 40])


def test_a_wrong_result_ends_with_3(run, small, monkeypatch):
    from bigbfs.engines.cpu.engine import CpuEngine

    right = CpuEngine.run

    def wrong(self, work):
        result = right(self, work)
        result.labels[-1] = result.labels[0]
        return result

    monkeypatch.setattr(CpuEngine, "run", wrong)
    code, _, err = run("cc", "--verify", "--backend", "cpu", "--labels", "c.npy")
    assert code == 3
    assert "edge 40 -> 50 joins labels 40 and 10" in err
    assert not (small / "c.npy").exists()


@pytest.mark.parametrize("algorithm", ["afforest", "sv", "labelprop"])
@pytest.mark.parametrize("switches", [[], ["--single-pass"], ["--no-skip-giant"]])
def test_every_algorithm(run, small, algorithm, switches):
    line = ["cc", "--algorithm", algorithm, *switches, "--verify", "--backend", "cpu", "--labels", "c.npy"]
    code, out, err = run(*line)
    assert code == 0, err
    assert np.load("c.npy").tolist() == [10, 10, 10, 40, 40]
    assert "2 to 3" in out


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (["--afforest", "--algorithm", "sv"], "contradict"),
        (["--algorithm", "sv", "--rounds", "2"], "--rounds goes with --algorithm afforest"),
        (["--algorithm", "labelprop", "--skip-giant"], "--skip-giant does not go with --algorithm labelprop"),
        (["--largest", "giant.txt"], "name it so"),
        (["--largest", "graph.csrbin"], "is the graph itself"),
        (["--largest", "graph.ccsr"], "in its other encoding"),
    ],
)
def test_what_cannot_be_meant_ends_with_2(run, small, line, message):
    code, _, err = run("cc", "graph.csrbin", "--backend", "cpu", *line)
    assert (code, message in err) == (2, True), err


@pytest.mark.parametrize("target", ["giant.csrbin", "giant.ccsr"])
@pytest.mark.parametrize("compressed", [[], ["--compressed"]])
@pytest.mark.parametrize("options", [{}, {"order": "degree"}, {"directed": True, "in_edges": True}])
def test_the_largest_component_as_a_graph(run, folder, options, compressed, target):
    """Its vertices keep their ids, its edges are those between them, in both directions of a directed graph."""
    lines = ["5 6", "900 7", "7 900000000000", "900 20", "20 7", "40 41"]
    (folder / "graph.txt").write_text("\n".join(lines) + "\n")
    bigbfs.convert("graph.txt", **options)
    code, _, err = run("cc", "graph.csrbin", *compressed, "--backend", "cpu", "--largest", target)
    assert code == 0, err
    code, out, _ = run("check", target)
    assert code == 0, out
    code, _, err = run("export", target, "--to", "el", "-o", "giant.el")
    assert code == 0, err
    found = [tuple(map(int, line.split())) for line in (folder / "giant.el").read_text().splitlines() if line[0] != "#"]
    wanted = [tuple(map(int, line.split())) for line in lines[1:5]]
    if not options.get("directed"):
        found, wanted = ([tuple(sorted(edge)) for edge in edges] for edges in (found, wanted))
    assert sorted(found) == sorted(wanted)
    with bigbfs.open(target) as part:
        assert part.original_ids().tolist() == [7, 20, 900, 900000000000]
        assert part.codec == ("varint" if target.endswith("ccsr") else "plain")
        assert part.flags.directed == bool(options.get("directed"))
        assert (part.in_adjacency is not None) == (not options.get("directed") or options.get("in_edges", False))
    assert sorted(path.name for path in folder.iterdir() if path.name.startswith(".")) == []


def test_the_largest_of_a_graph_in_one_piece_is_the_graph(run, folder):
    bigbfs.generate.graph("grid2d", rows=30, columns=40).save("grid.csrbin")
    code, _, err = run("cc", "grid.csrbin", "--backend", "cpu", "--largest", "giant.csrbin")
    assert code == 0, err
    with bigbfs.open("grid.csrbin") as whole, bigbfs.open("giant.csrbin") as part:
        assert part.labels is None
        np.testing.assert_array_equal(part.adjacency.indices, whole.adjacency.indices)


def test_the_largest_of_nothing(run, folder):
    bigbfs.Graph.from_csr(np.zeros(1, np.uint64), np.empty(0, np.uint32)).save("none.csrbin")
    code, _, err = run("cc", "none.csrbin", "--backend", "cpu", "--largest", "giant.csrbin")
    assert code == 0, err
    assert bigbfs.open("giant.csrbin").n == 0


def test_bench_lists_every_switch(run, small):
    code, out, err = run("bench", "cc", "graph.csrbin", "--backend", "cpu", "--trials", 1)
    assert code == 0, err
    table = [line.split() for line in out.partition("\n\n")[2].partition("\n\n")[0].splitlines()]
    assert [row[0] for row in table[1:]] == ["afforest"] * 8 + ["sv"] * 4 + ["labelprop"] * 2
    assert err.splitlines()[::13] == ["bigbfs: run afforest, 1 of 14 ...", "bigbfs: run labelprop, 14 of 14 ..."]
    code, out, err = run("bench", "cc", "graph.csrbin", "--backend", "cpu", "--json", "--algorithm", "sv")
    assert code == 0, err
    rows = json.loads(out)["rows"]
    assert {row["algorithm"] for row in rows} == {"sv"}
    assert [(row["skip_giant"], row["single_pass"]) for row in rows] == [
        (True, False), (False, False), (True, True), (False, True)
    ]  # fmt: skip
    assert all(row["edges_read"] > 0 and row["passes"] > 0 for row in rows)


def test_bench_finds_labels_that_differ(run, small, monkeypatch):
    from bigbfs.engines.cpu.engine import CpuEngine

    right = CpuEngine.run

    def wrong(self, work):
        result = right(self, work)
        if work.algorithm == "sv":
            result.labels[-1] = 0
        return result

    monkeypatch.setattr(CpuEngine, "run", wrong)
    code, _, err = run("bench", "cc", "graph.csrbin", "--backend", "cpu", "--trials", 1)
    assert code == 3
    assert "differ" in err
