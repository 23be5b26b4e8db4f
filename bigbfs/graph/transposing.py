"""The transpose of square CSR rows: edges are dealt to buckets of columns, each of which is counting-sorted in cache.

Both steps keep the order of the rows, so the result is sorted. Offsets are int64 in here. Kernels are serial over a
range, release the GIL and may run side by side. Takes 8 bytes for each edge besides the result.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np

from bigbfs.graph.views import frozen
from bigbfs.jit.borrowed import borrowed
from bigbfs.jit.njit import njit
from bigbfs.jit.vectors import load_vector, store_vector
from bigbfs.jit.workers import Each, Workers, balanced_ranges, cursors, run

EDGES_PER_BUCKET = 1 << 14  # 8-byte keys and as much scratch space: 256 KiB, inside a core's second-level cache
MAX_BUCKETS = 1 << 11  # as many output streams as the second-level TLB has entries
MAX_SHIFT = 20  # rows of a bucket: their counters stay small however many vertices have no edge
TASKS_PER_THREAD = 8  # enough for the free thread to take over, few enough to cost nothing
_LANES = (0,) * 16
"""Ids that are copied at once."""
_ONE = np.uint64(1)

Csr = tuple[np.ndarray, np.ndarray]
"""Rows: ``indptr`` (int64, n + 1) and ``indices`` (ids, sorted in each row)."""


class Deal(Protocol):
    """How several who make rows together, each its own, exchange keys.

    Attributes
    ----------
    shift
        log2 of the rows in a bucket.
    """

    shift: int

    def __call__(self, starts: np.ndarray, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Take (start of each bucket, keys), give away the keys of others' buckets; return the same of own buckets.

        In a bucket they are in the order of those they come from. Buckets of others are empty then.
        """


class Loose(NamedTuple):
    """Rows between which some room may be, as a sort by buckets of rows leaves them.

    Attributes
    ----------
    begins, ends
        int64: row r is ``indices[begins[r]:ends[r]]``. ``begins`` has one more.
    before
        int64: how many ids there are in the buckets before each, and in all.
    shift
        log2 of the rows in a bucket.
    chunks
        Runs of rows, each by whole buckets.
    columns
        int64[chunk, bucket]: the ids in each bucket of columns, but for self-loops.
    """

    begins: np.ndarray
    ends: np.ndarray
    indices: np.ndarray
    before: np.ndarray
    shift: int
    chunks: list[tuple[int, int]]
    columns: np.ndarray


class Turn(NamedTuple):
    """What is turned, and how; a state tuple of kernels.

    Attributes
    ----------
    begins, ends, indices
        The rows: row r is ``indices[begins[r]:ends[r]]``. ``begins`` has one more.
    order, rank
        A permutation of the vertices and its inverse, or empty: new vertex i is ``order[i]``.
    head
        The rows go before those of their transpose; self-loops, which are in both, once.
    shift
        log2 of the columns in a bucket.
    row_bits
        Bits of a row in a key, which is ``column within its bucket << row_bits | row`` (uint32 or uint64).
    """

    begins: np.ndarray
    ends: np.ndarray
    indices: np.ndarray
    order: np.ndarray
    rank: np.ndarray
    head: bool
    shift: np.uint64
    row_bits: np.uint64


@njit(cache=True, nogil=True)
def count_columns(first, last, turn, counts):
    """Add the edges of each bucket of columns to ``counts``, over the rows ``order[first:last]``."""
    begins, ends, indices, order, rank = turn.begins, turn.ends, turn.indices, turn.order, turn.rank
    for position in range(first, last):
        row = position if len(order) == 0 else np.int64(order[position])
        for i in range(begins[row], ends[row]):
            column = np.int64(indices[i])
            if not (turn.head and column == row):
                if len(rank):
                    column = np.int64(rank[column])
                counts[np.uint64(column) >> turn.shift] += 1


@njit(cache=True, nogil=True)
def scatter_columns(first, last, turn, cursor, keys):
    """Write the key of every edge to the bucket of its column, rows ascending."""
    begins, ends, indices, order, rank = turn.begins, turn.ends, turn.indices, turn.order, turn.rank
    wide, up = turn.shift, turn.row_bits
    mask = (_ONE << wide) - _ONE
    for position in range(first, last):
        row = position if len(order) == 0 else np.int64(order[position])
        for i in range(begins[row], ends[row]):
            column = np.int64(indices[i])
            if turn.head and column == row:
                continue
            if len(rank):
                column = np.int64(rank[column])
            bucket = np.uint64(column) >> wide
            place = cursor[bucket]
            cursor[bucket] = place + 1
            keys[place] = ((np.uint64(column) & mask) << up) | np.uint64(position)


