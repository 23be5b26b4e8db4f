"""What a BFS gives: its tree, and what was measured. The numbers are defined in :mod:`bigbfs.record`."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from statistics import harmonic_mean, median
from typing import TYPE_CHECKING

from bigbfs.algorithms.columns import columns, ids_of
from bigbfs.record import LevelRecord, gteps

if TYPE_CHECKING:
    import numpy as np

    from bigbfs.graph.graph import Graph
    from bigbfs.graph.original_ids import VertexIds


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
    launches, reads
        Kernels launched, and times that the host read back what they counted; None where nobody counts.
    """

    source: int
    reached: int
    depth: int
    edges: int
    seconds: float
    verified: bool | None = None
    levels: tuple[LevelRecord, ...] = ()
    launches: int | None = None
    reads: int | None = None

    @property
    def gteps(self) -> float:
        """Giga traversed edges per second of this run."""
        return gteps(self.edges, self.seconds)


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
    vertices
        What ``ids`` is made of; None: vertices are internal.
    """

    levels: np.ndarray
    parents: np.ndarray
    record: RunRecord
    vertices: VertexIds | None = field(default=None, repr=False, compare=False)

    @property
    def ids(self) -> np.ndarray:
        """Original id of each entry, ascending: int64, shape (n,); valid after the graph is closed."""
        return ids_of(self.vertices, len(self.levels))

    def to_numpy(self) -> np.ndarray:
        """Return everything as one structured array, shape (n,): ``id``, ``level`` and ``parent``."""
        return columns(id=self.ids, level=self.levels, parent=self.parents)

    def original(self, graph: Graph) -> BfsResult:
        """Return this result of internal vertices in original ids, one entry per vertex in ascending order of them."""
        record = replace(self.record, source=int(graph.original(self.record.source)))
        parents = graph.in_original_order(graph.original(self.parents))
        return BfsResult(graph.in_original_order(self.levels), parents, record, graph.vertex_ids())


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
