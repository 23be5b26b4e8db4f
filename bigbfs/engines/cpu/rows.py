"""How a CPU kernel reads a row, whatever the encoding: one source of each algorithm serves plain and compressed graphs.

A kernel gets the adjacency as a named tuple of read-only arrays, :class:`PlainRows`, :class:`PieceRows` or
:class:`VarintRows`, and reads the row of vertex ``u`` with a cursor kept in its own variables::

    position = seek(rows, u, ZERO)
    value = ZERO
    for k in range(degree(rows, u)):
        value, position = step(rows, position, k, value)

``value`` is the neighbour, always uint64; stopping early is leaving the loop. Graph files are checked for their shape
when they are opened, not id by id: a kernel must compare ``value`` with n before it uses it, and a compressed row
never reads past the blob, whatever its bytes. Numba picks the implementation by the tuple's type when it compiles, so
nothing is decided at run time. Source of the encodings: :mod:`bigbfs.graph.adjacency`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bigbfs.engines.cpu.bits import ONE, SHIFT, ZERO
from bigbfs.graph.adjacency import (
    BLOCK_IDS,
    Adjacency,
    CompressedAdjacency,
    PiecewiseAdjacency,
    PlainAdjacency,
    gapped,
)
from bigbfs.graph.views import frozen
from bigbfs.jit import settings
from bigbfs.jit.bits import fetch_line, trailing_zeros
from bigbfs.jit.interpreted import intrinsic
from bigbfs.jit.later import Later, overload
from bigbfs.jit.njit import njit

types, ir = Later("numba.core.types"), Later("llvmlite.ir")

_BLOCK_SHIFT = np.uint64(BLOCK_IDS.bit_length() - 1)
_IN_BLOCK = np.uint64(BLOCK_IDS - 1)
_TWO, _THREE, _FOUR, _SEVEN, _WIDE, _WORD = (np.uint64(value) for value in (2, 3, 4, 7, 8, 64))
_PAYLOAD = np.uint64(0x7F)
_TOPS = np.uint64(0x8080808080808080)
_LOW_7, _HIGH_7 = np.uint64(0x007F007F007F007F), np.uint64(0x7F007F007F007F00)
_LOW_14, _HIGH_14 = np.uint64(0x00003FFF00003FFF), np.uint64(0x3FFF00003FFF0000)
_LOW_28, _HIGH_28 = np.uint64(0x000000000FFFFFFF), np.uint64(0x0FFFFFFF00000000)

NOBODY = np.uint64(2**64 - 1)
"""No vertex, whatever the id width."""


class PlainRows(NamedTuple):
    """A plain adjacency: see :class:`bigbfs.graph.adjacency.PlainAdjacency`."""

    indptr: np.ndarray
    indices: np.ndarray


class PieceRows(NamedTuple):
    """Plain rows in pieces: see :class:`bigbfs.graph.adjacency.PiecewiseAdjacency`; ``n``: vertices, uint64."""

    indptr: np.ndarray
    indices: np.ndarray
    n: np.uint64


class VarintRows(NamedTuple):
    """A compressed adjacency: see :class:`bigbfs.graph.adjacency.CompressedAdjacency`."""

    indptr: np.ndarray
    degree: np.ndarray
    blob: np.ndarray
    hubs: np.ndarray
    hub_ptr: np.ndarray
    block_ptr: np.ndarray


Rows = PlainRows | PieceRows | VarintRows


def rows_of(adjacency: Adjacency | PiecewiseAdjacency) -> Rows:
    """Return the rows of ``adjacency``: the same memory, seen as read-only arrays (one type, one compilation)."""
    if isinstance(adjacency, PiecewiseAdjacency):
        return PieceRows(frozen(adjacency.indptr), frozen(adjacency.indices), np.uint64(adjacency.n))
    kind = PlainRows if isinstance(adjacency, PlainAdjacency) else VarintRows
    return kind(*(frozen(np.asarray(array)) for array in adjacency.arrays().values()))


def row_count(rows: Rows) -> int:
    """Return the number of vertices."""
    return int(rows.n) if isinstance(rows, PieceRows) else len(rows.indptr) - 1


def row_length(rows: Rows, u: int) -> int:
    """Return the number of neighbours of ``u``: :func:`degree` for code that is not compiled."""
    u = u + (u >> 6) if isinstance(rows, PieceRows) else u
    if isinstance(rows, VarintRows):
        return int(rows.degree[u])
    return int(rows.indptr[u + 1]) - int(rows.indptr[u])


def row_lengths(rows: Rows, vertices: np.ndarray) -> np.ndarray:
    """Return the numbers of neighbours of ``vertices``: int64, one for each."""
    if isinstance(rows, VarintRows):
        return rows.degree[vertices].astype(np.int64)
    at = vertices.astype(np.int64)
    if isinstance(rows, PieceRows):
        at += at >> 6
    return (rows.indptr[at + 1] - rows.indptr[at]).astype(np.int64)


def sample_rows(rows: Rows, ids: np.dtype) -> Rows:
    """Return the smallest rows of the same type, two vertices and their edge, for compiling kernels by running them."""
    offsets = np.arange(3, dtype=np.uint64)
    neighbours = np.array([1, 0])
    if isinstance(rows, PlainRows):
        return rows_of(PlainAdjacency(offsets, neighbours.astype(ids)))
    if isinstance(rows, PieceRows):
        spread = np.minimum(np.arange(gapped(2)), 2).astype(np.uint64)
        return rows_of(PiecewiseAdjacency(spread, neighbours.astype(ids), 2, 2))
    none = np.zeros(0, np.uint64)
    one_each = np.ones(2, ids)
    blob = neighbours.astype(np.uint8)
    return rows_of(CompressedAdjacency(offsets, one_each, blob, none.astype(ids), np.zeros(1, np.uint64), none))


def _item_of(field: str) -> Any:
    """Return the compiled function (rows, index) -> ``rows.field[index]``.

    Ordinary access to an array inside a tuple counts references, atomically, for every item read in a loop with
    branches: ten times the cost of the read. This is the load alone.
    """

    if settings.interpreted():
        return lambda rows, index: getattr(rows, field)[index]

    @intrinsic
    def item(typing_context, rows, index):
        place = rows.fields.index(field)
        array = rows.types[place]

        def generate(context, builder, signature, arguments):
            view = context.make_array(array)(context, builder, builder.extract_value(arguments[0], place))
            return builder.load(builder.gep(view.data, [arguments[1]]))

        return array.dtype(rows, types.intp), generate

    return item


def _length_of(field: str) -> Any:
    """Return the compiled function (rows) -> ``len(rows.field)``, uint64."""

    if settings.interpreted():
        return lambda rows: np.uint64(len(getattr(rows, field)))

    @intrinsic
    def length(typing_context, rows):
        place = rows.fields.index(field)
        array = rows.types[place]

        def generate(context, builder, signature, arguments):
            return context.make_array(array)(context, builder, builder.extract_value(arguments[0], place)).nitems

        return types.uint64(rows), generate

    return length


def _fetch_of(field: str) -> Any:
    """Return the compiled function (rows, index) that has ``rows.field[index]`` brought near; any index will do."""

    if settings.interpreted():
        return lambda rows, index: None

    @intrinsic
    def fetch(typing_context, rows, index):
        place = rows.fields.index(field)
        array = rows.types[place]

        def generate(context, builder, signature, arguments):
            view = context.make_array(array)(context, builder, builder.extract_value(arguments[0], place))
            fetch_line(builder, builder.ptrtoint(builder.gep(view.data, [arguments[1]]), ir.IntType(64)))
            return context.get_dummy_value()

        return types.void(rows, types.intp), generate

    return fetch


_indptr, _indices, _degree_at, _hub_ptr = map(_item_of, ("indptr", "indices", "degree", "hub_ptr"))
_blob, _hubs, _block_ptr = map(_item_of, ("blob", "hubs", "block_ptr"))
_blob_length, _hubs_length, _blocks_length = map(_length_of, ("blob", "hubs", "block_ptr"))
_indices_length = _length_of("indices")
_fetch_indptr, _fetch_degree, _fetch_indices, _fetch_blob = map(_fetch_of, ("indptr", "degree", "indices", "blob"))


def _kind(rows: Any) -> Any:
    """Return the class of rows, given their type, or where kernels run as Python the rows themselves."""
    return getattr(rows, "instance_class", type(rows))


def degree(rows, u):
    """Return the number of neighbours of ``u`` (uint64)."""
    return _degree(rows, u)(rows, u)


def seek(rows, u, k):
    """Return the position of neighbour ``k`` of ``u``; ``k`` is a multiple of ``BLOCK_IDS``."""
    return _seek(rows, u, k)(rows, u, k)


def step(rows, position, k, previous):
    """Return neighbour ``k`` of a row (uint64) and the position behind it, given neighbour ``k - 1``."""
    return _step(rows, position, k, previous)(rows, position, k, previous)


def glance(rows, position, distance):
    """Return the neighbour ``distance`` behind ``position`` where that is one load: of plain rows. Else ``NOBODY``.

    It may be of a row behind this one: it is to have what will be needed soon brought near, and for nothing else.
    """
    return _glance(rows, position, distance)(rows, position, distance)


def fetch_place(rows, u):
    """Have brought near what says where the row of ``u`` is, and how long."""
    return _fetch_place(rows, u)(rows, u)


def fetch_row(rows, u):
    """Have the first neighbours of ``u`` brought near; :func:`fetch_place` should have been called a while ago."""
    return _fetch_row(rows, u)(rows, u)


@overload(degree)
def _degree(rows, u):
    if _kind(rows) is PlainRows:
        return lambda rows, u: _indptr(rows, u + ONE) - _indptr(rows, u)
    if _kind(rows) is PieceRows:
        return lambda rows, u: _indptr(rows, u + (u >> SHIFT) + ONE) - _indptr(rows, u + (u >> SHIFT))
    return lambda rows, u: np.uint64(_degree_at(rows, u))


@overload(seek)
def _seek(rows, u, k):
    if _kind(rows) is PlainRows:
        return lambda rows, u, k: _indptr(rows, u) + k
    if _kind(rows) is PieceRows:
        return lambda rows, u, k: _indptr(rows, u + (u >> SHIFT)) + k
    # Clamped, so that no sum of a position and a length wraps round and looks as if it were inside the blob.
    return lambda rows, u, k: min(_indptr(rows, u) if k == ZERO else _block(rows, u, k), _blob_length(rows))


@overload(step)
def _step(rows, position, k, previous):
    if _kind(rows) is not VarintRows:
        return lambda rows, position, k, previous: (np.uint64(_indices(rows, position)), position + ONE)

    def compressed(rows, position, k, previous):
        value, position = _read_varint(rows, position)
        if k & _IN_BLOCK != ZERO:
            value += previous
        return value, position

    return compressed


@overload(fetch_place)
def _fetch_place(rows, u):
    if _kind(rows) is PieceRows:
        return lambda rows, u: _fetch_indptr(rows, u + (u >> SHIFT))

    def plain(rows, u):
        _fetch_indptr(rows, u)

    def compressed(rows, u):
        _fetch_indptr(rows, u)
        _fetch_degree(rows, u)

    return plain if _kind(rows) is PlainRows else compressed


@overload(fetch_row)
def _fetch_row(rows, u):
    if _kind(rows) is VarintRows:
        return lambda rows, u: _fetch_blob(rows, _indptr(rows, u))
    return lambda rows, u: _fetch_indices(rows, seek(rows, u, ZERO))


@overload(glance)
def _glance(rows, position, distance):
    if _kind(rows) is PlainRows:

        def plain(rows, position, distance):
            place = position + distance
            return np.uint64(_indices(rows, place)) if place < _indices_length(rows) else NOBODY

        return plain
    return lambda rows, position, distance: NOBODY


@njit
def _block(rows, u, k):
    """Return the position of the block of the hub ``u`` that begins with neighbour ``k``."""
    low, high = ZERO, _hubs_length(rows)
    while low < high:
        middle = (low + high) >> ONE
        if np.uint64(_hubs(rows, middle)) < u:
            low = middle + ONE
        else:
            high = middle
    block = _hub_ptr(rows, low) + (k >> _BLOCK_SHIFT)
    return _block_ptr(rows, block) if block < _blocks_length(rows) else NOBODY


@njit
def _read_varint(rows, position):
    """Return the varint at ``position`` and the position behind it; past the blob, NOBODY and nothing is read.

    Where eight bytes can be read it takes no branch for each byte, since how long a varint is no predictor can tell:
    the lowest clear top bit ends it, three steps of shift and or close the gaps between its groups of seven bits.
    """
    end = _blob_length(rows)
    if position + _WIDE <= end:
        word = ZERO
        for i in range(_WIDE):
            word |= np.uint64(_blob(rows, position + i)) << (i * _WIDE)
        stops = ~word & _TOPS
        if stops != ZERO:
            length = (trailing_zeros(stops) >> _THREE) + ONE
            word &= (stops & (~stops + ONE)) - ONE
            word = (word & _LOW_7) | ((word & _HIGH_7) >> ONE)
            word = (word & _LOW_14) | ((word & _HIGH_14) >> _TWO)
            return (word & _LOW_28) | ((word & _HIGH_28) >> _FOUR), position + length
    value, shift = ZERO, ZERO
    while position < end and shift < _WORD:
        byte = np.uint64(_blob(rows, position))
        position += ONE
        value |= (byte & _PAYLOAD) << shift
        shift += _SEVEN
        if byte <= _PAYLOAD:
            return value, position
    return NOBODY, position
