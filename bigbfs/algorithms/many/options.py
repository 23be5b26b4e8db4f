"""What many searches are asked for: sources, what to collect, who gets the levels, when to stop.

Levels are not stored: counts and sums are collected while the searches run, and who wants the levels gets those of a
batch at a time. On a GPU a vertex has 64 bits at least.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from bigbfs.algorithms.registry import Options
from bigbfs.errors import UsageError

if TYPE_CHECKING:
    import numpy as np

    from bigbfs.algorithms.many.gpu.tuning import Tuning
    from bigbfs.graph.graph import Graph

WIDTHS = (32, 64, 128, 256, 512)
"""Sources of a batch at most; a vertex has so many bits, three times, or twice on a GPU."""

_LEAST = 64


@dataclass(frozen=True, slots=True, eq=False)
class ManyOptions(Options):
    """What is run.

    Attributes
    ----------
    sources
        The vertices to search from; the same one may come twice.
    max_depth
        Stop after this level; None: go on to the end.
    backward
        Go against the edges: levels are distances to the source. Needs in-rows in a directed graph.
    sums
        Collect, for each vertex, how many sources reach it from elsewhere, and the sum of their distances.
    harmonic
        Collect, for each vertex, the sum of the reciprocals of these distances.
    columns
        Collect, for each source, how many vertices it reaches in each level; where that is too much (many levels), as
        ``totals``.
    totals
        Collect, for each source, how many vertices it reaches.
    visit
        Called with the number of a batch's first source and levels, int32, shape (n, sources of the batch), -1
        unreached: a view that the next batch overwrites.
    aside
        Bytes that ``visit`` takes for each source of a batch.
    stop
        Asked before each batch; True: no further one. The result says how many sources there were.
    left
        Returns the seconds left; None: there is no end. Batches on the CPU begin with one source where there is, and
        grow while there is time (:mod:`bigbfs.algorithms.many.pacing`).
    tell
        Told after each batch how many sources it had.
    fetch
        Keep the levels of all sources in the result: int32, shape (sources, n).
    width
        Bits for each vertex; None: what the sources need and the memory holds.
    most
        The bits that a plan for a GPU has room for, where ``width`` is None.
    levels_kept
        The sources of a batch whose levels such a plan has room for.
    tuning
        Of the levels on a GPU; None: as estimated.
    memory
        Bytes that searches on the CPU may take beside the graph; None: half of what is free.
    """

    sources: Sequence[int] | np.ndarray = ()
    max_depth: int | None = None
    backward: bool = False
    sums: bool = False
    harmonic: bool = False
    columns: bool = False
    totals: bool = False
    visit: Callable[[int, np.ndarray], None] | None = None
    aside: int = 0
    stop: Callable[[], bool] | None = None
    left: Callable[[], float] | None = None
    tell: Callable[[int], object] | None = None
    fetch: bool = False
    width: int | None = None
    most: int = WIDTHS[-1]
    levels_kept: int = WIDTHS[-1]
    tuning: Tuning | None = None
    memory: int | None = None

    programs: ClassVar[dict[str, str]] = {
        "cpu": "bigbfs.algorithms.many.cpu.program:CpuMany",
        "gpu": "bigbfs.algorithms.many.gpu.program:GpuMany",
    }

    def __post_init__(self) -> None:
        """Refuse a width that there is none of, and a depth below 0."""
        if self.width is not None and self.width not in WIDTHS:
            raise UsageError(f"choose one of {', '.join(map(str, WIDTHS))}", about=(("width", self.width),))
        if self.max_depth is not None and self.max_depth < 0:
            raise UsageError("must be 0 or more", about=(("max_depth", self.max_depth),))

    @property
    def key(self) -> Hashable:
        """Runs in one direction share a program."""
        return ("many", self.backward, self.tuning)

    @property
    def bits(self) -> int:
        """Bits of a vertex on a GPU, twice: as many as sources, at least."""
        return max(_LEAST, self.most if self.width is None else self.width)

    @property
    def kept(self) -> int:
        """Sources whose levels a GPU has room for: those of a batch, or fewer."""
        return min(self.bits, self.levels_kept)

    def narrower(self) -> ManyOptions | None:
        """Return the same work with half the bits, for a GPU that has no room for more; None: there are no fewer.

        Where levels are wanted and there are no fewer bits, batches have half the sources.
        """
        if self.width is None and self.most > _LEAST:
            return replace(self, most=self.most // 2)
        if (self.fetch or self.visit is not None) and self.kept > 1:
            return replace(self, levels_kept=self.kept // 2)
        return None

    @property
    def uses_heads(self) -> bool:
        """Yes."""
        return True

    @property
    def reads_heads(self) -> bool:
        """Yes: a vertex asks all of its heads before its row."""
        return True

    @property
    def takes_numbers(self) -> bool:
        """Yes: vertices with edges may have numbers of their own on a GPU."""
        return True

    @property
    def fills_memory(self) -> bool:
        """Yes: a vertex has a bit for each source, twice."""
        return True

    def internal(self, graph: Graph) -> ManyOptions:
        """Return the same work on internal vertices.

        Raises
        ------
        UsageError
            Sources are not in the graph; the first ten are named.
        """
        from bigbfs.algorithms.many.vertices import vertices_of

        return replace(self, sources=vertices_of(graph, self.sources, "source"))
