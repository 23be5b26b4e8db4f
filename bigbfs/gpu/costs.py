"""What a level of a BFS is predicted to cost, in picoseconds: the constants behind the choice of its direction.

Only their proportions matter. Measured on one H200 with PCIe 5.0 x16: a line of 128 bytes over the link takes 2.5 ns
when addresses ascend, 0.04 ns from device memory (docs/performance.md).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Costs:
    """Picoseconds: a ``sweep`` over the bitmaps; the heads of a ``vertex``; an ``edge``; a ``line`` of a row."""

    sweep: int
    vertex: int
    edge: int
    line: int


BARRIERS = 4_000_000
"""Picoseconds of the phases that a sweep comes with."""


def costs(n: int, residency: str) -> Costs:
    """Return the costs for a graph of ``n`` vertices whose edges live in ``"vram"`` or are ``"mapped"``."""
    # four words of 32 vertices at 3 TB/s
    return Costs(sweep=BARRIERS + n // 6, vertex=12, edge=35, line=2500 if residency == "mapped" else 40)
