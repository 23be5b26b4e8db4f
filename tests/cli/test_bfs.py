import json
import re
import zlib

import numpy as np
import pytest

from bigbfs.formats.container.newest import newest_graph

RUN_KEYS = [
    "source",
    "reached",
    "depth",
    "edges",
    "seconds",
    "gteps",
    "verified",
    "levels",
    "deepest",
    "disturbed",
    "switches",
]
KEYS = {
    *("schema", "command", "graph", "backend", "device", "residency", "strategy", "runs"),
    *("median_gteps", "harmonic_mean_gteps", "setup", "bytes", "wrote", "notes"),
}


def test_the_line_of_the_readme(run, small):
    code, out, err = run("bfs", "--compressed", "--source", 10, "--backend", "cpu")
    assert code == 0, err
    assert "bigbfs: made graph.ccsr of graph.csrbin, " in err
    assert "made" not in run("bfs", "--compressed", "--source", 10, "--backend", "cpu")[2], "it is there"
    assert "graph.ccsr" in out
    assert (small / "graph.ccsr").exists()
    row = next(line for line in out.splitlines() if line.split()[:1] == ["10"])
    assert row.split()[1:5] == ["3", "60", "2", "4"]


def test_json_object(run, small):
    code, out, _ = run("bfs", "--source", 20, "--source", 50, "--verify", "--json", "--backend", "cpu")
    assert code == 0
    result = json.loads(out)
    assert set(result) == KEYS
    assert result["graph"] == {"path": "graph.csrbin", "vertices": 5, "edges": 6, "codec": "plain"}
    assert set(result["setup"]) == {"open", "start", "place", "compile"}
    assert set(result["bytes"]) == {"host", "device"}
    assert [list(item) for item in result["runs"]] == [RUN_KEYS, RUN_KEYS]
    first = result["runs"][0]
    assert (first["source"], first["reached"], first["depth"], first["edges"], first["verified"]) == (20, 3, 1, 4, True)
    keys = ("level", "direction", "frontier", "edges")
    assert [tuple(level[key] for key in keys) for level in first["levels"]] == [
        (0, "top-down", 1, 2),
        (1, "top-down", 2, 2),
    ]
    assert first["gteps"] == pytest.approx(4 / first["seconds"] / 1e9)


def test_arrays_are_in_original_ids(run, small):
    code, _, err = run("bfs", "--source", 30, "--levels", "l.npy", "--parents", "p.npy", "--backend", "cpu")
    assert code == 0, err
    levels, parents = np.load("l.npy"), np.load("p.npy")
    assert (levels.dtype, parents.dtype) == (np.int32, np.int64)
    assert levels.tolist() == [2, 1, 0, -1, -1]
    assert parents.tolist() == [20, 30, -1, -1, -1]


def test_what_is_left_out_changes_no_count(run, small):
    runs = []
    for left_out in ([], ["--no-levels"], ["--no-parents"], ["--no-levels", "--no-parents"]):
        code, out, err = run("bfs", "--source", 10, "--json", "--backend", "cpu", *left_out)
        assert code == 0, err
        found = json.loads(out)["runs"][0]
        runs.append([found[key] for key in ("source", "reached", "depth", "edges", "verified")])
    assert runs == [[10, 3, 2, 4, None]] * 4
    assert run("bfs", "--source", 10, "--no-parents", "--levels", "l.npy", "--backend", "cpu")[0] == 0
    assert np.load("l.npy").tolist() == [0, 1, 2, -1, -1]


def test_max_depth(run, small):
    code, out, _ = run("bfs", "--source", 10, "--max-depth", 1, "--verify", "--json", "--backend", "cpu")
    assert code == 0
    assert json.loads(out)["runs"][0]["reached"] == 2


def test_random_sources_are_different_have_edges_and_repeat(run, folder):
    (folder / "g.mtx").write_text("%%MatrixMarket matrix coordinate pattern symmetric\n9 9 3\n2 1\n3 2\n9 8\n")
    assert run("convert", "g.mtx")[0] == 0
    found = []
    for _ in range(2):
        code, out, _ = run("bfs", "--sources", "random:64", "--seed", 5, "--json", "--backend", "cpu")
        assert code == 0
        found.append([item["source"] for item in json.loads(out)["runs"]])
    assert found[0] == found[1]
    assert sorted(found[0]) == [1, 2, 3, 8, 9]
    code, out, err = run("bfs", "--sources", "random:2", "--seed", 6, "--json", "--backend", "cpu")
    assert len(json.loads(out)["runs"]) == 2
    assert "note" not in err


