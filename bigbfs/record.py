"""What a run measured, and the one definition of each number that bigbfs prints.

GTEPS is ``edges / seconds / 1e9`` where ``edges`` counts the directed edges of the reached vertices (an
undirected edge counts twice, as in the reports that bigbfs implements; Graph500's own TEPS is half of it) and
``seconds`` is the traversal alone: no opening, placement, compilation, verification or copying of results.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import harmonic_mean, median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

SCHEMA = 1
"""Version of the JSON objects that the commands print."""


def gteps(edges: int, seconds: float) -> float:
    """Return giga traversed edges per second: ``edges`` directed edges in ``seconds``."""
    return edges / seconds / 1e9 if seconds > 0 else 0.0


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
    """

    level: int
    direction: str
    frontier: int
    seconds: float


@dataclass(slots=True)
class RunRecord:
    """One BFS from one source.

    Attributes
    ----------
    source
        Original id of the source.
    reached
        Vertices reached, the source included.
    depth
        Level of the farthest vertex; the source has 0.
    edges
        Directed edges stored in the rows of the reached vertices.
    seconds
        Traversal time.
    verified
        True, False, or None when nobody asked.
    levels
        One record per level expanded.
    """

    source: int
    reached: int
    depth: int
    edges: int
    seconds: float
    verified: bool | None = None
    levels: tuple[LevelRecord, ...] = ()

    @property
    def gteps(self) -> float:
        """Giga traversed edges per second of this run."""
        return gteps(self.edges, self.seconds)


@dataclass(slots=True)
class ComponentsRecord:
    """One connected-components run.

    Attributes
    ----------
    components, largest
        Components found, and the vertices of the largest.
    seconds
        Time taken.
    verified
        True, False, or None when nobody asked.
    algorithm
        Name of the algorithm.
    edges_read
        Neighbour ids read from rows; the head table is not part of the rows.
    passes
        Passes over the rows, a finishing one included.
    left
        Merges of two trees that a single pass left to the finishing one; 0 where there was none.
    """

    components: int
    largest: int
    seconds: float
    verified: bool | None = None
    algorithm: str = "afforest"
    edges_read: int = 0
    passes: int = 0
    left: int = 0


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


@dataclass(slots=True)
class BfsResult:
    """A BFS tree.

    Attributes
    ----------
    levels
        int32, one per vertex, -1 where unreached.
    parents
        int64, one per vertex, -1 where there is none (the unreached, and the source).
    record
        What the run measured.
    """

    levels: np.ndarray
    parents: np.ndarray
    record: RunRecord


@dataclass(slots=True)
class ComponentsResult:
    """Component labels: ``labels`` int64, one per vertex, the smallest vertex id of its component."""

    labels: np.ndarray
    record: ComponentsRecord


@dataclass(slots=True)
class BfsSummary:
    """The runs of one command, with the two means that it prints."""

    runs: list[RunRecord] = field(default_factory=list)

    @property
    def median_gteps(self) -> float:
        """Median GTEPS of the runs."""
        return median(run.gteps for run in self.runs) if self.runs else 0.0

    @property
    def harmonic_mean_gteps(self) -> float:
        """Harmonic mean of the runs' GTEPS: the rate of doing all of them (zero if any run has none)."""
        return harmonic_mean([run.gteps for run in self.runs]) if self.runs else 0.0
