"""Rows summarized: one line for each contender on each graph, with its speed-ups over those that others compare with.

Medians are over sources, of the medians over trials; the harmonic mean of GTEPS is the rate of doing all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import harmonic_mean, median
from typing import Any

from bigbfs.report.rows import REFERENCE, Record, Row

DIVISORS = ("quadratic", "serial", "cpu", "auto")
"""What speed-ups are over: ``quadratic`` of the same backend, the serial reference, ``auto`` on the CPU, ``auto``."""

SERIAL = "serial reference"
"""The contender that no strategy is."""


def label(row: Row) -> str:
    """Return the name of a row's contender: its strategy, and in what it differs from the usual way to run one."""
    if row.backend == "serial":
        return SERIAL
    words = [row.strategy]
    if row.backend == "cpu":
        words.append("CPU")
    elif row.residency != "vram":
        words.append(row.residency)
    if row.codec != "plain":
        words.append(row.codec)
    if row.order != "original":
        words.append("in an order of its own" if row.order == "kept" else f"by {row.order}")
    if not row.parents:
        words.append("no parents")
    return " ".join(words[:1]) if len(words) == 1 else f"{words[0]} ({', '.join(words[1:])})"


@dataclass(frozen=True, slots=True)
class Line:
    """One contender on one graph.

    Attributes
    ----------
    graph, contender, backend
        Names.
    sources, reached, depth, edges
        How many sources; medians over them.
    kernel, traversal, end_to_end
        Seconds, medians over sources; ``kernel`` None where unknown.
    parts
        What end-to-end is made of, in seconds: open, start, place, compile, kernel or traversal, host loop, copy.
    gteps, harmonic_gteps
        Median and harmonic mean.
    speedups
        Over each of ``DIVISORS``: how many times faster than it; those that ran.
    launches, reads, checked, enqueued
        Medians over sources, None where unknown.
    redundancy
        Entries put into queues, to vertices reached other than the source; None where unknown.
    moved_bytes, bytes_per_second
        What a traversal moves at least, and that over its time.
    registers, occupancy
        The most registers and the least occupancy of its kernels.
    disturbed, trials
        Trials that had to share the cores, of how many.
    verified, in_turn
        True where all sources are.
    """

    graph: str
    contender: str
    backend: str
    sources: int
    reached: int
    depth: int
    edges: int
    kernel: float | None
    traversal: float
    end_to_end: float
    parts: dict[str, float]
    gteps: float
    harmonic_gteps: float
    speedups: dict[str, float]
    launches: int | None
    reads: int | None
    checked: int | None
    enqueued: int | None
    redundancy: float | None
    moved_bytes: int | None
    bytes_per_second: float | None
    registers: int | None
    occupancy: float | None
    disturbed: int
    trials: int
    verified: bool
    in_turn: bool


