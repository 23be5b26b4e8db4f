"""The buffers of a run whose edges stay in the file, and how large they are made.

In: a graph (only its sizes are looked at), groups of heads, bytes for the stages. Out: ``Buffer`` objects, named after
the arrays of ``StreamedAdjacency``. What the host itself looks into,
offsets and the tables of hubs, is mapped from the file: the kernel may drop those pages and read them again, so that
they count as the file.
"""

from __future__ import annotations

from bigbfs.engines.gpu.placement.hot import GRAIN
from bigbfs.engines.gpu.placement.ledger import Buffer, adjacencies, grain, rows_of
from bigbfs.engines.gpu.runtime.arguments import PIECE
from bigbfs.graph.adjacency import CompressedAdjacency
from bigbfs.graph.graph import Graph

STAGES = 4
"""Buffers that take turns: two would do if each took as long as any other to be read."""

STAGE_BYTES = 128 << 20
"""Bytes of a stage: reading one takes 6 ms at 20 GB/s, a hundred times what giving it to the threads does."""

SMALLEST = 1 << 15
"""Bytes that a stage has at least: any chunk of a row fits, with its piece."""

ALIGN = 16
"""Bytes to which what lies in a stage is aligned."""

ROW_BYTES = 256
"""A stage has room for a piece for so many of its bytes."""


def stage_sizes(graph: Graph) -> list[int]:
    """Return the bytes of all stages together that are worth trying, most first."""
    most = max(rows.edges.nbytes for _, rows in adjacencies(graph))
    # pieces of single short rows can take several times what the rows do
    whole = min(STAGE_BYTES, 4 * most + SMALLEST)
    return [STAGES * stage_capacity(STAGES * whole // share) for share in (1, 4, 16, 64)]


def stage_capacity(total: int) -> int:
    """Return the bytes of each stage where all together may take ``total``."""
    return max(SMALLEST, total // STAGES // GRAIN * GRAIN)


def pieces_in(capacity: int) -> int:
    """Return how many pieces a stage of ``capacity`` bytes can have."""
    return max(64, capacity // ROW_BYTES)


def streamed_buffers(graph: Graph, groups: int, stages: int) -> tuple[Buffer, ...]:
    """Return the buffers of the rows of a run, hot rows aside.

    Parameters
    ----------
    graph
        Plain or compressed.
    groups
        Groups of heads.
    stages
        Bytes of all stages together, in pinned and in device memory each.
    """
    buffers: list[Buffer] = []
    words = 4 * -(-graph.n // 32)
    capacity = stage_capacity(stages)
    for prefix, adjacency in adjacencies(graph):
        buffers += rows_of(prefix, adjacency, "file", groups)
        if not groups:
            buffers.append(Buffer(f"{prefix}hot hubs", grain(words), "vram", "needed while the rows are placed"))
        looked_at = adjacency.indptr.nbytes
        if isinstance(adjacency, CompressedAdjacency):
            looked_at += sum(array.nbytes for array in (adjacency.degree, adjacency.hubs, adjacency.block_ptr))
        buffers.append(Buffer(f"{prefix}offsets", looked_at, "file", "where rows lie, for the host"))
        planning = words + pieces_in(capacity) * (PIECE.itemsize + STAGES * 24)
        buffers.append(
            Buffer(f"{prefix}planning", planning, "host", "rows that are wanted, pieces and stretches of batches")
        )
    buffers.append(Buffer("stages", STAGES * capacity, "vram", "batches of rows"))
    buffers.append(Buffer("stages", STAGES * capacity, "pinned", "batches of rows, as they are read"))
    return tuple(buffers)
