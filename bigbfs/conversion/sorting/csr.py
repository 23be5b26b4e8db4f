"""From lines to sorted CSR arrays, in memory: partition by row, radix sort in cache, transpose by counting.

An undirected graph is built from each edge once, at its larger end: those rows hold the smaller neighbours of every
vertex, and their transpose the larger ones, ascending too; joined row by row they are the graph. So only half of what
is stored is ever sorted. Offsets are int64 in here (uint64 views of the same memory outside).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bigbfs.conversion.sorting import kernels
from bigbfs.graph.adjacency import PlainAdjacency, id_dtype
from bigbfs.graph.views import frozen
from bigbfs.jit.workers import balanced_ranges, ranges, run

EDGES_PER_BUCKET = 1 << 14  # 8-byte keys and as much scratch space: 256 KiB, inside a core's second-level cache
MAX_BUCKETS = 1 << 11  # as many output streams as the second-level TLB has entries
MAX_SHIFT = 20  # rows of a bucket: their counters stay small however many vertices have no edge
TASKS_PER_THREAD = 8  # enough for the free thread to take over, few enough to cost nothing

ONCE, AS_GIVEN, LARGER_DIRECTION = 0, 1, 2
"""How often an edge is stored: once; once per line; per line of the direction that has more lines."""

Csr = tuple[np.ndarray, np.ndarray]
"""Rows: ``indptr`` (int64, n + 1) and ``indices`` (ids, sorted in each row)."""


@dataclass
class Lines:
    """Edges ``src[i] -> dst[i]`` between vertices 0..n-1; both arrays are let go as soon as they have been read."""

    src: np.ndarray
    dst: np.ndarray
    n: int

    def __len__(self) -> int:
        return len(self.src)


@dataclass(frozen=True)
class BuildCounts:
    """What the lines held: ``self_loops`` lines, and ``duplicates``: lines that repeat an earlier directed line."""

    self_loops: int = 0
    duplicates: int = 0


def _bits(n: int) -> int:
    return max(1, (n - 1).bit_length()) if n else 1


def _bucket_shift(n: int, edges: int) -> int:
    """Return log2 of the rows in a bucket, for buckets of about ``EDGES_PER_BUCKET`` edges."""
    buckets = min(MAX_BUCKETS, max(1, edges // EDGES_PER_BUCKET))
    return min(MAX_SHIFT, max(0, _bits(n) - (buckets - 1).bit_length()))


def _buckets(n: int, shift: int) -> int:
    return max(1, -(-n >> shift)) if n else 0


def _cursors(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Turn counts[chunk, bucket] into (next place of each chunk in each bucket, start of each bucket)."""
    chunks, buckets = counts.shape
    ends = np.cumsum(counts.T.ravel()).reshape(buckets, chunks).T
    starts = np.zeros(buckets + 1, np.int64)
    if buckets:
        starts[1:] = ends[-1]
    return np.ascontiguousarray(ends - counts), starts


