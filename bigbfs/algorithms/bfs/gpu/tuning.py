"""The numbers that the persistent loop is tuned by; tests and studies give others."""

from __future__ import annotations

from dataclasses import dataclass

from bigbfs.algorithms.bfs.gpu.costs import Costs

SLOTS = 4096


@dataclass(frozen=True)
class Tuning:
    """How the persistent loop decides; measured on one H200 (docs/performance.md).

    Attributes
    ----------
    sort_from
        Vertices of a top-down frontier that are put into order when their rows lie in host memory: the rows of fewer
        lie so far apart that each of them costs a translation of its address in any order.
    defer_from_mapped, defer_from_vram
        By residency: vertices whose heads are not expected to decide from which on a bottom-up level puts their rows
        off.
    window_bytes
        Host memory that is read from at a time: over a window of 256 MiB and less the link keeps its full rate.
    thin_to
        Vertices of a frontier that one block expands alone: a barrier of a block costs a fiftieth of the grid's.
    local
        Whether frontiers of few edges stay in the shared memory of the blocks that found them.
    slots
        Levels that one launch can record.
    costs
        What a level is predicted to cost; None: by residency and device.
    """

    sort_from: int = 1 << 16
    defer_from_mapped: int = 1 << 15
    defer_from_vram: int = 1 << 17
    window_bytes: int = 128 << 20
    thin_to: int = 1024
    local: bool = True
    slots: int = SLOTS
    costs: Costs | None = None


DEFAULT = Tuning()
