"""Run ``bigbfs`` as one rank, to which something happens at a chosen moment: python rank_events.py EVENT WHEN RANK ...

WHEN is ``start`` (MPI has not started), ``joined``, the number of a level, ``proof``, ``result`` or ``leaving``. EVENT
is a signal to the rank itself (``KILL``), to the mpiexec above it (``mpiexec-INT``), or ``error``, ``exit``, ``gone``.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

from bigbfs.__main__ import interrupts, main
from bigbfs.algorithms.bfs.cpu import search
from bigbfs.algorithms.bfs.ranks.common import CommonSearch
from bigbfs.algorithms.bfs.ranks.common_program import CommonBfs
from bigbfs.algorithms.bfs.ranks.program import RankBfs
from bigbfs.algorithms.bfs.ranks.search import RankSearch
from bigbfs.engines.ranks import launch, watch


def parent(process: int) -> int:
    return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])


def launcher() -> int:
    """Return the mpiexec above this process: its parent (Open MPI), or that of its proxy (MPICH)."""
    process = parent(os.getpid())
    while not Path(f"/proc/{process}/cmdline").read_bytes().split(b"\0")[0].endswith(b"mpiexec"):
        process = parent(process)
    return process


READY = "BIGBFS_TEST_READY"
"""Environment variable with the folder in which every rank says that signals end it as they should."""


def ready(run: Any) -> Any:
    """Return ``run`` for a rank that says so first."""

    def said() -> int:
        if folder := os.environ.get(READY):
            (Path(folder) / str(os.getpid())).touch()
        found: int = run()
        return found

    return said


def wait_for_all() -> None:
    """Wait until all ranks have said so: on a busy machine one is seconds behind, and Python has not begun there.

    A signal ends such a process as the system does it, and the launcher tells that from an exit code.
    """
    by, deadline = launch.started(), time.monotonic() + 60
    if by is not None and (folder := os.environ.get(READY)):
        while len(list(Path(folder).iterdir())) < by.size and time.monotonic() < deadline:
            time.sleep(0.01)


def happen(event: str) -> None:
    where, _, name = event.rpartition("-")
    if where == "mpiexec":
        wait_for_all()
    if name == "error":
        raise RuntimeError("planted")
    if name == "exit":
        sys.exit(7)
    if name == "gone":
        os._exit(4)
    process = launcher() if where == "mpiexec" else os.getpid()
    os.kill(process, getattr(signal, f"SIG{name}"))


def plant(event: str, when: str, rank: int) -> None:
    """Let ``event`` happen to ``rank`` at the moment ``when``, before what is done then."""
    owner, name = {
        "start": (launch, "join"), "joined": (watch.Neighbours, "__init__"), "proof": (RankBfs, "verify"),
        "result": (RankBfs, "_fetched"), "leaving": (launch, "part"),
    }.get(when, (RankSearch, "_agree"))  # fmt: skip
    level = int(when) if when.isdigit() else None
    search.WALK_EDGES = 8  # in few steps of several levels
    replace(owner, name, event, rank, level)
    for name in ("walk", "expand", "pull") if level is not None else ():
        replace(CommonSearch, name, event, rank, level)
    if (owner, name) == (RankBfs, "verify"):
        replace(CommonBfs, name, event, rank, None)
    elif (owner, name) == (RankBfs, "_fetched"):
        replace(CommonBfs, "_record", event, rank, None)


def replace(owner: Any, name: str, event: str, rank: int, level: int | None) -> None:
    """Let ``event`` happen to ``rank`` where ``name`` is called: of a search, where that is before ``level``."""
    original = getattr(owner, name)

    def first(*given: Any, **named: Any) -> Any:
        at = level is None or (given[0].n > 64 and given[1].depth == level)  # a search that compiles has two vertices
        by = launch.started()
        if at and by is not None and by.rank == rank:
            happen(event)
        return original(*given, **named)

    setattr(owner, name, first)


if __name__ == "__main__":
    guarded = interrupts.guarded
    interrupts.guarded = lambda run: guarded(ready(run))
    plant(sys.argv[1], sys.argv[2], int(sys.argv[3]))
    sys.argv[1:] = sys.argv[4:]
    main()
