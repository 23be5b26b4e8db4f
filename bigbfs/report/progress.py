"""One line on the terminal that says what is being done while nothing else is printed; gone when it is done.

Where the standard error is no terminal there is a log, which gets a line when a step has taken a minute, and others at
growing distances of up to ten; and the phases of commands that are known to take minutes.
A step that is over at once is not named at all.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from bigbfs.jit import compiling

PATIENCE = 0.5
"""Seconds for which nothing is said."""
EVERY = 0.25
LOGGED = (60.0, 600.0)
"""Seconds to the first line in a log, and the most between two."""
logs = True
"""Whether this process writes to logs: the first of several ranks does so for all."""
CLEAR = "\r\x1b[K"
"""What removes the line."""
COMPILING = "compiling kernels, on the first run only"


class Progress:
    """Names the step under way, and its share and rate where it is told of them.

    Parameters
    ----------
    wanted
        False: say nothing, terminal or not.
    """

    def __init__(self, wanted: bool = True) -> None:
        self._wanted = wanted
        self._shown = wanted and sys.stderr is not None and sys.stderr.isatty()
        self._name = self._unit = ""
        self._start = self._compiled = 0.0
        self._total = self._done = 0
        self._look: Callable[[], int] | None = None

    @contextmanager
    def step(self, name: str, total: int = 0, unit: str = "") -> Iterator[None]:
        """Name what the body does; ``total`` is what :meth:`advance` will add up to, in ``unit``. 0: nobody knows."""
        if not self._wanted or sys.stderr is None or not (self._shown or logs):
            yield
            return
        ended = threading.Event()
        self._begin(name, total, unit)
        tell = self._tell if self._shown else self._log
        teller = threading.Thread(target=tell, args=(ended,), daemon=True, name="bigbfs-progress")
        try:
            teller.start()
            yield
        finally:
            ended.set()
            with suppress(RuntimeError):  # an interrupt came while it was started: it ends by itself
                teller.join()

    def now(self, name: str, total: int = 0, unit: str = "", look: Callable[[], int] | None = None) -> None:
        """Go on with another step inside the one whose body this is called from.

        ``look`` returns how much of the total is done, for a step that nobody can advance.
        """
        self._begin(name, total, unit)
        self._look = look

    def phase(self, name: str) -> None:
        """Print what begins now, of a run that takes minutes, where nobody watches: for a log, one line a phase."""
        if self._wanted and not self._shown and sys.stderr is not None:
            print(f"bigbfs: {name} ...", file=sys.stderr, flush=True)

    def rename(self, name: str) -> None:
        """Go on under another name, with the same total."""
        self._name = name

    def say(self, text: str) -> None:
        """Print a line of the result, in place of what stands there of the progress."""
        if self._shown:
            print(CLEAR, end="", file=sys.stderr, flush=True)
        print(text)

    def advance(self, count: int) -> None:
        """Note that ``count`` more of the total is done."""
        self._done += count

    def line(self) -> str:
        """Return what is shown: name, share, rate, time taken, and time that the rest takes at this rate.

        While kernels are compiled it says that; that time is none of the step.
        """
        compiled = compiling.seconds() - self._compiled
        if compiling.under_way():
            return f"{COMPILING}, {duration(compiled)}"
        seconds = time.perf_counter() - self._start - compiled
        parts = [self._name]
        done = self._look() if self._look else self._done
        if self._total:
            parts.append(f"{min(1.0, done / self._total):.0%}")
        if done and seconds > 0:
            parts.append(_rate(done / seconds, self._unit))
        parts.append(duration(seconds))
        if 0 < done < self._total:
            parts.append(f"{duration(seconds * (self._total - done) / done)} left")
        return ", ".join(parts)

    def _begin(self, name: str, total: int, unit: str) -> None:
        self._look = None
        self._name, self._total, self._unit, self._done, self._start = name, total, unit, 0, time.perf_counter()
        self._compiled = compiling.seconds()

    def _tell(self, ended: threading.Event) -> None:
        shown = False
        wait = PATIENCE
        while not ended.wait(wait):
            print(f"{CLEAR}{self.line()}", end="", file=sys.stderr, flush=True)
            shown, wait = True, EVERY
        if shown:
            print(CLEAR, end="", file=sys.stderr, flush=True)

    def _log(self, ended: threading.Event) -> None:
        wait, most = LOGGED
        while not ended.wait(wait):
            with suppress(OSError, ValueError):  # who read it is gone: no reason to end the run
                print(f"bigbfs: {self.line()}", file=sys.stderr, flush=True)
            wait = min(2 * wait, most)


def duration(seconds: float) -> str:
    """Return a time for people: ``40 s``, ``3 min``, ``2.5 h``, ``12 days``."""
    for unit, size, enough in (("s", 1, 120), ("min", 60, 120), ("h", 3600, 72)):
        if seconds < enough * size:
            return f"{seconds / size:.{1 if unit == 'h' else 0}f} {unit}"
    return f"{seconds / 86400:,.0f} days"


def _rate(rate: float, unit: str) -> str:
    """Return a rate per second for people."""
    if unit == "B":
        return f"{rate / 2**20:,.1f} MiB/s"
    return f"{rate / 1e6:,.1f} M {unit}/s" if rate >= 1e5 else f"{rate:,.{1 if rate < 100 else 0}f} {unit}/s"


SILENT = Progress(False)
