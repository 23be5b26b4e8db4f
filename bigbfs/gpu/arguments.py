"""The argument structs of the kernels as NumPy dtypes, and the ``-D`` defines that go with them.

``ADJACENCY`` and ``BFS`` mirror ``struct Adjacency`` (kernels/include/adjacency.cuh) and ``struct Bfs`` (bfs.cuh)
field by field; every field is 8 bytes, so there is no padding to disagree about. Their sizes travel to the compiler
as defines and are asserted there; a test compares every offset.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

BLOCK = 256
"""Threads of a block, for every kernel."""

WARP = 32

_U8 = np.uint64

ADJACENCY = np.dtype(
    [
        ("indptr", _U8),
        ("degrees", _U8),
        ("data", _U8),
        ("hubs", _U8),
        ("hub_ptr", _U8),
        ("block_ptr", _U8),
        ("chunk_hub", _U8),
        ("rows", _U8),
        ("n", _U8),
        ("chunks", _U8),
        ("data_bytes", _U8),
    ]
)

BFS = np.dtype(
    [
        ("out", ADJACENCY),
        ("in", ADJACENCY),
        ("visited", _U8),
        ("seen", _U8),
        ("frontier", _U8),
        ("queue", _U8),
        ("levels", _U8),
        ("parents", _U8),
        ("counters", _U8),
    ]
)

COUNTERS = 4
"""uint64 counters of a BFS, in the order of ``enum Counter``."""

REACHED, EDGES, QUEUED, INVALID = range(COUNTERS)


def no_vertex(ids: np.dtype) -> int:
    """Return the id that stands for "no vertex" in device arrays of dtype ``ids``: all bits set."""
    return int(np.iinfo(ids).max)


def defines(ids: np.dtype, codec: str) -> Mapping[str, str]:
    """Return the ``-D`` defines of a kernel for ids of dtype ``ids`` and rows encoded as ``codec``."""
    return {
        "ID_BITS": str(8 * np.dtype(ids).itemsize),
        "VARINT": str(int(codec == "varint")),
        "BLOCK_THREADS": str(BLOCK),
        "ADJACENCY_BYTES": str(ADJACENCY.itemsize),
        "BFS_BYTES": str(BFS.itemsize),
    }


def struct(dtype: np.dtype, **fields: object) -> np.ndarray:
    """Return a zero-dimensional array of ``dtype`` with ``fields`` set: a struct that a kernel takes by value."""
    value = np.zeros((), dtype)
    for name, field in fields.items():
        value[name] = field
    return value
