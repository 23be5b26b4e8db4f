"""The commands of many searches: tables, JSON, files, and what they refuse. `small` is the path 10-20-30, and 40-50."""

from __future__ import annotations

import json
import signal
from types import SimpleNamespace

import numpy as np
import pytest
import zoo

from bigbfs.cli import eccentricity, manyopts
from bigbfs.formats.tables import results
from bigbfs.jit import compiling
from bigbfs.report.progress import Progress

SHARED = {
    *("schema", "command", "graph", "backend", "device", "residency", "setup", "bytes", "searches", "batches", "width"),
    *("pairs", "edges_read", "seconds", "disturbed", "switches", "verified", "wrote", "notes", "stopped"),
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
    assert set(found) == SHARED | {"asked", "rows", "sources", "targets", "distances"}
    assert found["sources"][2] == {"source": 30, "reached": 3, "depth": 2, "farthest": 10}
    wrote = found["wrote"][0]
    assert (wrote["path"], wrote["dtype"], wrote["count"], found["distances"]) == ("D.npy", "int16", 25, None)
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
    assert run("distances", "--sources", "@few.txt", "-o", "D.csv")[0] == 0
    with (small / "D.csv").open("a") as stream:
        stream.write("1,2,3\n")
    assert "--force" in run("distances", "--sources", "@few.txt", "-o", "D.csv")[2]


def test_closeness_and_hops(run, small):
    code, out, err = run("closeness", "--top", 2, "-o", "c.npy", "--verify")
    assert code == 0, err
    assert [line.split() for line in out.splitlines()[3:6]] == [
        ["vertex", "closeness"],
        ["20", "0.5"],
        ["10", "0.3333"],
    ]
    assert "every vertex was a source" in out and "wrote       c.npy: float64, 5 values" in out
    np.testing.assert_allclose(np.load("c.npy"), [1 / 3, 1 / 2, 1 / 3, 1 / 4, 1 / 4])
    code, out, err = run("closeness", "--kind", "harmonic", "--sources", "random:3", "--json")
    assert code == 0, err
    found = json.loads(out)
    assert set(found) == SHARED | {"kind", "exact", "error", "top", "unknown", "largest_component"}
    assert (found["searches"], found["exact"]) == (3, False)
    assert all(set(row) == {"id", "value", "error"} for row in found["top"])
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
    assert "1 in 1 batch of" in out and "of          1 source, 1 hop at most" in out


def test_paths(run, small):
    assert "2 edges: 10 -> 20 -> 30" in run("path", "graph.csrbin", 10, 30)[1]
    assert "2 edges: 10 -> 20 -> 30" in run("path", 10, 30)[1]
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
    found = json.loads(out)
    times = sorted(row["seconds"] for row in found["paths"])
    assert 0 < times[0] <= times[1] == found["seconds_median"] <= times[2] <= found["seconds"]
    assert [row["edges_read"] > 0 for row in found["paths"]] == [True, False, True]
    assert "no path" in run("path", "graph.csrbin", "--pairs", "@pairs.txt")[1]
    (small / "weights.txt").write_text("10 30 5\n50 50 7\n")  # an even number of ids, and no pairs
    (small / "words.txt").write_text("10 x\n")
    assert (
        "'x' is no vertex id; write ids of 0 to 2^63-1, two a line"
        in run("path", "graph.csrbin", "--pairs", "@words.txt")[2]
    )
    assert "weights.txt:1: '10 30 5' is no pair" in run("path", "graph.csrbin", "--pairs", "@weights.txt")[2]


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
    assert "that of several components is none; the smallest eccentricity is 1" in " ".join(out.split())
    found = json.loads(run("eccentricity", "--json")[1])
    assert (found["centre"], found["periphery"], found["known"]) == ([20], [10, 30], 3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("distances",), "--source V"),
        (("distances", "--source", 10, "--sources", "all"), "one of them"),
        (("distances", "--sources", "10,11,12"), "no vertex 11, 12 (2 vertices): 5 ids between 10 and 50"),
        (("distances", "--sources", "some"), "--sources 'some': write all, random:K"),
        (("distances", "--sources", "all", "--targets", "1,x"), "--targets '1,x': write all, random:K"),
        (("distances", "--source", "x"), "'x' is not a valid integer"),
        (("bfs", "--sources", "1;2"), "--sources '1;2': write all, random:K"),
        (("bfs", "--sources", "10,11,12"), "no vertex 11, 12"),
        (("bfs", "--source", 10, "--sources", "all"), "one of them"),
        (("distances", "--sources", "all", "-o", "D.txt"), "-o D.txt: distances are written, by the suffix, as .npy"),
        (("closeness", "--sources", "10"), "all or random:K"),
        (("path", "graph.csrbin", 10), "a path has two ends, and only one is given"),
        (("path", "far.csrbin", 30), "the graph is missing, there is no file 'far.csrbin': write GRAPH A B"),
        (("path", "far.txt.gz", 30), "the graph is missing, there is no file 'far.txt.gz': write GRAPH A B"),
        (("path", 10), "only '10' is given: give two vertices"),
        (("path", "far"), "or many pairs with --pairs @FILE; there is no file 'far'"),
        (("path", "far", 10, 10, 10), "and 3 are given: write GRAPH A B; there is no file 'far'"),
        (("path", 10, 31), "no vertex 31: 5 ids between 10 and 50"),
        (("path", "ten", 30), "'ten' is not a valid integer, and ids are numbers here; nor is there a file 'ten'"),
        (("path", "graph.csrbin", 10, 10, 10), "and 3 are given: write GRAPH A B"),
        (("path", "graph.csrbin"), "two vertices"),
        (("path", "graph.csrbin", "--pairs", "10"), "@FILE"),
        (("path", "graph.csrbin", 10, 11), "no vertex 11"),
        (("hops", "--sources", "random:0"), "K from 1 on"),
        (("closeness", "--sources", "random:0"), "K from 1 on"),
        (("bfs", "--sources", "random:\u0663"), "K from 1 on"),  # int() takes digits of every script
        (("closeness", "--seconds", "nan"), "nan is no number of seconds"),
    ],
)
def test_what_is_refused(run, small, arguments, message):
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert message in err


