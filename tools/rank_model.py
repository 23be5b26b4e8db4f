"""What a search of the largest graphs would take over many GPUs, by a model: the tables of docs/distributed.md.

    python tools/rank_model.py

A search is a first level told by claims, two wide ones by bitmaps of the vertices that have edges, and a tail by lists.
1-D: every machine receives the bits of all. 2-D (rows and columns of a grid of GPUs): 3 / sqrt(P) of them, but each GPU
others than its neighbour, so GPUs of a machine share its link. Nothing here was run; inputs are marked in ``INPUTS``.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

INPUTS = {
    "ps_plain": 16.1,  # measured: H200, R-MAT 26 by degree, for each vertex
    "ps_varint": 19.0,  # measured there, compressed
    "ps_web": 60.0,  # a guess for a crawl
    "machine_gpus": 8,
    "machine_bytes": 360e9,  # assumed: 8 cards of 400 Gb/s, and NVLink within a machine
    "level_seconds": 12e-6,  # assumed, flags in peer memory
    "far_level_seconds": 40e-6,  # assumed, a collective between machines
    "gpu_bytes": 139 * 2**30,
}
LEVELS = 6


@dataclass(frozen=True)
class Work:
    """A graph: vertices, the share of those with edges, stored edges, bytes of each, picoseconds of a vertex."""

    name: str
    n: float
    busy: float
    arcs: float
    arc_bytes: float
    ps: float


def graph500(scale: int) -> Work:
    """Return the Kronecker graph of a ``scale``; the share of vertices with edges falls, as counted on small ones."""
    busy = 0.326 - 0.0152 * (scale - 36)
    return Work(f"Graph500 {scale}", 2.0**scale, busy, 2.0 ** (scale + 5), 2.0, INPUTS["ps_varint"])


WDC = Work("WDC 2012", 3.56e9, 0.95, 225.8e9, 2.0, INPUTS["ps_web"])

ROWS = (
    (WDC, 4), (WDC, 8), (WDC, 64), (graph500(36), 64), (graph500(36), 512), (graph500(38), 512), (graph500(40), 2048),
    (graph500(41), 8192),
)  # fmt: skip


def told(work: Work, gpus: int) -> float:
    """Return the bytes that a machine receives in a search, 1-D."""
    bitmaps = 2 * work.n * work.busy / 8
    tail = 0.02 * work.n
    claims = 0.037 * work.n * (2 / gpus) ** 0.45
    return (bitmaps + tail + claims) * (gpus - 1) / gpus


def memory(work: Work, gpus: int, grid: bool) -> float:
    """Return the bytes of a GPU: offsets, heads, levels, parents, edges, and three bitmaps."""
    bitmaps = 3 * work.n * work.busy / 8
    own = (8 + 32 + 4 + 4) * work.n * work.busy + work.arc_bytes * work.arcs
    return own / gpus + (bitmaps * 3 / sqrt(gpus) if grid else bitmaps)


def seconds(work: Work, gpus: int, grid: bool) -> tuple[float, float]:
    """Return the seconds of a search, and those of its exchange."""
    far = gpus > INPUTS["machine_gpus"]
    calls = LEVELS * INPUTS["far_level_seconds" if far else "level_seconds"]
    moved, rate = told(work, gpus), INPUTS["machine_bytes"]
    if grid:
        moved *= 3 / sqrt(gpus)
        rate /= INPUTS["machine_gpus"] if far else 1
    exchange = moved / rate + calls
    return work.n * work.ps * 1e-12 / gpus + exchange, exchange


def table() -> str:
    """Return the table as Markdown."""
    lines = [
        "| graph | GPUs | GB a GPU 1-D, 2-D | 1-D ms (exchange) | 2-D ms (exchange) | TTEPS (Graph500): 1-D, 2-D |",
        "|---|---|---|---|---|---|",
    ]
    for work, gpus in ROWS:
        needs = [memory(work, gpus, grid) for grid in (False, True)]
        times = [seconds(work, gpus, grid) for grid in (False, True)]
        sizes = ", ".join(f"{need / 1e9:.0f}" + (" (no)" if need > INPUTS["gpu_bytes"] else "") for need in needs)
        shown = [f"{1e3 * total:.1f} ({exchange / total:.0%})" for total, exchange in times]
        rates = ", ".join(f"{work.arcs / 2 / total / 1e12:.1f}" for total, _ in times)
        lines.append(f"| {work.name} | {gpus:,} | {sizes} | {shown[0]} | {shown[1]} | {rates} |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(table())
