"""Many searches as work of the CPU engine: sources in batches, each of them one pass over the levels."""

from __future__ import annotations

import numpy as np

from bigbfs.algorithms.many.cpu.batch import Batch
from bigbfs.algorithms.many.cpu.widths import needs, widest
from bigbfs.algorithms.many.gathered import Gathered, Wants, require_in_rows, wants_of
from bigbfs.algorithms.many.options import WIDTHS, ManyOptions
from bigbfs.algorithms.many.pacing import Pace
from bigbfs.algorithms.many.result import ManyResult
from bigbfs.algorithms.many.validate import verify_by
from bigbfs.engines.cpu import memory
from bigbfs.engines.cpu.heads import Survey
from bigbfs.engines.cpu.placed_graph import PlacedGraph
from bigbfs.engines.cpu.rows import Rows, sample_rows
from bigbfs.errors import DoesNotFitError
from bigbfs.sizes import free_memory, size_allowed, size_needed


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
        if options.backward:
            require_in_rows(placed.graph)

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
            graph = placed.graph
            labels = graph.labels if graph.flags.relabelled else None
            self._batch = Batch(out, pulled, survey, placed.ids, graph.m, width, placed.threads, wants, labels)
        self._made = (width, wants)

    def _width(self, options: ManyOptions, wants: Wants) -> int:
        """Return the bits for each vertex: those asked for, else what sources need and the memory holds."""
        placed = self._placed
        count = len(options.sources)
        need = needs(placed.n, placed.ids, placed.threads, options, count)
        if options.width is not None:
            memory.require(need[options.width], placed.n, f"a width of {WIDTHS[0]} takes less, or free some")
            return options.width
        free = free_memory() // 2 if options.memory is None else options.memory
        if options.memory is not None and need[WIDTHS[0]] > free:
            raise DoesNotFitError(
                f"{WIDTHS[0]} searches at once on {placed.n:,} vertices take {size_needed(need[WIDTHS[0]])} beside the "
                f"graph, and {size_allowed(free)} may be used",
                remedies=(("memory", None, f"allow at least {size_needed(need[WIDTHS[0]])} with {{}}"),),
            )
        width = widest(need, count, free)
        memory.require(need[width], placed.n, "search from fewer sources at a time, or free some")
        made = self._made
        # what is there is used again, wider than need be too, if it may be
        again = made is not None and made[1] == wants and made[0] >= width
        return made[0] if made is not None and again and (options.memory is None or need[made[0]] <= free) else width

    def run(self, options: ManyOptions) -> ManyResult:
        """Search from every source, batch by batch; see ``ManyOptions``."""
        batch = self._batch
        assert batch is not None
        batch.forget()
        sources = np.asarray(options.sources, np.int64)
        gathered = Gathered(batch, options, len(sources), self._placed.n)
        pace, first, count = Pace(options.left), 0, 0
        while first < len(sources):
            if options.stop is not None and options.stop():
                break
            count = pace.next(batch.width, count)
            if not count:
                break
            gathered.run(sources[first : first + count], first)
            self._placed.require_vertices(batch.faults)
            first += count
        return gathered.result(sources)

    def verify(self, options: ManyOptions, result: ManyResult) -> None:
        """Search again with levels kept, prove these right, and that what was collected is what they say.

        Raises
        ------
        VerificationError
            A rule is broken.
        """
        program = CpuMany(self._placed, options)

        def search(again: ManyOptions) -> None:
            program.warm(again)
            program.run(again)

        verify_by(search, self._placed.plain(), options, result, self._placed.threads)

    @property
    def nbytes(self) -> int:
        """Bytes of the state."""
        return sum(part.nbytes for part in (self._batch, self._survey) if part is not None)
