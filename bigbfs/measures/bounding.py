"""Bounds of all eccentricities, renewed by batches of searches.

First single sweeps (the vertex of highest degree, then the farthest from it), then batches that double: half of a
batch are the vertices of the largest upper bounds, half the most central ones (Takes and Kosters, CIKM 2011; the
largest upper bounds first is also how iFUB goes). Small batches are searches one by one on the CPU: a vertex's row of
64 distances costs more there than a few searches do. Where a batch settles hardly more vertices than it searched from,
bounds do not help (cycles, tori, hypercubes): from then on every vertex left is searched from, in the widest batches,
without levels (in a small directed graph by 64 at once as before: a first run would compile for seconds).
What sweeps have left over is searched from in this way at once, unless it is very much.
"""

from __future__ import annotations

import numpy as np

from bigbfs.algorithms.bfs.options import BfsOptions
from bigbfs.algorithms.components.options import ComponentsOptions
from bigbfs.algorithms.engine import Engine
from bigbfs.algorithms.many.cpu import batch
from bigbfs.algorithms.many.gathered import Wants
from bigbfs.algorithms.many.options import ManyOptions
from bigbfs.algorithms.many.pacing import Pace
from bigbfs.algorithms.many.result import ManyRecord, ManyResult
from bigbfs.engines.cpu import memory
from bigbfs.engines.cpu.rows import rows_of
from bigbfs.graph.converted import without_in_rows
from bigbfs.graph.graph import Graph
from bigbfs.measures.bounds import Bounds, bounds_bytes
from bigbfs.measures.directed import not_strong
from bigbfs.measures.folding import fold, forest_bytes
from bigbfs.measures.labels import labels_of
from bigbfs.measures.outcome import Eccentricity, Known, Tell, ends_of
from bigbfs.measures.placing import Until
from bigbfs.measures.small import WORK
from bigbfs.measures.swept import Searches
from bigbfs.record import Cores
from bigbfs.sizes import free_memory, shortened

SINGLY = 16
"""Sources of a batch at most that are searched from one by one."""
BATCH = 64
"""Sources of a batch whose distances renew the bounds."""
FULL = 64
"""Sources that a batch must have to say that bounds do not help."""
WIDE = 512
"""Sources of a batch without."""
MANY = 2_048
"""So few vertices that sweeps have left are searched from without looking at their distances."""
POOR = 3
"""A full batch that settles less than so many vertices for each source is the last whose distances are looked at."""


ADVICE = "free some, or take a machine with more; single searches take less, and the depth of each is a lower bound"


def bytes_of(n: int, ids: np.dtype, threads: int, *, two_ways: bool, on_cpu: bool, batches: bool = True) -> int:
    """Return the bytes of host memory that bounds and searches of ``n`` vertices take beside the graph.

    ``batches``: with those of batches; else every search is one of its own, which an undirected graph allows on the
    CPU.
    """
    kept = (3 * 8 + 1) * n + forest_bytes(n) + bounds_bytes(n)  # counts, sizes, degrees, and who is asked for
    if not on_cpu:
        return kept + 8 * n + (1 + two_ways) * 4 * BATCH * n  # labels and levels are copied from the device
    kept += memory.survey_bytes(n, ids) + memory.components_bytes(n, ids)
    alone = 0 if two_ways else memory.search_bytes(n, ids) + memory.tree_bytes(n, levels=True, parents=False) + n
    if not batches:
        return kept + alone + 4 * SINGLY * n
    at_once = (1 + two_ways) * batch.bytes_of(n, ids, BATCH, threads, Wants(levels=True))
    return kept + alone + at_once


def require_room(engine: Engine, threads: int) -> bool:
    """Return whether there is room for batches, in host memory, beside the graph of ``engine``.

    Raises
    ------
    DoesNotFitError
        There is not even room for bounds and the searches that they need.
    """
    graph, on_cpu = engine.graph, engine.backend == "cpu"
    ways = {"two_ways": not graph.flags.symmetric, "on_cpu": on_cpu}
    singly = on_cpu and graph.flags.symmetric
    memory.require(bytes_of(graph.n, graph.ids, threads, **ways, batches=not singly), graph.n, ADVICE)
    return bytes_of(graph.n, graph.ids, threads, **ways) <= free_memory()


Searched = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
"""Of each source its eccentricity and a farthest vertex, int64; distances from it and back, int32 (n, sources)."""


def bounds_of(swept: Searches, goal: str, graph: Graph) -> Bounds:
    """Return what single searches know of the vertices of one component; the ball where the diameter is asked for."""
    lower, upper, distances = swept.known()
    inside = upper >= 0
    sizes = np.where(inside, swept.reached, 1)
    ball = distances if goal == "diameter" else None
    bounds = Bounds(sizes, inside, graph.degrees(), fold(rows_of(graph.adjacency)), ball)
    np.maximum(bounds.lower, lower, out=bounds.lower, where=inside)
    np.minimum(bounds.upper, np.minimum(upper, swept.diameter[1]), out=bounds.upper, where=inside)
    bounds.searched[swept.searched] = True
    bounds.settle(*np.empty((2, 0), np.int64))
    return bounds


