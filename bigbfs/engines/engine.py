"""What engines and algorithms promise each other: an engine runs *work*, and knows no algorithm.

Work is the options object of an algorithm. It names the program that does it on a backend; the engine makes that
program on the graph that it has placed, keeps it, and runs it as often as it is asked to.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol

from bigbfs.record import BytesRecord, SetupRecord

if TYPE_CHECKING:
    from bigbfs.engines.gpu.placement.arrays import ArraySpec
    from bigbfs.engines.gpu.runtime.kernels import KernelSpec


class Program(Protocol):
    """An algorithm on a placed graph, with the state that it reuses from run to run."""

    def warm(self, work: Any) -> None:
        """Get ready to run ``work``: compile, and load what the first launch would load."""

    def run(self, work: Any) -> Any:
        """Run ``work`` and return its result; vertices are internal.

        Raises
        ------
        UsageError
            The work has a value that this graph does not allow.
        FormatError
            Ids were met that are no vertices.
        DeviceError
            A kernel failed.
        """

    def verify(self, work: Any, result: Any) -> None:
        """Prove the result of the last run right, where it lies.

        Raises
        ------
        VerificationError
            A rule is broken.
        """


class Work(Protocol):
    """The options of one algorithm, as an engine sees them."""

    @property
    def key(self) -> Hashable:
        """Work of one key shares a program."""

    @property
    def uses_heads(self) -> bool:
        """Whether a head table and hot rows in device memory are of use."""

    @property
    def reads_heads(self) -> bool:
        """Whether rows that the head table holds are read from it, so that more heads are of use."""

    @property
    def wants_heads(self) -> bool:
        """Whether as many heads as there is room for are of use where edges are mapped, however long the rows are."""

    @property
    def takes_numbers(self) -> bool:
        """Whether a program on a GPU gives the results of all vertices where those with edges have numbers of their own
        (``PlacedGraph.numbers``)."""

    @property
    def fills_memory(self) -> bool:
        """Whether its state is most of what a run on a GPU takes, so that a plan counts only the vertices that have
        numbers of their own, where they do."""

    def residencies(self) -> Sequence[str]:
        """Return where the edges of a GPU run may live, best first; empty: it does not run on a GPU."""

    def require_backend(self, backend: str, residency: str) -> None:
        """Refuse a place where this work cannot run, before anything is placed.

        Raises
        ------
        UsageError
            Names the work, the place, and what helps.
        """

    def arrays(self, residency: str) -> tuple[ArraySpec, ...]:
        """Return the state in device memory of a GPU run."""

    def kernels(self, residency: str) -> tuple[KernelSpec, ...]:
        """Return every kernel that a GPU run launches."""

    def narrower(self) -> Work | None:
        """Return the same work with less state, for a GPU that has no room for more; None: there is no such."""

    def program(self, backend: str, residency: str) -> Callable[[Any, Any], Program]:
        """Return what makes the program from the placed graph and this work."""


class Engine(Protocol):
    """A graph placed on a backend; vertices are internal."""

    backend: str
    device: str
    residency: str
    edges_kind: str
    setup: SetupRecord
    bytes: BytesRecord

    def run(self, work: Any) -> Any:
        """Run ``work`` and return its result."""

    def program(self, work: Any) -> Any:
        """Return the program that runs ``work``, made and warmed if need be."""

    def close(self) -> None:
        """Release what the engine placed."""

    def __enter__(self) -> Engine: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
