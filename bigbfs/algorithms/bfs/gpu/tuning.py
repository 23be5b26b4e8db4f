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
    wide
        Plain rows, unless they are mapped and in degree order: top-down levels of at least n / ``wide`` edges may be
        wide (wide.cuh); 0: none.
    asks
        Whether an edge of a wide level asks whether its end is found before it says so.
    alike
        Where several GPUs each have all rows: each goes through a bottom-up level for itself if that can find at most
        n / ``alike`` vertices.
    slots
        Levels that one launch can record.
    costs
        What a level is predicted to cost; None: by residency and device.
    look
        Levels of the first launch: so many, and it is asked whether the CPU would be quicker with what follows. 0:
        never. About as many as there and back takes.
    load_seconds
        Seconds that launches of such levels must have taken before the CPU is made ready, which takes that long.
    walk_edges
        Edges of a level up to which the CPU walks on; None: as many as take it the time of a level of the device.
    cpu_edge_ns
        Nanoseconds that it takes for an edge, until it has walked: what it has read is in its caches.
    """

    sort_from: int = 1 << 16
    defer_from_mapped: int = 1 << 15
    defer_from_vram: int = 1 << 17
    window_bytes: int = 128 << 20
    thin_to: int = 1024
    local: bool = True
    wide: int = 16
    asks: bool = False
    alike: int = 64
    slots: int = SLOTS
    costs: Costs | None = None
    look: int = 64
    load_seconds: float = 0.5
    walk_edges: int | None = None
    cpu_edge_ns: float = 5


DEFAULT = Tuning()
