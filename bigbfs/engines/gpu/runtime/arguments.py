"""The argument structs of the kernels as NumPy dtypes, and the ``-D`` defines that go with them.

``ADJACENCY`` mirrors ``struct Adjacency`` (kernels/rows/adjacency.cuh) field by field, ``COUNTS`` that of passes.cuh,
``PIECE``, ``PIECE_LIST`` and ``TABLES`` those of streamed rows; the structs of one algorithm are in its folder. Every
field is 8 bytes, so there is no padding to disagree about. Their sizes travel to the compiler as defines and are
asserted there; a test compares every offset.
"""

from __future__ import annotations

import numpy as np

BLOCK = 256
"""Threads of a block, for every kernel."""

WARP = 32

LINE = 128
"""Bytes of a line: what a warp reads at once, and what a read of a row takes at least."""

TEAM = 1024
"""Threads of a block of a kernel that holds the whole device, one block to a multiprocessor."""

HEAD_GROUP = 4
"""Heads of a vertex that lie side by side (kernels/rows/heads.cuh)."""

_RENUMBERED = ", renumbered"


def fields(*names: str) -> np.dtype:
    """Return a struct of fields of 8 bytes."""
    return np.dtype([(name, np.uint64) for name in names])


ADJACENCY = fields(
    *("indptr", "degrees", "data", "hubs", "hub_ptr", "block_ptr", "chunk_hub", "rows", "heads", "hot", "hot_ptr"),
    *("n", "chunks", "data_bytes", "hub_count", "head_groups", "hot_from", "hot_bytes"),
    *("near", "near_begin", "near_end", "head_rows", "head_skip", "numbers", "file_n"),
)

COUNTS = fields("invalid", "read", "merged", "open")
"""What passes over the rows count for components (kernels/passes/passes.cuh)."""

PIECE = fields("first", "vertices", "begin", "end", "moved")
"""Rows of a batch that was read from the file (kernels/rows/piece.cuh)."""

PIECE_LIST = fields("words", "capacity", "begin", "end")
"""Where pieces are put that the device lists (kernels/placement/streamed_pieces.cu)."""

TABLES = fields("heads", "hot", "hot_ptr", "hot_from", "invalid", "ranked")
"""What is made of the rows while they are read for the first time (kernels/placement/streamed_place.cu)."""


def no_vertex(ids: np.dtype) -> int:
    """Return the id that stands for "no vertex" in device arrays of dtype ``ids``: all bits set."""
    return int(np.iinfo(ids).max)


def team_of(capability: tuple[int, int]) -> int:
    """Return the threads of a team for 32-bit ids: before capability 9.0 each needs more registers."""
    return TEAM if capability >= (9, 0) else TEAM // 2


def team_threads(team: int, ids: np.dtype) -> int:
    """Return the threads of a team for ids of dtype ``ids``, where 32-bit ids have ``team``."""
    return team * 4 // np.dtype(ids).itemsize


def renumbered(codec: str) -> str:
    """Return the ``codec`` of rows whose ids kernels look up as they read them (kernels/rows/numbers.cuh)."""
    return codec + _RENUMBERED


def defines(ids: np.dtype, codec: str) -> dict[str, str]:
    """Return the ``-D`` defines of every kernel for ids of dtype ``ids`` and rows encoded as ``codec``: ``"plain"`` or
    ``"varint"``, or what ``renumbered`` makes of it."""
    encoding = codec.removesuffix(_RENUMBERED)
    return {
        "ID_BITS": str(8 * np.dtype(ids).itemsize),
        "VARINT": str(int(encoding == "varint")),
        "RENUMBERED": str(int(encoding != codec)),
        "ADJACENCY_BYTES": str(ADJACENCY.itemsize),
        "COUNTS_BYTES": str(COUNTS.itemsize),
        "PIECE_BYTES": str(PIECE.itemsize),
        "PIECE_LIST_BYTES": str(PIECE_LIST.itemsize),
        "TABLES_BYTES": str(TABLES.itemsize),
    }


def struct(dtype: np.dtype, **fields: object) -> np.ndarray:
    """Return a zero-dimensional array of ``dtype`` with ``fields`` set: a struct that a kernel takes by value."""
    value = np.zeros((), dtype)
    for name, field in fields.items():
        value[name] = field
    return value
