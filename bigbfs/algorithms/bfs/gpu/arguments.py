"""The argument structs of the BFS kernels as NumPy dtypes, and the state that their pointers lead to.

``SLOT`` and ``PROGRESS`` mirror the structs of bfs.cuh field by field, each of 8 bytes. An array of the state is
declared here once: the ledger counts it, the pool makes it, and the kernels' struct gets its pointer by a define.
"""

from __future__ import annotations

import numpy as np

from bigbfs.engines.gpu.placement.arrays import ArraySpec, pointer_fields
from bigbfs.engines.gpu.runtime.arguments import ADJACENCY, fields
from bigbfs.engines.gpu.runtime.kernels import KernelSpec

DIRECTIONS = {1: "top-down", 2: "bottom-up"}
"""What ``SLOT.direction`` says."""

SLOT = fields(
    *("frontier", "direction", "edges", "queued", "found", "chunks", "missed", "gathered", "probed", "open"),
    *("hot", "local", "clock", "rounds"),
)
"""What one level of a BFS did."""

PROGRESS = fields(
    *("level", "begin", "count", "edges", "hot", "reached", "form", "swapped", "done", "missed", "invalid", "clock")
)
"""Where a BFS stands."""

SLOTS = 4096
"""Levels that one launch of a BFS can record."""

LEVELS = ArraySpec("levels", "i32", "n", "result")
PARENTS = ArraySpec("parents", "id", "n", "result")
RESULTS = ArraySpec("results", "u8", "n * (12 + id)", "levels and parents, copied for the caller", where="host")


def _words(struct: np.dtype) -> int:
    """Return how many words of 64 bits ``struct`` has."""
    return struct.itemsize // 8


def arrays(slots: int = SLOTS) -> tuple[ArraySpec, ...]:
    """Return what ``struct Bfs`` has pointers to, in its order; ``slots`` levels can be recorded by a launch."""
    return (
        ArraySpec("visited", "u32", "words", "bitmap: vertices reached"),
        ArraySpec("frontier", "u32", "words", "bitmap: vertices to expand (bottom-up)"),
        ArraySpec("next", "u32", "words", "bitmap: vertices found by the level in progress (bottom-up)"),
        ArraySpec("open", "u32", "words", "bitmap: vertices whose rows are put off (bottom-up)"),
        ArraySpec("queue", "id", "n", "frontiers one behind the other; labels of the components"),
        ArraySpec("chunk_list", "u32", "chunks", "chunks of hubs to be read in a level"),
        LEVELS,
        PARENTS,
        ArraySpec("slots", "u64", f"{slots} * {len(SLOT.names or ())}", "what each level did", True, "vram", "Slot"),
        ArraySpec(
            "progress", "u64", f"{len(PROGRESS.names or ())}", "where a traversal stands", True, "vram", "Progress"
        ),
        ArraySpec("meeting", "u32", "1", "where the blocks of the grid meet", True),
    )


EDGES = ArraySpec("edges", "u64", "1", "edges of the reached vertices", True)

SCALARS = (
    *("slot_count", "max_depth", "bottom_up", "in_vertices", "sort_from", "defer_from", "window"),
    *("thin_to", "local"),
    *("sweep_cost", "vertex_cost", "edge_cost", "line_cost"),
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
KERNELS = (
    KernelSpec(FILE, "bfs_traverse", DEFINES, cooperative=True, team=True),
    KernelSpec(FILE, "bfs_count", DEFINES, team=True),
)