@njit(forceinline=True)
def _copy_row(indices, begin, length, out, place, end):
    """Copy a row to ``out[place:]``; what follows there in front of ``end`` may be written to."""
    if begin + length + len(_LANES) <= len(indices) and place + length + len(_LANES) <= end:
        for done in range(0, length, len(_LANES)):  # most rows are short: one load and one store
            store_vector(out, place + done, load_vector(indices, begin + done, _LANES))
    else:
        for i in range(length):
            out[place + i] = indices[begin + i]


@njit(cache=True, nogil=True)
def place_columns(first, last, turn, starts, keys, bases, indptr, out):
    """Write the rows of the transpose: for each bucket of columns a counting sort that keeps the order of the rows.

    ``keys[starts[b]:starts[b + 1]]`` become the rows from ``out[bases[b]]`` on.
    """
    up = turn.row_bits
    mask = (_ONE << up) - _ONE
    n = len(indptr) - 1
    shift = np.int64(turn.shift)
    places = np.empty(1 << shift, np.int64)
    indices, made = borrowed(turn.indices), borrowed(out)
    for bucket in range(first, last):
        row = bucket << shift
        rows = min(n - row, 1 << shift)
        places[:rows] = 0
        for i in range(starts[bucket], starts[bucket + 1]):
            places[keys[i] >> up] += 1
        total = bases[bucket]
        for local in range(rows):
            tail = places[local]
            if turn.head:
                length = turn.ends[row + local] - turn.begins[row + local]
                _copy_row(indices, turn.begins[row + local], length, made, total, bases[bucket + 1])
                total += length
            places[local] = total
            total += tail
            indptr[row + local + 1] = total
        for i in range(starts[bucket], starts[bucket + 1]):
            key = keys[i]
            place = places[key >> up]
            places[key >> up] = place + 1
            out[place] = key & mask


def bits_of(n: int) -> int:
    """Return the bits of a number below ``n``, at least one."""
    return max(1, (n - 1).bit_length()) if n else 1


