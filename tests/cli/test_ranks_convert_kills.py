"""A conversion under mpiexec of which a rank is killed: the second run takes up what was finished."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
import shm
from folders import names
from wide import split

import bigbfs
from bigbfs.engines.ranks import launch

pytest.importorskip("mpi4py")

ARGUMENTS = ["convert", "g.txt", "-o", "many.csrbin", "--threads", "1", "--memory", "1GiB"]
KILLS = 8

SAID = {
    "reading": None,
    "read": "its inputs are read, and not again",
    "sorting": "its inputs are read, and not again",
    "sorted": "its rows are sorted, and not again",
    "writing": "its rows are sorted, and not again",
}


def convert(folder: Path, ranks: int, program: list[str], *options: str) -> subprocess.CompletedProcess[str]:
    command = [str(launch.mpiexec()), "-n", str(ranks), sys.executable, *program, *ARGUMENTS, *options]
    return subprocess.run(
        command, cwd=folder, env=launch.environment(ranks, 4), capture_output=True, text=True, timeout=300
    )


CASES = [("sorting", "SIGTERM"), *((when, "SIGKILL") for when in SAID)]


@pytest.mark.parametrize(("when", "name"), split(CASES, lambda when, name: (when, name) == ("sorted", "SIGKILL")))
def test_a_second_run_takes_up_what_was_finished(when: str, name: str, tmp_path: Path) -> None:
    np.savetxt(tmp_path / "g.txt", np.random.default_rng(1).integers(0, 900, (5000, 2)), "%d")
    before, script = shm.files(), Path(__file__).with_name("rank_convert_events.py")
    ran = convert(tmp_path, 3, [str(script), when, name, "1"])
    assert ran.returncode == (9 if name == "SIGKILL" else 143), ran.stderr
    assert not (tmp_path / "many.csrbin").exists() and not shm.left_since(before)
    ran = convert(tmp_path, 3, ["-m", "bigbfs"])
    assert ran.returncode == 0, ran.stderr
    assert ("takes up" in ran.stdout) is (SAID[when] is not None) and (SAID[when] or "") in " ".join(ran.stdout.split())
    assert names(tmp_path) == ["g.txt", "many.csrbin"]
    bigbfs.convert(tmp_path / "g.txt", tmp_path / "one.csrbin")
    assert (tmp_path / "many.csrbin").read_bytes() == (tmp_path / "one.csrbin").read_bytes()


@pytest.mark.parametrize(("name", "rank"), [("SIGINT", 1), ("SIGTERM", 0)])
def test_a_signal_to_one_rank_lets_all_tidy_up(name: str, rank: int, tmp_path: Path) -> None:
    """Also those that the launcher would end: before anything is finished, nothing of it can be taken up."""
    np.savetxt(tmp_path / "g.txt", np.random.default_rng(1).integers(0, 900, (5000, 2)), "%d")
    script = Path(__file__).with_name("rank_convert_events.py")
    ran = convert(tmp_path, 3, [str(script), "reading", name, str(rank)])
    assert ran.returncode == CODES[name], ran.stderr
    assert ran.stderr == ("bigbfs: error: interrupted\n" if name == "SIGINT" else "")
    assert names(tmp_path) == ["g.txt"]


MOMENTS = [
    ("counted", "SIGKILL", 0, ()),
    ("dealing", "SIGKILL", 1, ()),
    ("dealing", "SIGKILL", 2, ("--directed",)),
    ("placing", "SIGINT", 1, ()),
    ("placing", "SIGTERM", 0, ()),
    ("placing", "SIGKILL", 2, ()),
    ("placing", "SIGKILL", 0, ("--directed",)),
    ("moving", "SIGKILL", 1, ("--directed", "--no-in-edges")),
    ("named", "SIGKILL", 0, ()),
]
CORE = (("dealing", "SIGKILL", 1),)
CODES = {"SIGKILL": 9, "SIGINT": 130, "SIGTERM": 143}


@pytest.mark.parametrize(
    ("when", "name", "rank", "options"),
    split(MOMENTS, lambda when, name, rank, _: (when, name, rank) in CORE),
)
def test_a_rank_that_ends_while_all_work_on_one_state(
    when: str, name: str, rank: int, options: tuple[str, ...], tmp_path: Path
) -> None:
    """The others end with it; nothing of the graph is there, no memory stays, and the next run finds nothing to do."""
    np.savetxt(tmp_path / "g.txt", np.random.default_rng(1).integers(0, 90_000, (300_000, 2)), "%d")
    before, script = shm.files(), Path(__file__).with_name("rank_convert_events.py")
    for _ in range(5):  # others may be so quick that this rank gets no part to place, and nothing ends
        ran = convert(tmp_path, 3, [str(script), when, name, str(rank)], *options)
        if ran.returncode:
            break
        (tmp_path / "many.csrbin").unlink()
    assert ran.returncode == CODES[name], ran.stderr
    deadline = time.monotonic() + 60
    while (left := ranks_in(tmp_path)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not left and not (tmp_path / "many.csrbin").exists() and not shm.left_since(before)
    ran = convert(tmp_path, 3, ["-m", "bigbfs"], *options)
    assert ran.returncode == 0, ran.stderr
    assert "takes up" not in ran.stdout and names(tmp_path) == ["g.txt", "many.csrbin"]
    bigbfs.convert(tmp_path / "g.txt", tmp_path / "one.csrbin", directed=bool(options), in_edges=len(options) < 2)
    assert (tmp_path / "many.csrbin").read_bytes() == (tmp_path / "one.csrbin").read_bytes()


def ranks_in(folder: Path) -> list[int]:
    """Return the processes that are ranks of the conversion in a folder."""
    found = []
    for process in Path("/proc").iterdir():
        with suppress(OSError):
            here = process.name.isdigit() and process.joinpath("cwd").readlink() == folder
            if here and b"PMI_RANK=" in process.joinpath("environ").read_bytes():
                found.append(int(process.name))
    return found


@pytest.mark.wide
def test_killed_at_any_moment_and_time_and_again(tmp_path: Path) -> None:
    """Runs take up what others have left, wherever a rank of these was killed."""
    np.savetxt(tmp_path / "g.txt", np.random.default_rng(1).integers(0, 90_000, (300_000, 2)), "%d")
    start = time.monotonic()
    assert convert(tmp_path, 3, ["-m", "bigbfs"]).returncode == 0
    whole, target = time.monotonic() - start, tmp_path / "many.csrbin"
    content, chance = target.read_bytes(), random.Random(7)
    command = [str(launch.mpiexec()), "-n", "3", sys.executable, "-m", "bigbfs", *ARGUMENTS]
    ended = 0
    for _ in range(KILLS):
        target.unlink(missing_ok=True)
        with subprocess.Popen(
            command, cwd=tmp_path, env=launch.environment(3, 4), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as ran:
            time.sleep(whole * chance.uniform(0.3, 1.0))
            if processes := ranks_in(tmp_path):
                with suppress(ProcessLookupError):
                    os.kill(chance.choice(processes), signal.SIGKILL)
            ended += ran.wait(timeout=300) != 0
        assert not target.exists() or target.read_bytes() == content
    assert ended > 0
    target.unlink(missing_ok=True)
    ran = convert(tmp_path, 3, ["-m", "bigbfs"])
    assert ran.returncode == 0, ran.stderr
    assert target.read_bytes() == content and names(tmp_path) == ["g.txt", "many.csrbin"]
