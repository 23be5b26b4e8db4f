"""Who started this process, by what it left in the environment, and worlds that do not fit are refused."""

from __future__ import annotations

import pytest

from bigbfs.engines.ranks import launch
from bigbfs.engines.ranks.launch import Started
from bigbfs.errors import UsageError


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, None),
        ({"PMI_RANK": "1", "PMI_SIZE": "4"}, ("mpiexec (PMI)", 1, 4)),
        ({"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "2"}, ("mpirun (Open MPI)", 0, 2)),
        ({"SLURM_PROCID": "3", "SLURM_STEP_NUM_TASKS": "16", "SLURM_NTASKS": "16"}, ("srun", 3, 16)),
        ({"SLURM_PROCID": "0", "SLURM_NTASKS": "16"}, None),  # a batch script: one process
        ({"PMI_RANK": "0", "PMI_SIZE": "1"}, None),
        ({"PMI_RANK": "x", "PMI_SIZE": "4"}, None),
    ],
)
def test_who_started_this(environment: dict[str, str], expected: Started | None) -> None:
    assert launch.started(environment) == expected


def test_ranks_that_share_cores_give_them_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch, "processors", lambda: 2)
    monkeypatch.delenv("MPIR_CVAR_POLLS_BEFORE_YIELD", raising=False)
    assert "MPIR_CVAR_POLLS_BEFORE_YIELD" not in launch.environment(2, 1)
    assert launch.environment(2, 2)["MPIR_CVAR_POLLS_BEFORE_YIELD"] == "1"


@pytest.mark.parametrize("user", [0, 1000])
def test_open_mpi_starts_ranks_for_root(monkeypatch, user):
    for name in ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(launch.os, "geteuid", lambda: user)
    told = [name for name, value in launch.environment(2, 1).items() if name.startswith("OMPI_ALLOW") and value == "1"]
    assert len(told) == (2 if user == 0 else 0)


def test_a_world_that_is_not_the_launchers_is_refused() -> None:
    by = Started("srun", 2, 4)
    launch.require_world(by, 2, 4)
    with pytest.raises(UsageError, match="rank 2 of 4, and the MPI library takes it for rank 0 of 1") as caught:
        launch.require_world(by, 0, 1)
    assert "mpiexec" in str(caught.value) and "pmi2" in str(caught.value)
