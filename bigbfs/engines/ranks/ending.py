"""How a rank ends when it ends before its time, so that no other waits for it.

What was tried says where ranks hang. The launcher ends all when one dies of a signal, and when one aborts. It does not
when one exits before MPI has started, whatever its code: the others then wait in there, with the interpreter's lock
held, so that neither a handler in Python nor a thread can end them. So a rank that fails before that starts MPI only to
abort, and signals that come while MPI starts are held back until it has. The library's abort ends in ``exit``, with
that lock held too, and destructors that wait for another thread there would wait for ever: limits are kept by a thread
without the interpreter (:mod:`faulthandler`), or by the kernel.
"""

from __future__ import annotations

import ctypes
import faulthandler
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from bigbfs.engines.ranks.library import forget_files, library
from bigbfs.errors import UsageError

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

ABORT_SECONDS = 5.0
"""How long the library may take to end this process once it has told the others."""

START_SECONDS = 30.0
"""How long a rank that has failed waits for the others to start."""


_DEATH_OF_PARENT = 1
"""PR_SET_PDEATHSIG of prctl(2)."""


def _library() -> Any:
    """Return mpi4py's MPI where it is loaded and has started, or None."""
    found = sys.modules.get("mpi4py.MPI")
    return found if found is not None and found.Is_initialized() else None


def library_of_ranks() -> Any:
    """Return mpi4py's MPI where this process is one of several under it, and has not left them; else None."""
    return _library() if in_a_world() else None


def in_a_world() -> bool:
    """Return whether this process is one of several under MPI, and has not left them."""
    found = _library()
    return found is not None and not found.Is_finalized() and found.COMM_WORLD.size > 1


def was_in_a_world() -> bool:
    """Return whether MPI has started in this process, whether or not it has left since."""
    return _library() is not None


def abort(code: int) -> None:
    """End every rank with ``code``, this one within seconds whatever the library does."""
    limit(ABORT_SECONDS)
    found = _library()
    assert found is not None
    hush()
    found.COMM_WORLD.Abort(code)


def hush() -> None:
    """Let what this process says from here on go nowhere: MPICH has a line of its own for an abort, of which it knows
    neither the cause nor the host. Both have been said."""
    with suppress(OSError):
        nowhere = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
        os.dup2(nowhere, 2)
        os.close(nowhere)


def abort_before_start(code: int) -> None:
    """Start MPI and end every rank with ``code``; return where there is no MPI, or no other rank in its world."""
    start_late()
    if in_a_world():
        abort(code)


def start_late() -> None:
    """Start MPI, where there is one, in a rank that has failed before that.

    Others that never come are not waited for: this process then dies of a signal, for which the launcher ends them.
    """
    if was_in_a_world():
        return
    before = signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, START_SECONDS)
    with suppress(UsageError):  # there is no MPI
        library()
        forget_files()
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, signal.SIG_DFL if before is None else before)  # None: of nobody's in Python


def limit(seconds: float) -> None:
    """End this process after so many seconds, even where no other thread of Python can run any more."""
    nowhere = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)  # open as long as this process is
    faulthandler.dump_traceback_later(seconds, exit=True, file=nowhere)


def no_limit() -> None:
    """Let this process go on: what had to end in time has."""
    faulthandler.cancel_dump_traceback_later()


@contextmanager
def starting(seconds: float) -> Iterator[None]:
    """Hold signals back while MPI starts, and end this process after so many ``seconds``, with a trace of where it was.

    Only a rank that has ended without a word, or never came, lets the others wait so long. Handlers are installed again
    then: UCX, in the library, takes SIGHUP for a wish to see its memory.
    """
    with held():
        faulthandler.dump_traceback_later(seconds, exit=True, file=2)
        try:
            yield
        finally:
            faulthandler.cancel_dump_traceback_later()
            if threading.current_thread() is threading.main_thread():
                for number in SIGNALS:
                    signal.signal(number, signal.getsignal(number))


@contextmanager
def held() -> Iterator[None]:
    """Hold signals back inside: they come after it."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def begin_under(parent: int) -> None:
    """Let signals in again, in a process that was started while they were held back, and end it when its parent ends.

    A parent that is killed outright can pass nothing on: the kernel does (Linux).
    """
    with suppress(AttributeError):  # another system
        ctypes.CDLL(None).prctl(_DEATH_OF_PARENT, int(signal.SIGTERM))
    if os.getppid() != parent:  # it has ended before that
        os._exit(128 + signal.SIGTERM)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
