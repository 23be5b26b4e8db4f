"""The argument structs of the BFS kernels as NumPy dtypes, and the state that their pointers lead to.

``SLOT`` and ``PROGRESS`` mirror the structs of bfs.cuh field by field, each of 8 bytes. An array of the state is
declared here once: the ledger counts it, the pool makes it, and the kernels' struct gets its pointer by a define.
"""

from __future__ import annotations

import numpy as np

from bigbfs.algorithms.bfs.strategies import entry
from bigbfs.algorithms.bfs.strategies.entry import Array
from bigbfs.algorithms.bfs.strategies.persistent import ARRAYS, PROGRESS_WORDS, SLOT_WORDS
from bigbfs.engines.gpu.placement.arrays import ArraySpec, pointer_fields
from bigbfs.engines.gpu.runtime.arguments import ADJACENCY, fields
from bigbfs.engines.gpu.runtime.kernels import KernelSpec

DIRECTIONS = {1: "top-down", 2: "bottom-up"}
"""What ``SLOT.direction`` says."""

BOTTOM_UP = 2
"""The code of one of them."""

SLOT = fields(
    *("frontier", "direction", "edges", "queued", "found", "chunks", "missed", "gathered", "probed", "open"),
    *("hot", "local", "clock", "rounds"),
)
"""What one level of a BFS did."""

PROGRESS = fields(
    *("level", "begin", "count", "edges", "hot", "reached", "form", "swapped", "done", "missed", "invalid", "clock")
)
"""Where a BFS stands."""

PART = fields("width", "begin", "end", "levels", "depth", "at")
"""What the CPU has found and the device takes over at a time (adopt.cu)."""

SLOTS = 4096
"""Levels that one launch of a BFS can record."""

assert (SLOT.itemsize, PROGRESS.itemsize) == (8 * SLOT_WORDS, 8 * PROGRESS_WORDS)


def spec_of(array: Array, slots: int = SLOTS) -> ArraySpec:
    """Return what the pool makes of an array that a strategy's entry declares; ``slots`` levels can be recorded."""
    count = array.count.replace("slots", str(slots))
    return ArraySpec(array.name, array.dtype, count, array.purpose, array.zeroed, "vram", array.element)


LEVELS, PARENTS = spec_of(entry.LEVELS), spec_of(entry.PARENTS)
RESULTS = ArraySpec("results", "u8", "n * (12 + id)", "levels and parents, copied for the caller", where="host")


def arrays(slots: int = SLOTS) -> tuple[ArraySpec, ...]:
    """Return what ``struct Bfs`` has pointers to, in its order; ``slots`` levels can be recorded by a launch."""
    return tuple(spec_of(array, slots) for array in ARRAYS)


EDGES = ArraySpec("edges", "u64", "1", "edges of the reached vertices", True)

SCALARS = (
    *("slot_count", "max_depth", "bottom_up", "in_vertices", "sort_from", "defer_from", "window"),
    *("held_to", "far_rows", "thin_to", "local", "wide_from", "asks"),
    *("sweep_cost", "vertex_cost", "edge_cost", "line_cost", "claim_cost", "mark_cost", "parent_cost", "look_cost"),
)

BFS = np.dtype(
    [("out", ADJACENCY), ("in", ADJACENCY)]
    + [(name, np.uint64) for name in ("reachable", *(spec.name for spec in arrays()), *SCALARS)]
)
"""``struct Bfs`` (bfs.cuh)."""

FILE = "algorithms/bfs/gpu/bfs_traverse.cu"
DEFINES = (
    ("BFS_ARRAYS", pointer_fields(arrays())),
    ("BFS_BYTES", str(BFS.itemsize)),
    ("SLOT_BYTES", str(SLOT.itemsize)),
    ("PROGRESS_BYTES", str(PROGRESS.itemsize)),
)
ADOPT_DEFINES = (*DEFINES, ("PART_BYTES", str(PART.itemsize)))
KERNELS = (
    KernelSpec(FILE, "bfs_traverse", DEFINES, cooperative=True, team=True),
    KernelSpec(FILE, "bfs_count", DEFINES, team=True),
    KernelSpec("algorithms/bfs/gpu/adopt.cu", "bfs_adopt", ADOPT_DEFINES, team=True),
)
