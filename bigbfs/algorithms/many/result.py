"""What many searches found, and what was measured."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from bigbfs.graph.graph import Graph


@dataclass(slots=True)
class ManyRecord:
    """One run.

    Attributes
    ----------
    sources
        Searches done.
    batches, width
        Batches, and sources of each at most.
    pairs
        Pairs of source and vertex with a path between them, those of a source with itself too.
    edges_read
        Edges looked at in rows, each once for all sources of a batch; those in the head table are not counted.
    seconds
        Time of all batches.
    lost
        The share of that time for which other programs had the cores (bigbfs/record.py).
    steps
        How many steps ran how: ``"serial"`` (one or more thin levels), ``"top-down"``, ``"bottom-up"``.
    verified
        True, False, or None when nobody asked.
    """

    sources: int
    batches: int
    width: int
    pairs: int
    edges_read: int
    seconds: float
    lost: float = 0.0
    steps: dict[str, int] = field(default_factory=dict)
    verified: bool | None = None


@dataclass(slots=True)
class ManyResult:
    """Many searches.

    Attributes
    ----------
    sources
        int64, (S,): those that were searched from.
    depth, far
        int64, (S,): level of the farthest vertex of each source, and such a vertex; where ``totals`` alone were asked
        for of the CPU, that of the smallest original id.
    found
        int64: pairs of source and vertex at each distance, 0 included.
    columns
        int64, (levels, S), or None: vertices at each distance from each source.
    reached
        int64, (S,), or None: vertices that each source reaches, itself too.
    reach, farness
        int64, (n,), or None: for each vertex how many sources reach it from elsewhere, and the sum of distances.
    harmonic
        float64, (n,), or None: the sum of the reciprocals of these distances.
    levels
        int32, (S, n), or None: -1 unreached.
    record
        What was measured.
    """

    sources: np.ndarray
    depth: np.ndarray
    far: np.ndarray
    found: np.ndarray
    columns: np.ndarray | None
    reach: np.ndarray | None
    farness: np.ndarray | None
    harmonic: np.ndarray | None
    levels: np.ndarray | None
    record: ManyRecord
    reached: np.ndarray | None = None

    def original(self, graph: Graph) -> ManyResult:
        """Return this result of internal vertices in original ids, entries of vertices ascending by these."""

        def ordered(values: np.ndarray | None) -> np.ndarray | None:
            return None if values is None else np.asarray(graph.in_original_order(values))

        levels = None if self.levels is None else np.asarray(graph.in_original_order(self.levels.T)).T
        return replace(
            self,
            sources=np.asarray(graph.original(self.sources)),
            far=np.asarray(graph.original(self.far)),
            reach=ordered(self.reach),
            farness=ordered(self.farness),
            harmonic=ordered(self.harmonic),
            levels=levels,
        )
