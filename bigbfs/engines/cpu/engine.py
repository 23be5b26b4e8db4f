"""The CPU engine: a graph used where it lies (memory or file mapping), traversed by all cores available.

What the seconds of a record hold: everything from resetting the state of the last run to the last level, parent or
label in place, as GAP times it. What they do not: compiling and building the head table (``setup``), allocating the
state (once), and turning the results into the types of the interface (int64 parents and labels) in arrays of the
caller's own.
"""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

import numba
import numpy as np

from bigbfs.algorithms.bfs.cpu.search import Search
from bigbfs.algorithms.components.cpu.labels import Components
from bigbfs.algorithms.components.options import ComponentsOptions
from bigbfs.engines.cpu import memory
from bigbfs.engines.cpu.heads import Survey
from bigbfs.engines.cpu.rows import PlainRows, Rows, rows_of, sample_rows
from bigbfs.errors import FormatError, UsageError
from bigbfs.graph.graph import Graph
from bigbfs.record import (
    BfsResult,
    BytesRecord,
    ComponentsRecord,
    ComponentsResult,
    RunRecord,
    SetupRecord,
)
from bigbfs.sizes import format_size

STRATEGIES = ("auto", "topdown")
"""``auto`` turns between top-down and bottom-up; ``topdown`` never does."""