def test_the_first_interrupt_ends_the_work_and_the_second_the_run(monkeypatch):
    monkeypatch.setattr(compiling, "under_way", lambda: False)  # a thread of an earlier test may be compiling still
    second = signal.default_int_handler
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


def test_every_command_reads_sources_alike(run, small):
    (small / "ids.txt").write_text("30 # the last\n10\n")
    for text, want in (("@ids.txt", [30, 10]), ("30, 10", [30, 10]), ("all", [10, 20, 30, 40, 50])):
        for command in (["bfs", "--backend", "cpu"], ["distances"], ["bench", "bfs", "--trials", 1]):
            code, out, err = run(*command, "--sources", text, "--json")
            assert code == 0, err
            found = json.loads(out)
            if command[0] == "bench":
                assert found["rows"][0]["sources"] == len(want)
                continue
            assert [each["source"] for each in found["runs" if command[0] == "bfs" else "sources"]] == want


def test_names_are_taken_and_given_by_the_commands_of_many_searches(run, folder):
    (folder / "g.csv").write_text('source,target\nann,"b, c"\n"b, c",dan\neve,fay\n')
    assert run("convert", "g.csv")[0] == 0
    code, out, err = run("distances", "--source", "ann", "--targets", "all", "-o", "D.csv", "--json")
    assert code == 0, err
    assert json.loads(out)["sources"] == [{"source": "ann", "reached": 3, "depth": 2, "farthest": "dan"}]
    assert (folder / "D.csv").read_text().split("\n")[1:4] == ["ann,ann,0", 'ann,"b, c",1', "ann,dan,2"]
    assert "ann -> b, c -> dan" in run("path", "g.csrbin", "ann", "dan")[1]
    assert "ann -> b, c -> dan" in run("path", "ann", "dan")[1]
    (folder / "pairs.txt").write_text("dan\tann\nann\teve\n")
    paths = json.loads(run("path", "g.csrbin", "--pairs", "@pairs.txt", "--json")[1])["paths"]
    assert [(each["source"], each["distance"], each["path"]) for each in paths] == [
        ("dan", 2, ["dan", "b, c", "ann"]),
        ("ann", -1, []),
    ]
    found = json.loads(run("hops", "--source", "b, c", "--json")[1])
    assert found["sources"] == [{"source": "b, c", "within": [1, 3]}]
    for line in (["distances", "--sources", "0,1"], ["hops", "--sources", "1"]):
        assert "vertices have names here" in run(*line)[2]
    assert "no vertex is called 'bob'" in run("path", "g.csrbin", "ann", "bob")[2]
    (folder / "bad.txt").write_text("ann dan\n")
    assert "bad.txt:1: 'ann dan' is no pair" in run("path", "g.csrbin", "--pairs", "@bad.txt")[2]


