"""Many searches as work of the CPU engine: sources in batches, each of them one pass over the levels."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from bigbfs.algorithms.many.cpu.batch import NO_LIMIT, Batch, Wants, bytes_of
from bigbfs.algorithms.many.options import WIDTHS, ManyOptions
from bigbfs.algorithms.many.result import ManyRecord, ManyResult
from bigbfs.algorithms.many.validate import Recount, validate_levels
from bigbfs.engines.cpu import memory
from bigbfs.engines.cpu.heads import Survey
from bigbfs.engines.cpu.placed_graph import PlacedGraph
from bigbfs.engines.cpu.rows import Rows, sample_rows
from bigbfs.errors import UsageError
from bigbfs.graph.graph import Graph
from bigbfs.sizes import free_memory

FEW = 64
"""The width for so many sources at most: for more it is the widest. Kernels are compiled for each width."""


def wants_of(options: ManyOptions) -> Wants:
    """Return what ``options`` have collected."""
    levels = options.fetch or options.visit is not None
    return Wants(options.sums, options.harmonic, options.columns, levels)


class CpuMany:
    """Many searches of one placed graph.

    Parameters
    ----------
    placed
        The graph.
    options
        Which direction.

    Raises
    ------
    UsageError
        Backward in a directed graph that does not store in-neighbours.
    """

    def __init__(self, placed: PlacedGraph, options: ManyOptions) -> None:
        self._placed = placed
        self._batch: Batch | None = None
        self._made: tuple[int, Wants] | None = None
        self._survey: Survey | None = None
        if options.backward and placed.incoming is None:
            raise UsageError(
                f"{placed.graph.path or 'graph'}: searching against the edges needs in-neighbours, which this directed "
                "graph does not store; convert its source again without leaving them out"
            )

    def _rows(self, options: ManyOptions) -> tuple[Rows, Rows | None]:
        out, incoming = self._placed.out, self._placed.incoming
        if options.backward:
            assert incoming is not None
            return incoming, out
        return out, incoming

    def _surveyed(self, options: ManyOptions, pulled: Rows | None) -> Survey | None:
        """Return the survey of the rows that a bottom-up level reads."""
        placed = self._placed
        if pulled is None or pulled is placed.incoming:
            return None if pulled is None else placed.survey()
        if self._survey is None:
            self._survey = Survey(pulled, placed.ids, placed.threads)
        return self._survey

    def warm(self, options: ManyOptions) -> None:
        """Compile the kernels and make the state for the width that fits.

        Raises
        ------
        DoesNotFitError
            Not even the narrowest does, or the one asked for does not.
        """
        placed, wants = self._placed, wants_of(options)
        width = self._width(options, wants)
        if self._made == (width, wants):
            return
        self._batch = None  # what it takes is needed for the next
        out, pulled = self._rows(options)
        with placed.clock("compile"):
            sample = sample_rows(placed.out, placed.ids)
            survey = None if pulled is None else Survey(sample, placed.ids, placed.threads)
            incoming = None if pulled is None else sample
            Batch(sample, incoming, survey, placed.ids, 2, width, placed.threads, wants).warm_up()
        with placed.clock("place"):
            survey = self._surveyed(options, pulled)
            self._batch = Batch(out, pulled, survey, placed.ids, placed.graph.m, width, placed.threads, wants)
        self._made = (width, wants)

    def _width(self, options: ManyOptions, wants: Wants) -> int:
        """Return the bits for each vertex: those asked for, else what sources need and half of the memory holds."""
        placed = self._placed
        fixed = placed.n * (24 * options.sums + 8 * options.harmonic) + 4 * placed.n * options.fetch * len(
            options.sources
        )
        if options.width is None and self._made is not None and self._made[1] == wants:
            return self._made[0]
        need = {width: bytes_of(placed.n, placed.ids, width, placed.threads, wants) + fixed for width in WIDTHS}
        if options.width is not None:
            memory.require(need[options.width], placed.n, f"a width of {WIDTHS[0]} takes less, or free some")
            return options.width
        enough = FEW if len(options.sources) <= FEW else WIDTHS[-1]
        free = free_memory() // 2
        width = max((each for each in WIDTHS if each <= enough and need[each] <= free), default=WIDTHS[0])
        memory.require(need[width], placed.n, "search from fewer sources at a time, or free some")
        return width

    def run(self, options: ManyOptions) -> ManyResult:
        """Search from every source, batch by batch; see ``ManyOptions``."""
        batch = self._batch
        assert batch is not None
        batch.forget()
        sources = np.asarray(options.sources, np.int64)
        gathered = _Gathered(batch, options, len(sources), self._placed.n)
        for first in range(0, len(sources), batch.width):
            if options.stop is not None and options.stop():
                break
            gathered.run(sources[first : first + batch.width], first)
            self._placed.require_vertices(batch.faults)
        return gathered.result(sources)

    def verify(self, options: ManyOptions, result: ManyResult) -> None:
        """Search again with levels kept, prove these right, and that what was collected is what they say.

        Raises
        ------
        VerificationError
            A rule is broken.
        """
        graph, recount = self._placed.plain(), Recount(self._placed.n)
        rows = backward_of(graph) if options.backward else graph
        sources = np.asarray(result.sources)

        def check(first: int, levels: np.ndarray) -> None:
            here = sources[first : first + levels.shape[1]]
            validate_levels(rows, here, levels, max_depth=options.max_depth, threads=self._placed.threads)
            recount.add(levels)

        program = CpuMany(self._placed, options)
        again = ManyOptions(sources, options.max_depth, options.backward, visit=check, width=FEW)
        program.warm(again)
        program.run(again)
        recount.require(result)

    @property
    def nbytes(self) -> int:
        """Bytes of the state."""
        return sum(part.nbytes for part in (self._batch, self._survey) if part is not None)


def backward_of(graph: Graph) -> Graph:
    """Return the graph whose edges are the in-edges of ``graph``."""
    incoming = graph.in_adjacency
    assert incoming is not None
    return Graph(incoming, replace(graph.flags), labels=graph.labels, first_id=graph.first_id, m=graph.m)


class _Gathered:
    """What the batches of one run have found so far."""

    def __init__(self, batch: Batch, options: ManyOptions, sources: int, n: int) -> None:
        self._batch, self._options = batch, options
        self._limit = NO_LIMIT if options.max_depth is None else min(options.max_depth, NO_LIMIT)
        self._depth: list[np.ndarray] = []
        self._far: list[np.ndarray] = []
        self._found = np.zeros(1, np.int64)
        self._columns: list[np.ndarray] = []
        self._levels = np.empty((sources, n), np.int32) if options.fetch else None
        self._done = self._pairs = self._read = self._batches = 0
        self._seconds, self._steps = 0.0, {"serial": 0, "top-down": 0, "bottom-up": 0}

    def run(self, sources: np.ndarray, first: int) -> None:
        """Run one batch and keep what it found."""
        batch, sink, count = self._batch, self._batch.sink, len(sources)
        start = time.perf_counter()
        done = batch.run(sources, self._limit)
        self._seconds += time.perf_counter() - start
        sink = batch.sink
        self._depth.append(sink.depth[:count].copy())
        self._far.append(sink.far[:count].copy())
        found = sink.found[: done.levels + 1].copy()
        found[0] += count
        longer = np.zeros(max(len(found), len(self._found)), np.int64)
        longer[: len(found)] += found
        longer[: len(self._found)] += self._found
        self._found = longer
        if self._options.columns:
            columns = sink.columns.reshape(-1, batch.width)[: done.levels + 1, :count].copy()
            columns[0] += 1
            self._columns.append(columns)
        if self._options.visit is not None or self._levels is not None:
            levels = sink.levels.reshape(-1, batch.width)[:, :count]
            if self._levels is not None:
                self._levels[first : first + count] = levels.T
            if self._options.visit is not None:
                self._options.visit(first, levels)
        self._done, self._batches = self._done + count, self._batches + 1
        self._pairs, self._read = self._pairs + done.pairs, self._read + done.read
        for how, steps in done.steps.items():
            self._steps[how] += steps

    def result(self, sources: np.ndarray) -> ManyResult:
        """Return the result of the batches that ran."""
        sink, options, done = self._batch.sink, self._options, self._done
        record = ManyRecord(
            done, self._batches, self._batch.width, self._pairs, self._read, self._seconds, dict(self._steps)
        )
        depth, far = (np.concatenate([np.zeros(0, np.int64), *parts]) for parts in (self._depth, self._far))
        columns = None
        if options.columns:
            columns = np.zeros((len(self._found), done), np.int64)
            at = 0
            for part in self._columns:
                columns[: len(part), at : at + part.shape[1]] = part
                at += part.shape[1]
        found = self._found if done else self._found[:0]
        return ManyResult(
            sources[:done].copy(), depth, far, found, columns,
            sink.reach.copy() if options.sums else None, sink.farness.copy() if options.sums else None,
            sink.harmonic.copy() if options.harmonic else None,
            None if self._levels is None else self._levels[:done], record,
        )  # fmt: skip
