"""BFS and components over two GPUs of this machine: processes under mpiexec, held against the reference; one dies."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import zoo

from bigbfs.algorithms.bfs.reference import bfs as reference_bfs
from bigbfs.algorithms.components.reference import components as reference_components
from bigbfs.config import read_profile
from bigbfs.engines.gpu.runtime import device
from bigbfs.engines.ranks import launch

sys.path.insert(0, str(Path(__file__).parent))
from rank_cases import GROUPS, HOSTED

SCRIPT = Path(__file__).parent / "rank_cases.py"

pytestmark = [pytest.mark.skipif(device.count() < 2, reason="fewer than 2 GPUs"), pytest.mark.alone]


def under_mpiexec(*line: str) -> subprocess.CompletedProcess[str]:
    pytest.importorskip("mpi4py")
    started = [str(launch.mpiexec()), "-n", "2", sys.executable, *line]
    environment = launch.environment(2, 1) | {"BIGBFS_RANK_TIMEOUT": "10"}
    return subprocess.run(started, capture_output=True, text=True, env=environment, timeout=500, check=False)


@pytest.mark.parametrize("group", [group for group in GROUPS if group not in HOSTED])
def test_searches_equal_the_reference(group: str) -> None:
    ran = under_mpiexec(str(SCRIPT), group)
    assert ran.returncode == 0, ran.stderr[-4000:]
    assert f"cases of {group} are right" in ran.stdout


def test_a_rank_that_is_killed_while_the_other_is_in_its_kernel() -> None:
    start = time.monotonic()
    ran = under_mpiexec(str(SCRIPT), "kill")
    assert ran.returncode in (9, 128 + 9), ran.stderr[-4000:]  # MPICH's mpiexec, Open MPI's
    assert "still here" not in ran.stderr
    assert time.monotonic() - start < 60


def test_the_command_of_components(tmp_path: Path) -> None:
    pytest.importorskip("mpi4py")
    plain = zoo.shared()["kronecker"]
    plain.save(tmp_path / "g.csrbin")
    command = [sys.executable, "-m", "bigbfs", "cc", str(tmp_path / "g.csrbin"), "--verify", "--gpus", "2", "--json"]
    command += ["--labels", str(tmp_path / "l.npy")]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout)
    assert found["runs"][0]["verified"] and len(found["runs"][0]["ranks"]) == 2
    assert np.array_equal(np.load(tmp_path / "l.npy"), reference_components(plain))


def test_the_command(tmp_path: Path) -> None:
    pytest.importorskip("mpi4py")
    plain = zoo.shared()["kronecker"]
    plain.save(tmp_path / "g.csrbin")
    source = int(plain.degrees().argmax())
    command = [sys.executable, "-m", "bigbfs", "bfs", str(tmp_path / "g.csrbin"), "--source", str(source), "--verify"]
    command += ["--gpus", "2", "--partition", "words", "--json", "--levels", str(tmp_path / "l.npy")]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout)
    assert found["runs"][0]["verified"] and len(found["runs"][0]["ranks"]) == 2
    assert np.array_equal(np.load(tmp_path / "l.npy"), reference_bfs(plain, source)[0])


def test_what_is_between_gpus_is_measured(tmp_path: Path) -> None:
    """Figures that links may have, in the profile that the plan reads."""
    pytest.importorskip("mpi4py")
    profile = tmp_path / "links.toml"
    command = [sys.executable, "-m", "bigbfs", "probe", "--gpus", "2", "-o", str(profile)]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert ran.returncode == 0, ran.stderr
    links = read_profile(profile).gpus
    assert links is not None and (links.gpus, links.hosts) == (2, 1)
    assert 5e9 < links.peer_bytes_per_second < 5e12 and 5e9 < links.peer_read_bytes_per_second < 5e12
    assert 2e-7 < links.flag_seconds <= links.meeting_seconds < 1e-3
    assert links.mpi_call_seconds < 1e-2 and links.mpi_bytes_per_second > 1e8
