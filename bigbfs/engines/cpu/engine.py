"""The CPU engine: a graph used where it lies (memory or file mapping), worked on by all cores available.

What the seconds of a record hold: everything from resetting the state of the last run to the last level, parent or
label in place, as GAP times it. What they do not: compiling and building the head table (``setup``), allocating the
state (once), and turning the results into the types of the interface (int64 parents and labels) in arrays of the
caller's own.
"""

from __future__ import annotations

import platform
from collections.abc import Hashable, Sequence
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from bigbfs.engines.cpu.placed_graph import PlacedGraph
from bigbfs.engines.engine import Program, Work
from bigbfs.errors import UsageError
from bigbfs.graph.graph import Graph
from bigbfs.jit import settings
from bigbfs.jit.team import team_of
from bigbfs.jit.workers import held_to, thread_count
from bigbfs.record import BytesRecord, SetupRecord


class CpuEngine:
    """One graph on the CPU; internal vertices. For one caller at a time.

    Parameters
    ----------
    graph
        Plain or compressed. It must stay open as long as the engine.
    work
        What is going to be run; refused here where it cannot be run on the CPU.
    threads
        Threads to use; None: as many as the process gets (:mod:`bigbfs.jit.processors`).

    Attributes
    ----------
    backend, device, residency, threads
        ``"cpu"``, the processor's name and the threads, ``"host"``, the threads in use.
    setup, bytes
        Seconds and bytes that placing took: they grow at the first run of each kind, before its clock starts.

    Raises
    ------
    UsageError
        The work does not run on the CPU, or ``threads`` is less than 1.
    """

    backend = "cpu"
    residency = "host"
    edges_kind = "host"

    def __init__(self, graph: Graph, *, work: Sequence[Work] = (), threads: int | None = None) -> None:
        for each in work:
            each.require_backend("cpu", "host")
        self.threads = threads_of(threads)
        self.device = f"{_processor()}, {self.threads} thread{'s' if self.threads > 1 else ''}"
        self.graph = graph
        self.setup = SetupRecord()
        self.bytes = BytesRecord()
        self._placed: PlacedGraph | None = PlacedGraph(graph, self.threads, self.setup)
        self._programs: dict[Hashable, Program] = {}
        self._count_bytes()

    def run(self, work: Work) -> Any:
        """Run ``work`` and return its result.

        Raises
        ------
        UsageError
            The work has a value that the graph does not allow, does not run on the CPU, or the engine is closed.
        FormatError
            The graph file holds ids that are no vertices.
        DoesNotFitError
            The state and the result take more memory than is free.
        """
        team_of(self.threads)  # in a forked process its threads are made anew
        with held_to(self.threads):
            return self.program(work).run(work)

    def program(self, work: Work) -> Any:
        """Return the program that runs ``work``, made if need be."""
        placed = self.placed
        program = self._programs.get(work.key)
        if program is None:
            work.require_backend("cpu", "host")
            program = self._programs[work.key] = work.program("cpu", "host")(placed, work)
        with held_to(self.threads):
            program.warm(work)
        self._count_bytes()
        return program

    @property
    def placed(self) -> PlacedGraph:
        """The graph as it lies there."""
        if self._placed is None:
            raise UsageError("this engine is closed")
        return self._placed

    def _count_bytes(self) -> None:
        parts = [] if self._placed is None else [self._placed, *self._programs.values()]
        self.bytes.host = sum(part.nbytes for part in parts)  # type: ignore[attr-defined]

    def close(self) -> None:
        """Let go of the graph and of the state."""
        self._placed = None
        self._programs.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def threads_of(asked: int | None) -> int:
    """Return how many threads an engine uses that is ``asked`` to use so many; None: those that the process gets.

    Raises
    ------
    UsageError
        Less than 1, or more than the process may have.
    """
    most = settings.most_threads()
    if asked is None:
        return min(thread_count(), most)
    if asked < 1:
        raise UsageError("must be 1 or more", about=(("threads", asked),))
    if asked > most:
        raise UsageError(f"this process may use {most} at most", about=(("threads", asked),))
    return asked


@cache
def _processor() -> str:
    """Return the name of the processor; its file is long, and is made anew for each reader."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass  # not Linux: the platform module has at least the architecture
    return platform.processor() or platform.machine()
