"""The MPI library: starting it through mpi4py, which nothing else imports, and the files that it leaves in /dev/shm."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from bigbfs.errors import UsageError

SHARED = Path("/dev/shm")

_OF_MPICH = ("mpich_shm_",)
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


def _mapped(folder: Path) -> set[Path]:
    """Return the files of ``folder`` that this process has mapped."""
    lines = Path("/proc/self/maps").read_text().splitlines()
    names = {line.split(maxsplit=5)[5] for line in lines if str(folder) in line and not line.endswith("(deleted)")}
    return {Path(name) for name in names if Path(name).parent == folder}