def rows_from_lines(
    lines: Lines, threads: int, *, undirected: bool, copies: int, keep_loops: bool
) -> tuple[Csr, BuildCounts, np.ndarray]:
    """Sort lines into rows: (rows, counts, memory that :func:`transpose` can use as ``spare``).

    With ``undirected`` an edge is stored at its larger end only; ``lines`` loses its arrays.
    """
    n, value_bits = lines.n, _bits(lines.n)
    shift = _bucket_shift(n, len(lines))
    buckets = _buckets(n, shift)
    chunks = ranges(len(lines), 2 * threads)
    counts = np.zeros((max(1, len(chunks)), buckets), np.int64)
    shape = (undirected, keep_loops, shift)
    src, dst = frozen(lines.src), frozen(lines.dst)
    counting = [(src, dst, a, b, *shape, counts[i]) for i, (a, b) in enumerate(chunks)]
    loops = sum(run(threads, kernels.count_lines, counting))
    cursor, starts = _cursors(counts)
    keys = np.empty(int(starts[-1]), np.uint64)
    scattering = [(lines.src, lines.dst, a, b, *shape, value_bits, cursor[i], keys) for i, (a, b) in enumerate(chunks)]
    run(threads, kernels.scatter_lines, scattering)
    del counting, scattering, src, dst
    lines.src = lines.dst = np.empty(0, lines.src.dtype)

    packed = keys.view(id_dtype(n))
    ratio = keys.itemsize // packed.itemsize
    indptr = np.zeros(n + 1, np.int64)
    written = np.zeros(buckets, np.int64)
    parts = balanced_ranges(starts, threads * TASKS_PER_THREAD)
    sorting = [(a, b, starts, keys, shift, value_bits, copies, indptr[1:], packed, written) for a, b in parts]
    repeats = sum(run(threads, kernels.sort_buckets, sorting))
    bases = np.zeros(buckets + 1, np.int64)
    np.cumsum(written, out=bases[1:])
    indices = np.empty(int(bases[-1]), packed.dtype)
    moving = [(a, b, starts, ratio, bases, shift, packed, indices, indptr) for a, b in parts]
    run(threads, kernels.gather_buckets, moving)
    return (indptr, indices), BuildCounts(int(loops), int(repeats)), keys


def transpose(
    rows: Csr,
    threads: int,
    *,
    head: bool = False,
    order: np.ndarray | None = None,
    rank: np.ndarray | None = None,
    spare: np.ndarray | None = None,
) -> Csr:
    """Return the transpose of square CSR ``rows``, sorted.

    Parameters
    ----------
    head
        Put each row of the input before the row of the transpose (self-loops, which are in both, once): the
        undirected graph of an input that holds each edge at its larger end.
    order, rank
        Rename the vertices on the way: new vertex i is ``order[i]``, and ``rank`` is the inverse.
    spare
        Memory to use up: uint64.
    """
    indptr, indices = rows
    none = indices[:0]  # of the kernels' usual type: they compile once
    order = none if order is None else order
    rank = none if rank is None else rank
    n, row_bits = len(indptr) - 1, _bits(len(indptr) - 1)
    shift = _bucket_shift(n, len(indices))
    buckets = _buckets(n, shift)
    work = indptr
    if len(order):
        work = np.zeros(n + 1, np.int64)
        np.cumsum(np.diff(indptr)[order], out=work[1:])
    chunks = balanced_ranges(work, 2 * threads)
    counts = np.zeros((max(1, len(chunks)), buckets), np.int64)
    shape = (indptr, indices, order, rank, head, shift)
    run(threads, kernels.count_columns, [(a, b, *shape, counts[i]) for i, (a, b) in enumerate(chunks)])
    cursor, starts = _cursors(counts)
    total = int(starts[-1])
    keys = np.empty(total, np.uint64) if spare is None or len(spare) < total else spare[:total]
    scattering = [(a, b, *shape, row_bits, cursor[i], keys) for i, (a, b) in enumerate(chunks)]
    run(threads, kernels.scatter_columns, scattering)

    bases = starts
    if head:
        firsts = np.minimum(np.arange(buckets + 1, dtype=np.int64) << shift, n)
        bases = starts + indptr[firsts]
    result = np.zeros(n + 1, np.int64)
    out = np.empty(int(bases[-1]), indices.dtype)
    heads = (indptr, indices) if head else (indptr[:0], none)
    parts = balanced_ranges(bases, threads * TASKS_PER_THREAD)
    run(
        threads,
        kernels.place_columns,
        [(a, b, starts, keys, row_bits, shift, bases, *heads, result, out) for a, b in parts],
    )
    return result, out


def adjacency(rows: Csr) -> PlainAdjacency:
    """Return the arrays as an adjacency: offsets seen as uint64."""
    indptr, indices = rows
    return PlainAdjacency(indptr.view(np.uint64), indices)
