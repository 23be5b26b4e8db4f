"""A file that may grow no further, as on a full disk: one exit code for every command that writes."""

from __future__ import annotations

import json
import shutil
from types import SimpleNamespace

import pytest
from limits import files_of

from bigbfs.cli import manyopts

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
