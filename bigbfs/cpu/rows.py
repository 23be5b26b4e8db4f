"""How a CPU kernel reads a row, whatever the encoding: one source of each algorithm serves plain and compressed graphs.

A kernel gets the adjacency as a named tuple of read-only arrays, :class:`PlainRows` or :class:`VarintRows`, and
reads the row of vertex ``u`` with a cursor kept in its own variables::

    position = seek(rows, u, ZERO)
    value = ZERO
    for k in range(degree(rows, u)):
        value, position = step(rows, position, k, value)

``value`` is the neighbour, always uint64; stopping early is leaving the loop. Graph files are checked for their shape
when they are opened, not id by id: a kernel must compare ``value`` with n before it uses it, and a compressed row
never reads past the blob (whose padding holds the end of a varint), whatever its bytes. Numba picks the
implementation by the tuple's type when it compiles, so nothing is decided at run time. Source of the encodings:
:mod:`bigbfs.adjacency`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba.core import types
from numba.extending import overload

from bigbfs.adjacency import BLOCK_IDS, Adjacency, CompressedAdjacency, PlainAdjacency
from bigbfs.cpu.bits import ONE, ZERO
from bigbfs.formats.varint_kernels import read_varint
from bigbfs.rows import frozen

_BLOCK = np.uint64(BLOCK_IDS)
_IN_BLOCK = np.uint64(BLOCK_IDS - 1)

NOBODY = np.uint64(2**64 - 1)
"""No vertex, whatever the id width."""


class PlainRows(NamedTuple):
    """A plain adjacency: see :class:`bigbfs.adjacency.PlainAdjacency`."""

    indptr: np.ndarray
    indices: np.ndarray


class VarintRows(NamedTuple):
    """A compressed adjacency: see :class:`bigbfs.adjacency.CompressedAdjacency`."""

    indptr: np.ndarray
    degree: np.ndarray
    blob: np.ndarray
    hubs: np.ndarray
    hub_ptr: np.ndarray
    block_ptr: np.ndarray


Rows = PlainRows | VarintRows


def rows_of(adjacency: Adjacency) -> Rows:
    """Return the rows of ``adjacency``: the same memory, seen as read-only arrays (one type, one compilation)."""
    kind = PlainRows if isinstance(adjacency, PlainAdjacency) else VarintRows
    return kind(*(frozen(np.asarray(array)) for array in adjacency.arrays().values()))


def row_count(rows: Rows) -> int:
    """Return the number of vertices."""
    return len(rows.indptr) - 1


def row_length(rows: Rows, u: int) -> int:
    """Return the number of neighbours of ``u``: :func:`degree` for code that is not compiled."""
    if isinstance(rows, PlainRows):
        return int(rows.indptr[u + 1]) - int(rows.indptr[u])
    return int(rows.degree[u])


def sample_rows(rows: Rows, ids: np.dtype) -> Rows:
    """Return the smallest rows of the same type, two vertices and their edge, for compiling kernels by running them."""
    offsets = np.arange(3, dtype=np.uint64)
    neighbours = np.array([1, 0])
    if isinstance(rows, PlainRows):
        return rows_of(PlainAdjacency(offsets, neighbours.astype(ids)))
    none = np.zeros(0, np.uint64)
    one_each = np.ones(2, ids)
    blob = neighbours.astype(np.uint8)
    return rows_of(CompressedAdjacency(offsets, one_each, blob, none.astype(ids), np.zeros(1, np.uint64), none))


def _is_plain(rows):
    return isinstance(rows, types.BaseNamedTuple) and rows.instance_class is PlainRows


def degree(rows, u):
    """Return the number of neighbours of ``u`` (uint64)."""
    raise NotImplementedError("for compiled code")


def seek(rows, u, k):
    """Return the position of neighbour ``k`` of ``u``; ``k`` is a multiple of ``BLOCK_IDS``."""
    raise NotImplementedError("for compiled code")


def step(rows, position, k, previous):
    """Return neighbour ``k`` of a row (uint64) and the position behind it, given neighbour ``k - 1``."""
    raise NotImplementedError("for compiled code")


@overload(degree)
def _degree(rows, u):
    if _is_plain(rows):
        return lambda rows, u: rows.indptr[u + ONE] - rows.indptr[u]
    return lambda rows, u: np.uint64(rows.degree[u])


@overload(seek)
def _seek(rows, u, k):
    if _is_plain(rows):
        return lambda rows, u, k: rows.indptr[u] + k

    def compressed(rows, u, k):
        if k == ZERO:
            return rows.indptr[u]
        block = rows.hub_ptr[np.uint64(np.searchsorted(rows.hubs, u))] + k // _BLOCK
        return rows.block_ptr[min(block, np.uint64(len(rows.block_ptr)) - ONE)]

    return compressed


@overload(step)
def _step(rows, position, k, previous):
    if _is_plain(rows):
        return lambda rows, position, k, previous: (np.uint64(rows.indices[position]), position + ONE)

    def compressed(rows, position, k, previous):
        if position >= np.uint64(len(rows.blob)):
            return NOBODY, position
        value, after = read_varint(rows.blob, np.int64(position))
        if k & _IN_BLOCK != ZERO:
            value += previous
        return value, np.uint64(after)

    return compressed