class Bounding:
    """The batches of one run; vertices are internal.

    Parameters
    ----------
    engine
        The graph.
    component
        ``"largest"`` or ``"all"``.
    threads
        Of the host.
    swept
        Sweeps of the largest component: what they know is where this begins.
    goal
        What they have been for: where it is the diameter they have left too many vertices, else nobody is left.

    Attributes
    ----------
    bounds
        Of all eccentricities.
    components
        Components that are looked at.

    Raises
    ------
    UsageError
        A directed graph without in-neighbours.
    DoesNotFitError
        Bounds and searches take more memory than is free.
    """

    def __init__(
        self, engine: Engine, component: str, threads: int, swept: Searches | None = None, goal: str = "diameter"
    ) -> None:
        self._engine, self._graph, self._threads = engine, engine.graph, threads
        graph = engine.graph
        self._two_ways = not graph.flags.symmetric
        if self._two_ways and graph.in_adjacency is None:
            raise without_in_rows(graph, "eccentricities")
        self._singly = engine.backend == "cpu" and not self._two_ways
        self._room_for_batches = require_room(engine, threads)
        self._helps, self._went_on, self._best = True, False, (-1, 0, 0)
        self._record = ManyRecord(0, 0, BATCH, 0, 0, 0.0)
        if swept is not None:
            self._begin_with(swept, goal)
            return
        labels = labels_of(engine) if engine.backend == "cpu" else engine.run_internal(ComponentsOptions()).labels
        counts = np.bincount(labels, minlength=graph.n)
        sizes = counts[labels]
        inside = labels == int(counts.argmax()) if component == "largest" else np.ones(graph.n, np.bool_)
        self.components = 1 if component == "largest" else int(np.count_nonzero(counts))
        degrees = graph.degrees()
        forest = None if self._two_ways else fold(rows_of(graph.adjacency))
        self.bounds = Bounds(sizes, inside, degrees, forest)
        self._sizes = sizes
        self._first = np.flatnonzero(inside)[int(degrees[inside].argmax())]
        self._labels = labels

    def _begin_with(self, swept: Searches, goal: str) -> None:
        """Take over what searches know of the diameter, and of each vertex; for all else they have looked at little."""
        self.bounds, self.components = bounds_of(swept, goal, self._graph), 1
        self._best, self._record = swept.longest, swept.record
        self._record.width = BATCH
        if goal == "diameter":
            self._helps, self._went_on = swept.left > MANY, True
        else:
            inside = self.bounds.inside
            self._first = np.flatnonzero(inside)[int(self._graph.degrees()[inside].argmax())]

    def run(self, goal: str, until: Until, tell: Tell | None) -> None:
        """Search until ``goal`` is known, or it is time to stop."""
        bounds, count, helps = self.bounds, 1, self._helps
        first, pace = not (self._went_on or self._two_ways), Pace(until.left)
        if self._went_on:
            count = pace.next(BATCH if helps else WIDE, 0, helps)
            sources = self._next(bounds.open(goal), count, helps)
        else:
            sources = np.array([self._first])
            pace.next(1, 0, helps)
        if self._two_ways:  # each weak component must be a strong one, whatever bounds say of it
            sources = np.unique(np.append(np.unique(self._labels[bounds.inside]), self._first))
        while len(sources):
            if until():
                break
            before = len(bounds.open(goal))
            far = self._look(sources) if helps else self._count(sources)
            unsure = bounds.open(goal)
            settled = before - len(unsure)
            if tell is not None:
                tell(len(unsure), bounds.diameter)
            if not len(unsure):
                break
            helps = helps and (len(sources) < FULL or settled >= POOR * len(sources))
            if first:
                first, sources = False, far[:1]  # the far end of the first sweep
                if not bounds.searched[sources[0]]:
                    pace.next(1, 1, helps)  # what comes after it is to know how long this one took, and not both
                    continue
            count = pace.next(min(2 * count, BATCH) if helps else WIDE, len(sources), helps)
            sources = self._next(unsure, count, helps)

    def _next(self, unsure: np.ndarray, count: int, helps: bool) -> np.ndarray:
        """Return the sources of the next batch."""
        return self.bounds.pick(unsure, count) if helps else self.bounds.outermost(unsure, count)

    def _look(self, sources: np.ndarray) -> np.ndarray:
        """Search from ``sources`` and renew all bounds; return the farthest vertex of each."""
        singly = self._singly and (len(sources) <= SINGLY or not self._room_for_batches)
        step, search = (SINGLY, self._search_singly) if singly else (BATCH, self._search_at_once)
        found = []
        for first in range(0, len(sources), step):
            here = sources[first : first + step]
            depth, far, to, back = search(here)
            self.bounds.renew(here, depth, to, back, self._threads)
            found.append(far)
        return np.concatenate(found)

    def _search_singly(self, sources: np.ndarray) -> Searched:
        """Search from ``sources`` of an undirected graph one after the other."""
        levels, mine, before = np.empty((self._graph.n, len(sources)), np.int32), self._record, Cores.now()
        seconds = 0.0  # of searches alone: the first one compiles
        depth, far = np.empty((2, len(sources)), np.int64)
        for column, source in enumerate(sources.tolist()):
            result = self._engine.run_internal(BfsOptions(source, want_parents=False))
            levels[:, column] = result.levels
            depth[column], far[column] = result.record.depth, int(result.levels.argmax())
            mine.edges_read += result.record.edges  # at most
            mine.pairs += result.record.reached
            seconds += result.record.seconds
            self._best = max(self._best, (int(depth[column]), source, int(far[column])))
        self._add(len(sources), 1, seconds, before.lost())
        return depth, far, levels, levels

    def _search_at_once(self, sources: np.ndarray) -> Searched:
        """Search from ``sources`` in one batch, in a directed graph in both directions."""
        kept: list[np.ndarray] = []
        result = self._searched(ManyOptions(sources, visit=lambda _, found: kept.append(found), width=BATCH))
        to = back = kept[0] if len(kept) == 1 else np.concatenate(kept, axis=1)
        if self._two_ways:
            other: list[np.ndarray] = []
            options = ManyOptions(sources, visit=lambda _, found: other.append(found), width=BATCH, backward=True)
            self._searched(options)
            back = other[0] if len(other) == 1 else np.concatenate(other, axis=1)
            self._require_strong(sources, to, back)
        return result.depth, result.far, to, back

    def _count(self, sources: np.ndarray) -> np.ndarray:
        """Search from ``sources`` and note no more than their own eccentricities."""
        small = self._graph.flags.directed and self._graph.n * self._graph.m <= WORK
        narrow = small and self._engine.backend == "cpu"
        result = self._searched(ManyOptions(sources, width=BATCH if narrow else None))
        self.bounds.settle(sources, result.depth)
        return result.far

    def _searched(self, options: ManyOptions) -> ManyResult:
        """Run a batch and note what it took."""
        result: ManyResult = self._engine.run_internal(options)
        record, mine = result.record, self._record
        mine.width = max(mine.width, record.width)
        self._add(record.sources, record.batches, record.seconds, record.lost)
        mine.edges_read, mine.pairs = mine.edges_read + record.edges_read, mine.pairs + record.pairs
        if not options.backward and len(result.depth):
            at = int(result.depth.argmax())
            self._best = max(self._best, (int(result.depth[at]), int(result.sources[at]), int(result.far[at])))
        return result

    def _add(self, sources: int, batches: int, seconds: float, lost: float) -> None:
        """Note what searches took."""
        mine = self._record
        mine.sources, mine.batches = mine.sources + sources, mine.batches + batches
        whole = mine.seconds + seconds
        mine.lost = (mine.lost * mine.seconds + lost * seconds) / whole if whole else 0.0
        mine.seconds = whole

    def _require_strong(self, sources: np.ndarray, to: np.ndarray, back: np.ndarray) -> None:
        """Refuse a component of which a source does not reach every vertex, or not every vertex the source."""
        for column, source in enumerate(sources):
            inside = self._labels == self._labels[source]
            for found, words in ((to, "{1} cannot be reached from {0}"), (back, "{0} cannot be reached from {1}")):
                missing = inside & (found[:, column] < 0)
                if missing.any():
                    ends = np.asarray(self._graph.original(np.array([source, int(missing.argmax())]))).tolist()
                    raise not_strong(self._graph, words.format(*(shortened(str(self._graph.called(v))) for v in ends)))

    def result(self, goal: str, *, verify: bool = False) -> Eccentricity:
        """Return what is known, in original ids; one more search finds the witness that a folded tree hides.

        Raises
        ------
        VerificationError
            ``verify`` is wanted, and a single search finds something else.
        """
        bounds, graph = self.bounds, self._graph
        while self._best[0] < bounds.diameter[0]:
            self._look(np.flatnonzero(bounds.inside & (bounds.lower == bounds.diameter[0]))[:1])
        exact = not len(bounds.open(goal))
        diameter = bounds.diameter
        known = Known(bounds.inside, bounds.lower, np.minimum(bounds.upper, diameter[1]), self._best)
        if verify:
            known.verify(graph)
            self._record.verified = True
        ids, lower, upper = known.original(graph)
        ends = ends_of(graph, self._best)
        numbers = (self.components, len(ids), self._record, graph.names)
        low, high = bounds.radius
        if not self._two_ways and self.components == 1:  # two of it span the diameter
            low = max(low, (diameter[0] + 1) // 2)
        return Eccentricity(ids, lower, upper, diameter, (low, high), ends, exact, *numbers)
