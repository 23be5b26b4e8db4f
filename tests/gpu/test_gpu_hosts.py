"""BFS and components over GPUs whose hosts carry what is told: two processes, which may share a GPU with MPI."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import zoo

from bigbfs.algorithms.bfs.reference import bfs as reference_bfs
from bigbfs.algorithms.components.reference import components as reference_components
from bigbfs.engines.gpu.ranks import nccl
from bigbfs.engines.gpu.runtime import device

sys.path.insert(0, str(Path(__file__).parent))
from rank_cases import HOSTED
from test_gpu_peers import SCRIPT, under_mpiexec

pytestmark = [pytest.mark.skipif(device.count() < 1, reason="no GPU"), pytest.mark.alone]


def require(transport: str) -> None:
    """Skip what this machine has not."""
    if transport == "nccl" and (device.count() < 2 or nccl.lack() is not None):
        pytest.skip(f"NCCL wants a GPU for each rank: {device.count()} here; {nccl.lack() or 'it is there'}")


@pytest.mark.parametrize("group", HOSTED)
def test_searches_and_components_equal_the_reference(group: str) -> None:
    require(group.split("-")[-1])
    ran = under_mpiexec(str(SCRIPT), group)
    assert ran.returncode == 0, ran.stderr[-4000:]
    assert f"cases of {group} are right" in ran.stdout


@pytest.mark.skipif(device.count() < 2, reason="fewer than 2 GPUs")
@pytest.mark.parametrize("transport", ["mpi", "nccl"])
@pytest.mark.parametrize("residency", ["auto", "streamed"])
@pytest.mark.parametrize("name", ["bfs", "cc"])
def test_the_command(name: str, residency: str, transport: str, tmp_path: Path) -> None:
    pytest.importorskip("mpi4py")
    require(transport)
    plain = zoo.shared()["kronecker"]
    plain.save(tmp_path / "g.csrbin")
    source = int(plain.degrees().argmax())
    command = [sys.executable, "-m", "bigbfs", name, str(tmp_path / "g.csrbin"), "--verify", "--json"]
    command += ["--gpus", "2", "--transport", transport, "--residency", residency]
    if name == "bfs":
        command += ["--source", str(source), "--levels", str(tmp_path / "l.npy")]
    else:
        command += ["--labels", str(tmp_path / "l.npy")]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout)
    assert found["runs"][0]["verified"] and all(rank["sent"] > 0 for rank in found["runs"][0]["ranks"])
    expected = reference_bfs(plain, source)[0] if name == "bfs" else reference_components(plain)
    assert np.array_equal(np.load(tmp_path / "l.npy"), expected)