def test_fewer_vertices_with_edges_than_random_sources_are_said(run, small):
    code, out, err = run("bfs", "--sources", "random:64", "--json", "--backend", "cpu")
    assert code == 0 and len(json.loads(out)["runs"]) == 5
    assert "note: --sources random:64: only 5 vertices have edges; each of them is a source\n" in err
    assert "note" not in run("bfs", "--sources", "random:5", "--json", "--backend", "cpu")[2]


def test_sources_from_a_file(run, small):
    (small / "s.txt").write_text("# ids\n10 20\n\n50 # last\n")
    code, out, _ = run("bfs", "--sources", "@s.txt", "--json", "--backend", "cpu", "--trials", 3)
    assert code == 0
    assert [item["source"] for item in json.loads(out)["runs"]] == [10, 20, 50]


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        (["--source", "11"], 2, "graph.csrbin: no vertex 11"),
        (["--source", "-1"], 2, "no vertex -1"),
        ([], 2, "--source V"),
        (["--source", "10", "--sources", "random:2"], 2, "one of them"),
        (["--sources", "random:0"], 2, "random:K"),
        (["--sources", "some"], 2, "random:K"),
        (["--sources", "@"], 2, "@FILE"),
        (["--sources", "@gone.txt"], 1, "gone.txt: cannot read: No such file or directory; check the path"),
        (["--sources", "@bad.txt"], 1, "bad.txt:2: 'ten' is no vertex id"),
        (["--sources", "@binary.txt"], 1, "binary.txt: byte 0: not text"),
        (["--sources", "@empty.txt"], 1, "no vertex id in it"),
        (["--source", "10", "--source", "20", "--levels", "l.npy"], 2, "2 sources"),
        (["--source", "10", "--levels", "l.txt"], 2, "name it l.npy"),
        (["--source", "10", "--parents", "no/such/l.npy"], 1, "does not exist; create it first"),
        (["--source", "10", "--levels", "folder.npy"], 1, "folder.npy: cannot write: it is a folder"),
        (["--source", "10", "--levels", "l.npy", "--parents", "l.npy"], 2, "each its own file"),
        (["--source", "10", "--vram-budget", "lots"], 2, "is not a size"),
        (["--source", "10", "--ram-budget", "lots"], 2, "is not a size"),
        (
            ["--source", "10", "--backend", "cpu", "--ram-budget", "1GiB"],
            2,
            "--ram-budget: for a GPU, .* leave it out",
        ),
        (["--source", "10", "--profile", "bad.txt"], 1, "bad.txt: not TOML"),
        (["--source", "10", "--profile", "h300"], 2, "no device profile 'h300'.*h200, laptop-6gb"),
        (["--source", "10", "--no-levels", "--levels", "l.npy"], 2, "--no-levels leaves out what --levels l.npy needs"),
        (["--source", "10", "--no-parents", "--verify"], 2, "--no-parents leaves out what --verify needs"),
        (["--source", "10", "--backend", "cpu", "--residency", "vram"], 2, "--residency: for a GPU"),
        (["gone.csrbin", "--source", "0"], 1, "gone.csrbin: cannot open: No such file or directory; check the path"),
        ([".", "--source", "0"], 1, "folder"),
    ],
)
def test_bad_lines(run, small, arguments, code, text):
    (small / "bad.txt").write_text("10\nten\n")
    (small / "binary.txt").write_bytes(b"\xff\xfe\x00")
    (small / "empty.txt").write_text("# nothing\n")
    (small / "folder.npy").mkdir()
    before = sorted(small.iterdir())
    got, out, err = run("bfs", *arguments)
    assert (got, out) == (code, "")
    assert re.search(text, err)
    assert "Traceback" not in err
    assert sorted(small.iterdir()) == before


def test_no_graph_in_the_folder(run, folder):
    code, _, err = run("bfs", "--source", "0")
    assert code == 2
    assert "bigbfs convert FILE" in err


def test_gpu_without_a_gpu(run, small, monkeypatch):
    from bigbfs.engines.gpu.runtime import device

    if device.available():
        pytest.skip("there is a GPU here")
    code, _, err = run("bfs", "--source", 10, "--backend", "gpu")
    assert code == 4
    assert err.count("\n") == 1
    code, _, err = run("probe")
    assert code == 4 and "--backend" not in err


