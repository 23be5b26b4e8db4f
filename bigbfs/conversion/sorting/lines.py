"""From lines in memory to sorted CSR rows: partition by row, radix sort in cache.

An undirected graph is built from each edge once, at its larger end: those rows hold the smaller neighbours of every
vertex, and their transpose (:func:`bigbfs.graph.transposing.transpose`) the larger ones, ascending too; joined row by
row they are the graph. So only half of what is stored is ever sorted. Offsets are int64 in here (uint64 views of the
same memory outside).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bigbfs.conversion.sorting import in_rows
from bigbfs.conversion.sorting import keys as kernels
from bigbfs.conversion.sorting.buckets import Layout, layout_of
from bigbfs.conversion.sorting.rule import Rule
from bigbfs.graph import pages
from bigbfs.graph.adjacency import id_dtype
from bigbfs.graph.transposing import Csr, Deal, Loose, bits_of, bucket_count, bucket_shift, key_dtype
from bigbfs.graph.views import frozen
from bigbfs.jit.workers import Workers, cursors, ranges

_LARGE = 32 << 20
"""Bytes of keys from which on they are written over the lines: memory that caches hold is no matter."""
_MOST_PARTS = 16


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
    """What the lines held.

    ``self_loops``: lines; ``duplicates``: lines that repeat an earlier directed line; ``reversed``: edges of an
    undirected graph given in both directions.
    """

    self_loops: int = 0
    duplicates: int = 0
    reversed: int = 0


def rows_from_lines(
    lines: Lines,
    threads: int,
    *,
    undirected: bool,
    copies: int,
    keep_loops: bool,
    advance: Callable[[int], object] = int,
    deal: Deal | None = None,
    reuse: bool = False,
) -> tuple[Csr | Loose, BuildCounts, np.ndarray]:
    """Sort lines into rows: (rows, counts, memory that a transposition can use as ``spare``).

    With ``undirected`` an edge is stored at its larger end only, and the rows are loose; ``lines`` loses its arrays.
    ``advance`` is called with the lines just sorted. ``deal``: as of :func:`bigbfs.graph.transposing.transpose`.
    ``reuse`` allows to write to the arrays of ``lines``, since memory is dear when it is touched first.
    """
    n = lines.n
    shift = bucket_shift(n, len(lines)) if deal is None else deal.shift
    layout = layout_of(0, 0, bits_of(n), bits_of(n) + shift)
    kind = key_dtype(int(layout.shift) + 1) if deal is None else np.dtype(np.uint64)
    own = reuse and deal is None and all(a.flags.writeable and a.flags.c_contiguous for a in (lines.src, lines.dst))
    room = lines.src if own else np.empty(0, id_dtype(n))
    with Workers(threads) as workers:
        parts = _parts(lines, pages.with_rest(lines.dst), kind) if own else []
        how = (undirected, keep_loops, layout, 2 * threads, workers)
        pieces, keys, loops = _over_lines(lines, parts, *how) if parts else _apart(lines, kind, *how)
        starts = (pieces - pieces[:, :1]).sum(axis=0)
        if deal is not None:
            starts, keys = deal(starts, keys)
            pieces = starts[np.newaxis]
        total = int(starts[-1])
        room = np.empty(total, id_dtype(n)) if len(room) < total else room[:total]
        begins, ends = np.empty(n + 1, np.int64), np.empty(n, np.int64)
        begins[n] = total
        rows, found = in_rows.sorted_rows(
            in_rows.Keys(starts, pieces, frozen(keys)),
            layout,
            Rule(copies, apart=True),
            in_rows.Rows(begins, ends, room),
            workers,
            threads,
            advance,
            turn=undirected,
        )
        made = rows if undirected else in_rows.compact(rows, starts, workers, threads)
    return made, BuildCounts(loops, *found.tolist()), keys


def _apart(
    lines: Lines, kind: np.dtype, undirected: bool, keep_loops: bool, layout: Layout, chunks: int, workers: Workers
) -> tuple[np.ndarray, np.ndarray, int]:
    """Write the keys of all lines to memory of their own; return what :func:`_over_lines` does."""
    counts = np.zeros((chunks, _buckets(lines.n, layout)), np.int64)

    def place(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        cursor, starts = cursors(counts)
        return cursor, starts, pages.empty(int(starts[-1]), kind)

    starts, keys, loops = keys_of(lines, undirected, keep_loops, layout, counts, workers, place)
    return starts[np.newaxis], keys, loops


def _buckets(n: int, layout: Layout) -> int:
    return bucket_count(n, int(layout.shift - layout.value_bits))


def _parts(lines: Lines, memory: np.ndarray, kind: np.dtype) -> list[tuple[int, int, int]]:
    """Return (first line, last, where their keys begin) of each part, if keys are to be written over the targets.

    ``memory`` is that of the targets. The keys of the last part, which comes first, go behind them, those of each
    other one over the part behind it, which has been read.
    """
    count = len(lines)
    length = len(memory) - count
    if kind != memory.dtype or count * kind.itemsize < _LARGE or length < count // _MOST_PARTS:
        return []
    return [(low, min(count, low + length), low + length) for low in range(0, count, length)][::-1]


def _over_lines(
    lines: Lines,
    parts: list[tuple[int, int, int]],
    undirected: bool,
    keep_loops: bool,
    layout: Layout,
    chunks: int,
    workers: Workers,
) -> tuple[np.ndarray, np.ndarray, int]:
    """Write the keys of all lines over their targets.

    Returns
    -------
    int64[part, bucket + 1]: the keys of bucket b in part p are ``keys[pieces[p, b]:pieces[p, b + 1]]``; ``keys``; the
    lines that are self-loops.
    """
    memory = pages.with_rest(lines.dst)
    pieces = np.zeros((len(parts), _buckets(lines.n, layout) + 1), np.int64)
    counts = np.zeros((chunks, pieces.shape[1] - 1), np.int64)
    loops = 0
    for part, (first, last, base) in enumerate(parts):

        def place(counts: np.ndarray, base: int = base) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
            cursor, starts = cursors(counts)
            return cursor + base, starts + base, memory

        counts[:] = 0
        some = Lines(lines.src[first:last], lines.dst[first:last], lines.n)
        pieces[part], _, here = keys_of(some, undirected, keep_loops, layout, counts, workers, place)
        loops += here
    lines.src = lines.dst = np.empty(0, lines.src.dtype)
    return pieces, memory[: int(pieces[:, -1].max())], loops


def keys_of(
    lines: Lines,
    undirected: bool,
    keep_loops: bool,
    layout: Layout,
    counts: np.ndarray,
    workers: Workers,
    place: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]],
) -> tuple[np.ndarray, np.ndarray, int]:
    """Write the keys of all lines, bucket by bucket; return (start of each bucket, keys, lines that are self-loops).

    Parameters
    ----------
    counts
        Zeros: int64[chunk, bucket].
    place
        Given the keys that there are in each, returns where those of a chunk go in each bucket, the start of each
        bucket, and room for all keys.
    """
    chunks = ranges(len(lines), len(counts))
    loops = np.zeros(len(counts), np.int64)
    src, dst = frozen(lines.src), frozen(lines.dst)
    shape = (undirected, keep_loops, layout)

    def count(i: int) -> None:
        loops[i] = kernels.count_lines(src, dst, *chunks[i], *shape, counts[i])

    def scatter(i: int) -> None:
        kernels.scatter_lines(src, dst, *chunks[i], *shape, cursor[i], keys)

    workers.each(len(chunks), count)
    cursor, starts, keys = place(counts)
    workers.each(len(chunks), scatter)
    lines.src = lines.dst = np.empty(0, lines.src.dtype)
    return starts, keys, int(loops.sum())
