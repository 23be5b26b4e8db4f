"""Rows of a plain CSR: validate and sort them, find out what holds for them, transpose them.

In: ``indptr`` (n + 1 offsets) and ``indices`` (m ids) of any integer dtype, in memory or mapped. Out: a
:class:`~bigbfs.graph.adjacency.PlainAdjacency` (uint64 offsets, uint32 or uint64 ids, rows ascending) that shares the
input's memory wherever that is right already. Kernels get signed, read-only views: Numba makes float64 of uint64 mixed
with int64, and would compile once more for writable arrays.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from bigbfs.errors import ArgumentError, FormatError, InputError
from bigbfs.graph import row_kernels as kernels
from bigbfs.graph import structure, transposing
from bigbfs.graph.adjacency import Adjacency, CompressedAdjacency, PlainAdjacency, id_dtype
from bigbfs.graph.views import frozen, row_chunks, signed
from bigbfs.jit.team import team_of
from bigbfs.jit.workers import thread_count

LONG_ROW = 1 << 16
"""Rows longer than this are sorted by NumPy (vectorised), the others by the threads."""


@dataclass(frozen=True, slots=True)
class RowFacts:
    """What holds for the rows of an adjacency.

    Attributes
    ----------
    symmetric
        Every edge has its twin, as often as it occurs itself.
    duplicates
        Entries equal to the one before in their row.
    loops
        Entries equal to their row.
    """

    symmetric: bool
    duplicates: int
    loops: int


def plain_adjacency(indptr: Any, indices: Any, *, ids: Any = None) -> PlainAdjacency:
    """Make a checked plain adjacency of CSR arrays.

    Parameters
    ----------
    indptr
        Integers, shape (n + 1,): ascending offsets, first 0, last m.
    indices
        Integers, shape (m,): neighbours in any order inside a row; never changed in place.
    ids
        Dtype of a vertex id: uint32 or uint64; None for the narrow one while it suffices.

    Returns
    -------
    PlainAdjacency
        On the same memory where dtype, layout and order are right (uint64 or int64 offsets, uint32 or int32 ids).

    Raises
    ------
    InputError
        The arrays are no CSR of n vertices: wrong shape or dtype, offsets that descend, an index out of range.
    """
    offsets = _offsets(indptr)
    neighbours = _integers(indices, "indices")
    n, m = len(offsets) - 1, len(neighbours)
    if int(offsets[-1]) != m:
        raise InputError(f"CSR: the last entry of indptr is {int(offsets[-1])}, but there are {m} indices")
    try:
        dtype = id_dtype(n) if ids is None else np.dtype(ids)
    except TypeError:
        raise ArgumentError("must be uint32 or uint64", about=(("ids", ids),)) from None
    if dtype not in (np.dtype(np.uint32), np.dtype(np.uint64)) or (dtype.itemsize == 4 and n > 2**32 - 1):
        raise InputError(f"CSR: ids of {n} vertices cannot be {dtype}; use uint32 (below 2**32 vertices) or uint64")
    given = _unsigned(neighbours, n)
    facts = scan(offsets, given, n)
    if facts.bad_edge >= 0:
        row = int(np.searchsorted(offsets, facts.bad_edge, side="right")) - 1
        value = int(neighbours[facts.bad_edge])
        raise InputError(f"CSR: indices[{facts.bad_edge}] = {value} (row {row}) is no vertex: they are 0 to {n - 1}")
    result = given if given.dtype == dtype else given.astype(dtype)
    if facts.unsorted_row >= 0:
        result = result.copy() if np.shares_memory(result, given) else result
        _sort_rows(offsets, result)
    return PlainAdjacency(offsets, result)


def label_array(labels: Any, n: int) -> np.ndarray:
    """Return original ids given by a caller as int64, shape (n,).

    Raises
    ------
    InputError
        They are not ``n`` different whole numbers from 0 to 2**63 - 1.
    """
    given = np.asarray(labels)
    whole = given.size == 0 or (given.dtype.kind in "iu" and given.min() >= 0 and given.max() < 2**63)
    if not whole or given.shape != (n,) or len(np.unique(given)) != n:
        raise InputError(
            f"CSR: labels must be {n} different ids from 0 to 2^63-1, got shape {given.shape}, dtype {given.dtype}"
        )
    return np.ascontiguousarray(given, dtype=np.int64)


def inspect(adjacency: Adjacency) -> RowFacts:
    """Find out whether ``adjacency`` is symmetric and how many duplicates and loops it has: O(m), in parallel.

    Symmetry is decided by a keyed fingerprint: the sum over all edges of hash(u, v) - hash(v, u) modulo 2**64,
    under a fresh random key, is zero for every symmetric graph and for any other with probability about 2**-64. It
    needs one sequential pass and no memory, where an exact answer takes a random access for each edge;
    :func:`missing_twin` gives that one.
    """
    plain = _plain(adjacency)
    facts = scan(plain.indptr, plain.indices, plain.n)
    return RowFacts(_fingerprint(plain) == 0, facts.duplicates, facts.loops)


def missing_twin(adjacency: Adjacency) -> tuple[int, int] | None:
    """Return the first edge (u, v) that has no twin (v, u) left to match, or None for a symmetric graph: exact.

    Row u is visited in ascending order, so the entries u of row v must come up in the order in which they are stored:
    one cursor for each vertex, one random access for each edge, uint64[n] of memory, one thread.
    """
    plain = _plain(adjacency)
    u, v = kernels.first_unmatched(signed(plain.indptr), frozen(plain.indices), np.zeros(plain.n, np.int64))
    return None if u < 0 else (int(u), int(v))


def transpose(adjacency: Adjacency) -> PlainAdjacency:
    """Return the in-neighbours of every vertex: the edges turned round, rows ascending, duplicates kept.

    Takes 8 bytes of temporary memory for each edge.
    """
    plain = _plain(adjacency)
    indptr, indices = transposing.transpose((signed(plain.indptr), plain.indices), thread_count())
    return PlainAdjacency(indptr.view(np.uint64), indices)


def require_valid(adjacency: Adjacency, name: str = "graph") -> None:
    """Check that no kernel can leave the arrays: offsets ascend, every index is a vertex, rows ascend. O(n + m).

    For whoever traverses a file that may be damaged: opening does not look at the edges. Runs at memory speed on
    plain rows and at the speed of decoding on compressed ones.

    Raises
    ------
    FormatError
        Names the first place that is wrong.
    """
    structure.require_offsets(adjacency, name)
    require_ids(adjacency, name)


def require_ids(adjacency: Adjacency, name: str = "graph") -> None:
    """Do the part of ``require_valid`` that looks at every edge; the offsets are right.

    Raises
    ------
    FormatError
        Names the first place that is wrong.
    """
    if isinstance(adjacency, CompressedAdjacency):
        from bigbfs.graph import varint

        varint.require_ids(adjacency, name)
        return
    if is_sound(adjacency.indptr, adjacency.indices, adjacency.n):
        return
    facts = scan(adjacency.indptr, adjacency.indices, adjacency.n)
    if facts.bad_edge >= 0:
        raise FormatError(
            f"{name}: corrupted: indices[{facts.bad_edge}] = {int(adjacency.indices[facts.bad_edge])} is no vertex "
            f"(they are 0 to {adjacency.n - 1}); convert the graph again"
        )
    if facts.unsorted_row >= 0:
        raise FormatError(f"{name}: corrupted: row {facts.unsorted_row} does not ascend; convert the graph again")


def is_sound(indptr: np.ndarray, indices: np.ndarray, n: int) -> bool:
    """Return whether every id is below ``n`` and no row descends; where is what :func:`scan` says."""
    bounds = row_chunks(indptr, 8 * thread_count())
    found = np.empty((len(bounds) - 1, 2), np.uint64)
    kernels.survey(team_of(thread_count()), signed(indptr), frozen(indices), bounds, found)
    return not len(indices) or (int(found[:, 0].max()) < n and not found[:, 1].any())


@dataclass(frozen=True, slots=True)
class Scan:
    """What one pass over the rows saw: first bad edge and first unsorted row (-1: none), duplicates and loops."""

    bad_edge: int
    unsorted_row: int
    duplicates: int
    loops: int


def scan(indptr: np.ndarray, indices: np.ndarray, n: int) -> Scan:
    """Look at every edge once, in parallel; ``indptr`` must be ascending within ``indices``."""
    bounds = row_chunks(indptr, 8 * thread_count())
    found = np.empty((len(bounds) - 1, 4), np.int64)
    kernels.scan(team_of(thread_count()), signed(indptr), frozen(indices), np.uint64(n), bounds, found)
    bad, unsorted = found[:, 0], found[:, 1]
    return Scan(
        int(bad[bad >= 0].min(initial=2**63 - 1)) if (bad >= 0).any() else -1,
        int(unsorted[unsorted >= 0].min(initial=2**63 - 1)) if (unsorted >= 0).any() else -1,
        int(found[:, 2].sum()),
        int(found[:, 3].sum()),
    )


def _integers(values: Any, name: str) -> np.ndarray:
    try:
        array = np.asarray(values)
    except (TypeError, ValueError) as error:  # rows of different lengths, say
        raise InputError(f"CSR: {name} is no array: {error}") from None
    if array.ndim != 1:
        raise InputError(f"CSR: {name} must have one dimension, got shape {array.shape}")
    if array.size == 0 and array.dtype.kind not in "iu":
        array = array.astype(np.int64)
    if array.dtype.kind not in "iu":
        raise InputError(f"CSR: {name} must be integers, got {array.dtype}")
    native = array.dtype.newbyteorder("=")
    return np.require(array, dtype=native, requirements=["C", "A"])


def _offsets(indptr: Any) -> np.ndarray:
    array = _integers(indptr, "indptr")
    if len(array) == 0 or int(array[0]) != 0:
        raise InputError("CSR: indptr must have n + 1 entries and start with 0")
    place = structure.first_descent(array)
    if place is not None:
        raise InputError(f"CSR: indptr[{place}] = {int(array[place])} is less than the entry before it")
    if int(array[-1]) >= 2**63:
        raise InputError(f"CSR: the last entry of indptr is {int(array[-1])}, more edges than any memory holds")
    return array.view(np.uint64) if array.dtype.itemsize == 8 else array.astype(np.uint64)


def _unsigned(neighbours: np.ndarray, n: int) -> np.ndarray:
    """Return ``neighbours`` as uint32 or uint64, in place where possible; negative ones become too large."""
    if neighbours.dtype.itemsize == 8:
        return neighbours.view(np.uint64)
    if neighbours.dtype == np.uint32 or (neighbours.dtype == np.int32 and n < 2**31):
        return neighbours.view(np.uint32)
    if neighbours.dtype.kind == "u":
        return neighbours.astype(np.uint32)
    return neighbours.astype(np.int64).view(np.uint64)


def _sort_rows(indptr: np.ndarray, indices: np.ndarray) -> None:
    long_rows = np.flatnonzero(np.diff(indptr) > np.uint64(LONG_ROW))
    for row in long_rows:
        indices[int(indptr[row]) : int(indptr[row + 1])].sort()
    bounds = row_chunks(indptr, 8 * thread_count())
    kernels.sort_rows(team_of(thread_count()), signed(indptr), indices, bounds, LONG_ROW)


def _fingerprint(plain: PlainAdjacency) -> int:
    bounds = row_chunks(plain.indptr, 8 * thread_count())
    key = np.frombuffer(os.urandom(16), np.uint64)
    sums = np.empty(len(bounds) - 1, np.uint64)
    kernels.fingerprint(team_of(thread_count()), signed(plain.indptr), frozen(plain.indices), bounds, frozen(key), sums)
    return int(sums.sum(dtype=np.uint64))


def _plain(adjacency: Adjacency) -> PlainAdjacency:
    if isinstance(adjacency, PlainAdjacency):
        return adjacency
    from bigbfs.graph import varint

    return varint.decode(adjacency)
