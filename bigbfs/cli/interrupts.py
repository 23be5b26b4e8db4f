"""SIGINT, SIGTERM and SIGHUP end the run, after everything is cleaned up, with exit code 128 + number.

A signal becomes an exception that unwinds everything, so that temporary files are removed. One that is raised in a
callback from C (LLVM tells Numba's code cache about every compiled kernel through one) goes nowhere: the interpreter
prints it and carries on. So a timer raises it again until it has arrived. Another error may be faster: the callback's
work was not done (Numba misses the machine code that it was not told of). So whatever ends a run to which a signal has
come was interrupted. Signals that come while clean-up is under way or after it change nothing: `timeout` sends two, a
closing terminal too, an impatient user more.

The exception is no KeyboardInterrupt: one that passes through an ``exec`` (making a dataclass is one) lets the
interpreter end itself by SIGINT, whoever catches it (CPython 3.11 to 3.13).
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from types import FrameType

AGAIN_SECONDS = 0.1
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
CODES = tuple(128 + number for number in ENDING)
"""With which a run ends that one of these has ended."""
_LATE = "ignored due to race condition"
"""What the interpreter says of a signal that came just before nobody listened any more (CPython, signalmodule.c)."""


class Interrupted(SystemExit):
    """The signal ``number`` has come."""

    def __init__(self, number: int) -> None:
        super().__init__(128 + number)
        self.number = number


def guarded(run: Callable[[], int]) -> int:
    """Return the exit code of ``run``, or that of the signal that ends it.

    A signal that the parent has told us to ignore (``nohup``, a background job) stays ignored. Afterwards, while the
    interpreter goes, every one of them is.
    """
    last: signal.Signals | None = None

    def stop(number: int, frame: FrameType | None) -> None:
        nonlocal last
        if not _unwinding():
            last = signal.Signals(number)
            signal.setitimer(signal.ITIMER_REAL, AGAIN_SECONDS, AGAIN_SECONDS)
            raise Interrupted(last)

    def again(number: int, frame: FrameType | None) -> None:
        if last is not None and not _unwinding():
            raise Interrupted(last)

    try:
        signal.signal(signal.SIGALRM, again)
        for number in ENDING:
            if signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, stop)
        sys.unraisablehook = _quiet
        code = run()
        _over()
        if code and last is not None:  # what it has said of an error is the signal's work
            return 128 + last
    except (Interrupted, Exception):
        _over()
        if last is None:
            raise
        if last == signal.SIGINT and sys.stderr is not None:  # of the other two nobody is there to be told
            with suppress(OSError):
                print("bigbfs: error: interrupted", file=sys.stderr)
        return 128 + last
    return code


def _over() -> None:
    """Let no signal change any more how the process ends."""
    signal.setitimer(signal.ITIMER_REAL, 0)
    for number in ENDING:
        signal.signal(number, signal.SIG_IGN)


def _unwinding() -> bool:
    """Tell whether clean-up on the way out is running, which must not be interrupted again."""
    error = sys.exc_info()[1]
    while error is not None and not isinstance(error, Interrupted):
        error = error.__context__
    return error is not None


def _quiet(unraisable: sys.UnraisableHookArgs) -> None:
    """Say nothing of an interrupt that was swallowed, which comes again, nor of one that came as it was told to go."""
    error = unraisable.exc_value
    if not isinstance(error, Interrupted) and not (isinstance(error, OSError) and _LATE in str(error)):
        sys.__unraisablehook__(unraisable)


def leave(code: int) -> None:
    """End the process with ``code``, that of a signal: what is to be done at exit is, but nothing is taken down.

    Compiled code may have been left in the middle of being made, and threads in it: the interpreter would free memory
    that these read.
    """
    with suppress(Exception):
        atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, OSError, ValueError):  # there is none, or nobody reads it
            stream.flush()
    os._exit(code)
