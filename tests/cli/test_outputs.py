"""What commands write: said, and never over a file of somebody else's without being asked."""

import errno
import gzip
import json
import os
import shutil
from types import SimpleNamespace

import numpy as np
import pytest

from bigbfs.cli import options
from bigbfs.formats import ours


def lines_of(out, word):
    return [line[12:] for line in out.splitlines() if line.startswith(word.ljust(12))]


def test_bfs_says_what_it_wrote_the_deepest_vertex_and_the_path(run, small):
    line = ["bfs", "--source", 10, "--target", 30, "--levels", "l.npy", "--parents", "p.npy", "--backend", "cpu"]
    code, out, err = run(*line, "--verify")
    assert code == 0, err
    assert lines_of(out, "wrote") == ["l.npy: int32, 5 values", "p.npy: int64, 5 values"]
    assert lines_of(out, "deepest") == ["30: 2 edges from 10"]
    assert lines_of(out, "path") == ["10 -> 20 -> 30: 2 edges"]
    result = json.loads(run(*line, "--json")[1])
    assert result["wrote"][1] == {"path": "p.npy", "bytes": ours.HEADER + 40, "dtype": "int64", "count": 5}
    found = result["runs"][0]
    assert [found[key] for key in ("deepest", "target", "distance", "path")] == [30, 30, 2, [10, 20, 30]]


def test_a_target_ends_the_search_and_one_out_of_reach_is_said(run, small):
    (small / "long.txt").write_text("".join(f"{v} {v + 1}\n" for v in range(100, 150)))
    assert run("convert", "long.txt")[0] == 0
    code, out, _ = run("bfs", "long.csrbin", "--source", 100, "--target", 140, "--backend", "cpu", "--verify")
    assert code == 0 and lines_of(out, "deepest") == ["140: 40 edges from 100"]
    assert all(len(line) <= 80 for line in out.splitlines()) and "140: 40 edges\n" in out
    many = ["bfs", "graph.csrbin", "--source", 10, "--source", 50, "--target", 40, "--backend", "cpu"]
    code, out, _ = run(*many)
    assert lines_of(out, "no path") == ["from 10 to 40, to depth 2"] and lines_of(out, "path") == ["50 -> 40: 1 edge"]
    assert [each["path"] for each in json.loads(run(*many, "--json")[1])["runs"]] == [None, [50, 40]]
    assert "<0.001" in out
    for line, text in (("--no-parents", "leaves out what --target needs"), ("--seed=2", "no vertex 77")):
        code, out, err = run("bfs", "graph.csrbin", "--source", 10, "--target", 77, "--backend", "cpu", line)
        assert code == 2 and text in err


def test_a_long_name_of_a_processor_takes_two_lines():
    device = "Intel(R) Xeon(R) Platinum 8481C CPU @ 2.70GHz, 208 threads"
    engine = SimpleNamespace(backend="cpu", device=device, residency="host", edges_kind="")
    found = options.describe_engine(engine, ", strategy auto").splitlines()
    assert [line[:12] for line in found] == ["backend     ", " " * 12] and max(map(len, found)) <= 80
    assert " ".join(line[12:] for line in found) == f"cpu: {device}, edges in host, strategy auto"


