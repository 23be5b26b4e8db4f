"""What may happen to a rank, at every moment: all end, with the exit code of the cause, and nothing stays behind.

``rank_events.py`` makes it happen. Levels are those of a search from vertex 0; ``wide`` is every event at each moment.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from contextlib import suppress
from itertools import product
from pathlib import Path

import pytest
import shm
import wide
import zoo

from bigbfs.engines.ranks import launch, watch

pytest.importorskip("mpi4py")

CODES = {
    "KILL": 9, "TERM": 143, "INT": 130, "HUP": 129, "error": 1, "exit": 7, "gone": 9, "mpiexec-INT": 130,
    "mpiexec-TERM": 143,
}  # fmt: skip
MOMENTS = ("start", "joined", "0", "1", "2", "proof", "result", "leaving")
CORE = {
    ("TERM", "start"), ("mpiexec-INT", "start"), ("exit", "joined"), ("KILL", "1"), ("error", "2"), ("INT", "result"),
    ("mpiexec-TERM", "leaving"),
}  # fmt: skip
LIMIT = 300
"""Seconds after which a run counts as hanging: on an idle machine it takes one, on a busy one kernels are compiled."""

CASES = [case for case in product(CODES, MOMENTS) if case != ("gone", "start")]  # nobody can tell: until the limit


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("events") / "g.csrbin"
    zoo.shared()["kronecker"].save(path)
    return path


def run(command: list[str], **variables: str) -> subprocess.CompletedProcess[str]:
    environment = launch.environment(3, 4) | variables
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, start_new_session=True
    ) as process:
        try:
            out, err = process.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    return subprocess.CompletedProcess(command, process.returncode, out, err)


def bfs(graph: Path, folder: Path, exchange: str = "common") -> list[str]:
    given = ["bfs", str(graph), "--source", "0", "--threads", "1", "--verify", "--levels", str(folder / "levels.npy")]
    return [*given, "--exchange", exchange]


AGAIN = 3
"""How often a signal to mpiexec is tried again: MPICH's may fail over it, or kill ranks while MPICH makes its files."""


