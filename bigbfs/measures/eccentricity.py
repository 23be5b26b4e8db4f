"""Exact diameter, radius and eccentricities by bounds; certified bounds and their witnesses whenever it is stopped.

First single sweeps (the vertex of highest degree, then the farthest from it), then batches that double: half of a
batch are the vertices of the largest upper bounds, half the most central ones (Takes and Kosters, CIKM 2011; the
largest upper bounds first is also how iFUB goes). Where a batch settles hardly more vertices than it searched from,
bounds do not help (cycles, tori, hypercubes): from then on every vertex left is searched from, in the widest batches,
without levels.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bigbfs.algorithms.components.options import ComponentsOptions
from bigbfs.algorithms.engine import Engine
from bigbfs.algorithms.many.cpu import batch
from bigbfs.algorithms.many.gathered import Wants
from bigbfs.algorithms.many.options import ManyOptions
from bigbfs.algorithms.many.result import ManyRecord, ManyResult
from bigbfs.engines.cpu import memory
from bigbfs.engines.cpu.rows import rows_of
from bigbfs.errors import UsageError, VerificationError
from bigbfs.graph.graph import Graph
from bigbfs.jit import workers
from bigbfs.measures.bounds import GOALS, Bounds, bounds_bytes
from bigbfs.measures.folding import fold, forest_bytes
from bigbfs.measures.placing import Until, check_given, placed, require_edges
from bigbfs.sizes import choice

BATCH = 64
"""Sources of a batch whose distances renew the bounds."""
FULL = 64
"""Sources that a batch must have to say that bounds do not help."""
WIDE = 512
"""Sources of a batch without."""
POOR = 3
"""A full batch that settles less than so many vertices for each source is the last whose distances are looked at."""

COMPONENTS = ("largest", "all")

WORK = (ManyOptions(fetch=True, width=BATCH), ComponentsOptions())
"""What a graph is placed for."""


@dataclass(slots=True)
class Eccentricity:
    """Bounds of eccentricities, equal where these are known.

    Attributes
    ----------
    ids
        int64, (k,): original ids, ascending: of the largest component, or of all vertices.
    lower, upper
        int64, (k,): bounds of the eccentricity of each.
    diameter, radius
        Lower and upper bound.
    witness
        Two original ids whose distance is the diameter's lower bound.
    exact
        Whether what was asked for is known.
    components
        Components that ``ids`` are of.
    record
        What it took; ``seconds`` of the searches alone.
    """

    ids: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    diameter: tuple[int, int]
    radius: tuple[int, int]
    witness: tuple[int, int]
    exact: bool
    components: int
    record: ManyRecord

    @property
    def centre(self) -> np.ndarray:
        """Ids of the vertices known to have the smallest eccentricity."""
        return self.ids[(self.lower == self.upper) & (self.upper == self.radius[1])]

    @property
    def periphery(self) -> np.ndarray:
        """Ids of the vertices known to have the largest."""
        return self.ids[(self.lower == self.upper) & (self.lower == self.diameter[0])]


ADVICE = (
    "free some, or take a machine with more; distances from random sources say how far these see, which is a lower "
    "bound of the diameter, and take a tenth of that"
)


def bytes_of(n: int, ids: np.dtype, threads: int, *, two_ways: bool, on_cpu: bool) -> int:
    """Return the bytes of host memory that bounds and searches of ``n`` vertices take beside the graph."""
    searched = 4 * BATCH * n
    labels = 8 * n
    if on_cpu:
        searched = batch.bytes_of(n, ids, BATCH, threads, Wants(levels=True))
        labels = memory.survey_bytes(n, ids) + memory.components_bytes(n, ids)
    components = 3 * 8 * n + n  # counts, sizes, degrees, and who is asked for
    return (1 + two_ways) * searched + labels + components + forest_bytes(n) + bounds_bytes(n)


Tell = Callable[[int, tuple[int, int]], None]
"""Takes the number of vertices still open and the bounds of the diameter."""


def eccentricity(
    graph: Graph | str | Path | Engine,
    *,
    goal: str = "all",
    component: str = "largest",
    seconds: float | None = None,
    stop: Callable[[], bool] | None = None,
    tell: Tell | None = None,
    verify: bool = False,
    threads: int | None = None,
    backend: str = "auto",
) -> Eccentricity:
    """Return the eccentricities of all vertices, or as much of them as ``goal`` needs.

    Parameters
    ----------
    goal
        ``"all"``, ``"diameter"`` or ``"radius"``: what must be known before it ends.
    component
        ``"largest"``, or ``"all"``: distances inside each component, none between two.
    seconds, stop
        End after this time, or when ``stop()`` is true, with the bounds known by then.
    tell
        Told after each batch how far it is.
    verify
        Check, for a sample of vertices, that a single search finds what the bounds say.
    threads, backend
        As for :func:`bigbfs.distances`.

    Raises
    ------
    UsageError
        The graph has no edges, or a directed one is not strongly connected, or does not store in-neighbours.
    DoesNotFitError
        Bounds and searches take more memory than is free.
    VerificationError
        A check found a difference.
    """
    choice("goal", goal, GOALS)
    choice("component", component, COMPONENTS)
    check_given(seconds=seconds, stop=stop, tell=tell, verify=verify)
    with placed(graph, threads, backend, WORK) as engine:
        require_edges(engine.graph, "eccentricity")
        search = _Search(engine, component, workers.thread_count(threads))
        search.run(goal, Until(seconds, stop), tell)
        found = search.result(goal)
        if verify:
            search.verify()
            found.record.verified = True
        return found


def diameter(graph: Graph | str | Path | Engine, *, component: str = "largest", threads: int | None = None) -> int:
    """Return the exact diameter: of the largest component, or the largest of all (``component="all"``).

    Raises
    ------
    UsageError, DoesNotFitError
        As :func:`eccentricity`.
    """
    return eccentricity(graph, goal="diameter", component=component, threads=threads).diameter[0]


class _Search:
    """The batches of one run; vertices are internal."""

    def __init__(self, engine: Engine, component: str, threads: int) -> None:
        self._engine, self._graph, self._threads = engine, engine.graph, threads
        graph = engine.graph
        self._two_ways = not graph.flags.symmetric
        if self._two_ways and graph.in_adjacency is None:
            raise UsageError(
                f"{graph.path or 'graph'}: eccentricities of a directed graph need its in-neighbours, which it does "
                "not store; convert its source again without leaving them out"
            )
        need = bytes_of(graph.n, graph.ids, threads, two_ways=self._two_ways, on_cpu=engine.backend == "cpu")
        memory.require(need, graph.n, ADVICE)
        labels = engine.run_internal(ComponentsOptions()).labels
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
        self._best = (-1, 0, 0)
        self._record = ManyRecord(0, 0, BATCH, 0, 0, 0.0)

    def run(self, goal: str, until: Until, tell: Tell | None) -> None:
        """Search until ``goal`` is known, or it is time to stop."""
        bounds, count, helps = self.bounds, 1, True
        sources = np.array([self._first])
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
            if self._record.batches == 1:
                sources = far[:1]  # the far end of the first sweep
                if not bounds.searched[sources[0]]:
                    continue
            count = min(2 * count, BATCH)
            sources = bounds.pick(unsure, count if helps else WIDE)

    def _look(self, sources: np.ndarray) -> np.ndarray:
        """Search from ``sources`` and renew all bounds; return the farthest vertex of each."""
        far = [np.zeros(0, np.int64)]
        for first in range(0, len(sources), BATCH):
            here = sources[first : first + BATCH]
            kept: list[np.ndarray] = []
            result = self._searched(ManyOptions(here, visit=lambda _, found: kept.append(found), width=BATCH))
            to = back = kept[0]
            if self._two_ways:
                other: list[np.ndarray] = []
                options = ManyOptions(here, visit=lambda _, found: other.append(found), width=BATCH, backward=True)
                self._searched(options)
                back = other[0]
                self._require_strong(here, to, back)
            self.bounds.renew(here, result.depth, to, back, self._threads)
            far.append(result.far)
        return np.concatenate(far)

    def _count(self, sources: np.ndarray) -> np.ndarray:
        """Search from ``sources`` and note no more than their own eccentricities."""
        result = self._searched(ManyOptions(sources))
        self.bounds.settle(sources, result.depth)
        return result.far

    def _searched(self, options: ManyOptions) -> ManyResult:
        """Run a batch and note what it took."""
        result: ManyResult = self._engine.run_internal(options)
        record, mine = result.record, self._record
        mine.sources, mine.batches = mine.sources + record.sources, mine.batches + record.batches
        seconds = mine.seconds + record.seconds
        mine.lost = (mine.lost * mine.seconds + record.lost * record.seconds) / seconds if seconds else 0.0
        mine.edges_read, mine.seconds = mine.edges_read + record.edges_read, seconds
        mine.pairs += record.pairs
        if not options.backward and len(result.depth):
            at = int(result.depth.argmax())
            self._best = max(self._best, (int(result.depth[at]), int(result.sources[at]), int(result.far[at])))
        return result

    def _require_strong(self, sources: np.ndarray, to: np.ndarray, back: np.ndarray) -> None:
        """Refuse a component of which a source does not reach every vertex, or not every vertex the source."""
        for column, source in enumerate(sources):
            inside = self._labels == self._labels[source]
            for found, words in ((to, "{1} cannot be reached from {0}"), (back, "{0} cannot be reached from {1}")):
                missing = inside & (found[:, column] < 0)
                if missing.any():
                    ends = np.asarray(self._graph.original(np.array([source, int(missing.argmax())]))).tolist()
                    raise UsageError(
                        f"{self._graph.path or 'graph'}: a directed graph has eccentricities where it is strongly "
                        f"connected, and {words.format(*ends)}; convert its source without keeping directions for "
                        "those of its weak components"
                    )

    def result(self, goal: str) -> Eccentricity:
        """Return what is known, in original ids; one more search finds the witness that a folded tree hides."""
        bounds, graph = self.bounds, self._graph
        while self._best[0] < bounds.diameter[0]:
            self._look(np.flatnonzero(bounds.inside & (bounds.lower == bounds.diameter[0]))[:1])
        exact = not len(bounds.open(goal))
        inside = np.asarray(graph.in_original_order(bounds.inside))
        ids = np.asarray(graph.original_ids())[inside]
        lower, upper = (np.asarray(graph.in_original_order(each))[inside] for each in (bounds.lower, bounds.upper))
        ends = np.asarray(graph.original(np.array(self._best[1:]))).tolist()
        return Eccentricity(
            ids, lower, upper, bounds.diameter, bounds.radius, (ends[0], ends[1]), exact, self.components, self._record
        )

    def verify(self) -> None:
        """Search singly from a sample of vertices; VerificationError where bounds are not kept."""
        from bigbfs.algorithms.many.reference import many

        inside = np.flatnonzero(self.bounds.inside)
        sample = np.unique(np.append(inside[:: max(1, len(inside) // 8)], self._best[1]))
        for vertex, levels in zip(sample.tolist(), many(self._graph, sample), strict=True):
            low, high, have = int(self.bounds.lower[vertex]), int(self.bounds.upper[vertex]), int(levels.max())
            if not low <= have <= high:
                name = int(np.asarray(self._graph.original(vertex)))
                raise VerificationError(
                    f"wrong result: the eccentricity of {name} is {have}, its bounds are {low} and {high}"
                )
