"""A file that may grow no further, as on a full disk: one exit code for every command that writes."""

from __future__ import annotations

import pytest
from limits import files_of

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
