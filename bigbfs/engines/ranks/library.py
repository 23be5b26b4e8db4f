"""The MPI library: starting it through mpi4py, which nothing else imports, and the files that it leaves in /dev/shm."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from bigbfs.errors import UsageError

SHARED = Path("/dev/shm")

LONG_AGO = 600.0
"""Seconds within which any job that is starting has found its files."""

_OF_MPICH = ("mpich_shm_",)
TEMPORARY = Path("/tmp")
_OF_HYDRA = ("hydra_hwloc_xmlfile_",)
"""Names that MPICH's mpiexec has in /tmp, whatever TMPDIR says, and leaves there where ranks are ended."""

LAUNCH_SECONDS = 2.0
"""How long an mpiexec takes to make such a file: what is younger is another's."""

_OF_UCX = ("ucx_shm_posix_",)
"""Names that UCX, by which MPICH sends, takes away again at once."""

_OF_OPEN_MPI = ("sm_segment", "vader_segment")

EXTRA = "pip install 'bigbfs[mpich]' (or bigbfs[mpi] beside an MPI of your own)"


def library() -> Any:
    """Return mpi4py's module MPI, which starts the library.

    Raises
    ------
    UsageError
        mpi4py is not installed, or finds no MPI library.
    """
    try:
        import mpi4py

        mpi4py.rc.finalize = False  # a rank that fails must not wait there for those that do not
        from mpi4py import MPI
    except ImportError as error:
        raise UsageError(f"ranks need mpi4py, which cannot be imported ({error})", remedies=(EXTRA,)) from error
    except RuntimeError as error:
        raise UsageError(f"mpi4py finds no MPI library ({error})", remedies=(EXTRA,)) from error
    return MPI


def forget_files() -> list[Path]:
    """Unlink the library's files in /dev/shm that this process has mapped: once MPI has started, all have.

    Returns those that the library will unlink itself when it is left, and complain where they are not there (Open MPI):
    see :func:`put_back`.
    """
    expected = []
    for name in _mapped(SHARED):
        if name.name.startswith((*_OF_MPICH, *_OF_OPEN_MPI)):
            with suppress(OSError):
                name.unlink()
                if name.name.startswith(_OF_OPEN_MPI):
                    expected.append(name)
    return expected


def put_back(names: Iterable[Path]) -> None:
    """Make empty files of the names that :func:`forget_files` has returned, for the library to unlink."""
    for name in names:
        with suppress(OSError):
            name.touch(0o600)


def forget_abandoned(since: float, age: float) -> None:
    """Unlink this user's files of MPICH and UCX in /dev/shm, made at the time ``since`` or later, that no process uses.

    Ranks that are killed while MPICH starts leave one, by whose name others were to find it. Until files are ``age``
    seconds old they are waited for, and younger ones stay: their processes may be ending, or be those of another
    container, which are not seen from here and are starting.
    """
    deadline = time.monotonic() + age + 1
    while names := _made(since, (*_OF_MPICH, *_OF_UCX)):
        old = [name for name, made in names.items() if time.time() - made >= age]
        if len(old) == len(names) or time.monotonic() >= deadline:
            _unlink_unused(old)
            return
        time.sleep(0.1)


def forget_long_abandoned() -> None:
    """Unlink MPICH's files of jobs that were started :data:`LONG_AGO` or earlier, where no process uses them."""
    _unlink(name for name, made in _made(0.0, _OF_HYDRA, TEMPORARY).items() if time.time() - made >= LONG_AGO)
    _unlink_unused(name for name, made in _made(0.0, _OF_MPICH).items() if time.time() - made >= LONG_AGO)


def forget_of_launcher(begun: float) -> None:
    """Unlink this user's files of an MPICH's mpiexec that was started at the time ``begun``, and has ended.

    Ranks read them when they start. One of another mpiexec that was started at the same time may be among them: ranks
    that find none look at the machine for themselves.
    """
    _unlink(name for name, made in _made(begun, _OF_HYDRA, TEMPORARY).items() if made <= begun + LAUNCH_SECONDS)


def _made(since: float, prefixes: Iterable[str], folder: Path | None = None) -> dict[Path, float]:
    """Return this user's files whose names begin so, and when they were made, of those made ``since``."""
    found = {}
    for prefix in prefixes:
        for name in (folder or SHARED).glob(f"{prefix}*"):
            with suppress(OSError):
                status = name.stat()
                if status.st_uid == os.geteuid() and status.st_ctime >= since:
                    found[name] = status.st_ctime
    return found


def _unlink_unused(names: Iterable[Path]) -> None:
    names = list(names)
    used = _in_use() if names else set()
    _unlink(name for name in names if str(name) not in used)


def _unlink(names: Iterable[Path]) -> None:
    for name in names:
        with suppress(OSError):
            name.unlink()


def _in_use() -> set[str]:
    """Return the files in /dev/shm that processes have open or mapped, as far as they can be seen."""
    found: set[str] = set()
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has gone, or is another user's
            found |= {line.rpartition(" ")[2] for line in (process / "maps").read_text().splitlines() if "/" in line}
            for handle in (process / "fd").iterdir():
                with suppress(OSError):  # closed by now
                    found.add(str(handle.readlink()))
    return found


def _mapped(folder: Path) -> set[Path]:
    """Return the files of ``folder`` that this process has mapped."""
    lines = Path("/proc/self/maps").read_text().splitlines()
    names = {line.split(maxsplit=5)[5] for line in lines if str(folder) in line and not line.endswith("(deleted)")}
    return {Path(name) for name in names if Path(name).parent == folder}
