"""What takes part in a bench: strategies on an engine, and the serial reference; placed, proved and timed alike."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bigbfs.algorithms.bfs.options import BfsOptions
from bigbfs.algorithms.bfs.reference import bfs as reference_bfs
from bigbfs.algorithms.bfs.result import BfsResult, RunRecord
from bigbfs.algorithms.bfs.strategies import STRATEGIES
from bigbfs.algorithms.bfs.validate import validate_tree
from bigbfs.algorithms.internal import internal_engine
from bigbfs.bench.directions import Directions
from bigbfs.bench.graphs import Variant
from bigbfs.bench.machine import processor
from bigbfs.errors import UsageError, VerificationError
from bigbfs.graph.adjacency import PlainAdjacency
from bigbfs.graph.graph import Graph
from bigbfs.jit import compiling
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
    def goes_up(self) -> bool:
        """Whether its levels may search for parents."""
        return self.strategy != REFERENCE and STRATEGIES[self.strategy].bottom_up

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
    return STRATEGIES[strategy].backends


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


class Serial:
    """The textbook's BFS as an engine: one thread, one queue. Its clock holds the allocation of the arrays too."""

    backend = "serial"
    residency = "host"

    def __init__(self, graph: Graph) -> None:
        self.device = f"{processor()}, serial"
        self.setup = SetupRecord()
        passed = compiling.clock()
        graph.require_valid()
        self.setup.open, self.setup.compile = passed()
        self._degrees = graph.degrees()
        self._plain = graph.decompress()  # once: the reference would decode compressed rows in every run
        self._plain.declare_valid()

    def run(self, work: BfsOptions) -> BfsResult:
        """Traverse."""
        start = time.perf_counter()
        levels, parents = reference_bfs(self._plain, work.source)
        seconds = time.perf_counter() - start
        reached = levels >= 0
        edges = int(self._degrees.sum(where=reached, dtype=np.int64))
        record = RunRecord(work.source, int(reached.sum()), int(levels.max()), edges, seconds)
        return BfsResult(levels, parents, record)

    def program(self, work: BfsOptions) -> Serial:
        """Return what proves results."""
        return self

    def verify(self, work: BfsOptions, result: BfsResult) -> None:
        """Prove ``result`` right; VerificationError if a rule is broken."""
        validate_tree(self._plain, work.source, result.levels, result.parents)


@dataclass(slots=True)
class Placed:
    """A contender with its graph, which it opened itself: everybody pays for the whole way."""

    contender: Contender
    graph: Graph
    engine: Any
    opening: float
    variant: Variant
    copy_seconds: float = 0.0
    kernel_seconds: tuple[float, ...] = ()
    kernels: tuple[dict[str, Any], ...] | None = None

    def search(self, source: int, **more: Any) -> BfsOptions:
        """Return a search from ``source``; ``more`` are fields of the options."""
        strategy = "auto" if self.contender.strategy == REFERENCE else self.contender.strategy
        return BfsOptions(source, strategy=strategy, **more)

    def prove(self, source: int) -> BfsResult:
        """Run once and prove the tree, on a GPU where it lies: what is timed afterwards is warm.

        Note how long the arrays took to come, and what the kernels take alone.

        Raises
        ------
        VerificationError
            A rule is broken.
        """
        work, start = self.search(source), time.perf_counter()
        result: BfsResult = self.engine.run(work)
        self.copy_seconds = max(0.0, time.perf_counter() - start - result.record.seconds)
        try:
            self.engine.program(work).verify(work, result)
        except VerificationError as error:
            raise VerificationError(f"{self.contender.name}: {error}") from error
        if self.engine.backend == "gpu":
            self._look_at_kernels(source)
        return result

    def _look_at_kernels(self, source: int) -> None:
        from bigbfs.engines.gpu.kernel_facts import kernel_attributes, kernel_seconds

        work = self.search(source, want_parents=self.contender.parents, fetch=False)
        self.kernel_seconds = (kernel_seconds(self.engine, work),)
        if self.kernels is None:
            self.kernels = kernel_attributes(self.engine, work)

    @property
    def setting_up(self) -> float:
        """Seconds that setting up has taken so far; programs are made when they are first run."""
        return self.engine.setup.place + self.engine.setup.compile

    def run(self, source: int) -> RunRecord:
        """Run once; the tree stays where it is."""
        work = self.search(source, want_parents=self.contender.parents, fetch=False)
        record: RunRecord = self.engine.run(work).record
        return record

    def row(
        self, name: str, records: Sequence[RunRecord], switches: Sequence[int], ways: Directions | None, **more: Any
    ) -> Row:
        """Return the row of these trials from one source; ``more`` are fields of the row."""
        contender, setup = self.contender, self.engine.setup
        middle = sorted(records, key=lambda record: record.seconds)[len(records) // 2]
        checked = _checked(contender.strategy, middle, ways)
        rows, ids = self.graph.adjacency, self.graph.ids.itemsize
        edge_bytes = ids if isinstance(rows, PlainAdjacency) else rows.blob.nbytes / max(1, self.graph.m)
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
            kernel_seconds=self.kernel_seconds,
            open=self.opening + setup.open,
            start=setup.start,
            place=setup.place,
            compile=setup.compile,
            copy=self.copy_seconds,
            launches=middle.launches,
            reads=middle.reads,
            checked=checked,
            enqueued=_total(level.enqueued for level in middle.levels),
            moved_bytes=moved,
            switches=tuple(switches),
            kernels=self.kernels or (),
            **more,
        )


def _total(counts: Iterable[int | None]) -> int | None:
    """Return the sum of a counter over the levels, None where one of them has it not."""
    known = list(counts)
    return None if not known or None in known else sum(known)  # type: ignore[arg-type]


def _letters(levels: Sequence[LevelRecord]) -> str:
    return "".join(level.direction[0] for level in levels)


def _checked(strategy: str, record: RunRecord, ways: Directions | None) -> int | None:
    """Return the edges read: as counted; for one that only expands, every edge of the reached; else from the tree."""
    counted = _total(level.checked for level in record.levels)
    if counted is not None:
        return counted
    if strategy == REFERENCE or not STRATEGIES[strategy].bottom_up:
        return record.edges
    read = None if ways is None else ways.read(_letters(record.levels))
    return None if read is None else sum(read)


def columns(levels: Sequence[LevelRecord], ways: Directions | None) -> Levels | None:
    """Return the levels of a run by column; ``ways``: what each would read in either direction."""
    if not levels:
        return None

    def counted(values: Iterable[int | None]) -> tuple[int, ...]:
        known = list(values)
        return () if None in known else tuple(known)  # type: ignore[arg-type]

    direction = _letters(levels)
    checked = counted(level.checked for level in levels) or (ways.read(direction) if ways else None) or ()
    seconds = tuple(None if math.isnan(level.seconds) else round(level.seconds, 9) for level in levels)
    enqueued = counted(level.enqueued for level in levels)
    frontier, count = tuple(level.frontier for level in levels), len(levels)
    both = (ways.down[:count], ways.up[:count]) if ways else ((), ())
    return Levels(direction, frontier, checked, enqueued, seconds, *both)


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
