"""Many searches as work of the GPU engine: sources in batches, as wide as there is memory for."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bigbfs.algorithms.many.gathered import Gathered, Wants, require_in_rows, wants_of
from bigbfs.algorithms.many.gpu import arguments
from bigbfs.algorithms.many.gpu.batches import GpuBatches
from bigbfs.algorithms.many.gpu.numbered import NumberedBatches
from bigbfs.algorithms.many.gpu.tuning import DEFAULT
from bigbfs.algorithms.many.options import ManyOptions
from bigbfs.algorithms.many.result import ManyResult
from bigbfs.engines.gpu.placed_graph import PlacedGraph
from bigbfs.engines.gpu.placement.arrays import ArraySpec
from bigbfs.engines.gpu.runtime.kernels import KernelSpec
from bigbfs.errors import DoesNotFitError
from bigbfs.graph.graph import Graph
from bigbfs.sizes import counted, size_allowed, size_needed


def every_kernel() -> tuple[KernelSpec, ...]:
    """Return every kernel of many searches, at each width."""
    widths = ((width, streamed) for width in arguments.WIDTHS for streamed in (False, True))
    return tuple(dict.fromkeys(spec for choice in widths for spec in arguments.kernels(*choice)))


class GpuMany:
    """Many searches of one placed graph.

    Parameters
    ----------
    placed
        The graph.
    options
        Which direction, and the width that was planned.

    Attributes
    ----------
    batches
        What runs them; made for the last options that were run.

    Raises
    ------
    UsageError
        Backward in a directed graph that does not store in-neighbours.
    """

    @staticmethod
    def arrays(options: ManyOptions, residency: str) -> tuple[ArraySpec, ...]:
        """Return the state of a run."""
        tuning = options.tuning or DEFAULT
        streamed = residency == "streamed"
        return arguments.arrays(options.bits, wants_of(options), tuning.span, options.kept, streamed)

    @staticmethod
    def kernels(options: ManyOptions, residency: str) -> tuple[KernelSpec, ...]:
        """Return every kernel that a run launches."""
        return arguments.kernels(options.bits, residency == "streamed")

    def __init__(self, placed: PlacedGraph, options: ManyOptions) -> None:
        if options.backward:
            require_in_rows(placed.graph)
        self._placed = placed
        self._made: tuple[int, int, Wants] | None = None
        self.batches: GpuBatches | None = None

    def warm(self, options: ManyOptions) -> None:
        """Make the state for the width that fits, and launch every kernel once, on nothing."""
        self._batches_for(options).warm()

    def _batches_for(self, options: ManyOptions) -> GpuBatches:
        """Return what runs ``options``, made anew where width or wants are others than before."""
        wants = wants_of(options)
        width, kept = self._width(options, wants)
        if self.batches is None or self._made != (width, kept, wants):
            tuning = options.tuning or DEFAULT
            self.batches = GpuBatches(self._placed, options.backward, width, wants, tuning, kept)
            self._made = (width, kept, wants)
        return self.batches

    def _width(self, options: ManyOptions, wants: Wants) -> tuple[int, int]:
        """Return the bits asked for, else the most that the sources need and the memory holds; and of how many sources
        it holds the levels: of all, unless there are no fewer bits.

        Raises
        ------
        DoesNotFitError
            There is no room for them, or not even for the fewest.
        """
        pool, sizes, free = self._placed.pool, self._placed.pool.sizes, self._placed.runtime.free_bytes()

        def need(width: int, kept: int) -> int:
            span, streamed = (options.tuning or DEFAULT).span, self._placed.residency == "streamed"
            specs = arguments.arrays(width, wants, span, kept, streamed)
            return sum(max(0, spec.bytes(sizes) - pool.buffers.get(spec.name, 0)) for spec in specs)

        enough = next((each for each in arguments.WIDTHS if each >= len(options.sources)), arguments.WIDTHS[-1])
        allowed = [width for width in arguments.WIDTHS if width <= (enough if len(options.sources) else options.bits)]
        if options.width is not None:
            allowed = [options.bits]
        choices = [(width, width) for width in reversed(allowed)]
        while wants.levels and choices[-1][1] > 1:
            choices.append((allowed[0], choices[-1][1] // 2))
        least = need(*choices[-1])
        for choice in choices:
            if need(*choice) <= free:
                return choice
        few = counted(choices[-1][1], "source")
        raise DoesNotFitError(
            f"{self._placed.graph.path or 'the graph'}: searches from {few} at a time take "
            f"{size_needed(least)} of GPU memory more, and {size_allowed(free)} are free",
            remedies=("collect less", ("backend", "cpu")),
        )

    def run(self, options: ManyOptions) -> ManyResult:
        """Search from every source, batch by batch; see ``ManyOptions``."""
        batches = self._batches_for(options)
        batches.borrow()
        batches.forget()
        sources = np.asarray(options.sources, np.int64)
        numbers = self._placed.numbers
        if numbers is None:
            gathered, places = Gathered(batches, options, len(sources), self._placed.n), sources
        else:
            numbered = NumberedBatches(batches, numbers)
            gathered, places = Gathered(numbered, options, len(sources), numbers.n), numbered.places(sources)
        step = min(batches.most, batches.width if options.width is None else options.width)
        for first in range(0, len(sources), step):
            if options.stop is not None and options.stop():
                break
            gathered.run(places[first : first + step], first)
            self._placed.require_vertices(batches.invalid)
        return gathered.result(sources)

    def verify(self, options: ManyOptions, result: ManyResult) -> None:
        """Search again with levels kept, prove these right, and that what was collected is what they say.

        The levels are those of this program where there is memory for them, else those of the CPU.

        Raises
        ------
        VerificationError
            A rule is broken.
        """
        from bigbfs.algorithms.many.validate import verify_by

        numbers = self._placed.numbers
        graph = self._placed.graph if numbers is None else numbers.file
        try:
            verify_by(GpuMany(self._placed, options).run, graph.decompress(), options, result)
        except DoesNotFitError:
            verify_by(_on_cpu(graph, options), graph.decompress(), options, result)


def _on_cpu(graph: Graph, options: ManyOptions) -> Callable[[ManyOptions], object]:
    """Return what searches ``graph`` on the CPU."""
    from bigbfs.engines.cpu.engine import CpuEngine

    return CpuEngine(graph, work=(options,)).run
