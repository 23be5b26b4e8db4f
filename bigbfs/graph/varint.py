"""The delta-varint codec: plain rows to bytes and back, in parallel.

In and out are the two encodings of :mod:`bigbfs.graph.adjacency`, whose docstrings define the code; docs/formats.md
has it to the byte. Encoding measures every row and every hub block, places them by a running sum, then writes them;
decoding trusts nothing: it checks that every row and block ends where its offsets say and that every id is a vertex.
"""

from __future__ import annotations

import numpy as np

from bigbfs.errors import FormatError
from bigbfs.graph import varint_kernels as kernels
from bigbfs.graph.adjacency import BLOCK_IDS, Adjacency, CompressedAdjacency, PlainAdjacency
from bigbfs.graph.structure import checked_edge_offsets, hub_layout
from bigbfs.graph.varint_kernels import read_varint
from bigbfs.graph.views import frozen, row_chunks, signed
from bigbfs.jit.team import team_of
from bigbfs.jit.workers import thread_count

__all__ = ["decode", "decode_rows", "encode", "hub_layout", "read_varint", "require_ids"]

PADDING = 128
"""Bytes allocated (not counted) after a blob, so that a wide read at its end stays inside."""


def encode(adjacency: Adjacency) -> CompressedAdjacency:
    """Return ``adjacency`` with delta-varint rows (itself if it has them); rows must ascend.

    Takes 8 bytes for each vertex and 24 for each hub block beside the result.
    """
    if isinstance(adjacency, CompressedAdjacency):
        return adjacency
    n, m = adjacency.n, adjacency.m
    edge_ptr, indices = signed(adjacency.indptr), frozen(adjacency.indices)
    degree = np.diff(adjacency.indptr).astype(adjacency.ids)
    hubs, hub_ptr = hub_layout(degree)
    owner = np.repeat(np.arange(len(hubs)), np.diff(hub_ptr).astype(np.int64))
    number = np.arange(int(hub_ptr[-1])) - hub_ptr[owner].astype(np.int64)
    starts = np.empty((len(owner), 2), np.int64)
    starts[:, 0] = edge_ptr[hubs[owner]] + number * BLOCK_IDS
    starts[:, 1] = np.minimum(starts[:, 0] + BLOCK_IDS, edge_ptr[hubs[owner].astype(np.int64) + 1])
    starts = frozen(starts)

    bounds, block_bounds = _runs(adjacency.indptr), _block_runs(len(owner))
    row_bytes, block_bytes = np.zeros(n, np.int64), np.empty(len(owner), np.int64)
    kernels.measure(team_of(thread_count()), edge_ptr, indices, bounds, row_bytes, starts, block_bytes, block_bounds)
    before = np.concatenate([np.zeros(1, np.int64), np.cumsum(block_bytes)])
    row_bytes[hubs] = before[hub_ptr[1:]] - before[hub_ptr[:-1]]
    indptr = np.zeros(n + 1, np.uint64)
    np.cumsum(row_bytes, out=indptr[1:].view(np.int64))
    block_ptr = indptr[hubs[owner]] + (before[:-1] - before[hub_ptr[owner]]).astype(np.uint64)
    blob = np.zeros(int(indptr[-1]) + PADDING, np.uint8)[: int(indptr[-1])]
    if m:
        block_ends = np.stack([signed(block_ptr), signed(block_ptr) + block_bytes], axis=1)
        places = signed(indptr), starts, frozen(block_ends)
        kernels.write(team_of(thread_count()), edge_ptr, indices, bounds, *places, block_bounds, blob)
    return CompressedAdjacency(indptr, degree, blob, hubs, hub_ptr, block_ptr)


def decode(adjacency: Adjacency) -> PlainAdjacency:
    """Return ``adjacency`` as plain CSR (itself if it is).

    Raises
    ------
    FormatError
        The bytes are no delta-varint rows of these offsets and degrees, or an id is no vertex.
    """
    if isinstance(adjacency, PlainAdjacency):
        return adjacency
    edge_ptr = checked_edge_offsets(adjacency)
    indices = np.empty(int(edge_ptr[-1]), adjacency.ids)
    _read(adjacency, edge_ptr, indices, adjacency.n, keep=True)
    return PlainAdjacency(edge_ptr, indices)


