"""The argument structs of the kernels as NumPy dtypes, and the ``-D`` defines that go with them.

``ADJACENCY`` mirrors ``struct Adjacency`` (kernels/rows/adjacency.cuh) field by field, ``BFS``, ``SLOT`` and
``PROGRESS`` the structs of bfs.cuh, ``COUNTS`` that of passes.cuh, ``PIECE``, ``SEARCH`` and ``TABLES`` those of
streamed rows; every field is 8 bytes, so there is no padding to disagree about. Their sizes travel to the compiler as
defines and are asserted there; a test compares every offset.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

BLOCK = 256
"""Threads of a block, for every kernel."""

WARP = 32

_U8 = np.uint64

TEAM = 1024
"""Threads of a block of a kernel that holds the whole device, one block to a multiprocessor."""

HEAD_GROUP = 4
"""Heads of a vertex that lie side by side (kernels/rows/heads.cuh)."""


def _fields(*names: str) -> np.dtype:
    """Return a struct of fields of 8 bytes."""
    return np.dtype([(name, _U8) for name in names])


ADJACENCY = _fields(
    *("indptr", "degrees", "data", "hubs", "hub_ptr", "block_ptr", "chunk_hub", "rows", "heads", "hot", "hot_ptr"),
    *("n", "chunks", "data_bytes", "hub_count", "head_groups", "hot_from", "hot_bytes"),
    *("near", "near_begin", "near_end", "head_skip"),
)

BFS = np.dtype(
    [("out", ADJACENCY), ("in", ADJACENCY)]
    + [
        (name, _U8)
        for name in (
            *(
                "reachable",
                "visited",
                "frontier",
                "next",
                "open",
                "queue",
                "chunk_list",
                "levels",
                "parents",
                "slots",
                "progress",
                "meeting",
            ),
            *("slot_count", "max_depth", "bottom_up", "in_vertices", "sort_from", "defer_from", "window"),
            *("thin_to", "local"),
            *("sweep_cost", "vertex_cost", "edge_cost", "line_cost"),
        )
    ]
)

SLOT = _fields(
    *("frontier", "direction", "edges", "queued", "found", "chunks", "missed", "gathered", "probed", "open"),
    *("hot", "local", "clock", "rounds"),
)
"""What one level of a BFS did."""

PROGRESS = _fields(
    *("level", "begin", "count", "edges", "hot", "reached", "form", "swapped", "done", "missed", "invalid", "clock")
)
"""Where a BFS stands."""

COUNTS = _fields("invalid", "read", "merged", "open")
"""What passes over the rows count for components (kernels/passes/passes.cuh)."""

PIECE = _fields("first", "vertices", "begin", "end", "moved")
"""Rows of a batch that was read from the file (kernels/rows/piece.cuh)."""

SEARCH = _fields("visited", "frontier", "next", "wanted", "levels", "parents", "counts", "level")
"""The state of a BFS whose levels the host runs (algorithms/bfs/gpu/streamed.cuh)."""

TABLES = _fields("heads", "hot", "hot_ptr", "hot_from", "invalid", "ranked")
"""What is made of the rows while they are read for the first time (kernels/placement/streamed_place.cu)."""

DIRECTIONS = {1: "top-down", 2: "bottom-up"}
"""What ``SLOT.direction`` says."""


def no_vertex(ids: np.dtype) -> int:
    """Return the id that stands for "no vertex" in device arrays of dtype ``ids``: all bits set."""
    return int(np.iinfo(ids).max)


def team_of(capability: tuple[int, int]) -> int:
    """Return the threads of a team for 32-bit ids: before capability 9.0 each needs more registers."""
    return TEAM if capability >= (9, 0) else TEAM // 2


def team_threads(team: int, ids: np.dtype) -> int:
    """Return the threads of a team for ids of dtype ``ids``, where 32-bit ids have ``team``."""
    return team * 4 // np.dtype(ids).itemsize


def defines(ids: np.dtype, codec: str, team: int = TEAM) -> Mapping[str, str]:
    """Return the ``-D`` defines of a kernel for ids of dtype ``ids``, rows encoded as ``codec``, and teams of ``team``
    threads where ids have 32 bits."""
    return {
        "ID_BITS": str(8 * np.dtype(ids).itemsize),
        "VARINT": str(int(codec == "varint")),
        "TEAM_THREADS": str(team_threads(team, ids)),
        "ADJACENCY_BYTES": str(ADJACENCY.itemsize),
        "BFS_BYTES": str(BFS.itemsize),
        "SLOT_BYTES": str(SLOT.itemsize),
        "PROGRESS_BYTES": str(PROGRESS.itemsize),
        "COUNTS_BYTES": str(COUNTS.itemsize),
        "PIECE_BYTES": str(PIECE.itemsize),
        "SEARCH_BYTES": str(SEARCH.itemsize),
        "TABLES_BYTES": str(TABLES.itemsize),
    }


def struct(dtype: np.dtype, **fields: object) -> np.ndarray:
    """Return a zero-dimensional array of ``dtype`` with ``fields`` set: a struct that a kernel takes by value."""
    value = np.zeros((), dtype)
    for name, field in fields.items():
        value[name] = field
    return value
