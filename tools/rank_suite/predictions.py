"""What a measurement will take, said before it is run: of CPU ranks by the model of ``bigbfs plan --ranks``, of GPUs on
paper, by that of ``tools/rank_model.py``.

Both are 1-D: work shared by the ranks, and an exchange. Predicted are seconds, the share of the exchange in them, and
the bytes that all ranks together tell one another by calls (CPU) or over the links (GPU).
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

import rank_model

from bigbfs.algorithms.bfs.ranks import model
from bigbfs.config import RankRates
from rank_suite.cases import Measurement

COMPONENTS_WORK = 4.1
"""Linking by one thread of one rank over a search by it: 135 and 33 ms, docs/notebook/cpu-ranks.md."""

COMPONENTS_LEVELS = 2
"""Exchanges of components on GPUs, each of which waits as a level does."""

PAIRS_OF_ROADS = 0.35 * 8
"""Bytes for each vertex of a road: 0.2 to 0.4 n pairs of 8 bytes were counted; power laws and uniform graphs: none."""

TOP_DOWN_BYTES = 3.4
"""Bytes of claims into a rank for each vertex, all levels top-down: 6.8 n by two ranks, 27 n by eight were counted."""

POINTED_BYTES = 16
"""Of a vertex, read and written by every GPU when it points all vertices at their roots, twice."""
DEVICE_BYTES_PER_SECOND = 4.2e12
"""Measured on an H200: what a kernel reads of its own memory."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What a prediction for CPU ranks knows of a graph: vertices, those with edges, stored edges."""

    n: int
    busy: int
    m: int


def work_of(measurement: Measurement) -> rank_model.Work:
    """Return the graph of ``measurement`` as the model on paper knows it, from its parameters alone.

    A vertex of other kinds than those named here is taken to have 32 stored edges.
    """
    row, given = measurement.row, measurement.parameters
    n = float(given["rows"] * given["columns"] if "rows" in given else given.get("vertices") or 2 ** given["scale"])
    ps = float(row.picoseconds.get(measurement.work, 0.0))
    degree = {"road": given.get("degree", 2.5), "grid2d": 4.0}.get(row.kind, 2.0 * given.get("edge_factor", 16))
    busy = rank_model.graph500(given["scale"]).busy if row.kind == "kronecker" else 1.0
    return rank_model.Work(row.name, n, busy, degree * n, 4.0 if row.codec == "plain" else 2.0, ps)


def of_gpus(measurement: Measurement) -> dict[str, Any]:
    """Return what ``measurement`` will take by the model on paper."""
    row, work = measurement.row, work_of(measurement)
    gpus = 1 if row.may_stay(measurement.work) else measurement.ranks
    total, moved = work.n * work.ps * 1e-12 / gpus, 0.0
    exchange = 0.0
    if gpus > 1:
        moved = _told(measurement, work)
        levels = COMPONENTS_LEVELS if measurement.work == "cc" else max(row.levels, rank_model.LEVELS)
        exchange = moved / rank_model.INPUTS["machine_bytes"] + levels * rank_model.INPUTS["level_seconds"]
        total += exchange
        if measurement.work == "cc":
            total += POINTED_BYTES * work.n / DEVICE_BYTES_PER_SECOND
    return {
        "model": "tools/rank_model.py",
        "inputs": row.picoseconds | {"origin": row.origin},
        "seconds": total,
        "exchange_seconds": exchange,
        "share": exchange / total,
        "bytes": moved * gpus,
        "place": work.n * row.picoseconds.get("place", 0.0) * 1e-12 / gpus or None,
    }


def _told(measurement: Measurement, work: rank_model.Work) -> float:
    """Return the bytes into a GPU."""
    if measurement.work == "cc":
        return work.n / 8 * (measurement.ranks - 1) / measurement.ranks + _pairs(measurement, work.n)
    if measurement.row.strategy == "topdown":
        return TOP_DOWN_BYTES * work.n
    return rank_model.told(work, measurement.ranks)


def _pairs(measurement: Measurement, n: float) -> float:
    """Return the bytes of names of trees that one rank tells the others: many only where the graph is like a road."""
    return PAIRS_OF_ROADS * n if measurement.row.kind in ("road", "grid2d") else 0.0


def of_cpus(measurement: Measurement, facts: Facts, rates: RankRates, cores: int) -> dict[str, Any]:
    """Return what ``measurement`` will take by the model that ``bigbfs plan --ranks`` has, with ``rates``.

    Ranks of more threads than there are ``cores`` take turns: their work takes as much longer.
    """
    row = measurement.row
    run = model.Run(facts.n, facts.busy, facts.m, measurement.ranks, 1, row.threads, common=True)
    if measurement.work == "bfs":
        levels = model.predict(run, rates)
        usual = sum(level.levels for level in levels)
        calls = model.call_seconds(run, rates) * max(0, row.levels - usual) if run.ranks > 1 else 0.0
        work, exchange = sum(level.work for level in levels), sum(level.exchange for level in levels) + calls
        moved = sum(level.bytes for level in levels if level.told != "window") * run.ranks
    else:
        alone = facts.busy * rates.vertex_seconds / row.threads
        work = COMPONENTS_WORK * alone / run.ranks
        exchange, moved = 0.0, 0.0  # one state, of which all see all
    work *= max(1.0, run.ranks * row.threads / cores)
    return {
        "model": "bigbfs plan --ranks",
        "inputs": asdict(rates) | {"cores": cores},
        "seconds": work + exchange,
        "exchange_seconds": exchange,
        "share": exchange / (work + exchange),
        "bytes": moved,
        "place": None,
    }


def memory_of_a_gpu(measurement: Measurement) -> float:
    """Return about how many bytes a GPU needs for ``measurement``; edges that stay on the host are not counted."""
    work = work_of(measurement)
    if measurement.row.residency != "vram":
        work = replace(work, arc_bytes=0.0)
    return rank_model.memory(work, measurement.ranks, grid=False)