def test_a_line_of_a_file_ends_at_a_newline_alone(run, folder):
    """Names hold what else ends a line for Unicode: the line separator, the vertical tab, the next line."""
    (folder / "g.csv").write_text("source,target\na\u2028b,c\x0bd\nc\x0bd,e\x85f\n", encoding="utf-8")
    assert run("convert", "g.csv")[0] == 0
    (folder / "names.txt").write_bytes("a\u2028b\r\ne\x85f\n".encode())
    code, out, err = run("hops", "--sources", "@names.txt", "--json")
    assert code == 0, err
    assert [each["source"] for each in json.loads(out)["sources"]] == ["a\u2028b", "e\x85f"]
    (folder / "pairs.txt").write_text("a\u2028b\te\x85f\n", encoding="utf-8")
    found = json.loads(run("path", "g.csrbin", "--pairs", "@pairs.txt", "--json")[1])["paths"]
    assert found[0]["path"] == ["a\u2028b", "c\x0bd", "e\x85f"]


def test_an_eccentricity_for_every_vertex_and_what_the_others_hold(run, small):
    code, out, err = run("eccentricity", "-o", "e.npy")
    assert code == 0, err
    assert np.load("e.npy").tolist() == [2, 1, 2, -1, -1]
    assert "others      2 vertices of other components are -1; --component all finds theirs" in out
    assert run("eccentricity", "-o", "e.npy", "--component", "all")[0] == 0
    assert np.load("e.npy").tolist() == [2, 1, 2, 1, 1]


def test_ctrl_c_leaves_the_rows_that_are_done_and_says_so(run, folder, monkeypatch):
    for name, value in (("WIDTHS", (64,)), ("FEW", 64)):
        monkeypatch.setattr(f"bigbfs.algorithms.many.cpu.widths.{name}", value)
    (folder / "g.txt").write_text("".join(f"{v} {v + 1}\n" for v in range(99)))
    assert run("convert", "g.txt")[0] == 0
    monkeypatch.setattr(Progress, "advance", lambda self, count: signal.raise_signal(signal.SIGINT))
    for output in ("D.npy", "D.csv"):
        code, out, err = run("distances", "--sources", "all", "-o", output)
        assert code == 130 and f"stopping after this {'row' if output == 'D.csv' else 'batch'}" in err
        assert f"stopped     64 of 100 sources searched from; {output} has their rows alone" in out
    found = np.load("D.npy")
    assert found.shape == (64, 100) and (found == abs(np.arange(64)[:, None] - np.arange(100))).all()
    assert (folder / "D.csv").read_text().split()[-1] == "63,99,36"
    code, out, err = run("distances", "--sources", "all", "--json")
    assert (code, json.loads(out)["asked"], len(json.loads(out)["sources"])) == (130, 100, 64)
    assert [path.name for path in folder.iterdir() if path.name.startswith(".")] == []


@pytest.mark.parametrize("at", [1, 3])
def test_ctrl_c_ends_lines_after_the_row_in_hand(run, folder, monkeypatch, at):
    (folder / "g.txt").write_text("".join(f"{v} {v + 1}\n" for v in range(99)))
    assert run("convert", "g.txt")[0] == 0
    rows, add = [], results.add_lines

    def interrupted(*arguments):
        rows.append(arguments)
        if len(rows) == at:
            signal.raise_signal(signal.SIGINT)
        add(*arguments)

    monkeypatch.setattr(results, "add_lines", interrupted)
    code, out, err = run("distances", "--sources", "all", "-o", "D.csv", "--verify", "--json")
    found = json.loads(out)
    assert code == 130 and "stopping after this row" in err and len(rows) == at
    assert (found["asked"], [each["source"] for each in found["sources"]]) == (100, list(range(at)))
    lines = [f"{source},{target},{abs(source - target)}" for source in range(at) for target in range(100)]
    assert (folder / "D.csv").read_text().split() == ["source,target,distance", *lines]
    assert [path.name for path in folder.iterdir() if path.name.startswith(".")] == []


