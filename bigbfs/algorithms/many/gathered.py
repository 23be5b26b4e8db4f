"""What a run of many searches puts together from its batches, wherever these run; and what can be collected.

A batch searches from up to ``width`` sources. What it found of each source is the last batch's; sums over sources go
on growing from batch to batch until they are forgotten.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from bigbfs.algorithms.many.options import ManyOptions
from bigbfs.algorithms.many.result import ManyRecord, ManyResult
from bigbfs.graph.converted import without_in_rows
from bigbfs.record import Cores

if TYPE_CHECKING:
    from bigbfs.graph.graph import Graph

NO_LIMIT = 2**31 - 2
"""The depth of a search that has none."""
MOST_COUNTS = 1 << 25
"""Counts of a level and a source at most: a deep graph has too many levels for them, and gets totals."""


@dataclass(frozen=True, slots=True)
class Wants:
    """What is collected; see ``ManyOptions``. ``totals``: of ``columns`` the sums over levels are enough."""

    sums: bool = False
    harmonic: bool = False
    columns: bool = False
    levels: bool = False
    totals: bool = False


def wants_of(options: ManyOptions) -> Wants:
    """Return what ``options`` have collected."""
    levels = options.fetch or options.visit is not None
    counts = options.columns or options.totals
    return Wants(options.sums, options.harmonic, counts, levels, options.totals and not options.columns)


@dataclass(slots=True)
class Done:
    """What a batch did: ``steps`` by direction, ``read`` edges, ``levels`` run, ``pairs`` of source and vertex."""

    steps: dict[str, int]
    read: int
    levels: int
    pairs: int


class Counted(NamedTuple):
    """What the last batch found, W sources wide; entries beyond its sources and levels mean nothing.

    Attributes
    ----------
    depth, far
        int64, (W,): of each source the last level, and a vertex in it.
    found
        int64: pairs of source and vertex found in each level, the sources themselves left out.
    columns
        int64, (levels * W) or empty: for each level and source the vertices found; (W,): in all levels together.
    """

    depth: np.ndarray
    far: np.ndarray
    found: np.ndarray
    columns: np.ndarray


class Sums(NamedTuple):
    """Sums over all batches since they were forgotten: (n,) each, or empty; see ``ManyResult``."""

    reach: np.ndarray
    farness: np.ndarray
    harmonic: np.ndarray


class Batches(Protocol):
    """What runs batches."""

    @property
    def width(self) -> int:
        """Sources of a batch at most."""

    def run(self, sources: np.ndarray, max_depth: int) -> Done:
        """Search from ``sources`` (internal), bit by bit in their order, down to ``max_depth``."""

    def counted(self) -> Counted:
        """Return what the last batch found."""

    def levels(self) -> np.ndarray:
        """Return the levels of the last batch, int32 (n, W), -1 unreached; the next batch overwrites them."""

    def sums(self) -> Sums:
        """Return the sums."""


def require_in_rows(graph: Graph) -> None:
    """Refuse to search ``graph`` against its edges where it does not store the way back.

    Raises
    ------
    UsageError
        It is directed, without in-neighbours.
    """
    if graph.in_adjacency is None:
        raise without_in_rows(graph, "searches against the edges")


class Gathered:
    """What the batches of one run have found so far."""

    def __init__(self, batches: Batches, options: ManyOptions, sources: int, n: int) -> None:
        self._batches, self._options = batches, options
        self._limit = NO_LIMIT if options.max_depth is None else min(options.max_depth, NO_LIMIT)
        self._depth: list[np.ndarray] = []
        self._far: list[np.ndarray] = []
        self._found = np.zeros(1, np.int64)
        self._columns: list[np.ndarray] | None = [] if options.columns else None
        self._totals: list[np.ndarray] = []
        self._levels = np.empty((sources, n), np.int32) if options.fetch else None
        self._done = self._pairs = self._read = self._count = 0
        self._seconds = self._lost = 0.0
        self._steps: dict[str, int] = {}

    def run(self, sources: np.ndarray, first: int) -> None:
        """Run one batch and keep what it found."""
        batches, count = self._batches, len(sources)
        before = Cores.now()
        done = batches.run(sources, self._limit)
        seconds, lost = before.since()
        self._seconds, self._lost = self._seconds + seconds, self._lost + seconds * lost
        counted = batches.counted()
        self._depth.append(counted.depth[:count].copy())
        self._far.append(counted.far[:count].copy())
        found = counted.found[: done.levels + 1].copy()
        found[0] += count
        longer = np.zeros(max(len(found), len(self._found)), np.int64)
        longer[: len(found)] += found
        longer[: len(self._found)] += self._found
        self._found = longer
        if self._options.columns or self._options.totals:
            self._add_counts(counted.columns.reshape(-1, batches.width)[:, :count], done.levels)
        if self._options.visit is not None or self._levels is not None:
            levels = batches.levels()[:, :count]
            if self._levels is not None:
                self._levels[first : first + count] = levels.T
            if self._options.visit is not None:
                self._options.visit(first, levels)
        self._done, self._count = self._done + count, self._count + 1
        self._pairs, self._read = self._pairs + done.pairs, self._read + done.read
        for how, steps in done.steps.items():
            self._steps[how] = self._steps.get(how, 0) + steps
        if self._options.tell is not None:
            self._options.tell(count)

    def _add_counts(self, columns: np.ndarray, levels: int) -> None:
        """Keep how many vertices each source of the last batch reached, and in which level where there is room."""
        columns = columns[: levels + 1].copy()
        columns[0] += 1
        self._totals.append(columns.sum(axis=0))
        if len(columns) <= levels or len(self._found) * (self._done + columns.shape[1]) > MOST_COUNTS:
            self._columns = None
        if self._columns is not None:
            self._columns.append(columns)

    def result(self, sources: np.ndarray) -> ManyResult:
        """Return the result of the batches that ran."""
        options, done, sums = self._options, self._done, self._batches.sums()
        record = ManyRecord(
            done, self._count, self._batches.width, self._pairs, self._read, self._seconds,
            self._lost / self._seconds if self._seconds else 0.0, dict(self._steps),
        )  # fmt: skip
        depth, far = (np.concatenate([np.zeros(0, np.int64), *parts]) for parts in (self._depth, self._far))
        columns = None
        if self._columns is not None:
            columns = np.zeros((len(self._found), done), np.int64)
            at = 0
            for part in self._columns:
                columns[: len(part), at : at + part.shape[1]] = part
                at += part.shape[1]
        found = self._found if done else self._found[:0]
        return ManyResult(
            sources[:done].copy(), depth, far, found, columns,
            sums.reach.copy() if options.sums else None, sums.farness.copy() if options.sums else None,
            sums.harmonic.copy() if options.harmonic else None,
            None if self._levels is None else self._levels[:done], record,
            np.concatenate([np.zeros(0, np.int64), *self._totals]) if options.columns or options.totals else None,
        )  # fmt: skip