@pytest.mark.covered
@pytest.mark.parametrize("exchange", ["messages", "common"])
@pytest.mark.parametrize(("event", "when"), wide.split(CASES, lambda event, when: (event, when) in CORE))
def test_all_end_with_the_code_of_the_cause(
    event: str, when: str, exchange: str, graph: Path, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    if exchange == "common" and not when.isdigit() and when not in ("proof", "result"):
        pytest.skip("what ranks share is not there then")
    driver = Path(__file__).parent / "rank_events.py"
    command = [str(launch.mpiexec()), "-n", "3", sys.executable, str(driver), event, when, "1"]
    command += bfs(graph, tmp_path, exchange)
    ready = tmp_path_factory.mktemp("ready")
    before, ran = shm.files(), run(command, BIGBFS_TEST_READY=str(ready))
    for _ in range(AGAIN if event.startswith("mpiexec-") else 0):
        if ran.returncode == CODES[event] and (when == "leaving" or not shm.left_since(before)):
            break
        assert ran.returncode != 0, ran.stderr  # all have ended, and not as if nothing had been
        if when != "leaving":
            shm.require_nothing_left(tmp_path, None)
        (tmp_path / "levels.npy").unlink(missing_ok=True)
        ready = tmp_path_factory.mktemp("ready")
        before, ran = shm.files(), run(command, BIGBFS_TEST_READY=str(ready))
    assert ran.returncode == CODES[event] or (event, ran.returncode) == ("gone", 4), ran.stderr
    assert "called MPI_Abort" not in ran.stderr  # which says neither why nor where, and we have
    if event == "error":
        assert "planted" in ran.stderr
        assert when == "start" or "rank 1 (host " in ran.stderr
    if event == "KILL":
        assert re.search(r"KILLED BY SIGNAL: 9|Killed|rank 1 \(host .*\) has gone", ran.stdout + ran.stderr)
    if when != "leaving":  # rank 0 may be writing then, and nobody clears up what a killed process leaves
        killed_in_there = (event, when) == ("KILL", "start")  # others, while the library makes its files
        shm.require_nothing_left(tmp_path, None if killed_in_there else before)


@pytest.mark.parametrize("exchange", ["messages", "common"])
def test_no_launcher_has_to_end_the_others(exchange: str, graph: Path, tmp_path: Path) -> None:
    """As srun without its option kill-on-bad-exit: ranks that wait for one that is dead find that out by themselves.

    A shell stands between the launcher and each rank, so that no launcher can see that a rank has gone.
    """
    driver, before = Path(__file__).parent / "rank_events.py", shm.files()
    hidden = ["sh", "-c", f'"$@" || sleep {LIMIT}', "hidden", sys.executable, str(driver), "KILL", "1", "1"]
    ran = run([str(launch.mpiexec()), "-n", "3", *hidden, *bfs(graph, tmp_path, exchange)])
    assert ran.returncode == watch.GONE, ran.stderr
    assert re.search(r"rank 1 \(host .*\) has gone", ran.stderr), ran.stderr
    shm.require_nothing_left(tmp_path, before)


def test_a_file_that_a_killed_rank_was_writing_does_not_stay(graph: Path, tmp_path: Path) -> None:
    """With --ranks the process that has started the ranks removes it."""
    left = tmp_path / ".levels.npy.abcdefgh.tmp"
    left.write_bytes(b"half")
    before = shm.files()
    ran = run([sys.executable, "-m", "bigbfs", *bfs(graph, tmp_path), "--ranks", "2", "--target", "99999999"])
    assert ran.returncode == 2
    shm.require_nothing_left(tmp_path, before)


@pytest.mark.parametrize("number", wide.split([signal.SIGINT, signal.SIGTERM], lambda number: number == signal.SIGINT))
def test_a_signal_to_whoever_started_the_ranks(number: int, graph: Path, tmp_path: Path) -> None:
    """As Ctrl-C at a terminal does, which goes to every process there."""
    before = shm.files()
    command = [sys.executable, "-m", "bigbfs", *bfs(graph, tmp_path), "--ranks", "3", "--trials", "10000000", "-v"]
    process = subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, env=launch.environment(3, 4), start_new_session=True
    )
    assert process.stderr is not None
    said = process.stderr.readline()
    assert "[rank " in said
    os.killpg(process.pid, number)
    process.communicate(timeout=LIMIT)
    assert process.returncode == 128 + number
    shm.require_nothing_left(tmp_path, before)


def ranks_at_work(folder: Path) -> list[int]:
    """Return the processes under mpiexec whose command line names what is in ``folder``."""
    found = []
    for process in shm.working_on(folder):
        with suppress(OSError):
            if b"PMI_RANK=" in Path(f"/proc/{process}/environ").read_bytes():
                found.append(process)
    return found


@pytest.mark.parametrize("turn", wide.split(range(6), lambda turn: turn == 1))
def test_a_rank_that_is_killed_while_the_library_makes_its_files(turn: int, graph: Path, tmp_path: Path) -> None:
    """MPICH leaves them; with --ranks the process that has started the ranks removes them."""
    before, deadline = shm.files(), time.monotonic() + LIMIT
    command = [sys.executable, "-m", "bigbfs", *bfs(graph, tmp_path), "--ranks", "3"]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL, env=launch.environment(3, 4)) as process:
        while len(ranks := ranks_at_work(tmp_path)) < 3 and time.monotonic() < deadline:
            assert process.poll() is None
        while shm.files() <= before and process.poll() is None:
            pass
        with suppress(ProcessLookupError):
            os.kill(ranks[turn % 3], signal.SIGKILL)
        assert process.wait(LIMIT) != 0
    shm.require_nothing_left(tmp_path, before)


def test_who_started_the_ranks_is_killed(graph: Path, tmp_path: Path) -> None:
    """By the system, short of memory: nothing can be passed on, and no rank stays at work."""
    before = shm.files()
    command = [sys.executable, "-m", "bigbfs", *bfs(graph, tmp_path), "--ranks", "3", "--trials", "10000000", "-v"]
    with subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, env=launch.environment(3, 4), start_new_session=True
    ) as process:
        assert process.stderr is not None
        assert "[rank " in process.stderr.readline()
        process.kill()
        shm.require_nothing_left(tmp_path, before)
