"""Who started this process, by what it left in the environment, and worlds that do not fit are refused."""

from __future__ import annotations

import mmap
import os
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path

import pytest

from bigbfs.engines.ranks import launch, library
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


def test_open_mpi_binds_no_rank_to_a_core_unless_it_is_told_to(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in launch.OPEN_MPI:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OMPI_MCA_hwloc_base_binding_policy", "core")
    found = launch.environment(2, 1)
    assert found["OMPI_MCA_hwloc_base_binding_policy"] == "core"
    assert found["PRTE_MCA_hwloc_default_binding_policy"] == "none"
    assert found["PRTE_MCA_rmaps_default_mapping_policy"] == ":oversubscribe"


COLORAMA = """
import atexit, sys
__version__ = "0.4.6"
class _Any:
    def __getattr__(self, name): return ""
Fore = Style = _Any()
def init(): atexit.register(sys.stdout.write, "\\x1b[0m")
def reinit(): pass
def deinit(): pass
"""
"""What Numba uses of it, as on a terminal; the real one writes that where its output is one."""

ASK = """
import bigbfs
with bigbfs.ranks() as group:
    from numba.core import errors
    print(errors.termcolor().errmsg("x"))
"""


def test_nothing_follows_what_a_rank_prints(tmp_path: Path) -> None:
    """Colours that Numba has by way of colorama are switched off again at the end of a process, by an escape sequence:
    Open MPI gives rank 0 a terminal, so a file that its output went to had that behind the JSON."""
    pytest.importorskip("mpi4py")
    (tmp_path / "colorama.py").write_text(COLORAMA)
    environment = launch.environment(2, 2) | {
        "PYTHONPATH": os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    }
    alone = [sys.executable, "-c", ASK]
    plain = subprocess.run(alone, capture_output=True, text=True, env=environment, timeout=100, check=True)
    assert plain.stdout.endswith("\x1b[0m")
    ran = subprocess.run(
        [str(launch.mpiexec()), "-n", "2", *alone], capture_output=True, text=True, env=environment, timeout=100
    )
    assert (ran.returncode, ran.stdout) == (0, "x\nx\n"), ran.stderr


def test_files_of_the_library_in_shared_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that this process has mapped go; Open MPI's come back, empty, for itself to unlink when it is left."""
    monkeypatch.setattr(library, "SHARED", tmp_path)
    names = ("mpich_shm_1", "sm_segment.h.0.1.0", "vader_segment.h.0.1.0", "mine", "mpich_shm_others")
    maps = []
    for name in names:
        (tmp_path / name).write_bytes(bytes(4096))
        if name != "mpich_shm_others":
            with (tmp_path / name).open("r+b") as file:
                maps.append(mmap.mmap(file.fileno(), 0))
    expected = library.forget_files()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine", "mpich_shm_others"]
    assert sorted(path.name for path in expected) == list(names[1:3])
    library.put_back(expected)
    assert {path.name: path.stat().st_size for path in expected} == dict.fromkeys(names[1:3], 0)
    assert len(list(tmp_path.iterdir())) == 4
    for each in maps:
        each.close()


def test_files_that_killed_ranks_have_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of the library that are old enough, and that no process has open or mapped."""
    monkeypatch.setattr(library, "SHARED", tmp_path)
    names = ("mpich_shm_left_0", "mpich_shm_mapped_0", "mpich_shm_open_0", "ucx_shm_posix_1", "sm_segment.h", "mine")
    for name in names:
        (tmp_path / name).write_bytes(bytes(4096))
    with (tmp_path / names[1]).open("r+b") as file:
        mapped = mmap.mmap(file.fileno(), 0)
    library.forget_abandoned(time.time() + 1, 0.0)  # none is of that run
    library.forget_long_abandoned()
    assert len(list(tmp_path.iterdir())) == len(names)
    begun, limit = time.monotonic(), 0.5
    with (tmp_path / names[2]).open("r+b"):
        library.forget_abandoned(0.0, limit)
    assert time.monotonic() - begun > limit / 2
    assert {path.name for path in tmp_path.iterdir()} == {*names[1:3], *names[4:]}
    monkeypatch.setattr(library, "LONG_AGO", 0.0)
    (tmp_path / names[3]).touch()
    library.forget_long_abandoned()
    assert {path.name for path in tmp_path.iterdir()} == {names[1], *names[3:]}
    mapped.close()


def test_files_of_a_launcher_whose_ranks_were_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its own go with the run, others when they are old."""
    monkeypatch.setattr(library, "SHARED", tmp_path / "shared")
    monkeypatch.setattr(library, "TEMPORARY", tmp_path)
    old, own, other = (tmp_path / name for name in ("hydra_hwloc_xmlfile_a", "hydra_hwloc_xmlfile_b", "mine"))
    for name in (old, other):
        name.touch()
    time.sleep(0.05)
    begun = time.time() - 0.02  # the clock of a file is coarse
    own.touch()
    library.forget_of_launcher(begun)
    assert {*tmp_path.iterdir()} == {old, other}
    library.forget_long_abandoned()
    assert old.exists()
    monkeypatch.setattr(library, "LONG_AGO", 0.01)
    library.forget_long_abandoned()
    assert {*tmp_path.iterdir()} == {other}


def test_files_of_a_launcher_that_was_started_later_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While this run was under way, which ends now: the other's ranks may be about to read it."""
    monkeypatch.setattr(library, "TEMPORARY", tmp_path)
    others = tmp_path / "hydra_hwloc_xmlfile_a"
    others.touch()
    library.forget_of_launcher(time.time() - library.LAUNCH_SECONDS - 1)
    assert others.exists()


def test_files_of_ranks_that_are_starting_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another job makes files all the time, so that there is a young one when no more is waited for."""
    monkeypatch.setattr(library, "SHARED", tmp_path)
    (tmp_path / "mpich_shm_old").touch()
    made = library._made

    def starting(since: float, prefixes: Iterable[str], folder: Path | None = None) -> dict[Path, float]:
        (tmp_path / "mpich_shm_new").touch()
        return made(since, prefixes, folder)

    monkeypatch.setattr(library, "_made", starting)
    library.forget_abandoned(0.0, 0.3)
    assert [path.name for path in tmp_path.iterdir()] == ["mpich_shm_new"]


def test_a_world_that_is_not_the_launchers_is_refused() -> None:
    by = Started("srun", 2, 4)
    launch.require_world(by, 2, 4)
    with pytest.raises(UsageError, match="rank 2 of 4, and the MPI library takes it for rank 0 of 1") as caught:
        launch.require_world(by, 0, 1)
    assert "mpiexec" in str(caught.value) and "pmi2" in str(caught.value)
