"""What many searches are asked for: sources, what to collect, who gets the levels, when to stop.

Levels are not stored: counts and sums are collected while the searches run, and who wants the levels gets those of a
batch at a time. The searches run on the CPU.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from bigbfs.algorithms.registry import Options
from bigbfs.errors import UsageError

if TYPE_CHECKING:
    import numpy as np

    from bigbfs.engines.gpu.runtime.kernels import KernelSpec
    from bigbfs.graph.graph import Graph

WIDTHS = (32, 64, 128, 256, 512)
"""Sources of a batch at most; a vertex has so many bits, three times."""


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
        Collect, for each source, how many vertices it reaches in each level.
    visit
        Called with the number of a batch's first source and levels, int32, shape (n, sources of the batch), -1
        unreached: a view that the next batch overwrites.
    stop
        Asked before each batch; True: no further one. The result says how many sources there were.
    fetch
        Keep the levels of all sources in the result: int32, shape (sources, n).
    width
        Bits for each vertex; None: what the sources need and the memory holds.
    """

    sources: Sequence[int] | np.ndarray = ()
    max_depth: int | None = None
    backward: bool = False
    sums: bool = False
    harmonic: bool = False
    columns: bool = False
    visit: Callable[[int, np.ndarray], None] | None = None
    stop: Callable[[], bool] | None = None
    fetch: bool = False
    width: int | None = None

    programs: ClassVar[dict[str, str]] = {"cpu": "bigbfs.algorithms.many.cpu.program:CpuMany"}

    def __post_init__(self) -> None:
        """Refuse a width that there is none of, and a depth below 0."""
        if self.width is not None and self.width not in WIDTHS:
            raise UsageError(f"choose one of {', '.join(map(str, WIDTHS))}", about=(("width", self.width),))
        if self.max_depth is not None and self.max_depth < 0:
            raise UsageError("must be 0 or more", about=(("max_depth", self.max_depth),))

    @property
    def key(self) -> Hashable:
        """Runs in one direction share a program."""
        return ("many", self.backward)

    @property
    def uses_heads(self) -> bool:
        """Yes."""
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

    def residencies(self) -> Sequence[str]:
        """Return where the edges of a GPU run may live: nowhere."""
        return ()

    def require_backend(self, backend: str, residency: str) -> None:
        """Refuse the GPU.

        Raises
        ------
        UsageError
            It was asked for.
        """
        if backend == "gpu":
            raise UsageError("many searches at once run on the CPU, not on a GPU", remedies=(("backend", "cpu"),))

    def kernels(self, residency: str) -> tuple[KernelSpec, ...]:
        """Return every kernel of a GPU run: none."""
        return ()

    def arrays(self, residency: str) -> tuple[Any, ...]:
        """Return the state of a GPU run: none."""
        return ()
