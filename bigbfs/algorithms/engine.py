"""A placed graph that speaks original ids: what :func:`bigbfs.engine` returns, and what the command line works with."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from bigbfs.algorithms.bfs.options import BfsOptions
from bigbfs.algorithms.bfs.result import BfsResult
from bigbfs.algorithms.components.options import ComponentsOptions
from bigbfs.algorithms.components.result import ComponentsResult
from bigbfs.algorithms.topological.options import TopologicalOptions
from bigbfs.engines.engine import Engine as Placed
from bigbfs.graph.graph import Graph
from bigbfs.record import BytesRecord, Cores, SetupRecord, disturbed, median

if TYPE_CHECKING:
    from bigbfs.algorithms.topological.result import TopologicalResult


@dataclass(slots=True)
class Measured:
    """What several runs of the same work gave.

    Attributes
    ----------
    graph
        What was placed.
    internal
        The result of the last run, of internal vertices.
    records
        Of every run.
    verify_seconds
        What verifying them took.
    disturbed
        Of every run, whether it had to share its cores (bigbfs/record.py).
    switches
        Of every run, the involuntary context switches of all threads.
    """

    graph: Graph
    internal: Any = None
    records: list[Any] = field(default_factory=list)
    verify_seconds: float = 0.0
    disturbed: list[bool] = field(default_factory=list)
    switches: list[int] = field(default_factory=list)

    @property
    def result(self) -> Any:
        """The result of the last run, in original ids."""
        return self.internal.original(self.graph)

    @property
    def seconds(self) -> float:
        """Median time of the runs."""
        return median([record.seconds for record in self.records])


class Engine:
    """A graph placed on a backend, ready to be asked for more than one thing; speaks original ids.

    Made by :func:`engine`; a context manager that releases what it placed.

    Attributes
    ----------
    graph
        What was placed.
    """

    def __init__(self, graph: Graph, placed: Placed, strategy: str) -> None:
        self.graph = graph
        self.strategy = strategy
        self._placed = placed

    @property
    def backend(self) -> str:
        """``"cpu"`` or ``"gpu"``."""
        return self._placed.backend

    @property
    def device(self) -> str:
        """Name of the processor or the GPU."""
        return self._placed.device

    @property
    def residency(self) -> str:
        """Where the edges are: ``"host"`` on the CPU, else ``"vram"``, ``"mapped"`` or ``"streamed"``."""
        return self._placed.residency

    @property
    def edges_kind(self) -> str:
        """How the edges are held there."""
        return self._placed.edges_kind

    @property
    def setup(self) -> SetupRecord:
        """Seconds that placing took."""
        return self._placed.setup

    @property
    def bytes(self) -> BytesRecord:
        """Bytes that the placed graph and the state of its algorithms take."""
        return self._placed.bytes

    @property
    def threads(self) -> int | None:
        """Threads that the CPU engine uses; None on a GPU."""
        return getattr(self._placed, "threads", None)

    def run(self, options: Any) -> Any:
        """Run an algorithm, named by its options (``BfsOptions``, ``ComponentsOptions``), and return its result.

        Raises
        ------
        UsageError
            A vertex is not in the graph, or the work cannot run here.
        FormatError
            The graph's file is damaged.
        DoesNotFitError
            The work takes more memory than there is.
        """
        return self._placed.run(options.internal(self.graph)).original(self.graph)

    def run_internal(self, options: Any) -> Any:
        """Run an algorithm whose options and result speak of internal vertices; see :meth:`run`."""
        return self._placed.run(options)

    def verify_internal(self, options: Any, result: Any) -> None:
        """Prove ``result``, of internal vertices, right; VerificationError where it is not."""
        self._placed.program(options).verify(options, result)

    def measure(self, options: Any, *, trials: int = 1, verify: bool = False) -> Measured:
        """Run an algorithm several times; with ``verify`` verify every result, on a GPU where it lies.

        Raises
        ------
        VerificationError
            A result breaks a rule.
        UsageError, FormatError, DoesNotFitError
            As :meth:`run`.
        """
        work = options.internal(self.graph)
        measured = Measured(self.graph)
        self._placed.program(work)  # compiled and placed now: the runs are counted from here
        for _ in range(trials):
            before = Cores.now()
            result = self._placed.run(work)
            measured.switches.append(before.switched())
            measured.disturbed.append(disturbed(before.lost()))
            if verify:
                start = time.perf_counter()
                self._placed.program(work).verify(work, result)
                measured.verify_seconds += time.perf_counter() - start
                result.record.verified = True
            measured.records.append(result.record)
            measured.internal = result
        return measured

    def bfs(
        self,
        source: int | str,
        *,
        max_depth: int | None = None,
        want_levels: bool = True,
        want_parents: bool = True,
        verify: bool = False,
        target: int | str | None = None,
    ) -> BfsResult:
        """Search from the vertex with original id, or name, ``source``; see :func:`bfs`."""
        source, target = self.graph.id_of(source), None if target is None else self.graph.id_of(target)
        options = BfsOptions(source, max_depth, want_levels, want_parents, self.strategy, target=target)
        result: BfsResult = self.measure(options, verify=verify).result
        return result

    def connected_components(
        self,
        *,
        algorithm: str = "afforest",
        rounds: int | None = None,
        skip_giant: bool | None = None,
        single_pass: bool = False,
        verify: bool = False,
    ) -> ComponentsResult:
        """Label the components; see :func:`connected_components`."""
        options = ComponentsOptions(algorithm, rounds, skip_giant, single_pass)
        result: ComponentsResult = self.measure(options, verify=verify).result
        return result

    def topological_order(self, *, hand_over: bool = True, verify: bool = False) -> TopologicalResult:
        """Order the vertices so that edges point forward; see :func:`topological_rounds`."""
        result: TopologicalResult = self.measure(TopologicalOptions(hand_over), verify=verify).result
        return result

    def close(self) -> None:
        """Release what was placed; a second call does nothing."""
        self._placed.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._placed.__exit__(kind, error, trace)
