"""Every buffer of a GPU run: its name, its bytes, where it lives and what it is for.

In: a graph (only its sizes are looked at), where the edges live, groups of heads, the arrays that programs declare.
Out: ``Buffer`` objects, in the order they are made in; names are those of the arrays that ``PlacedAdjacency`` has
(``in_`` before those of a second adjacency) and of the pool's. Bytes are upper bounds, each rounded up to the
allocator's grain: the number of hubs is known only once the offsets have been read. A test holds each against what the
engine allocates.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from bigbfs.engines.gpu.placement.arrays import ArraySpec, Sizes, union
from bigbfs.engines.gpu.placement.hot import GRAIN
from bigbfs.engines.gpu.placement.renumbered import NumberedRows
from bigbfs.engines.gpu.runtime.arguments import HEAD_GROUP
from bigbfs.graph.adjacency import BLOCK_IDS, Adjacency, CompressedAdjacency
from bigbfs.graph.graph import Graph

PLACES = ("vram", "mapped", "pinned", "host", "file")
"""Where a buffer can live: device memory; host memory of the caller's or a file's, page-locked where it lies and read
by kernels in place; page-locked copies; ordinary host memory; nowhere but in the file (what of it the kernel keeps in
its page cache is no memory of the run's)."""


@dataclass(frozen=True, slots=True)
class Buffer:
    """``bytes`` called ``name`` in ``where`` (one of ``PLACES``), for ``purpose``."""

    name: str
    bytes: int
    where: str
    purpose: str


def adjacencies(graph: Graph) -> list[tuple[str, Adjacency]]:
    """Return (prefix of the names, rows) of what a run places: the rows, and in-neighbours stored beside them."""
    found = [("", graph.adjacency)]
    if graph.in_adjacency is not None and graph.in_adjacency is not graph.adjacency:
        found.append(("in_", graph.in_adjacency))
    return found


def reachable(graph: Graph) -> int:
    """Return how many vertices there are up to the last that has an edge; those behind it are not reached, and reach
    nobody.

    A directed graph without in-rows does not say which vertices an edge leads to: all of them.
    """
    if graph.in_adjacency is None or not graph.n:
        return graph.n
    return max(rows.rows_end for _, rows in adjacencies(graph))


def row_buffers(graph: Graph, edges_in: str, groups: int) -> tuple[Buffer, ...]:
    """Return the buffers of the rows of a run, hot rows aside.

    Parameters
    ----------
    graph
        Plain or compressed.
    edges_in
        Where the edges live, one of ``PLACES``.
    groups
        Groups of heads.
    """
    return tuple(buffer for prefix, rows in adjacencies(graph) for buffer in rows_of(prefix, rows, edges_in, groups))


def sizes_of(graph: Graph, chunks: int, outside: bool) -> Sizes:
    """Return what formulas of state may name, where hub rows have ``chunks`` and edges are in device memory or not."""
    rows = graph.adjacency
    table = rows.table_bytes // 8 if outside and isinstance(rows, NumberedRows) else 0
    return Sizes(graph.n, graph.m, chunks, graph.ids.itemsize, reachable(graph), table)


def state_buffers(graph: Graph, groups: Iterable[tuple[ArraySpec, ...]], outside: bool = False) -> tuple[Buffer, ...]:
    """Return the buffers of the state that several programs declare, shared ones once."""
    sizes = sizes_of(graph, max(chunks_of(adjacency) for _, adjacency in adjacencies(graph)), outside)
    return tuple(
        Buffer(spec.name, grain(size) if spec.where == "vram" else size, spec.where, spec.purpose)
        for spec, size in ((spec, spec.bytes(sizes)) for spec in union(groups, sizes))
    )


def hot_buffers(graph: Graph, room: int) -> tuple[Buffer, ...]:
    """Return the buffers of hot rows for ``room`` bytes of device memory, shared evenly by the adjacencies."""
    found: list[Buffer] = []
    share = room // len(adjacencies(graph)) // GRAIN * GRAIN
    for prefix, adjacency in adjacencies(graph):
        offsets = grain(8 * hubs_of(adjacency))
        if share <= offsets:  # there may be fewer hubs than the most there can be
            found.append(Buffer(f"{prefix}hot", share, "vram", "rows of the largest hubs, then others"))
            continue
        found.append(Buffer(f"{prefix}hot", share - offsets, "vram", "rows of the largest hubs, then others"))
        found.append(Buffer(f"{prefix}hot_ptr", offsets, "vram", "where each of them begins"))
    return tuple(found)


def hubs_of(adjacency: Adjacency) -> int:
    """Return how many hubs there are at most: each has more than BLOCK_IDS edges."""
    return len(adjacency.hubs) if isinstance(adjacency, CompressedAdjacency) else adjacency.m // (BLOCK_IDS + 1)


def chunks_of(adjacency: Adjacency) -> int:
    """Return how many chunks of hub rows there are at most: one of each hub is not full."""
    if isinstance(adjacency, CompressedAdjacency):
        return len(adjacency.block_ptr)
    return adjacency.m // BLOCK_IDS + hubs_of(adjacency)


def grain(count: int) -> int:
    """Round up to the allocator's grain (an empty array still gets a buffer)."""
    return max(GRAIN, -(-count // GRAIN) * GRAIN)


def _vram(name: str, count: int, purpose: str) -> Buffer:
    return Buffer(name, grain(count), "vram", purpose)


def rows_of(prefix: str, adjacency: Adjacency, edges_in: str, groups: int) -> list[Buffer]:
    """Return the buffers of one adjacency."""
    n, ids, hubs = adjacency.n, adjacency.ids.itemsize, hubs_of(adjacency)
    buffers = [_vram(f"{prefix}indptr", 8 * (n + 1), "offsets of the rows")]
    if isinstance(adjacency, CompressedAdjacency):
        buffers.append(_vram(f"{prefix}degrees", n * ids, "ids in each row"))
        buffers.append(_vram(f"{prefix}block_ptr", 8 * len(adjacency.block_ptr), "offsets inside the rows of hubs"))
        buffers.append(Buffer(f"{prefix}blob", grain(len(adjacency.blob)), edges_in, "edges, delta-varint"))
    else:
        buffers.append(Buffer(f"{prefix}indices", grain(adjacency.m * ids), edges_in, "edges"))
    if isinstance(adjacency, NumberedRows):
        buffers.append(_vram(f"{prefix}numbers", adjacency.table_bytes, "numbers of the vertices that have edges"))
    buffers += [
        _vram(f"{prefix}rows", 4 * -(-n // 32), "bitmap: vertices with edges"),
        _vram(f"{prefix}hubs", hubs * ids, f"vertices of more than {BLOCK_IDS} edges"),
        _vram(f"{prefix}hub_ptr", 8 * (hubs + 1), "first chunk of each"),
        _vram(f"{prefix}chunk_hub", 4 * chunks_of(adjacency), "whose chunk it is"),
    ]
    if groups:
        heads = groups * HEAD_GROUP
        buffers.append(
            _vram(
                f"{prefix}heads",
                heads * adjacency.rows_end * ids,
                f"{heads} neighbours of each vertex up to the last that has an edge, of highest degree",
            )
        )
    # counters of its own, and the hubs once more while they are sorted
    passing = 2 * grain(16) + grain(hubs * ids) + GRAIN
    buffers.append(Buffer(f"{prefix}placement", passing, "vram", "needed while the rows are placed"))
    return buffers
