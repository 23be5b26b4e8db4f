"""What a run measured, and the one definition of each number that bigbfs prints.

GTEPS is ``edges / seconds / 1e9`` where ``edges`` counts the directed edges of the reached vertices (an
undirected edge counts twice, as in the reports that bigbfs implements; Graph500's own TEPS is half of it) and
``seconds`` is the traversal alone: no opening, placement, compilation, verification or copying of results.
"""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Self

SCHEMA = 1
"""Version of the JSON objects that the commands print."""


def gteps(edges: int, seconds: float) -> float:
    """Return giga traversed edges per second: ``edges`` directed edges in ``seconds``."""
    return edges / seconds / 1e9 if seconds > 0 else 0.0


LOST_SHARE = 0.1
"""A run that lost more of its time than this, because somebody else had the cores, is said to be disturbed."""

SLICE = 0.003
"""Seconds that an involuntary switch costs, where the system does not say: a time slice of Linux."""

_TASKS = "/proc/self/task"


def median(values: Iterable[float]) -> float:
    """Return the middle one of ``values``, or the mean of the two in the middle: at least one is given.

    That of the standard library would bring fractions and random numbers along.
    """
    ordered = sorted(values)
    middle = len(ordered) // 2
    return (ordered[middle] + ordered[~middle]) / 2


def small_file(path: str) -> bytes:
    """Return what a file of the system's says, 16 KiB at most: in a few microseconds, since every call reads some.

    Raises
    ------
    OSError
        It cannot be read.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(descriptor, 2**14)
    finally:
        os.close(descriptor)


def switches() -> int:
    """Return the involuntary context switches of this process so far, of all its threads."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw


def waited() -> float | None:
    """Return the seconds for which threads of this process, together, could run and had no core; None: unknown.

    Linux adds this up for every thread (the second number of its ``schedstat``), unless it was built without.
    """
    found = None
    with suppress(OSError):  # no Linux
        for task in os.scandir(_TASKS):
            with suppress(OSError, ValueError, IndexError):  # a thread that has ended by now
                found = (found or 0.0) + int(small_file(f"{task.path}/schedstat").split()[1]) / 1e9
    return found


@dataclass(frozen=True, slots=True)
class Cores:
    """What this process has had of the cores by a moment.

    Attributes
    ----------
    clock
        That moment, in seconds.
    switches, waited
        See the functions of these names.
    """

    clock: float
    switches: int
    waited: float | None

    @classmethod
    def now(cls) -> Self:
        """Return what it is now; the clock comes last, so that looking is no part of what is timed."""
        so_far = switches(), waited()
        return cls(time.perf_counter(), *so_far)

    def since(self) -> tuple[float, float]:
        """Return the seconds since, and the share of them, 0 to 1, that other programs took away from this one."""
        seconds = time.perf_counter() - self.clock
        now = Cores.now()
        if self.waited is None or now.waited is None:
            lost = SLICE * (now.switches - self.switches)
        else:
            lost = now.waited - self.waited
        return seconds, min(1.0, max(0.0, lost / seconds)) if seconds > 0 else 0.0

    def lost(self) -> float:
        """Return that share."""
        return self.since()[1]

    def switched(self) -> int:
        """Return the involuntary context switches since, of all threads of this process."""
        return switches() - self.switches


@dataclass(frozen=True, slots=True)
class Alone:
    """The same of the calling thread alone, which is quick to ask for; what it waited for counts as taken away.

    Attributes
    ----------
    clock, worked
        A moment, and the seconds for which this thread had had a core by then.
    """

    clock: float
    worked: float

    @classmethod
    def now(cls) -> Self:
        """Return what it is now."""
        worked = time.thread_time()
        return cls(time.perf_counter(), worked)

    def lost(self) -> float:
        """Return the share of the time since, 0 to 1, for which this thread did not run."""
        seconds = time.perf_counter() - self.clock
        return min(1.0, max(0.0, 1.0 - (time.thread_time() - self.worked) / seconds)) if seconds > 0 else 0.0


def disturbed(lost: float) -> bool:
    """Tell whether a run that lost this share of its time had to share the cores."""
    return lost > LOST_SHARE


@dataclass(frozen=True, slots=True)
class LevelRecord:
    """One level of a BFS.

    Attributes
    ----------
    level
        Level of the vertices expanded (the source has 0).
    direction
        ``"top-down"`` or ``"bottom-up"``.
    frontier
        Vertices expanded.
    seconds
        Time of the level, NaN where several levels ran as one step.
    edges
        Edges in the rows of the vertices expanded: exact on the CPU; on a GPU estimated where the level before went
        bottom-up; None where they were not counted.
    checked, enqueued
        Neighbour ids read; entries put into queues. None where they were not counted.
    backend
        ``"cpu"`` for a level of a GPU run that the CPU has walked; None: where all levels ran.
    """

    level: int
    direction: str
    frontier: int
    seconds: float
    edges: int | None = None
    checked: int | None = None
    enqueued: int | None = None
    backend: str | None = None


@dataclass(slots=True)
class SetupRecord:
    """Seconds spent before the first traversal, of which a GPU run does some side by side.

    ``open`` and check the file, ``start`` the device, ``place`` the arrays, ``compile`` (or load) the kernels.
    """

    open: float = 0.0
    start: float = 0.0
    place: float = 0.0
    compile: float = 0.0


@dataclass(slots=True)
class BytesRecord:
    """Bytes that the placed graph and the engine's state take in ``host`` and ``device`` memory."""

    host: int = 0
    device: int = 0


@dataclass(frozen=True, slots=True)
class RankRecord:
    """What one rank of several did in a run.

    Attributes
    ----------
    rank, host
        Which, and on which machine.
    seconds
        Time from the first barrier until its own part of the last level was done.
    waited
        Of that, seconds in calls to the other ranks: transfers, and waiting for whoever came last.
    sent
        Bytes handed to other ranks.
    """

    rank: int
    host: str
    seconds: float
    waited: float
    sent: int
