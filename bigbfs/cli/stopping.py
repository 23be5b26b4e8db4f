"""Ctrl-C in commands of many searches: the first ends the work after its batch, the second the run.

Python runs a handler between two of its own instructions, in the main thread: while compiled code runs there, or a disk
takes what is written, nothing is heard. A thread that reads the numbers of the signals says what happens then.
"""

from __future__ import annotations

import os
import select
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import ParamSpec

import click

from bigbfs.jit import compiling

_SIGNALS = 4096
"""Signals that are counted at once."""
PATIENCE = 0.3
"""Seconds after which the thread speaks, where the handler has not run."""

P = ParamSpec("P")


class Stop:
    """Says whether Ctrl-C has come, and keeps whether anything was found by then."""

    def __init__(self) -> None:
        self.asked = self.found = False

    def __call__(self) -> bool:
        """Return whether the work is to end."""
        return self.asked

    def hearing(self, tell: Callable[P, object]) -> Callable[P, None]:
        """Return what tells ``tell`` that something was found, and notes it."""

        def told(*arguments: P.args, **named: P.kwargs) -> None:
            self.found = True
            if self.asked:  # the work ends now, with what there is to say
                compiling.tell(_nothing)
            tell(*arguments, **named)

        return told


@contextmanager
def stopping(part: str = "batch") -> Iterator[Stop]:
    """Have the first Ctrl-C end the work after the ``part`` under way: yield what says whether it has come.

    The second one ends the run as everywhere. So does the first where nothing is found yet and kernels are compiled, or
    as soon as they would be: there is nothing to say then for which one would wait.
    """
    found = Stop()
    before = signal.getsignal(signal.SIGINT)
    said = 0

    def say(times: int) -> None:
        """Say what the Ctrl-C that has come ``times`` times does; once of each."""
        nonlocal said
        times = min(times, len(_SAID))
        if said < times:
            said = times
            # what cannot be said ends nothing: its reader heard Ctrl-C too, or it came in the middle of a write
            with suppress(OSError, RuntimeError):
                click.echo(f"bigbfs: {_SAID[times - 1].format(part)}", err=True)

    def slow(times: int) -> None:
        """Say it while the main thread does not listen."""
        if found.found or not compiling.under_way():
            say(times)

    def stop(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, before)
        if heard.handled() > 1:  # while compiled code ran, at the end of which they are one
            _again()
            return
        if not found.found:
            if compiling.under_way():
                _again()
                return
            compiling.tell(_again)
        found.asked = True
        say(1)

    if before == signal.SIG_IGN:
        yield found
        return
    with _Heard(slow) as heard:
        signal.signal(signal.SIGINT, stop)
        try:
            yield found
        finally:
            signal.signal(signal.SIGINT, before)
            if found.asked:
                compiling.tell(_nothing)


_SAID = ("stopping after this {}; once more ends at once", "ending as soon as the step under way returns")


class _Heard:
    """How often SIGINT has come, which a thread of its own sees at once.

    Parameters
    ----------
    slow
        Told how often, where it has come and the main thread has not run its handler some time later.
    """

    def __init__(self, slow: Callable[[int], object]) -> None:
        self._slow = slow
        self._came = 0
        self._lock = threading.Lock()
        self._reached, self._done = threading.Event(), threading.Event()

    def handled(self) -> int:
        """Return how often it has come, and note that the handler runs."""
        self._reached.set()
        return self._read()

    def _read(self) -> int:
        with self._lock:
            with suppress(BlockingIOError):
                self._came += os.read(self._reading, _SIGNALS).count(signal.SIGINT)
            return self._came

    def _watch(self) -> None:
        told = 0
        while not self._done.is_set():
            select.select([self._reading], [], [])
            came = self._read()
            if came > told and not self._done.is_set():
                # the handler notes the first; that of the second ends the run, and this thread with it
                if not (self._reached if came == 1 else self._done).wait(PATIENCE):
                    self._slow(came)
                told = came

    def __enter__(self) -> _Heard:
        self._reading, self._writing = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self._before = signal.set_wakeup_fd(self._writing, warn_on_full_buffer=False)
        self._thread: threading.Thread | None
        self._thread = threading.Thread(target=self._watch, name="bigbfs-signals", daemon=True)
        try:
            self._thread.start()
        except RuntimeError:  # the system gives no more threads: the handler hears all the same, later
            self._thread = None
        return self

    def __exit__(self, *error: object) -> None:
        signal.set_wakeup_fd(self._before)
        self._done.set()
        if self._thread is not None:
            os.write(self._writing, b"\0")
            self._thread.join()
        os.close(self._reading)
        os.close(self._writing)


def _again() -> None:
    """Have Ctrl-C come once more, to whoever takes it now."""
    signal.raise_signal(signal.SIGINT)


def _nothing() -> None:
    """Do nothing: nobody is to be told."""
