"""A file that may grow no further, as on a full disk: one exit code for every command that writes."""

from __future__ import annotations

import json
import shutil
from types import SimpleNamespace

import pytest
from limits import files_of

from bigbfs.cli import manyopts, options

LINES = [
    ("convert", "graph.txt", "-o", "other.csrbin"),
    ("convert", "graph.csrbin", "-o", "other.ccsr"),
    ("export", "graph.csrbin", "--to", "el", "-o", "other.el"),
    ("generate", "uniform", "--scale", "12", "-o", "other.csrbin"),
    ("generate", "uniform", "--scale", "12", "-o", "other.txt"),
    ("bfs", "graph.csrbin", "--source", "0", "--backend", "cpu", "--levels", "other.csv"),
    ("cc", "graph.csrbin", "--backend", "cpu", "--labels", "other.npy"),
    ("closeness", "graph.csrbin", "--backend", "cpu", "--sources", "random:9", "-o", "other.npy"),
    ("distances", "graph.csrbin", "--backend", "cpu", "--source", "0", "-o", "other.csv"),
    ("distances", "graph.csrbin", "--backend", "cpu", "--source", "0", "-o", "other.npy"),
]


@pytest.mark.parametrize("line", LINES, ids=lambda line: f"{line[0]} {line[-1]}")
def test_a_file_that_may_grow_no_further_ends_with_5(run, folder, line):
    (folder / "graph.txt").write_text("".join(f"{i} {i + 1}\n" for i in range(9_000)))
    assert run("convert", "graph.txt")[0] == 0
    before = sorted(path.name for path in folder.iterdir())
    with files_of(6_000):
        code, _, err = run(*line)
    assert code == 5 and f"{line[-1]}: cannot write: File too large" in err, err
    assert sorted(path.name for path in folder.iterdir()) == before


OF_ROWS = [
    (("closeness", "--sources", "random:9"), "closeness"),
    (("eccentricity",), "eccentricity"),
]
OF_SEARCHES = [
    *OF_ROWS,
    (("hops", "--max-depth", 5), "pairs within"),
    (("path", 0, 9), "path"),
]


@pytest.fixture
def star(run, folder):
    """graph.csrbin in the working folder: a star of 3,000 vertices."""
    (folder / "graph.txt").write_text("".join(f"0 {i}\n" for i in range(1, 3_000)))
    assert run("convert", "graph.txt")[0] == 0
    return folder


@pytest.mark.parametrize("name", ["other.csv", "other.npy", "other.parquet"])
@pytest.mark.parametrize(("words", "said"), OF_SEARCHES, ids=lambda words: words[0] if isinstance(words, tuple) else "")
def test_what_was_found_is_said_where_it_cannot_be_written(run, star, words, said, name):
    line = (words[0], "graph.csrbin", *words[1:], "-o", name)
    with files_of(0):  # even a .npy of a few hops
        code, out, err = run(*line)
        assert code == 5 and err.count("bigbfs: error: ") == 1 and f"{name}: cannot write: File too large" in err, err
        assert said in out and "searches " in out and "wrote" not in out
        code, out, err = run(*line, "--json")
    assert code == 5 and f"{name}: cannot write: File too large" in err, err
    found = json.loads(out)
    assert found["command"] == words[0] and found["wrote"] == []
    assert sorted(path.name for path in star.iterdir()) == ["graph.csrbin", "graph.txt"]


RESULTS = [
    ("bfs graph.csrbin --source 0 --levels", "reached"),
    ("bfs graph.csrbin --source 0 --parents", "reached"),
    ("cc graph.csrbin -o", "components"),
    ("cc graph.csrbin --sizes", "components"),
    ("toposort dag.csrbin -o", "rounds"),
    ("toposort dag.csrbin --levels", "rounds"),
    ("members graph.csrbin --vertex 0 -o", "members     3,000 of 3,000"),
]


@pytest.fixture
def both(run, star):
    """dag.csrbin beside graph.csrbin: the same with directions; the names that are there."""
    assert run("convert", "graph.txt", "--directed", "-o", "dag.csrbin")[0] == 0
    return sorted(path.name for path in star.iterdir())


@pytest.mark.parametrize("name", ["other.csv", "other.npy", "other.parquet"])
@pytest.mark.parametrize(("line", "said"), RESULTS, ids=lambda each: each if " -" in each else "")
def test_a_result_that_cannot_be_written_is_said_all_the_same(run, star, both, line, said, name):
    line = [*line.split(), name, "--backend", "cpu"]
    with files_of(0):
        code, out, err = run(*line)
        assert code == 5 and err.count("bigbfs: error: ") == 1 and f"{name}: cannot write: File too large" in err, err
        assert said in (err if line[0] == "members" else out) and "wrote" not in out + err
        code, out, err = run(*line, "--json")
    assert code == 5 and f"{name}: cannot write: File too large" in err, err
    assert json.loads(out)["command"] == line[0] and json.loads(out)["wrote"] == []
    assert sorted(path.name for path in star.iterdir()) == both