def _middle(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return median(known) if known else None


def _whole(values: Iterable[float | None]) -> int | None:
    found = _middle(values)
    return None if found is None else round(found)


def _parts(rows: Sequence[Row]) -> dict[str, float]:
    """Return the seconds that end-to-end is made of, medians over sources."""
    found = {name: median(getattr(row, name) for row in rows) for name in ("open", "start", "place", "compile")}
    kernel, traversal = _middle(row.kernel for row in rows), median(row.traversal for row in rows)
    if kernel is None:
        found["traversal"] = traversal
    else:
        found |= {"kernels": kernel, "host loop": max(0.0, traversal - kernel)}
    return found | {"copy": median(row.copy for row in rows)}


def _attributes(rows: Sequence[Row]) -> tuple[int | None, float | None]:
    """Return the most registers and the least occupancy of the kernels."""
    kernels = [kernel for row in rows for kernel in row.kernels]
    registers = [int(kernel["registers"]) for kernel in kernels if kernel.get("registers") is not None]
    occupancy = [float(kernel["occupancy"]) for kernel in kernels if kernel.get("occupancy") is not None]
    return max(registers, default=None), min(occupancy, default=None)


def _divisor(rows: Sequence[Row], which: str, like: Row) -> dict[int, float]:
    """Return source -> seconds of the divisor ``which`` for rows like ``like``; empty where it did not run."""

    def fits(row: Row) -> bool:
        if which == "serial":
            return row.strategy == REFERENCE
        if which == "cpu":
            return row.strategy == "auto" and row.backend == "cpu" and row.codec == "plain"
        same = (row.codec, row.residency, row.order, row.parents) == (
            like.codec, like.residency, like.order, like.parents
        )  # fmt: skip
        if like.backend == "serial":  # the reference has no auto of its own: the best there is, as the others see it
            return row.strategy == which and row.codec == "plain"
        return row.strategy == which and row.backend == like.backend and same

    found: dict[int, float] = {}
    for row in rows:
        if fits(row):
            found.setdefault(row.source, row.traversal)
    return found


def _speedups(rows: Sequence[Row], mine: Sequence[Row]) -> dict[str, float]:
    """Return the median over common sources of how many times faster ``mine`` is than each divisor."""
    found = {}
    for which in DIVISORS:
        theirs = _divisor(rows, which, mine[0])
        ratios = [theirs[row.source] / row.traversal for row in mine if row.source in theirs and row.traversal > 0]
        if ratios:
            found[which] = median(ratios)
    return found


def _line(rows: Sequence[Row], mine: Sequence[Row]) -> Line:
    """Return the summary of ``mine`` among all ``rows`` of the same graph."""
    registers, occupancy = _attributes(mine)
    traversal, moved = median(row.traversal for row in mine), _whole(row.moved_bytes for row in mine)
    enqueued, reached = _whole(row.enqueued for row in mine), round(median(row.reached for row in mine))
    return Line(
        graph=mine[0].graph,
        contender=label(mine[0]),
        backend=mine[0].backend,
        sources=len(mine),
        reached=reached,
        depth=round(median(row.depth for row in mine)),
        edges=round(median(row.edges for row in mine)),
        kernel=_middle(row.kernel for row in mine),
        traversal=traversal,
        end_to_end=median(row.end_to_end for row in mine),
        parts=_parts(mine),
        gteps=median(row.gteps for row in mine),
        harmonic_gteps=harmonic_mean([row.gteps for row in mine]),
        speedups=_speedups(rows, mine),
        launches=_whole(row.launches for row in mine),
        reads=_whole(row.reads for row in mine),
        checked=_whole(row.checked for row in mine),
        enqueued=enqueued,
        redundancy=enqueued / (reached - 1) if enqueued is not None and reached > 1 else None,
        moved_bytes=moved,
        bytes_per_second=_middle(row.moved_bytes / row.traversal for row in mine if row.moved_bytes and row.traversal),
        registers=registers,
        occupancy=occupancy,
        disturbed=sum(row.disturbed for row in mine),
        trials=sum(len(row.seconds) for row in mine),
        verified=all(row.verified for row in mine),
        in_turn=all(row.in_turn for row in mine),
    )


def summarize(record: Record) -> list[Line]:
    """Return one line for each contender on each graph, in the order in which they first ran."""
    lines = []
    for graph in dict.fromkeys(row.graph for row in record.rows):
        rows = [row for row in record.rows if row.graph == graph]
        groups: dict[str, list[Row]] = {}
        for row in rows:
            groups.setdefault(label(row), []).append(row)
        lines += [_line(rows, mine) for mine in groups.values()]
    return lines


def fastest(lines: Sequence[Line]) -> dict[str, Line]:
    """Return graph -> the strategy's line with the shortest traversal; the reference's where there is no other."""
    found: dict[str, Line] = {}
    for line in sorted(lines, key=lambda line: (line.contender == SERIAL, line.traversal)):
        found.setdefault(line.graph, line)
    return found


HEADERS = (
    "strategy", "sources", "kernel ms", "traversal ms", "end to end ms", "GTEPS", "hmean",
    "x quadratic", "x serial", "x CPU", "x auto", "launches", "reads", "disturbed",
)  # fmt: skip


def cells(line: Line) -> tuple[Any, ...]:
    """Return the cells of ``HEADERS``."""
    milliseconds = [None if s is None else 1e3 * s for s in (line.kernel, line.traversal, line.end_to_end)]
    ratios = [line.speedups.get(name) for name in DIVISORS]
    shared = f"{line.disturbed} of {line.trials}" if line.disturbed else "no"
    rates = (line.gteps, line.harmonic_gteps)
    return (line.contender, line.sources, *milliseconds, *rates, *ratios, line.launches, line.reads, shared)