def rows_between(adjacency: CompressedAdjacency, first: int, last: int) -> CompressedAdjacency:
    """Return the rows ``first`` to ``last - 1`` alone, of views; ids are those of the whole graph."""
    start, stop = int(adjacency.indptr[first]), int(adjacency.indptr[last])
    base, hubs = np.uint64(start), adjacency.hubs
    low, high = np.searchsorted(hubs, np.array([first, last], hubs.dtype))
    hub_ptr = adjacency.hub_ptr[low : high + 1]
    return CompressedAdjacency(
        adjacency.indptr[first : last + 1] - base,
        adjacency.degree[first:last],
        adjacency.blob[start:stop],
        hubs[low:high] - hubs.dtype.type(first),
        hub_ptr - hub_ptr[0],
        adjacency.block_ptr[int(hub_ptr[0]) : int(hub_ptr[-1])] - base,
    )


def decode_rows(adjacency: CompressedAdjacency, first: int, last: int) -> PlainAdjacency:
    """Return the rows ``first`` to ``last - 1`` alone: offsets from 0 on, ids as they are in the whole graph.

    Raises
    ------
    FormatError
        As :func:`decode`, for these rows.
    """
    part = rows_between(adjacency, first, last)
    edge_ptr = checked_edge_offsets(part)
    indices = np.empty(int(edge_ptr[-1]), adjacency.ids)
    _read(part, edge_ptr, indices, adjacency.n, keep=True)
    return PlainAdjacency(edge_ptr, indices)


def require_ids(adjacency: CompressedAdjacency, name: str = "graph", n: int | None = None) -> None:
    """Check every id of ``adjacency``, whose structure is sound, by decoding it to nowhere; 8 bytes for each vertex.

    ``n``: ids are below it; None: below the number of rows.

    Raises
    ------
    FormatError
        Names the first place that is wrong.
    """
    try:
        below = adjacency.n if n is None else n
        _read(adjacency, adjacency.edge_offsets(), np.empty(0, adjacency.ids), below, keep=False)
    except FormatError as error:
        raise FormatError(f"{name}: {error}") from None


def _read(adjacency: CompressedAdjacency, edge_ptr: np.ndarray, indices: np.ndarray, n: int, *, keep: bool) -> None:
    """Decode to ``indices``, or with ``keep=False`` to nowhere; refuse what is no id below ``n`` where offsets say."""
    hubs, hub_ptr, block_ptr = adjacency.hubs, adjacency.hub_ptr, adjacency.block_ptr
    owner = np.repeat(np.arange(len(hubs)), np.diff(hub_ptr).astype(np.int64))
    number = np.arange(len(owner)) - hub_ptr[owner].astype(np.int64)
    blocks = np.empty((len(owner), 4), np.int64)
    if len(owner):
        vertex = hubs[owner].astype(np.int64)
        last = number == np.diff(hub_ptr)[owner].astype(np.int64) - 1
        blocks[:, 0] = block_ptr
        blocks[:, 1] = np.where(last, adjacency.indptr[vertex + 1], np.append(block_ptr[1:], 0))
        blocks[:, 2] = edge_ptr[vertex].astype(np.int64) + number * BLOCK_IDS
        blocks[:, 3] = np.minimum(blocks[:, 2] + BLOCK_IDS, edge_ptr[vertex + 1].astype(np.int64))
    bounds, block_bounds = _runs(edge_ptr), _block_runs(len(owner))
    bad = np.full((max(len(bounds), len(block_bounds)), 2), -1, np.int64)
    block_ids = np.empty((len(owner), 2), np.uint64)
    kernels.read(
        team_of(thread_count()),
        signed(adjacency.indptr),
        signed(edge_ptr),
        frozen(adjacency.blob),
        np.uint64(n),
        bounds,
        frozen(blocks),
        block_bounds,
        indices,
        keep,
        bad,
        block_ids,
    )
    rows, found = bad[bad[:, 0] >= 0, 0], bad[bad[:, 1] >= 0, 1]
    if not len(rows) and not len(found):  # each block ascends by itself: does the row?
        found = 1 + np.flatnonzero((owner[1:] == owner[:-1]) & (block_ids[1:, 0] < block_ids[:-1, 1]))
    if len(rows) or len(found):
        block = int(found.min()) if len(found) else 0
        where = f"row {rows.min()}" if len(rows) else f"block {number[block]} of row {hubs[owner[block]]}"
        raise FormatError(
            f"compressed graph: corrupted: {where} does not hold as many ascending ids of vertices as its degree "
            "says in the bytes that it has; convert the graph again"
        )


def _runs(edge_ptr: np.ndarray) -> np.ndarray:
    """Cut the rows into runs, more than threads, because hubs make their weights uneven."""
    return row_chunks(edge_ptr, 32 * thread_count())


def _block_runs(blocks: int) -> np.ndarray:
    parts = max(1, min(16 * thread_count(), blocks))
    return np.array([blocks * part // parts for part in range(parts + 1)], np.int64)
