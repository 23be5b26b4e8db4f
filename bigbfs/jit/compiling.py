"""When Numba compiles: how long it has taken in this process, and telling somebody as soon as it begins.

Numba compiles one kernel at a time, under a lock of its own, so that the seconds of all of them add up to wall time.
Loading what lies in the cache is not compiling. Numba's compiler is one for the process, and so is this. Imports no
Numba: a command line may ask to be told before anything is imported that compiles.
"""

from __future__ import annotations

import time
from collections.abc import Callable

_state = {"depth": 0, "start": 0.0, "seconds": 0.0}
_told: list[Callable[[], object]] = []


def tell(listener: Callable[[], object]) -> None:
    """Call ``listener`` once, when the first kernel that is in no cache is about to be compiled."""
    _told[:] = [listener]


def seconds() -> float:
    """Return the seconds that compiling has taken in this process."""
    running = time.perf_counter() - _state["start"] if _state["depth"] else 0.0
    return _state["seconds"] + running


def begins() -> None:
    """Note that a kernel is being compiled; the kernels that it calls are compiled within it."""
    if _state["depth"] == 0:
        _state["start"] = time.perf_counter()
        for listener in _told:
            listener()
        _told.clear()
    _state["depth"] += 1


def ends() -> None:
    """Note that it has been."""
    _state["depth"] -= 1
    if _state["depth"] == 0:
        _state["seconds"] += time.perf_counter() - _state["start"]
