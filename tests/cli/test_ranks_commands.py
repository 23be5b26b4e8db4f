"""Ranks that a launcher starts with different command lines: all refuse, before any has begun; what may differ."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import zoo

from bigbfs.engines.ranks import launch

pytest.importorskip("mpi4py")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("commands")
    zoo.shared()["kronecker"].save(folder / "g.csrbin")
    (folder / "elsewhere").mkdir()
    (folder / "elsewhere" / "h.csrbin").symlink_to(folder / "g.csrbin")
    (folder / "e.txt").write_text("0 1\n1 2\n")
    return folder


def run(folder: Path, *lines: str) -> subprocess.CompletedProcess[str]:
    """Start a rank for each of ``lines``, as ``mpiexec -n 1 ... : -n 1 ...`` does."""
    words = [word for line in lines for word in (":", "-n", "1", sys.executable, "-m", "bigbfs", *line.split())]
    command = [str(launch.mpiexec()), *words[1:]]
    environment = launch.environment(2, 4)
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=100, cwd=folder)


SEARCH = "bfs g.csrbin --source 0"

DIFFERENT = [
    (SEARCH, "cc g.csrbin", "bfs ...", "cc ..."),
    (SEARCH, "bfs g.csrbin --source 3", "bfs ... --source 0", "bfs ... --source 3"),
    (SEARCH, f"{SEARCH} --source 3", "bfs ... --source 0", "bfs ... --source 0 --source 3"),
    (f"{SEARCH} --exchange messages", SEARCH, "bfs ... --exchange messages", "bfs ... --exchange auto"),
    (SEARCH, f"{SEARCH} --verify --levels l.npy", "bfs ...", "bfs ... --verify --levels l.npy"),
    ("cc g.csrbin --no-skip-giant", "cc g.csrbin", "cc ... --no-skip-giant", "cc ..."),
    ("convert e.txt -o a.csrbin", "convert e.txt -o b.csrbin", "--output a.csrbin", "--output b.csrbin"),
    ("convert e.txt -o a.csrbin", SEARCH, "convert ...", "bfs ..."),
    ("convert e.txt -o a.csrbin", "convert e.txt -o elsewhere/a.csrbin", "a.csrbin", "--output elsewhere/a.csrbin"),
    (SEARCH, "bfs --source 0", "bfs ...", "bfs ... without GRAPH"),
    ("cc", "cc g.csrbin", "cc ... without GRAPH", "cc ..."),
    (f"{SEARCH} --max-depth 0", SEARCH, "bfs ... --max-depth 0", "bfs ..."),
    ("probe --ranks 2", SEARCH, "probe ...", "bfs ..."),
]


@pytest.mark.parametrize(("first", "second", "ours", "theirs"), DIFFERENT)
def test_different_commands_are_refused_by_all(folder: Path, first: str, second: str, ours: str, theirs: str) -> None:
    there = sorted(folder.iterdir())
    ran = run(folder, first, second)
    assert (ran.returncode, ran.stdout) == (2, ""), ran.stderr
    said = (
        r"bigbfs: error: ranks were started with different command lines; rank 0 \(host \S+\) has `([^`]+)`; "
        r"rank 1 \(host \S+\) has `([^`]+)`; give all the same command and options [^\n]+\n"
    )
    found = re.fullmatch(said, ran.stderr)
    assert found is not None, ran.stderr
    assert (found[1].endswith(ours), found[2].endswith(theirs)) == (True, True), ran.stderr
    assert sorted(folder.iterdir()) == there


@pytest.mark.parametrize("theirs", ["5\n", "0\n", "0\n5\n"])
def test_files_of_sources_hold_the_same(folder: Path, theirs: str) -> None:
    """Whatever they are called: with fewer, ranks would wait for one another without an end."""
    (folder / "one.ids").write_text("0\n")
    (folder / "other.ids").write_text(theirs)
    ran = run(folder, *(f"bfs g.csrbin --sources @{name}.ids --json" for name in ("one", "other")))
    if theirs == "0\n":
        assert ran.returncode == 0, ran.stderr
        return
    assert (ran.returncode, ran.stdout) == (2, ""), ran.stderr
    said = rf"rank 1 \(host \S+\) holds other vertices than that of rank 0 \({len(theirs) // 2}, and 1\)"
    assert re.search(f"--sources: the file of {said}", ran.stderr), ran.stderr


def test_what_is_of_a_machine_may_differ(folder: Path) -> None:
    """Where a file lies, where rank 0 writes, and threads."""
    ran = run(
        folder,
        f"{SEARCH} --threads 1 --levels l.npy --partition auto --json --ranks 2",
        "bfs elsewhere/h.csrbin --threads 2 -v --json --source=0 --levels elsewhere/l.npy",
    )
    assert ran.returncode == 0, ran.stderr
    assert len(json.loads(ran.stdout)["runs"][0]["ranks"]) == 2
    assert (folder / "l.npy").exists() and not (folder / "elsewhere" / "l.npy").exists()
