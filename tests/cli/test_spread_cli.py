"""``bigbfs convert`` as several ranks under mpiexec: the same file, one message, and kills that leave no half of it."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from folders import names

import bigbfs
from bigbfs.conversion.on_disk import scratch
from bigbfs.engines.ranks import launch

pytest.importorskip("mpi4py")

KILLS = int(os.environ.get("BIGBFS_KILLS", "30")) // 3
"""In the wide run; else two."""


def command(folder, *arguments):
    return [
        sys.executable,
        "-m",
        "bigbfs",
        "convert",
        str(folder / "g.txt"),
        "-o",
        str(folder / "g.csrbin"),
        *arguments,
    ]


def run(words):
    environment = launch.environment(4, 4)
    return subprocess.run(words, capture_output=True, text=True, env=environment, timeout=400)


@pytest.fixture
def whole(tmp_path):
    """The bytes of the file that one process makes of g.txt."""
    (tmp_path / "g.txt").write_text("".join(f"{i} {i * 7919 % 60_013}\n" for i in range(60_000)))
    bigbfs.convert(tmp_path / "g.txt")
    content = (tmp_path / "g.csrbin").read_bytes()
    (tmp_path / "g.csrbin").unlink()
    return content


def test_ranks_write_the_file_of_one_process(tmp_path, whole):
    ran = run(command(tmp_path, "--ranks", "3", "--json"))
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout)
    assert (found["method"], found["lines"]) == ("ranks", 60_000)
    assert (tmp_path / "g.csrbin").read_bytes() == whole and names(tmp_path) == ["g.csrbin", "g.txt"]
    ran = run([str(launch.mpiexec()), "-n", "2", *command(tmp_path, "--force")])
    assert ran.returncode == 0 and ran.stdout.count("vertices") == 1, ran.stderr
    assert (tmp_path / "g.csrbin").read_bytes() == whole


def test_a_bad_line_is_said_once(tmp_path):
    (tmp_path / "g.txt").write_text("1 2\n" * 900 + "1 x\n")
    ran = run(command(tmp_path, "--ranks", "2"))
    assert ran.returncode == 1 and ran.stderr.count("bigbfs: error: ") == 1
    assert "g.txt: line 901: '1 x'" in ran.stderr and names(tmp_path) == ["g.txt"]
    assert "correct the line, convert without ranks and skip such lines with --skip-bad-lines N, or " in ran.stderr


def ranks_of(folder):
    """Return the processes that convert in ``folder``, the ranks alone."""
    found = []
    for process in Path("/proc").iterdir():
        try:
            words = (process / "cmdline").read_bytes().split(b"\0")
            variables = (process / "environ").read_bytes()
        except OSError:
            continue
        if os.fsencode(folder / "g.txt") in words and b"PMI_RANK=" in variables:
            found.append(int(process.name))
    return found


@pytest.mark.parametrize("kills", [2, pytest.param(KILLS, marks=pytest.mark.wide)])
def test_a_rank_that_is_killed_leaves_no_half_of_a_file(kills, tmp_path, whole):
    words = command(tmp_path, "--ranks", "2")
    start = time.monotonic()
    assert run(words).returncode == 0  # and compiles what is to be compiled
    seconds, chance = time.monotonic() - start, random.Random(kills)
    for kill in range(kills):
        (tmp_path / "g.csrbin").unlink(missing_ok=True)
        begun = time.monotonic()
        with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            time.sleep(seconds * (kill + chance.random()) / kills)
            for one in ranks_of(tmp_path)[:1]:
                os.kill(one, signal.SIGKILL)
            code = process.wait(timeout=200)
        seconds = min(seconds, time.monotonic() - begun) if code == 0 else seconds
        deadline = time.monotonic() + 60
        while ranks_of(tmp_path) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not ranks_of(tmp_path)
        left = set(names(tmp_path)) - {"g.txt"}
        if "g.csrbin" in left:
            assert (tmp_path / "g.csrbin").read_bytes() == whole
        assert all(name.startswith((scratch.PREFIX, ".g.csrbin.", "g.csrbin")) for name in left)
        ran = run(words)
        assert ran.returncode == 0, ran.stderr
        assert (tmp_path / "g.csrbin").read_bytes() == whole and names(tmp_path) == ["g.csrbin", "g.txt"]