def test_the_size_of_distances_is_said_and_what_does_not_fit_refused(run, small, monkeypatch):
    code, out, err = run("distances", "--sources", "all", "-o", "D.npy")
    assert code == 0 and err.startswith("note: D.npy: 5 sources x 5 targets take 50 B as int16; ")
    code, out, err = run(
        "distances", "--sources", "10,20", "--targets", "30", "-o", "D.csv", "--max-depth", 1, "--json"
    )
    assert (
        code == 0 and "note: D.csv: 2 sources x 1 target take 39 B at most; " in err and json.loads(out)["asked"] == 2
    )
    monkeypatch.setattr("shutil.disk_usage", lambda folder: SimpleNamespace(free=49))
    before = sorted(small.iterdir())
    for name in ("E.npy", "E.csv"):
        code, out, err = run("distances", "--sources", "all", "-o", name)
        assert (code, out) == (5, "") and "49 B are free" in err and "--targets" in err and "note" not in err, err
    assert sorted(small.iterdir()) == before


def test_progress_says_how_long_vertices_that_bounds_do_not_settle_will_take(monkeypatch):
    names, clock = [], [0.0]
    monkeypatch.setattr(Progress, "rename", lambda self, name: names.append(name))
    monkeypatch.setattr("bigbfs.cli.eccentricity.time.monotonic", lambda: clock[0])
    with eccentricity.telling() as tell:
        for left in (2560, 2048, 1024, 1, 0):
            clock[0] += 10
            tell(left, (7, 9))
    assert names == [
        f"diameter 7 to 9, {words}"
        for words in (
            "2,560 vertices open",
            "2,048 vertices open, 40 s left at this rate",
            "1,024 vertices open, 10 s left at this rate",
            "1 vertex open, 0 s left at this rate",
            "0 vertices open",
        )
    ]


def test_values_go_to_standard_output_alone(run, small):
    code, out, err = run("eccentricity", "--component", "all", "-o", "-")
    assert (code, out.split()) == (0, ["id,eccentricity", "10,2", "20,1", "30,2", "40,1", "50,1"])
    assert "diameter    2" in err
    assert run("closeness", "-o", "-", "--json")[0] == 2


COMMANDS = (["bfs", "--backend", "cpu"], ["distances"], ["closeness"], ["hops"], ["bench", "bfs", "--trials", 1])


@pytest.mark.parametrize("command", COMMANDS, ids=lambda words: " ".join(map(str, words[:2])))
def test_more_random_vertices_than_there_are_is_said(run, small, command):
    code, out, err = run(*command, "--sources", "random:64", "--json")
    told = "--sources random:64: only 5 vertices "
    assert code == 0 and err.count(f"note: {told}") == 1
    (note,) = json.loads(out)["notes"]
    assert note.startswith(told) and note.endswith("; each of them is a source")
    code, out, err = run(*command, "--sources", "random:5", "--json")
    assert code == 0 and "only" not in err and json.loads(out)["notes"] == []


def test_one_vertex_is_counted_as_one(run, folder):
    zoo.build(1, ([], [])).save("g.csrbin")
    said = "note: --targets random:6: only 1 vertex is there; it is a target\n"
    assert said in run("distances", "g.csrbin", "--source", 0, "--targets", "random:6")[2]


def test_more_random_targets_than_there_are_is_said(run, small):
    code, out, err = run("distances", "--source", 10, "--targets", "random:6", "--json")
    assert code == 0 and "note: --targets random:6: only 5 vertices are there; each of them is a target\n" in err
    assert json.loads(out)["notes"] and len(json.loads(out)["targets"]) == 5
