"""What takes part in a bench: strategies on an engine, and the serial reference; placed, proved and timed alike."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from bigbfs.algorithms.bfs.options import BfsOptions
from bigbfs.algorithms.bfs.reference import bfs as reference_bfs
from bigbfs.algorithms.bfs.result import BfsResult, RunRecord
from bigbfs.algorithms.bfs.strategies import STRATEGIES
from bigbfs.algorithms.bfs.validate import validate_tree
from bigbfs.algorithms.internal import internal_engine
from bigbfs.bench.graphs import Variant
from bigbfs.errors import UsageError, VerificationError
from bigbfs.graph.adjacency import PlainAdjacency
from bigbfs.graph.graph import Graph
from bigbfs.record import LevelRecord, SetupRecord
from bigbfs.report.rows import REFERENCE, Levels, Row, least_bytes


@dataclass(frozen=True, slots=True)
class Contender:
    """A strategy and where it runs; ``where`` holds further arguments of ``bigbfs.engine``.

    A ``baseline`` is there for others to be compared with, and runs on the first file of a graph alone.
    """

    strategy: str
    backend: str
    residency: str = "auto"
    parents: bool = True
    baseline: bool = False
    where: dict[str, Any] = field(default_factory=dict, compare=False)

    @property
    def name(self) -> str:
        """What messages call it."""
        return "serial reference" if self.strategy == REFERENCE else f"{self.strategy} on the {self.backend.upper()}"


def require_possible(strategy: str, backend: str) -> None:
    """Refuse a strategy that ``backend`` cannot run.

    Raises
    ------
    UsageError
        It is for another backend.
    """
    able = backends_of(strategy)
    if backend not in able:
        others = ", ".join(name for name in STRATEGIES if backend in backends_of(name))
        raise UsageError(
            f"strategy {strategy!r} runs on {' and '.join(name.upper() for name in able)} alone, and this run is on "
            f"the {backend.upper()}: leave it out, or choose from {others}"
        )


def backends_of(strategy: str) -> tuple[str, ...]:
    """Return the backends that can run ``strategy``."""
    return getattr(STRATEGIES[strategy], "backends", ("cpu", "gpu"))


def lineup(
    strategies: Sequence[str], backend: str, *, baselines: bool, parents: bool, where: dict[str, Any]
) -> list[Contender]:
    """Return who takes part.

    Parameters
    ----------
    strategies
        Names; empty: all that ``backend`` can run.
    backend
        ``"cpu"`` or ``"gpu"``.
    baselines
        Also the CPU engine (beside a GPU) and the serial reference.

    Raises
    ------
    UsageError
        A strategy that is asked for cannot run on ``backend``.
    """
    for name in strategies:
        require_possible(name, backend)
    chosen = list(dict.fromkeys(strategies)) or [name for name in STRATEGIES if backend in backends_of(name)]
    residency = where.get("residency", "auto")
    rest = {name: value for name, value in where.items() if name not in ("backend", "residency")}
    found = [Contender(name, backend, residency, parents, where=rest) for name in chosen]
    if baselines:
        if backend == "gpu":
            found.append(Contender("auto", "cpu", parents=parents, baseline=True))
        found.append(Contender(REFERENCE, "serial", baseline=True))
    return found


class Runs(Protocol):
    """What an engine must offer to take part; internal vertices."""

    device: str
    residency: str
    setup: SetupRecord

    def bfs(
        self, source: int, *, max_depth: int | None = None, want_levels: bool = True, want_parents: bool = True
    ) -> BfsResult:
        """Traverse, and return arrays."""
        ...

    def traverse(
        self, source: int, *, max_depth: int | None = None, want_levels: bool = True, want_parents: bool = True
    ) -> RunRecord:
        """Traverse, and return what was measured."""
        ...


class Serial:
    """The textbook's BFS as an engine: one thread, one queue. Its clock holds the allocation of the arrays too."""

    residency = "host"

    def __init__(self, graph: Graph) -> None:
        from bigbfs.bench.machine import processor

        self.device = f"{processor()}, serial"
        self.setup = SetupRecord()
        self._graph = graph
        start = time.perf_counter()
        graph.require_valid()
        self.setup.open = time.perf_counter() - start
        self._degrees = graph.degrees()
        self._plain = graph.decompress()  # once: the reference would decode compressed rows in every run
        self._plain.declare_valid()

    def bfs(
        self, source: int, *, max_depth: int | None = None, want_levels: bool = True, want_parents: bool = True
    ) -> BfsResult:
        """Traverse, and return arrays."""
        start = time.perf_counter()
        levels, parents = reference_bfs(self._plain, source, max_depth=max_depth)
        seconds = time.perf_counter() - start
        reached = levels >= 0
        edges = int(self._degrees.sum(where=reached, dtype=np.int64))
        record = RunRecord(source, int(reached.sum()), int(levels.max()), edges, seconds)
        return BfsResult(levels, parents, record)

    def traverse(
        self, source: int, *, max_depth: int | None = None, want_levels: bool = True, want_parents: bool = True
    ) -> RunRecord:
        """Traverse, and return what was measured."""
        return self.bfs(source, max_depth=max_depth).record