class CpuEngine:
    """BFS and connected components of one graph on the CPU; internal vertices. For one caller at a time.

    Parameters
    ----------
    graph
        Plain or compressed. It must stay open as long as the engine.
    threads
        Threads to use; None: as many as the process may run on. More than Numba has are not used.
    strategy
        ``"auto"`` or ``"topdown"``.

    Attributes
    ----------
    backend, device, residency, strategy, threads
        ``"cpu"``, the processor's name and the threads, ``"host"``, the strategy, the threads in use.
    setup, bytes
        Seconds and bytes that placing took: grows at the first BFS and the first components, before their clocks start.

    Raises
    ------
    UsageError
        The strategy is unknown or ``threads`` is less than 1.
    """

    backend = "cpu"
    residency = "host"

    def __init__(self, graph: Graph, *, threads: int | None = None, strategy: str = "auto") -> None:
        if strategy not in STRATEGIES:
            raise UsageError(f"strategy {strategy!r} is unknown on the CPU: choose one of {', '.join(STRATEGIES)}")
        if threads is not None and threads < 1:
            raise UsageError(f"threads is {threads}: it must be 1 or more")
        most = numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]
        if threads is not None and threads > most:
            raise UsageError(f"threads is {threads}: this process may use {most} at most")
        self.threads = min(len(os.sched_getaffinity(0)), most) if threads is None else threads
        self.device = f"{_processor()}, {self.threads} thread{'s' if self.threads > 1 else ''}"
        self.graph = graph
        self.strategy = strategy
        self.setup = SetupRecord()
        self.bytes = BytesRecord()
        self._out: Rows | None = rows_of(graph.adjacency)
        self._in: Rows | None = self._out
        if graph.in_adjacency is not graph.adjacency:
            self._in = None if graph.in_adjacency is None else rows_of(graph.in_adjacency)
        self._survey: Survey | None = None
        self._search: Search | None = None
        self._components: Components | None = None
        self._compiled: set[str] = set()
        self._count_bytes()

    def bfs(
        self, source: int, *, max_depth: int | None = None, want_levels: bool = True, want_parents: bool = True
    ) -> BfsResult:
        """Traverse from vertex ``source``.

        Parameters
        ----------
        source
            Internal vertex.
        max_depth
            Last level to reach; None: no limit.
        want_levels, want_parents
            False: that array of the result is all -1.

        Raises
        ------
        UsageError
            ``source`` is no vertex, ``max_depth`` is negative, or the engine is closed.
        FormatError
            The graph file holds ids that are no vertices.
        DoesNotFitError
            The state and the result take more memory than is free.
        """
        self._require_memory(memory.tree_bytes(self.graph.n, levels=want_levels, parents=want_parents))
        record = self.traverse(source, max_depth=max_depth)
        search = self._ready_search()
        levels = search.levels.copy() if want_levels else np.broadcast_to(np.int32(-1), self.graph.n)
        parents = np.broadcast_to(np.int64(-1), self.graph.n)
        if want_parents:
            parents = search.parents.astype(np.int64)
            parents[search.parents == search.nobody] = -1
        return BfsResult(levels, parents, record)

    def traverse(
        self, source: int, *, max_depth: int | None = None, want_levels: bool = True, want_parents: bool = True
    ) -> RunRecord:
        """Do as ``bfs`` does, without making the arrays of a result: what was measured is all that comes back."""
        if not 0 <= source < self.graph.n:
            raise UsageError(f"source {source} is no vertex: the graph has {self.graph.n}")
        if max_depth is not None and max_depth < 0:
            raise UsageError(f"max_depth is {max_depth}: it must be 0 or more")
        self._require_memory()
        with _numba_threads(self.threads):
            search = self._ready_search()
            found = search.run(source, _NO_LIMIT if max_depth is None else min(max_depth, _NO_LIMIT))
        self._require_vertices(found.faults)
        reached = search.levels >= 0
        edges = self.graph.m - found.unexplored if self._in is self._out else self._edges_of(reached)
        return RunRecord(source, int(reached.sum()), found.depth, edges, found.seconds, levels=found.levels)

    def connected_components(self, options: ComponentsOptions | None = None) -> ComponentsResult:
        """Label the (weakly) connected components: the smallest vertex of each.

        Parameters
        ----------
        options
            Algorithm and switches; None: Afforest.

        Raises
        ------
        UsageError
            The engine is closed.
        FormatError
            The graph file holds ids that are no vertices.
        DoesNotFitError
            The state and the result take more memory than is free.
        """
        options = options or ComponentsOptions()
        if self._components is None:
            survey = memory.survey_bytes(self.graph.n, self.graph.ids) if self._survey is None else 0
            need = survey + memory.components_bytes(self.graph.n, self.graph.ids)
            memory.require(need, self.graph.n, "free some, or take a machine with more")
        with _numba_threads(self.threads):
            components = self._ready_components(options.algorithm)
            found = components.run(options)
        self._require_vertices(found.faults)
        result = components.labels.astype(np.int64)
        sizes = np.bincount(result) if len(result) else np.zeros(1, np.int64)
        record = ComponentsRecord(
            int(np.count_nonzero(sizes)),
            int(sizes.max()),
            found.seconds,
            algorithm=options.algorithm,
            edges_read=found.edges_read,
            passes=found.passes,
            left=found.left,
        )
        return ComponentsResult(result, record)

    def _require_memory(self, result: int = 0) -> None:
        """Refuse a search for whose state, where it is not there yet, and ``result`` bytes there is no room."""
        self._rows()  # refuses a closed engine
        n, ids, need = self.graph.n, self.graph.ids, result
        advice = "leave out levels or parents if they are not needed, or free some" if result else "free some"
        if self._search is None:
            need += memory.search_bytes(n, ids)
            if self.strategy == "auto" and self._in is not None and self._survey is None:
                need += memory.survey_bytes(n, ids)
                advice = f"strategy topdown takes {format_size(need - memory.survey_bytes(n, ids))}, or {advice}"
        if need:
            memory.require(need, n, advice)

    def _ready_search(self) -> Search:
        """Return the search, compiled and placed."""
        rows = self._rows()
        if self._search is None:
            upward = self._in if self.strategy == "auto" else None
            ids, threads = self.graph.ids, self.threads
            with self._clock("compile"):
                sample, upward_sample, survey = sample_rows(rows, ids), None, None
                if upward is not None:
                    upward_sample, survey = sample, Survey(sample, ids, threads)
                Search(sample, upward_sample, survey, ids, 2, threads).warm_up()
            with self._clock("place"):
                survey = None if upward is None else self._surveyed()
                self._search = Search(rows, upward, survey, ids, self.graph.m, threads)
            self._count_bytes()
        return self._search

    def _ready_components(self, algorithm: str) -> Components:
        """Return the components, placed, with the kernels of ``algorithm`` compiled."""
        rows = self._rows()
        if algorithm not in self._compiled:
            with self._clock("compile"):
                sample = sample_rows(rows, self.graph.ids)
                survey = Survey(sample, self.graph.ids, self.threads)
                Components(sample, sample, survey, self.threads).warm_up(algorithm)
            self._compiled.add(algorithm)
        if self._components is None:
            with self._clock("place"):
                self._components = Components(rows, self._in, self._surveyed(), self.threads)
            self._count_bytes()
        return self._components

    def _surveyed(self) -> Survey:
        """Return the survey of the in-rows, or of the out-rows where there are none."""
        if self._survey is None:
            rows = self._rows() if self._in is None else self._in
            self._survey = Survey(rows, self.graph.ids, self.threads)
        self._require_vertices(self._survey.faults)
        return self._survey

    def _edges_of(self, reached: np.ndarray) -> int:
        """Return the number of edges in the rows of the vertices ``reached`` (bool, one per vertex)."""
        rows = self._rows()
        lengths = np.diff(rows.indptr) if isinstance(rows, PlainRows) else rows.degree
        return int(lengths.sum(where=reached, dtype=np.uint64))

    def _rows(self) -> Rows:
        if self._out is None:
            raise UsageError("this engine is closed")
        return self._out

    def _require_vertices(self, faults: int) -> None:
        if faults:
            raise FormatError(
                f"{self.graph.path or 'the graph'}: at least {faults} neighbour ids read are no vertices (not below "
                f"{self.graph.n}): the file is damaged; `bigbfs check` says where"
            )

    def _count_bytes(self) -> None:
        rows = (self._out or ()) + ((self._in or ()) if self._in is not self._out else ())
        parts = (*rows, self._survey, self._search, self._components)
        self.bytes.host = sum(part.nbytes for part in parts if part is not None)

    @contextmanager
    def _clock(self, name: str) -> Iterator[None]:
        """Add the seconds spent inside to ``setup.name``."""
        start = time.perf_counter()
        yield
        setattr(self.setup, name, getattr(self.setup, name) + time.perf_counter() - start)

    def close(self) -> None:
        """Let go of the graph and of the state."""
        self._out = self._in = self._survey = self._search = self._components = None

    def __enter__(self) -> CpuEngine:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


_NO_LIMIT = 2**31 - 2


@contextmanager
def _numba_threads(count: int) -> Iterator[None]:
    """Have Numba use ``count`` threads inside."""
    before = numba.get_num_threads()
    numba.set_num_threads(count)
    try:
        yield
    finally:
        numba.set_num_threads(before)


def _processor() -> str:
    """Return the name of the processor."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass  # not Linux: the platform module has at least the architecture
    return platform.processor() or platform.machine()
