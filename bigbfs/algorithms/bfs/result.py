"""What a BFS gives: its tree, and what was measured. The numbers are defined in :mod:`bigbfs.record`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from bigbfs.algorithms.columns import Tabular, columns, ids_of
from bigbfs.errors import UsageError
from bigbfs.record import LevelRecord, RankRecord, gteps, median
from bigbfs.sizes import integer

if TYPE_CHECKING:
    import numpy as np

    from bigbfs.algorithms.columns import Table
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
        One record per level expanded; ``LevelRecords.table`` has them as columns.
    deepest
        Original id of the farthest vertex, of several the smallest; None where levels stayed on the device.
    launches, reads
        Kernels launched, and times that the host read back what they counted; None where nobody counts.
    ranks, exchanges
        A record for each rank, and for each level what ranks told each other before and in it; empty without ranks.
    """

    source: int
    reached: int
    depth: int
    edges: int
    seconds: float
    verified: bool | None = None
    levels: Sequence[LevelRecord] = ()
    launches: int | None = None
    reads: int | None = None
    deepest: int | None = None
    ranks: tuple[RankRecord, ...] = ()
    exchanges: tuple[str, ...] = ()

    @property
    def gteps(self) -> float:
        """Giga traversed edges per second of this run."""
        return gteps(self.edges, self.seconds)


@dataclass(slots=True)
class BfsResult(Tabular):
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

    def _table(self) -> Table:
        return self.vertices, {"level": self.levels, "parent": self.parents}, ("parent",)

    @property
    def ids(self) -> np.ndarray:
        """Original id of each entry, ascending: int64, shape (n,); valid after the graph is closed."""
        return ids_of(self.vertices, len(self.levels))

    def to_numpy(self) -> np.ndarray:
        """Return everything as one structured array, shape (n,): ``id``, ``level`` and ``parent``."""
        return columns(id=self.ids, level=self.levels, parent=self.parents)

    def path_to(self, v: int | str) -> np.ndarray:
        """Return a shortest path from the source to the vertex ``v``: ids, both ends included; int64.

        ``v`` is an id, or a name where vertices have names; the path holds ids (``graph.names.name(id)``). Empty where
        the search did not reach ``v``. Valid after the graph is closed.

        Raises
        ------
        UsageError
            ``v`` is no vertex, or no parents were asked for.
        """
        import numpy as np

        if isinstance(v, str) and self.vertices is not None and self.vertices.names is not None:
            rank = self.vertices.names.find(v)
            if rank is None:
                raise UsageError("no vertex has that name", about=(("v", v),))
            v = rank
        v = integer("v", v)
        ids = self.ids
        path = [_place_of(ids, v, "v")]
        start = _place_of(ids, self.record.source, "source")
        while path[-1] != start and self.parents[path[-1]] >= 0 and len(path) <= len(ids):
            path.append(_place_of(ids, int(self.parents[path[-1]]), "parent"))
        if path[-1] == start:
            return np.asarray(ids[path[::-1]])
        if self.record.reached > 1 and not (self.parents >= 0).any():
            raise UsageError(
                "a path leads over parents, and this search left them out", remedies=(("want_parents", True),)
            )
        return np.empty(0, np.int64)

    def original_record(self, graph: Graph) -> RunRecord:
        """Return the record in original ids; ``self`` is of internal vertices."""
        deepest = self.record.deepest
        if deepest is None and len(self.levels) and self.levels[self.record.source] == 0:  # they were fetched
            deepest = graph.first_by_id(self.levels == self.record.depth)
        return replace(
            self.record,
            source=int(graph.original(self.record.source)),
            deepest=None if deepest is None else int(graph.original(deepest)),
        )

    def original(self, graph: Graph) -> BfsResult:
        """Return this result of internal vertices in original ids, one entry per vertex in ascending order of them."""
        parents = graph.in_original_order(graph.original(self.parents))
        levels = graph.in_original_order(self.levels)
        return BfsResult(levels, parents, self.original_record(graph), graph.vertex_ids())


def _place_of(ids: np.ndarray, wanted: int, name: str) -> int:
    """Return where ``wanted`` stands among the ascending ``ids``; UsageError where it does not."""
    place = int(ids.searchsorted(wanted)) if 0 <= wanted < 2**63 else len(ids)
    if place == len(ids) or ids[place] != wanted:
        raise UsageError("is no vertex of this graph", about=((name, wanted),))
    return place


@dataclass(slots=True)
class BfsSummary:
    """The runs of one command, with the two means that it prints.

    Attributes
    ----------
    runs
        One for each source.
    disturbed
        Of each, the trials that had to share the cores.
    switches
        Of each, the involuntary context switches of all threads in all its trials.
    target, paths
        Where each search was to go (None: nowhere), and the shortest paths there, empty where there is none.
    """

    runs: list[RunRecord] = field(default_factory=list)
    disturbed: list[int] = field(default_factory=list)
    switches: list[int] = field(default_factory=list)
    target: int | None = None
    paths: list[np.ndarray] = field(default_factory=list)

    @property
    def median_gteps(self) -> float:
        """Median GTEPS of the runs."""
        return median([run.gteps for run in self.runs]) if self.runs else 0.0

    @property
    def harmonic_mean_gteps(self) -> float:
        """Harmonic mean of the runs' GTEPS: the rate of doing all of them (zero if any run has none)."""
        rates = [run.gteps for run in self.runs]
        if len(rates) < 2 or not all(rates):
            return min(rates, default=0.0)
        return len(rates) / math.fsum(1 / rate for rate in rates)
