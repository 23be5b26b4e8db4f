"""When Numba compiles: how long it has taken in this process, and telling somebody as soon as it begins.

Numba compiles one kernel at a time, under a lock of its own, so that the seconds of all of them add up to wall time.
Loading what lies in the cache is not compiling. Numba's compiler is one for the process, and so is this. Imports no
Numba: a command line may ask to be told before anything is imported that compiles.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any


@dataclass
class _Compiled:
    """A kernel, the processor time at its beginning, and that of kernels within it."""

    name: str
    start: float
    within: float = 0.0


_state = {"start": 0.0, "seconds": 0.0}
_told: list[Callable[[], object]] = []
_under_way: list[_Compiled] = []
log: list[tuple[str, float, float]] | None = None
"""Where somebody has put a list: kernels that were compiled in this process, and how long that took a processor: by
themselves, and with those that they call."""
used: list[tuple[Any, ...]] | None = None
"""The same of cached kernels that were called: module, name, kinds of the arguments as they are written."""
command: str | None = None
"""The command that a command line has asked for: what it needs may be compiled side by side."""
GRAPHS = ("compressed", "directed")
"""What tells graphs apart for which a command needs other kernels."""
graph: frozenset[str] = frozenset()
"""Which of these the graph is that was opened last."""
shared = False
"""Whether other processes run the same command line, and compile what it needs, too: no helpers are started then."""


def tell(listener: Callable[[], object]) -> None:
    """Call ``listener`` once, when the first kernel that is in no cache is about to be compiled."""
    _told[:] = [listener]


def announce() -> None:
    """Tell whoever wants to know that the first kernel is about to be compiled: importing Numba takes long too."""
    while _told:
        _told.pop()()


def under_way() -> bool:
    """Return whether a kernel is being compiled now."""
    return bool(_under_way)


def seconds() -> float:
    """Return the seconds that compiling has taken in this process."""
    running = time.perf_counter() - _state["start"] if _under_way else 0.0
    return _state["seconds"] + running


def clock() -> Callable[[], tuple[float, float]]:
    """Return what says how many seconds have passed since now: without those of compiling, and these."""
    start, before = time.perf_counter(), seconds()

    def passed() -> tuple[float, float]:
        compiled = seconds() - before
        return max(0.0, time.perf_counter() - start - compiled), compiled

    return passed


def begins(name: str = "") -> None:
    """Note that the kernel ``name`` is being compiled; the kernels that it calls are compiled within it."""
    first = not _under_way
    if first:
        _state["start"] = time.perf_counter()  # before another thread sees that something is under way
    _under_way.append(_Compiled(name, time.thread_time()))
    if first:
        announce()


def ends() -> None:
    """Note that it has been."""
    if not _under_way:  # it began before anybody listened
        return
    done = _under_way.pop()
    took = time.thread_time() - done.start
    if log is not None:
        log.append((done.name, took - done.within, took))
    if _under_way:
        _under_way[-1].within += took
    else:
        _state["seconds"] += time.perf_counter() - _state["start"]


@contextmanager
def measured(name: str) -> Iterator[None]:
    """Count the time inside as compiling."""
    begins(name)
    try:
        yield
    finally:
        ends()