def test_cc_lists_the_largest_components_with_a_member_each(run, folder):
    (folder / "g.txt").write_text("\n".join(f"{v} {v + 1}" for v in (1, 11, 12, 21, 22, 23, 31, 41, 51, 61)))
    for order in ("original", "degree"):
        assert run("convert", "g.txt", "--order", order, "--force")[0] == 0
        code, out, err = run("cc", "--backend", "cpu", "--labels", "c.npy")
        assert code == 0, err
        at = out.splitlines().index("a member of the largest  vertices")
        rows = [line.split() for line in out.splitlines()[at + 1 : at + 6]]
        assert rows[:2] == [["21", "4"], ["11", "3"]] and all(size == "2" for _, size in rows[2:])
        assert {int(member) for member, _ in rows} <= set(np.load("c.npy").tolist()), "members are labels"
        found = json.loads(run("cc", "--backend", "cpu", "--json")[1])["largest_components"]
        assert [(str(each["member"]), str(each["vertices"])) for each in found] == [tuple(row) for row in rows]


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("theirs.npy", ["bfs", "--source", "10", "--backend", "cpu", "--levels"]),
        ("theirs.npy", ["cc", "--backend", "cpu", "--labels"]),
        ("theirs.csrbin", ["cc", "graph.csrbin", "--backend", "cpu", "--largest"]),
        ("theirs.svg", ["info", "--plot"]),
        ("theirs.txt", ["generate", "star", "--vertices", "9", "--edges", "20", "-o"]),
        ("theirs.csrbin", ["convert", "graph.txt", "-o"]),
        ("theirs.mtx", ["export", "graph.csrbin", "--to", "mtx", "-o"]),
    ],
    ids=lambda value: value if isinstance(value, str) else value[0],
)
def test_a_file_of_somebody_else_is_replaced_only_by_force(run, small, name, line):
    theirs = small / name
    theirs.write_text("my notes of the last ten years\n")
    code, out, err = run(*line, name)
    assert (code, out) == (
        2,
        "",
    ) and f"{name}: is there already, and nothing says that bigbfs wrote it and nobody changed it since; name" in err
    assert "say --force to replace it" in err and theirs.read_text().startswith("my notes")
    code, out, err = run(*line, name, "--force")
    assert code == 0, err
    assert not theirs.read_bytes().startswith(b"my notes")
    assert run(*line, name)[0] == 0, "what bigbfs wrote it replaces"


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("graph.csrbin", ["bench", "bfs", "graph.csrbin", "--source", "10", "--trials", "1", "--output"]),
        ("graph.csrbin", ["bench", "bfs", "graph.csrbin", "--source", "10", "--trials", "1", "--report"]),
        ("link.npy", ["bfs", "graph.csrbin", "--source", "10", "--backend", "cpu", "--levels"]),
        ("link.npy", ["cc", "graph.csrbin", "--backend", "cpu", "--labels"]),
        ("link.csv", ["members", "graph.csrbin", "--vertex", "10", "-o"]),
        ("rows.jsonl", ["bench", "report", "rows.jsonl", "-o"]),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value[:2]),
)
def test_graphs_and_rows_are_replaced_by_their_like_alone(run, small, name, line):
    """What took long to make: also where the name is a link to it, or simply mistyped."""
    bench = ["bench", "bfs", "graph.csrbin", "--source", "10", "--trials", "1", "--no-baselines", "-o", "rows.jsonl"]
    assert run(*bench)[0] == 0
    if name.startswith("link"):
        (small / name).symlink_to("graph.csrbin")
    before = (small / name).read_bytes()
    code, out, err = run(*line, name)
    assert (code, out) == (2, "")
    what = "the rows of a bench" if name == "rows.jsonl" else "a graph"
    assert f"{name}: holds {what}, and something else would be written over it" in err
    assert (small / name).read_bytes() == before
    assert run(*bench)[0] == 0, "rows take the place of rows"


@pytest.mark.parametrize("place", [True, False], ids=["with attributes", "without"])
def test_the_same_command_again_asks_for_nothing_until_somebody_changes_the_file(run, small, monkeypatch, place):
    if not place:

        def refuse(*about):
            raise OSError(errno.ENOTSUP, "no attributes here")

        monkeypatch.setattr("os.setxattr", refuse)
    lines = [
        ["export", "--to", "el", "-o", "g.el"],
        ["export", "--to", "sg", "-o", "g.sg"],
        ["bfs", "graph.csrbin", "--source", 10, "--backend", "cpu", "--levels", "l.csv"],
    ]
    for line in lines:
        assert run(*line)[0] == 0
        again = run(*line)[0]
        if place and not _has_attributes(small / line[-1]):
            pytest.skip("this file system has no attributes for users")
        assert again == (0 if place else 2)
        with (small / line[-1]).open("ab") as stream:
            stream.write(b"0,0\n")
        code, _, err = run(*line)
        assert code == 2 and "nobody changed it since" in err
        assert run(*line, "--force")[0] == 0
    if place:
        shutil.copyfile(small / "g.el", small / "copy.el")
        assert run("export", "--to", "el", "-o", "copy.el")[0] == 2, "a copy is somebody's own"
        text = ["generate", "grid2d", "--rows", 2, "--columns", 2, "-o", "g.txt"]
        assert [run(*text)[0] for _ in range(2)] == [0, 0]
        with (small / "g.txt").open("a") as stream:
            stream.write("0 3\n")
        assert run(*text)[0] == 2, "its first line still says that bigbfs wrote it"
    graph = ["generate", "star", "--vertices", 9, "--edges", 20, "-o", "star.csrbin"]
    assert [run(*graph)[0] for _ in range(2)] == [0, 0]


def _has_attributes(path):
    try:
        return bool(os.listxattr(path))
    except OSError:
        return False


