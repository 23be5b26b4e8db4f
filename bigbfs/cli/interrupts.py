"""SIGINT and SIGTERM end the run, even where the code that they reach swallows the exception.

A signal becomes an exception that unwinds everything, so that temporary files are removed. One that is raised in a
callback from C (LLVM tells Numba's code cache about every compiled kernel through one) goes nowhere: the interpreter
prints it and carries on. So a timer raises it again until it has arrived.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

AGAIN_SECONDS = 0.1
_ENDS = (KeyboardInterrupt, SystemExit)


def arrived() -> None:
    """Raise no more: the interrupt has reached the one who deals with it."""
    signal.setitimer(signal.ITIMER_REAL, 0)


@contextmanager
def handled() -> Iterator[None]:
    """Within it SIGINT raises KeyboardInterrupt and SIGTERM raises SystemExit(143), again and again until it arrives.

    A SIGINT that the parent has told us to ignore (``nohup``, a background job) stays ignored.
    """
    last = signal.SIGTERM

    def stop(number: int, frame: FrameType | None) -> None:
        nonlocal last
        last = signal.Signals(number)
        signal.setitimer(signal.ITIMER_REAL, AGAIN_SECONDS, AGAIN_SECONDS)
        throw()

    def again(number: int, frame: FrameType | None) -> None:
        if not _unwinding():
            throw()

    def throw() -> None:
        raise KeyboardInterrupt if last == signal.SIGINT else SystemExit(128 + last)

    if signal.getsignal(signal.SIGINT) != signal.SIG_IGN:
        signal.signal(signal.SIGINT, stop)
    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGALRM, again)
    sys.unraisablehook = _quiet
    try:
        yield
    finally:
        arrived()


def _unwinding() -> bool:
    """Tell whether clean-up on the way out is running, which must not be interrupted again."""
    error = sys.exc_info()[1]
    while error is not None and not isinstance(error, _ENDS):
        error = error.__context__
    return error is not None


def _quiet(unraisable: Any) -> None:
    """Say nothing of an interrupt that was swallowed: it comes again."""
    if not isinstance(unraisable.exc_value, _ENDS):
        sys.__unraisablehook__(unraisable)
