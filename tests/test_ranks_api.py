"""Ranks from Python: alone, as threads, and as processes that mpiexec has started; what ends them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zoo

import bigbfs
from bigbfs.algorithms.bfs.reference import bfs as reference_bfs
from bigbfs.algorithms.components.reference import components as reference_components
from bigbfs.engines.gpu.runtime import device
from bigbfs.engines.ranks import launch, threads

SCRIPT = """
import sys
import numpy as np
import bigbfs

with bigbfs.ranks() as group:
    with bigbfs.engine(sys.argv[1], ranks=group, threads=1) as engine:
        result = engine.bfs(0, verify=True)
        labels = engine.connected_components(verify=True).labels
        if group.rank == 1 and sys.argv[3] == "error":
            raise KeyError("mine")
        if group.rank == 1 and sys.argv[3] == "vertex":
            engine.bfs(10**9)
        if group.rank == 0:
            np.savez(sys.argv[2], levels=result.levels, labels=labels, ranks=len(result.record.ranks))
        group.barrier()
try:
    with bigbfs.ranks():
        again = "joined"
except bigbfs.UsageError:
    again = "refused"
assert again == ("joined" if group.size == 1 else "refused")
"""


def test_a_transport_is_for_ranks_on_gpus(graph: Path) -> None:
    with pytest.raises(bigbfs.UsageError, match="for ranks on GPUs, and this run has none"):
        bigbfs.engine(graph, backend="cpu", transport="mpi")
    with pytest.raises(bigbfs.UsageError, match="for ranks on GPUs, and this run has none"):
        threads.run(2, lambda group: bigbfs.bfs(graph, 0, ranks=group, backend="cpu", transport="nccl"))


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    zoo.shared()["kronecker"].save(tmp_path / "g.csrbin")
    return tmp_path / "g.csrbin"


def run(command: list[str]) -> subprocess.CompletedProcess[str]:
    environment = launch.environment(4, 4)
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=400, check=False)


@pytest.mark.parametrize("ranks", [None, 2])
def test_one_script_runs_alone_and_under_mpiexec(ranks: int | None, graph: Path, tmp_path: Path) -> None:
    pytest.importorskip("mpi4py")
    started = [] if ranks is None else [str(launch.mpiexec()), "-n", str(ranks)]
    ran = run([*started, sys.executable, "-c", SCRIPT, str(graph), str(tmp_path / "found.npz"), "no"])
    assert ran.returncode == 0, ran.stderr
    found = np.load(tmp_path / "found.npz")
    assert found["ranks"] == (ranks or 1)
    with bigbfs.open(graph) as opened:
        np.testing.assert_array_equal(found["levels"], reference_bfs(opened, 0)[0])
        np.testing.assert_array_equal(found["labels"], reference_components(opened))


@pytest.mark.parametrize(("what", "code", "said"), [("error", 1, "KeyError: 'mine'"), ("vertex", 2, "1000000000")])
def test_an_error_on_one_rank_ends_all(what: str, code: int, said: str, graph: Path, tmp_path: Path) -> None:
    pytest.importorskip("mpi4py")
    command = [str(launch.mpiexec()), "-n", "3", sys.executable, "-c", SCRIPT, str(graph), str(tmp_path / "f"), what]
    ran = run(command)
    assert ran.returncode == code, ran.stderr
    assert "rank 1 (host " in ran.stderr and said in ran.stderr


def test_functions_take_ranks() -> None:
    graph = zoo.shared()["kronecker"]

    def rank(group: Any) -> tuple[Any, Any]:
        levels = bigbfs.bfs(graph, 0, ranks=group, threads=1).levels
        return levels, bigbfs.connected_components(graph, ranks=group, threads=1).labels

    (levels, labels), (none, _) = threads.run(2, rank)
    np.testing.assert_array_equal(levels, reference_bfs(graph, 0)[0])
    np.testing.assert_array_equal(labels, reference_components(graph))
    assert (none == -1).all()


@pytest.mark.parametrize(
    ("where", "said"), [({"backend": "gpu"}, "driver|CuPy"), ({"residency": "mapped"}, "residency")]
)
def test_what_gpus_alone_have_is_refused(where: dict[str, Any], said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bigbfs.api, "choose_backend", lambda backend: "gpu" if backend == "gpu" else "cpu")
    monkeypatch.setattr(device, "count", lambda: 0)
    with bigbfs.ranks() as group, pytest.raises(bigbfs.BigBfsError, match=said):
        bigbfs.engine(zoo.shared()["kronecker"], ranks=group, **where)


def test_other_algorithms_are_refused() -> None:
    with bigbfs.ranks() as group, pytest.raises(bigbfs.UsageError, match="toposort does not run on several ranks"):
        bigbfs.topological_order(zoo.shared()["directed-in-rows"], ranks=group)