def test_what_was_written_before_is_there_and_said(run, star):
    line = ["bfs", "graph.csrbin", "--source", 0, "--levels", "l.npy", "--parents", "p.npy", "--backend", "cpu"]
    for more in ((), ("--json",)):
        with files_of(15_000):  # levels take 12,000 bytes, parents 24,000
            code, out, err = run(*line, *more)
        assert code == 5 and "p.npy: cannot write" in err and "another disk (--parents)" not in out, err
        assert "wrote       l.npy: int32, 3,000 values" in out if not more else len(json.loads(out)["wrote"]) == 1
        assert (star / "l.npy").exists() and not (star / "p.npy").exists()


@pytest.mark.parametrize(("line", "said"), RESULTS, ids=lambda each: each if " -" in each else "")
def test_a_result_that_surely_fills_the_disk_is_refused_before_it_is_placed(run, both, monkeypatch, line, said):
    def never(*arguments, **options):
        raise AssertionError("placed")

    usage = SimpleNamespace(free=11_000)
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: usage)
    line, option = [*line.split(), "--backend", "cpu"], line.split()[-1]
    unknown = option == "--sizes" or line[0] == "members"  # nobody knows how many rows that will be
    at = line.index(option) + 1
    with monkeypatch.context() as patched:
        patched.setattr(options, "placed", never)
        for name in () if unknown else ("other.csv", "other.npy"):
            code, out, err = run(*line[:at], name, *line[at:])
            assert (code, out) == (5, "") and "3,000" in err and f"are free in the disk of {name}" in err, err
            assert f"write to another disk with {'--labels' if line[0] == 'cc' else option}" in err or option == "-o"
    usage.free = 0
    assert run(*line[:at], "-", *line[at:])[0] == 0  # goes to no disk
    if not unknown:
        usage.free = 14_500 if "toposort dag.csrbin -o" in " ".join(line) else 25_000
        note = json.loads(run(*line[:at], "other.csv", *line[at:], "--json")[1])["notes"]
        assert note[0].startswith("other.csv: 3,000 rows take ") and note[0].endswith("which may be too few")


def test_results_of_one_disk_are_counted_together(run, star, monkeypatch):
    usage = SimpleNamespace(free=35_999)
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: usage)
    line = ["bfs", "graph.csrbin", "--source", 0, "--levels", "l.npy", "--parents", "p.npy", "--backend", "cpu"]
    code, out, err = run(*line)
    assert (code, out) == (5, "") and "3,000 values and 3,000 values together take 35.2 KiB" in err, err
    assert "free some, write to another disk with --levels, or with --parents" in err
    usage.free += 1
    assert run(*line)[0] == 0
    usage.free = 24_000  # the levels there, at least 12,000 bytes, make room for the parents
    assert run(*line)[0] == 0


def test_a_link_to_another_disk_is_looked_at_there(run, star, monkeypatch):
    (star / "far").mkdir()
    (star / "l.npy").symlink_to("far/l.npy")
    free = {"far": 11_999}
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: SimpleNamespace(free=free.get(folder.name, 10**9)))
    line = ["bfs", "graph.csrbin", "--source", 0, "--levels", "l.npy", "--backend", "cpu"]
    code, out, err = run(*line)
    assert (code, out) == (5, "") and "are free in the disk of l.npy" in err, err
    free["far"] += 1
    assert run(*line)[0] == 0 and (star / "l.npy").is_symlink() and (star / "far" / "l.npy").is_file()


@pytest.mark.parametrize(("words", "said"), OF_ROWS, ids=lambda words: words[0] if isinstance(words, tuple) else "")
def test_what_surely_fills_the_disk_is_refused_before_the_search(run, star, monkeypatch, words, said):
    def never(*arguments, **options):
        raise AssertionError("placed")

    usage = SimpleNamespace(free=15_000)
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: usage)
    with monkeypatch.context() as patched:
        patched.setattr(manyopts, "placed", never)
        for name in ("other.csv", "other.npy"):
            code, out, err = run(words[0], "graph.csrbin", *words[1:], "-o", name)
            assert (code, out) == (5, "") and "3,000" in err and f"are free in the disk of {name}" in err, err
            assert "-o" in err
    usage.free = 26_000 if said == "eccentricity" else 40_000
    code, out, err = run(words[0], "graph.csrbin", *words[1:], "-o", "other.csv", "--json")
    note = json.loads(out)["notes"][0]
    assert code == 0 and note.startswith("other.csv: 3,000 rows take ") and note.endswith("which may be too few"), err
    usage.free = 0
    assert run(words[0], "graph.csrbin", *words[1:], "-o", "-")[0] == 0  # goes to no disk
