"""What a level of a BFS is predicted to cost, in picoseconds: the constants behind the choice of its direction.

Only their proportions matter. Measured on one H200 with PCIe 5.0 x16: a line of 128 bytes over the link takes 2.5 ns
when addresses ascend, 0.04 ns from device memory (docs/performance.md). For another device, whose rates are in a
profile (``bigbfs probe``), they are scaled by its rates over those of the H200.
"""

from __future__ import annotations

from dataclasses import dataclass

from bigbfs.config import DeviceProfile


@dataclass(frozen=True, slots=True)
class Costs:
    """Picoseconds: a ``sweep`` over the bitmaps; the heads of a ``vertex``; an ``edge``; a ``line`` of a row. Top-down
    besides: a vertex found (``claim``); in a wide level (wide.cuh) an edge (``mark``), a vertex found (``parent``); in
    a mixed one an edge (``look``), most of which lead to who has been found; 0: there are none."""

    sweep: int
    vertex: int
    edge: int
    line: int
    claim: int = 100
    mark: int = 10
    parent: int = 35
    look: int = 0


BARRIERS = 4_000_000
"""Picoseconds of the phases that a sweep comes with, at ``BARRIER_SECONDS`` each barrier."""

BARRIER_SECONDS = 1.5e-6
MEMORY_RATE = 4.3e12
"""Bytes read and written per second in device memory where the costs below were measured."""


def costs(n: int, residency: str, profile: DeviceProfile | None = None) -> Costs:
    """Return the costs for a graph of ``n`` vertices whose edges live in ``"vram"`` or are ``"mapped"``.

    Parameters
    ----------
    n
        Vertices.
    residency
        Where the edges live.
    profile
        Rates of the device; None: those of an H200.
    """
    barrier = slower = 1.0
    line = 2500 if residency == "mapped" else 40
    if profile is not None:
        barrier = profile.barrier_seconds / BARRIER_SECONDS
        slower = MEMORY_RATE / profile.memory_bytes_per_second
        line = round(1e12 / profile.link_lines_per_second) if residency == "mapped" else round(40 * slower)
    # a sweep reads four words of 32 vertices at 3 TB/s
    sweep = round(BARRIERS * barrier) + int(n // 6 * slower)
    vertex, edge, claim, mark, parent, look = (round(each * slower) for each in (12, 35, 100, 10, 35, 4))
    return Costs(sweep, vertex, edge, line, claim, mark, parent, look)
