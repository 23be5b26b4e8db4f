"""How ranks come to be: who has started this process, starting several under mpiexec, and the traps on the way.

Nothing here imports MPI until this process is known to be one of several. Environment: MPICH and Intel MPI set
``PMI_RANK`` and ``PMI_SIZE``, Open MPI ``OMPI_COMM_WORLD_RANK`` and ``_SIZE``, srun ``SLURM_PROCID`` and
``SLURM_STEP_NUM_TASKS`` (a batch script has SLURM_NTASKS too, but is one process, so that is not looked at).

The traps: N copies that each take themselves for rank 0 of 1 would write one file N times. They come from an mpiexec
that belongs to another MPI than the one loaded, and from srun with an MPI built for another PMI. So what the launcher
says is held against what MPI says.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from bigbfs.engines.ranks import ending
from bigbfs.engines.ranks.library import EXTRA, forget_abandoned, forget_of_launcher
from bigbfs.errors import UsageError
from bigbfs.jit.processors import processors

LAUNCHERS = (
    ("mpiexec (PMI)", "PMI_RANK", "PMI_SIZE"),
    ("mpirun (Open MPI)", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("srun", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS"),
)
"""Name, and the variables with rank and size."""


OPEN_MPI = {
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "PRTE_MCA_hwloc_default_binding_policy": "none",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
}
"""What Open MPI 4 (OMPI) and 5 (PRTE) are told for ranks of this machine. By default they give each of two ranks one
core, whatever its threads, and start no more ranks than there are cores."""

HEARD_SECONDS = 0.3
"""How long a rank waits before it ends all: mpiexec drops what it has not passed on by then, the cause for example."""

YOUNG_SECONDS = 2.0
"""How old a file of MPICH that nobody uses is before it is taken for one that a run has left which failed."""

GRACE_SECONDS = 0.5
"""How long ranks other than the first hold a message back."""


class Started(NamedTuple):
    """Who has started this process: ``by`` which launcher, as which ``rank`` of ``size``."""

    by: str
    rank: int
    size: int


MOST_A_CORE = 16
"""Ranks that are started for a core, at most: whoever tries things out takes a few more than there are cores."""


def started(environment: Mapping[str, str] | None = None) -> Started | None:
    """Return who has started this process as one of several ranks; None: nobody has, or it is the only one."""
    given = os.environ if environment is None else environment
    for by, rank, size in LAUNCHERS:
        if given.get(rank, "").isdigit() and given.get(size, "").isdigit() and int(given[size]) > 1:
            return Started(by, int(given[rank]), int(given[size]))
    return None


def mpiexec() -> Path:
    """Return the mpiexec beside the interpreter, or the first in PATH.

    Raises
    ------
    UsageError
        There is none, or no mpi4py.
    """
    if find_spec("mpi4py") is None:
        raise UsageError("more than one rank needs mpi4py, which is not installed", remedies=(EXTRA,))
    folders = [str(Path(sys.executable).parent), *os.environ.get("PATH", "").split(os.pathsep)]
    for folder in folders:
        found = Path(folder) / "mpiexec"
        if folder and found.is_file() and os.access(found, os.X_OK):
            return found
    raise UsageError("there is no mpiexec beside the interpreter, nor in PATH", remedies=(EXTRA,))


def command(ranks: int, arguments: Sequence[str]) -> list[str]:
    """Return the command line that runs ``bigbfs`` with ``arguments`` as so many ranks of this machine."""
    return [str(mpiexec()), "-n", str(ranks), sys.executable, "-m", "bigbfs", *arguments]


def environment(ranks: int, threads: int) -> dict[str, str]:
    """Return the environment for ranks of this machine, each of so many threads."""
    found = dict(os.environ)
    if ranks * threads > processors():
        # MPICH's ranks poll without pause; where they share cores, one that waits must let the others run.
        found.setdefault("MPIR_CVAR_POLLS_BEFORE_YIELD", "1")
    for name, value in OPEN_MPI.items():
        found.setdefault(name, value)
    if os.geteuid() == 0:
        # Open MPI starts nothing for root, who is the user of most containers, unless it is told twice. Whoever has
        # started bigbfs as root has said so already.
        found |= dict.fromkeys(("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"), "1")
    return found


def require_world(by: Started, rank: int, size: int) -> None:
    """Refuse a world of MPI that is not the one that the launcher has made.

    Raises
    ------
    UsageError
        Names both, and the way out.
    """
    if (rank, size) != (by.rank, by.size):
        raise UsageError(
            f"{by.by} started this as rank {by.rank} of {by.size}, and the MPI library takes it for rank {rank} of "
            f"{size}: the launcher belongs to another MPI than the one that mpi4py loads",
            remedies=(
                "use the mpiexec of that MPI (that of the mpich wheel is beside the interpreter)",
                "let srun start it by PMI-2 (its option mpi=pmi2)",
            ),
        )


_world: list[Any] = []
"""The group of this process: a process is in one world of MPI, which it leaves in order or takes down with it."""

_watches: list[Any] = []
"""What watches the other ranks."""


def join(by: Started) -> Any:
    """Join the ranks that ``by`` has started; return the group.

    Raises
    ------
    UsageError
        There is no MPI, or its world is not that of the launcher.
    """
    import numpy as np

    # Open MPI gives rank 0 a terminal for its output. On one Numba's colours, which no error of ours has, end with an
    # escape sequence when the process does, behind the JSON.
    os.environ.setdefault("NUMBA_DISABLE_ERROR_MESSAGE_HIGHLIGHTING", "1")

    from bigbfs.engines.ranks.hosts import OtherHosts
    from bigbfs.engines.ranks.mpi import MpiGroup
    from bigbfs.engines.ranks.watch import Neighbours

    with ending.starting(2 * patience()):
        group = MpiGroup()
    _world.append(group)
    require_world(by, group.rank, group.size)
    # containers of one machine count processes each for itself: another's number is some process of our own there
    everyone = group.objects((os.getpid(), str(Path("/proc/self/ns/pid").readlink())))
    beside = [
        (rank, group.hosts[rank], everyone[rank][0])
        for rank in group.beside
        if rank != group.rank and everyone[rank][1] == everyone[group.rank][1]
    ]
    window = group.window(8 * (2 * group.size + 1))
    beats, ended = (None, None) if window is None else np.split(window.view(np.int64), [group.size])
    _watches.append(Neighbours(beside, group.abort, beats, group.rank, patience(), ended))
    mail = group.mail()
    if mail is not None:
        others = [(first, _machine(group, first)) for first in sorted({*group.machines} - {group.rank})]
        _watches.append(OtherHosts(others, mail, group.abort, patience()))
    return group


def _machine(group: Any, first: int) -> str:
    """Return what a message calls the machine whose first rank is ``first``."""
    there = [str(rank) for rank, other in enumerate(group.machines) if other == first]
    return f"host {group.hosts[first]} (rank{'s' if len(there) > 1 else ''} {', '.join(there)})"


def patience() -> float:
    """Return the seconds that a rank may stand still: BIGBFS_RANK_TIMEOUT, or 60.

    Raises
    ------
    UsageError
        The variable is no number above 0.
    """
    given = os.environ.get("BIGBFS_RANK_TIMEOUT", "60")
    try:
        seconds = float(given)
    except ValueError:
        seconds = 0.0
    if not seconds > 0:
        raise UsageError(f"BIGBFS_RANK_TIMEOUT={given}: it must be a number of seconds above 0")
    return seconds


def part() -> None:
    """Leave the ranks, all together."""
    while _world:
        _world[-1].barrier()
        while _watches:
            _watches.pop().close()
        _world[-1].barrier()  # nobody ends while another still watches
        _world.pop().close()


def is_first() -> bool:
    """Return whether this process speaks for all: it works alone, or is rank 0."""
    return not _world or _world[-1].rank == 0


def speaker() -> str:
    """Return what a message of this process begins with: rank and host, or nothing where it is not one of several."""
    return "".join(f"rank {group.rank} (host {group.host}): " for group in _world)


def failed(code: int, text: str) -> tuple[int, str] | None:
    """Leave the other ranks in order if they have failed, too; one that has not joined them starts MPI for that.

    Returns the exit code, and what this rank is to say before it ends, with its number where not all say the same; ""
    where rank 0 says it. None: another is at work or has gone, or this is not one of several ranks.
    """
    if started() is None or (ending.was_in_a_world() and not ending.in_a_world()):
        return None
    from bigbfs.engines.ranks.failing import all_failed, leave_together

    ending.start_late()
    found, who = all_failed(code, text), speaker()
    if found is None:
        return None
    while _watches:
        _watches.pop().close()
    if not leave_together():
        return None
    while _world:
        _world.pop()
    return found.code, f"{'' if found.alike else who}{text}" if found.speaks else ""


def end_together(code: int) -> int:
    """Let the other ranks tidy up as well, where a signal has ended this one and all are on one machine.

    Returns the code of all.

    For processes alone that tidy up when SIGTERM comes, as commands do.
    """
    for each in _watches[:1]:
        code = each.end_together(code)
    return code


def leave(code: int) -> None:
    """End all ranks with ``code``, where this process has not left them in order.

    One that fails before MPI has started is waited for by the others in there: it joins them to end them.
    """
    with suppress(AttributeError, OSError):  # closed
        sys.stderr.flush()
    if ending.in_a_world():
        time.sleep(HEARD_SECONDS)
        ending.abort(code)
    elif code and started() is not None and not ending.was_in_a_world():
        ending.abort_before_start(code)


def fail(error: BaseException) -> None:
    """Print ``error``, with rank and host, and end all ranks with its exit code."""
    import traceback  # of no use to who only starts ranks

    let_first_speak()
    text = "".join(traceback.format_exception(error))
    with suppress(OSError):
        os.write(2, f"{speaker()}{text}".encode())
    if isinstance(error, KeyboardInterrupt):
        leave(130)
    code = error.code if isinstance(error, SystemExit) else getattr(error, "exit_code", 1)
    leave(code if isinstance(code, int) else int(code is not None))


def let_first_speak() -> None:
    """Wait a moment if this is not rank 0: what is wrong on all ranks, it alone says, and ends them."""
    if _world and _world[-1].rank:
        time.sleep(GRACE_SECONDS)


def _clear_up(begun: float) -> None:
    """Remove what ranks that were ended have left, which were started at the time ``begun``."""
    forget_of_launcher(begun)
    forget_abandoned(begun, YOUNG_SECONDS)


def start(ranks: int, arguments: Sequence[str], threads: int) -> int:
    """Run ``bigbfs`` with ``arguments`` as so many ranks of this machine; return its exit code."""
    import subprocess  # of no use to who starts no ranks

    line, variables = command(ranks, arguments), environment(ranks, threads)
    begun = time.time()
    with ending.held():  # a signal that came before it has a name here would leave it running
        child = subprocess.Popen(
            line,
            env=variables,
            preexec_fn=partial(ending.begin_under, os.getpid()),  # noqa: PLW1509  # no thread yet
        )
    try:
        code = child.wait()
    except BaseException:  # a signal: mpiexec passes it on to the ranks
        child.terminate()
        try:
            child.wait(GRACE_SECONDS * 10)
        except subprocess.TimeoutExpired:
            child.kill()
        _clear_up(begun)
        raise
    if code:
        _clear_up(begun)
    return 128 - code if code < 0 else code