def bucket_shift(n: int, edges: int) -> int:
    """Return log2 of the rows in a bucket, for buckets of about ``EDGES_PER_BUCKET`` edges."""
    buckets = min(MAX_BUCKETS, max(1, edges // EDGES_PER_BUCKET))
    return min(MAX_SHIFT, max(0, bits_of(n) - (buckets - 1).bit_length()))


def bucket_count(n: int, shift: int) -> int:
    """Return how many buckets of ``2**shift`` rows ``n`` rows make."""
    return max(1, -(-n >> shift)) if n else 0


def _telling(
    kernel: Callable[..., Any], advance: Callable[[int], object] | None, ends: np.ndarray
) -> Callable[..., Any]:
    """Return ``kernel(first, last, ...)``, after which ``advance`` is told how many edges lie between the two."""
    if advance is None:
        return kernel

    def telling(first: int, last: int, *rest: Any) -> None:
        kernel(first, last, *rest)
        advance(int(ends[last] - ends[first]))

    return telling


def _chunks(
    turn: Turn, buckets: int, threads: int, advance: Callable[[int], object] | None
) -> tuple[list[tuple[int, int]], np.ndarray, np.ndarray]:
    """Return (runs of rows, edges of each bucket of columns in each, edges before each row)."""
    work = turn.begins
    if len(turn.order):
        work = np.zeros(len(turn.begins), np.int64)
        np.cumsum(np.diff(turn.begins)[turn.order], out=work[1:])
    chunks = balanced_ranges(work, 2 * threads)
    counts = np.zeros((max(1, len(chunks)), buckets), np.int64)
    run(threads, _telling(count_columns, advance, work), [(a, b, turn, counts[i]) for i, (a, b) in enumerate(chunks)])
    return chunks, counts, work


def key_dtype(bits: int) -> np.dtype[np.unsignedinteger]:
    """Return the dtype of keys of so many bits."""
    return np.dtype(np.uint32 if bits <= 32 else np.uint64)


def _memory(spare: np.ndarray | None, count: int, kind: np.dtype) -> np.ndarray:
    """Return room for ``count`` keys, in ``spare`` (of any type) where that is large enough."""
    if spare is None or spare.nbytes < count * kind.itemsize:
        return np.empty(count, kind)
    whole = spare.nbytes // kind.itemsize * kind.itemsize
    return spare.view(np.uint8)[:whole].view(kind)[:count]


class Dealt(NamedTuple):
    """Edges dealt to buckets of columns: all of a transpose but its last step.

    Attributes
    ----------
    turn
        The rows, and how they are turned.
    starts, keys
        The keys of bucket b are ``keys[starts[b]:starts[b + 1]]``.
    bases
        int64: how many ids of the result there are before each bucket, and in all.
    """

    turn: Turn
    starts: np.ndarray
    keys: np.ndarray
    bases: np.ndarray

    def tasks(self, parts: int, indptr: np.ndarray, out: np.ndarray) -> list[tuple[Any, ...]]:
        """Return the arguments of calls of :func:`place_columns`, which together fill ``indptr`` and ``out``."""
        return [(a, b, *self, indptr, out) for a, b in balanced_ranges(self.bases, parts)]


def transpose(
    rows: Csr | Loose,
    threads: int,
    *,
    head: bool = False,
    order: np.ndarray | None = None,
    rank: np.ndarray | None = None,
    spare: np.ndarray | None = None,
    advance: Callable[[int], object] | None = None,
    deal: Deal | None = None,
) -> Csr:
    """Return the transpose of square CSR ``rows``, sorted.

    Parameters
    ----------
    head
        Put each row of the input before the row of the transpose (self-loops, which are in both, once): the
        undirected graph of an input that holds each edge at its larger end. So it is with loose rows.
    order, rank
        Rename the vertices on the way: new vertex i is ``order[i]``, and ``rank`` is the inverse.
    spare
        Memory to use up.
    advance
        Called with how much is done since the last call, of three times the edges in ``rows``; of loose ones twice.
    deal
        Where several do this together, each with its own rows of all n: each gets its own rows of the transpose.
    """
    dealt = deal_columns(rows, threads, head=head, order=order, rank=rank, spare=spare, advance=advance, deal=deal)
    indptr = np.zeros(len(dealt.turn.ends) + 1, np.int64)
    out = np.empty(int(dealt.bases[-1]), dealt.turn.indices.dtype)
    tasks = dealt.tasks(threads * TASKS_PER_THREAD, indptr, out)
    run(threads, _telling(place_columns, advance, dealt.starts), tasks)
    return indptr, out


def deal_columns(
    rows: Csr | Loose,
    threads: int,
    *,
    head: bool = False,
    order: np.ndarray | None = None,
    rank: np.ndarray | None = None,
    spare: np.ndarray | None = None,
    advance: Callable[[int], object] | None = None,
    deal: Deal | None = None,
    crew: Each | None = None,
) -> Dealt:
    """Do all of :func:`transpose`, whose parameters these are, but to place the ids.

    ``crew``: who deals loose rows; then these and ``spare``, which holds all keys, are seen by all of it.
    """
    loose = rows if isinstance(rows, Loose) else None
    begins, ends, indices = rows[:3] if isinstance(rows, Loose) else (rows[0], rows[0][1:], rows[1])
    begins, ends, indices = frozen(begins), frozen(ends), frozen(indices)
    none = indices[:0]  # of the kernels' usual type: they compile once
    order, rank = (none if given is None else frozen(given) for given in (order, rank))
    n = len(ends)
    given = loose or deal
    shift = bucket_shift(n, len(indices)) if given is None else given.shift
    turn = Turn(begins, ends, indices, order, rank, head, np.uint64(shift), np.uint64(bits_of(n)))
    known = None if loose is None else (loose.chunks, loose.columns, begins)
    chunks, counts, work = known or _chunks(turn, bucket_count(n, shift), threads, advance)
    cursor, starts = cursors(counts)
    kind = key_dtype(shift + bits_of(n)) if deal is None else np.dtype(np.uint64)
    keys = _memory(spare, int(starts[-1]), kind)
    scatter = _telling(scatter_columns, advance, work)
    with Workers(threads) as workers:
        (crew or workers).each(len(chunks), lambda i: scatter(*chunks[i], turn, cursor[i], keys))
    if deal is not None:
        starts, keys = deal(starts, keys)
    bases = starts
    if head:
        firsts = np.minimum(np.arange(len(starts), dtype=np.int64) << shift, n)
        bases = starts + (begins[firsts] if loose is None else loose.before)
    return Dealt(turn, starts, keys, bases)
