"""What a run measured, and the one definition of each number that bigbfs prints.

GTEPS is ``edges / seconds / 1e9`` where ``edges`` counts the directed edges of the reached vertices (an
undirected edge counts twice, as in the reports that bigbfs implements; Graph500's own TEPS is half of it) and
``seconds`` is the traversal alone: no opening, placement, compilation, verification or copying of results.
"""

from __future__ import annotations

import resource
from dataclasses import dataclass

SCHEMA = 1
"""Version of the JSON objects that the commands print."""


def gteps(edges: int, seconds: float) -> float:
    """Return giga traversed edges per second: ``edges`` directed edges in ``seconds``."""
    return edges / seconds / 1e9 if seconds > 0 else 0.0


SWITCHES_PER_SECOND = 10.0
"""More involuntary switches than this, each up to some milliseconds, and a time is said to be disturbed."""


def switches() -> int:
    """Return the involuntary context switches of this process so far, of all its threads."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw


def disturbed(switches: int, seconds: float) -> bool:
    """Tell whether a run of so many ``seconds`` had to share its cores."""
    return switches > 0 and switches > SWITCHES_PER_SECOND * seconds


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
    """

    level: int
    direction: str
    frontier: int
    seconds: float
    edges: int | None = None
    checked: int | None = None
    enqueued: int | None = None


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
