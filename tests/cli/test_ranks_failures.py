"""A rank that is stopped: within seconds all have ended, it is named, and nothing stays behind."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import shm
import zoo

from bigbfs.engines.ranks import launch

pytest.importorskip("mpi4py")


def alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def test_a_rank_that_is_stopped_is_named(tmp_path: Path) -> None:
    graph = tmp_path / "g.csrbin"
    zoo.shared()["kronecker"].save(graph)
    before = shm.files()
    arguments = [str(graph), "--source", "0", "--trials", "10000000", "--levels", str(tmp_path / "l.npy"), "-v"]
    environment = launch.environment(3, 4) | {"BIGBFS_RANK_TIMEOUT": "2"}
    command = [sys.executable, "-m", "bigbfs", "bfs", *arguments, "--ranks", "3"]
    ran = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment)
    assert ran.stderr is not None
    processes, lines = {}, []
    while len(processes) < 3:
        lines.append(ran.stderr.readline())
        assert lines[-1], "".join(lines)
        # mpiexec may hand on two ranks' lines as one
        found = re.findall(r"\[rank (\d) \S+\] process (\d+),", lines[-1])
        processes |= {int(rank): int(process) for rank, process in found}
    time.sleep(1.0)
    os.kill(processes[1], signal.SIGSTOP)
    start = time.monotonic()
    rest = ran.communicate(timeout=200)[1]
    assert ran.returncode == 9, rest
    assert time.monotonic() - start < 30  # on an idle machine two
    said = rf"rank 1 \(host \S+, process {processes[1]}\) has not moved for 2 s: it is stopped"
    assert re.search(said, rest)
    deadline = time.monotonic() + 20
    while any(map(alive, processes.values())) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(map(alive, processes.values()))
    assert not shm.left_since(before)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["g.csrbin"]


def test_a_limit_that_is_no_number_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BIGBFS_RANK_TIMEOUT", "soon")
    with pytest.raises(launch.UsageError, match="BIGBFS_RANK_TIMEOUT=soon: it must be a number of seconds above 0"):
        launch.patience()