@dataclass(slots=True)
class Placed:
    """A contender with its graph, which it opened itself: everybody pays for the whole way."""

    contender: Contender
    graph: Graph
    engine: Any
    opening: float
    variant: Variant
    copy_seconds: float = 0.0

    def prove(self, source: int) -> RunRecord:
        """Run once and prove the tree: what is timed afterwards is warm. Note how long its arrays took to come.

        Raises
        ------
        VerificationError
            A rule is broken.
        """
        start = time.perf_counter()
        result = self.engine.bfs(source)
        self.copy_seconds = max(0.0, time.perf_counter() - start - result.record.seconds)
        try:
            validate_tree(self.graph, source, result.levels, result.parents)
        except VerificationError as error:
            raise VerificationError(f"{self.contender.name}: {error}") from error
        record: RunRecord = result.record
        return record

    def run(self, source: int) -> RunRecord:
        """Run once."""
        record: RunRecord = self.engine.traverse(source, want_parents=self.contender.parents)
        return record

    def row(self, name: str, records: Sequence[RunRecord], switches: Sequence[int], **more: Any) -> Row:
        """Return the row of these trials from one source; ``more`` are fields of the row."""
        contender, setup = self.contender, self.engine.setup
        middle = sorted(records, key=lambda record: record.seconds)[len(records) // 2]
        checked = _checked(contender.strategy, middle)
        rows, ids = self.graph.adjacency, self.graph.ids.itemsize
        edge_bytes = ids if isinstance(rows, PlainAdjacency) else rows.blob.nbytes / max(1, self.graph.m)
        kernel_seconds = [getattr(record, "kernel_seconds", None) for record in records]
        moved = None
        if checked is not None:
            moved = least_bytes(checked, middle.reached, edge_bytes, ids, parents=contender.parents)
        return Row(
            graph=name,
            strategy=contender.strategy,
            backend=contender.backend,
            codec=self.variant.codec,
            residency=self.engine.residency,
            order=self.variant.order,
            parents=contender.parents,
            device=self.engine.device,
            source=int(self.graph.original(middle.source)),
            reached=middle.reached,
            depth=middle.depth,
            edges=middle.edges,
            verified=True,
            seconds=tuple(record.seconds for record in records),
            kernel_seconds=() if None in kernel_seconds else tuple(kernel_seconds),  # type: ignore[arg-type]
            open=self.opening + setup.open,
            start=setup.start,
            place=setup.place,
            compile=setup.compile,
            copy=self.copy_seconds,
            launches=getattr(middle, "launches", None),
            reads=getattr(middle, "reads", None),
            checked=checked,
            enqueued=_total(middle.levels, "enqueued"),
            moved_bytes=moved,
            switches=tuple(switches),
            kernels=tuple(getattr(self.engine, "kernel_attributes", tuple)()),
            **more,
        )


def _total(levels: Sequence[LevelRecord], name: str) -> int | None:
    """Return the sum of a counter over the levels, None where one of them has it not."""
    counts = [getattr(level, name, None) for level in levels]
    return None if not counts or None in counts else sum(counts)  # type: ignore[arg-type]


def _checked(strategy: str, record: RunRecord) -> int | None:
    """Return the edges read: as counted, or for one that only expands every edge of the reached."""
    counted = _total(record.levels, "checked")
    if counted is not None:
        return counted
    return None if strategy != REFERENCE and STRATEGIES[strategy].bottom_up else record.edges


def columns(levels: Sequence[LevelRecord]) -> Levels | None:
    """Return the levels of a run by column."""
    if not levels:
        return None

    def counted(name: str) -> tuple[int, ...]:
        values = [getattr(level, name, None) for level in levels]
        return () if None in values else tuple(values)  # type: ignore[arg-type]

    seconds = tuple(None if math.isnan(level.seconds) else round(level.seconds, 9) for level in levels)
    direction = "".join(level.direction[0] for level in levels)
    return Levels(direction, counted("frontier"), counted("checked"), counted("enqueued"), seconds)


@contextmanager
def placed(contender: Contender, variant: Variant) -> Iterator[Placed]:
    """Open the file of ``variant``, place it for ``contender``, and yield what can be run."""
    start = time.perf_counter()
    with Graph.open(variant.path) as graph:
        opening = time.perf_counter() - start
        if contender.backend == "serial":
            yield Placed(contender, graph, Serial(graph), opening, variant)
            return
        where = {"backend": contender.backend, "strategy": contender.strategy} | contender.where
        if contender.backend == "gpu":
            where["residency"] = contender.residency
        work = (BfsOptions(strategy=contender.strategy),)
        with internal_engine(graph, work=work, **where) as engine:
            yield Placed(contender, graph, engine, opening, variant)