def test_what_is_ours_is_told_by_its_first_bytes(folder):
    array = np.arange(5)
    np.save("numpy.npy", array)
    (folder / "ours.npy").write_bytes(ours.array_header(array) + array.tobytes())
    assert np.load("ours.npy").tolist() == [0, 1, 2, 3, 4]
    (folder / "made.txt.gz").write_bytes(gzip.compress(b"# bigbfs generate star: 1 2\n"))
    (folder / "cut.txt.gz").write_bytes(gzip.compress(b"# bigbfs generate star: 1 2\n")[:12])
    (folder / "empty").touch()
    found = {path.name for path in folder.iterdir() if ours.is_ours(path)}
    assert found == {"ours.npy", "made.txt.gz", "empty"}
    png = b"\x89PNG\r\n\x1a\n" + bytes(25) + b"the rest"
    (folder / "p.png").write_bytes(png)
    assert not ours.is_ours(folder / "p.png")
    (folder / "p.png").write_bytes(ours.signed_png(png))
    assert ours.is_ours(folder / "p.png")


def test_every_command_prints_one_object_finds_its_graph_and_takes_o(run, small):
    found = {}
    for line in (["info"], ["check"], ["export", "--to", "mtx"], ["strategies", "queue"], ["strategies"]):
        code, out, err = run(*line, "--json")
        assert code == 0, err
        found[line[0]] = json.loads(out)
        assert found[line[0]]["command"] == line[0] and out.count("\n") == 1
    for command in ("info", "check", "export"):
        assert found[command]["graph"]["path"] == "graph.csrbin"
    assert found["export"]["lines"] == 3 and found["export"]["wrote"][0]["path"] == "graph.mtx"
    assert [each["name"] for each in found["strategies"]["strategies"]][:2] == ["auto", "topdown"]
    code, out, err = run("export", "--to", "el", "-o", "-", "--json")
    assert code == 2 and "--json" in err
    rows = [
        "bench",
        "bfs",
        "--strategy",
        "topdown",
        "--source",
        10,
        "--trials",
        1,
        "--no-baselines",
        "--backend",
        "cpu",
    ]
    assert run(*rows, "-o", "rows.jsonl")[0] == 0 and ours.is_ours(small / "rows.jsonl")
    code, out, err = run("bench", "report", "rows.jsonl", "-o", "page.html", "--json")
    assert code == 0, err
    assert json.loads(out)["rows"] == 1 and ours.is_ours(small / "page.html")


def test_a_compressed_twin_of_somebody_else_is_left_alone(run, small):
    (small / "graph.ccsr").write_text("mine")
    for line in (["bfs", "graph.csrbin", "--compressed", "--source", 10], ["convert", "graph.txt", "--compressed"]):
        code, _, err = run(*line)
        assert code == 2 and "graph.ccsr: is there already" in err, err
    assert (small / "graph.ccsr").read_text() == "mine"
    assert run("convert", "graph.txt", "--compressed", "--force")[0] == 0
    assert run("bfs", "--compressed", "--source", 10, "--backend", "cpu")[0] == 0


def test_members_prints_one_object(run, small):
    found = json.loads(run("members", "--vertex", 30, "--json")[1])
    assert (found["members"], found["vertices"], found["wrote"]) == ([10, 20, 30], 3, [])
    found = json.loads(run("members", "--vertex", 30, "--json", "-o", "m.npy")[1])
    assert found["members"] is None and found["wrote"][0]["path"] == "m.npy"
    assert run("members", "--vertex", 30, "--json", "-o", "-")[0] == 2


def test_nothing_that_is_printed_is_wider_than_80_columns(run, small):
    """Of a graph with long ids and large counts; help and paths of files apart."""
    far = 2**62
    (small / "far.txt").write_text("".join(f"{far + v * v} {far + v * v * 7 % 9001}\n" for v in range(2000)))
    assert run("convert", "far.txt")[0] == 0
    ids = f"{far + 1},{far + 4},{far + 9}"
    lines = [
        *(["info"], ["bfs", "--sources", "random:2", "--target", far + 4, "--verify"], ["cc", "--verify"]),
        *(["bfs", "--sources", "random:2", "--compressed"], ["bench", "cc", "--trials", 1], ["strategies"]),
        *(["bench", "bfs", "--source", far + 1, "--trials", 1], ["plan"], ["plan", "--profile", "laptop-6gb"]),
        *(["distances", "--sources", ids, "--targets", ids], ["closeness", "--sources", "random:9", "--top", 3]),
        *(
            ["hops", "--sources", ids],
            ["diameter"],
            ["eccentricity", "-o", "e.npy"],
            ["path", "far.csrbin", far + 1, far],
        ),
        *(
            ["check"],
            ["convert", "far.txt", "--force"],
            ["generate", "star", "--vertices", "90000", "--edges", "90000", "-o", "s.txt"],
        ),
    ]
    for line in lines:
        code, out, err = run(
            line[0], *(["far.csrbin"] if line[0] in ("bfs", "cc", "info", "check", "plan") else []), *line[1:]
        )
        assert code == 0, (line, err)
        wide = [each for each in out.splitlines() if len(each) > 80 and str(small) not in each]
        assert not wide, (line, wide)
