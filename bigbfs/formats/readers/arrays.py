"""Arrays in memory as edges: read them from a stream, check their ids, bring both sides to one width."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from bigbfs.errors import DoesNotFitError, InputError
from bigbfs.formats.readers.array_header import (
    LARGEST_ID,
    Header,
    edges_are_rows,
    no_edges,
    no_ids,
    read_header,
    require_ids,
)
from bigbfs.formats.readers.format import Rules
from bigbfs.formats.streams.sources import Source
from bigbfs.graph.edges import EdgeList
from bigbfs.jit.workers import ranges, run, thread_count
from bigbfs.sizes import format_size, id_limit

_PIECE = 1 << 20


def declared_by(name: str, read: Callable[[int], bytes]) -> tuple[int, int]:
    """Return (edges, bytes of data) that the header of an array declares; InputError where it is bad."""
    header = read_header(name, read)
    count = math.prod(header.shape)
    return (count // 2 if len(header.shape) == 2 else count), header.data_bytes


def read_array(name: str, stream: Any, size: int | None, sized: bool = False) -> np.ndarray:
    """Read header and data of a .npy of ``size`` bytes (None: unknown) from what has ``read`` and ``readinto``.

    ``sized`` as :func:`~bigbfs.formats.readers.array_header.no_ids`.
    """
    header = read_header(name, stream.read, size, sized)
    require_ids(name, header, sized)
    data = _room(name, header)
    filled = 0
    while filled < len(data):
        got = stream.readinto(data.data[filled : filled + _PIECE])
        if not got:
            raise InputError(f"{name}: is cut short: {filled} of {len(data)} bytes of data; write it again")
        filled += got
    return data.view(header.dtype).reshape(header.shape, order="F" if header.fortran else "C")


def _room(name: str, header: Header) -> np.ndarray:
    try:
        return np.empty(header.data_bytes, np.uint8)
    except (MemoryError, ValueError) as error:
        raise DoesNotFitError(f"{name}: no memory for the {format_size(header.data_bytes)} that it declares") from error


def columns(name: str, array: np.ndarray, rules: Rules) -> tuple[np.ndarray, np.ndarray]:
    """Return sources and targets; InputError where the shape is no edges', or the items are no ids."""
    if array.dtype.kind not in "iu":
        raise no_ids(name, array.shape, array.dtype)
    if 0 in array.shape:
        raise no_edges(name, array.shape, array.dtype)
    rows = edges_are_rows(name, array.shape, rules)
    first, second = rules.numbers or (1, 2)
    return (array[:, first - 1], array[:, second - 1]) if rows else (array[0], array[1])


def edge_list(
    source: Source, sources: np.ndarray, targets: np.ndarray, threads: int | None, vertices: int | None = None
) -> EdgeList:
    """Check the ids and bring both sides to uint32, or uint64 where one id needs it."""
    if vertices is None and len(sources) == 0:
        raise no_edges(source.name, sources.shape, sources.dtype)
    largest, many = 0, thread_count(threads)
    limit = LARGEST_ID if vertices is None else vertices - 1
    for side in (sources, targets):
        if side.dtype.kind not in "iu":
            raise no_ids(source.name, side.shape, side.dtype)
        if side.ndim != 1:
            raise InputError(f"{source.name}: ids of shape {side.shape} and dtype {side.dtype}; expected (edges,)")
        if not len(side):
            continue
        extents = run(many, _extent, [(side[first:last],) for first, last in ranges(len(side), 4 * many)])
        low, high = min(low for low, _ in extents), max(high for _, high in extents)
        largest = max(largest, high)
        if low < 0 or high > limit:
            wrong = low if low < 0 else high
            where = int(np.flatnonzero(side == wrong)[0])
            raise InputError(f"{source.name}: edge {where}: vertex id {wrong} is outside 0 to {id_limit(limit)}")
    dtype = np.dtype(np.uint32 if largest < 2**32 else np.uint64)
    return EdgeList(
        _column(sources, dtype, many),
        _column(targets, dtype, many),
        declared_n=vertices,
        input_bytes=source.consumed,
    )


def _extent(ids: np.ndarray) -> tuple[int, int]:
    return int(ids.min()), int(ids.max())


def _column(ids: np.ndarray, dtype: np.dtype[Any], threads: int) -> np.ndarray:
    """Return ``ids``, all in the range of ``dtype``, as a contiguous array of it: itself where it is one."""
    if ids.dtype == dtype and ids.flags.c_contiguous:
        return ids
    column = np.empty(len(ids), dtype)

    def copy(first: int, last: int) -> None:
        column[first:last] = ids[first:last]

    run(threads, copy, ranges(len(ids), 4 * threads) if len(ids) else [])
    return column
