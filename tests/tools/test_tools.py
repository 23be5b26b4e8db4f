"""The scripts in tools/ that are not tested elsewhere."""

import json
import os
import subprocess
import sys
from pathlib import Path

import bench_busy
import cuda_extra
import pytest
import real_graphs

from bigbfs.errors import VerificationError

ROOT = Path(__file__).resolve().parents[2]


def tool(name, *arguments, **environment):
    line = [sys.executable, str(ROOT / "tools" / name), *map(str, arguments)]
    return subprocess.run(line, capture_output=True, text=True, env=os.environ | environment)


@pytest.mark.parametrize(
    ("text", "extra"),
    [
        ("NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build", "cuda13"),
        ("NVRM version: NVIDIA UNIX x86_64 Kernel Module  610.10  Tue Jan", "cuda13"),
        ("NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue", "cuda12"),
        ("NVRM version: NVIDIA UNIX x86_64 Kernel Module  470.82.01  Wed", ""),
        ("nothing of the kind", ""),
    ],
)
def test_cuda_extra_fits_the_driver(text, extra):
    assert cuda_extra.extra(text) == extra


def test_bench_matrix_times_and_keeps_rows(tmp_path):
    suite = tmp_path / "suite.toml"
    suite.write_text(
        'seed = 1\n[[cases]]\nname = "tiny"\nkind = "kronecker"\nparameters = { scale = 8 }\n'
        'sources = 2\ntrials = 2\nbackends = ["cpu"]\n'
    )
    rows = tmp_path / "rows.jsonl"
    done = tool("bench_matrix.py", "--suite", suite, "--output", rows)
    assert done.returncode == 0, done.stderr
    kept = [json.loads(line) for line in rows.read_text().splitlines()]
    found = {(row["algorithm"], row["codec"], row["backend"], row["verified"]) for row in kept}
    assert found == {(a, c, "cpu", True) for a in ("bfs", "cc") for c in ("plain", "varint")}
    assert all(row["seconds"] > 0 and row["commit"] is not None for row in kept)


def test_bench_matrix_names_a_bad_key(tmp_path):
    suite = tmp_path / "suite.toml"
    suite.write_text('seed = 1\n[[cases]]\nname = "tiny"\nkid = "kronecker"\n')
    done = tool("bench_matrix.py", "--suite", suite)
    assert done.returncode == 1
    assert "did you mean 'kind'" in done.stderr


README = """| file | kind | vertices | lines | loops | duplicates | stored | degree | components | largest | source |
|---|---|---|---|---|---|---|---|---|---|---|
| path.txt | a path | 4 | 4 | 0 | 1 | 6 | 2 | 1 | 4 | 7: 4, 3, 6 | and so on |
"""


def test_real_graphs_checks_counts(tmp_path):
    (tmp_path / "path.txt").write_text("7 8\n8 9\n9 10\n8 9\n")
    (tmp_path / "README.md").write_text(README)
    table, rows = tmp_path / "table.md", tmp_path / "rows.jsonl"
    line = ["real_graphs.py", "--data", tmp_path, "--backend", "cpu", "--json", rows, "--table", table]
    done = tool(*line)
    assert done.returncode == 0, done.stderr
    assert "| path.txt | 4 | 6 | 7 | 4 | 3 | 6 | 1 | 4 |" in table.read_text()
    assert len(rows.read_text().splitlines()) == 2
    (tmp_path / "README.md").write_text(README.replace("7: 4, 3, 6", "7: 4, 3, 5"))
    done = tool(*line)
    assert done.returncode == 3
    assert "path.txt: level_sum is 6, the README says 5" in done.stderr


def test_real_graphs_reads_the_published_table():
    counts = real_graphs.expected_counts
    with pytest.raises(FileNotFoundError):
        counts(Path("nowhere/README.md"))
    with pytest.raises(VerificationError, match="stored is 2, the README says 3"):
        real_graphs.check("a.txt", {"stored": 2}, {"stored": 3})


def test_demo(tmp_path):
    done = tool("demo.py", "--scale", "8", "--folder", tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("$ bigbfs") == 7
    assert "every result above is verified" in done.stdout


def test_the_time_to_the_first_result_is_measured(tmp_path, capsys, monkeypatch):
    import start_time

    from bigbfs import generate

    path = tmp_path / "g.csrbin"
    generate.graph("uniform", scale=8, seed=1).save(path)
    arguments = [str(path), "--source", "0", "--backend", "cpu", "--trials", "1", "--output", str(tmp_path / "rows")]
    monkeypatch.setattr(sys, "argv", ["start_time.py", *arguments])
    start_time.main()
    row = json.loads((tmp_path / "rows").read_text())
    assert row["wall"] == pytest.approx(sum(seconds for name, seconds in row.items() if name != "wall"))
    assert "median" in capsys.readouterr().out
    monkeypatch.setattr(sys, "argv", ["start_time.py", str(path), "--source", "999999", "--backend", "cpu"])
    with pytest.raises(SystemExit, match="no vertex 999999"):
        start_time.main()


def test_bench_busy_names_the_bars_that_are_missed():
    idle = {"bfs": {"all": 1.0, "one": 2.0, "GAP": 5.0}, "cc": {"all": 1.0, "one": 1.0}}
    busy = {"bfs": {"all": 4.0, "one": 3.0, "GAP": 6.0}, "cc": {"all": 3.0, "one": 3.0}}
    lines, missed = bench_busy.table(idle, busy)
    assert [line.split()[0] for line in lines] == ["work", "bfs", "cc"]
    assert missed == ["bfs: 1.50 times GAP", "bfs: 4.00 times the idle time", "bfs: 1.33 times one thread"]