@pytest.mark.parametrize("command", [["bfs", "--source", "10"], ["cc"], ["bench", "cc"]])
def test_options_of_a_gpu_without_one_are_named_before_any_work(run, small, monkeypatch, command):
    monkeypatch.setattr("bigbfs.engines.gpu.runtime.device.available", lambda: False)
    options = ["--residency", "vram", "--vram-budget", "1GiB"]
    code, _, err = run(*command, "--compressed", *options)
    assert code == 4 and not (small / "graph.ccsr").exists()
    assert err == "bigbfs: error: --residency, --vram-budget: for a GPU, and none is usable here; leave them out\n"
    monkeypatch.setattr("bigbfs.engines.gpu.runtime.device.available", lambda: True)
    code, _, err = run(*command, "--threads", "1")
    assert code == 2 and "--threads: CPU threads, and this run is on the GPU" in err


def test_a_wrong_result_ends_with_3(run, small, monkeypatch):
    from bigbfs.engines.cpu.engine import CpuEngine

    right = CpuEngine.run

    def wrong(self, work):
        result = right(self, work)
        result.levels[result.levels == 2] = 1
        return result

    monkeypatch.setattr(CpuEngine, "run", wrong)
    code, _, err = run("bfs", "--source", 10, "--verify", "--backend", "cpu")
    assert code == 3
    assert "vertex" in err


def test_newest_graph_prefers_the_plain_twin(run, small):
    assert run("convert", "graph.txt", "--compressed")[0] == 0
    code, out, _ = run("bfs", "--source", 10, "--json", "--backend", "cpu")
    assert (code, json.loads(out)["graph"]["codec"]) == (0, "plain")
    code, out, _ = run("bfs", "--source", 10, "--json", "--backend", "cpu", "--compressed")
    assert (code, json.loads(out)["graph"]["codec"]) == (0, "varint")
    assert newest_graph(small) is not None


@pytest.mark.parametrize("depth", [2**31, 2**63, 10**30])
def test_a_depth_that_no_level_reaches_is_no_limit(run, small, depth):
    code, out, err = run("bfs", "--source", 10, "--max-depth", depth, "--verify", "--json", "--backend", "cpu")
    assert code == 0, err
    assert json.loads(out)["runs"][0]["depth"] == 2


def test_numbers_of_thousands_of_digits_are_refused(run, small):
    (small / "sources.txt").write_text("0" * 5000 + "10\n" + "7" * 5000)
    code, _, err = run("bfs", "--sources", "@sources.txt")
    assert (code, err.count("\n")) == (1, 1)
    assert "sources.txt:2: '777" in err
    code, _, err = run("bfs", "--sources", "random:" + "7" * 5000)
    assert (code, err.count("\n")) == (2, 1)
    assert "K from 1" in err


def test_plain_rows_are_not_taken_for_compressed_ones(run, small):
    (small / "graph.csrbin").rename(small / "graph.ccsr")
    code, _, err = run("bfs", "--compressed", "--source", 10, "--backend", "cpu")
    assert code == 2 and "graph.ccsr: holds plain rows" in err
    assert run("bfs", "--source", 10, "--backend", "cpu")[0] == 0


def test_sources_of_a_file_with_a_byte_order_mark(run, small):
    (small / "sources.txt").write_bytes(b"\xef\xbb\xbf10\r\n20\r\n")
    code, out, err = run("bfs", "--sources", "@sources.txt", "--json", "--backend", "cpu")
    assert code == 0, err
    assert [item["source"] for item in json.loads(out)["runs"]] == [10, 20]


def test_levels_and_parents_need_two_files(run, small):
    code, _, err = run("bfs", "--source", 10, "--levels", "a.npy", "--parents", "./a.npy", "--backend", "cpu")
    assert code == 2
    assert "each its own file" in err
    assert not (small / "a.npy").exists()


def test_a_header_that_lies_about_the_edges_of_a_ccsr(run, small):
    assert run("convert", "graph.txt", "--compressed")[0] == 0
    path = small / "graph.ccsr"
    content = bytearray(path.read_bytes())
    content[24] -= 1  # m
    content[124:128] = zlib.crc32(content[:124]).to_bytes(4, "little")
    path.write_bytes(content)
    code, _, err = run("bfs", "graph.ccsr", "--source", 10, "--backend", "cpu")
    assert (code, err.count("\n")) == (1, 1)
    assert "5 edges in the header, 6 in the rows" in err


def test_a_raw_export_is_not_taken_for_the_newest_graph(run, small):
    assert run("export", "graph.csrbin", "--to", "raw", "-o", "newer.csrbin")[0] == 0
    code, out, _ = run("bfs", "--source", 10, "--json", "--backend", "cpu")
    assert (code, json.loads(out)["graph"]["path"]) == (0, "graph.csrbin")
