"""The structure of a graph that everything relies on: offsets, block tables, labels. NumPy alone, O(n).

What holds here keeps whoever reads a row inside the arrays; what the rows hold is for
:func:`bigbfs.graph.rows.require_ids`. No Numba: a run on a GPU checks this much before it places a graph, and starts
sooner for it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np

from bigbfs.errors import FormatError
from bigbfs.graph.adjacency import BLOCK_IDS, Adjacency, CompressedAdjacency
from bigbfs.jit.workers import thread_count

T = TypeVar("T")

SPARSE = 16
"""Labels are dense while the largest is below so many times their number."""

STRETCH = 1 << 22
"""Elements that a thread looks at in one go."""


def require_offsets(adjacency: Adjacency, name: str = "graph") -> None:
    """Check every offset and the block index.

    Raises
    ------
    FormatError
        Names the array, and the place where one descends.
    """
    if isinstance(adjacency, CompressedAdjacency):
        checked_edge_offsets(adjacency, name)
        return
    place = first_descent(adjacency.indptr)
    if place is not None or int(adjacency.indptr[0]) != 0 or int(adjacency.indptr[-1]) != adjacency.m:
        where = f"descends at entry {place}" if place is not None else "does not run from 0 to the number of edges"
        raise FormatError(f"{name}: corrupted: indptr {where}; `bigbfs check` tells more, converting again repairs it")


def hub_layout(degree: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the hubs (id dtype, ascending) and ``hub_ptr`` (uint64) that rows of these degrees have."""
    hubs = np.flatnonzero(degree > BLOCK_IDS)
    blocks = (degree[hubs].astype(np.uint64) + np.uint64(BLOCK_IDS - 1)) // np.uint64(BLOCK_IDS)
    hub_ptr = np.zeros(len(hubs) + 1, np.uint64)
    np.cumsum(blocks, out=hub_ptr[1:])
    return hubs.astype(degree.dtype), hub_ptr


def checked_edge_offsets(adjacency: CompressedAdjacency, name: str = "compressed graph") -> np.ndarray:
    """Return the plain ``indptr`` (uint64) of ``adjacency`` after checking all arrays but the blob's content.

    Raises
    ------
    FormatError
        Offsets that descend or leave the blob, more ids than bytes, or a block index that fits no such degrees.
    """
    size = len(adjacency.blob)
    indptr, degree = adjacency.indptr, adjacency.degree
    advice = "; convert the graph again"
    if len(indptr) != len(degree) + 1 or int(indptr[0]) != 0 or int(indptr[-1]) != size:
        raise FormatError(f"{name}: corrupted: indptr does not run from 0 to the {size} bytes{advice}")
    place = first_descent(indptr)
    if place is not None:
        raise FormatError(f"{name}: corrupted: indptr descends at entry {place}{advice}")
    if len(degree) and int(degree.max()) > size:
        raise FormatError(f"{name}: corrupted: degree {int(degree.max())} in a blob of {size} bytes{advice}")
    edge_ptr = adjacency.edge_offsets()
    if first_descent(edge_ptr) is not None or int(edge_ptr[-1]) > size:
        raise FormatError(f"{name}: corrupted: the degrees sum to more ids than the {size} bytes{advice}")
    place = _impossible_size(indptr, degree)
    if place is not None:
        size, ids = int(indptr[place + 1]) - int(indptr[place]), int(degree[place])
        raise FormatError(f"{name}: corrupted: row {place} has {size} bytes for {ids} ids{advice}")
    hubs, hub_ptr = hub_layout(degree)
    for array, expected in (("hubs", hubs), ("hub_ptr", hub_ptr)):
        if not np.array_equal(getattr(adjacency, array), expected):
            raise FormatError(f"{name}: corrupted: {array} does not follow from the degrees{advice}")
    blocks = adjacency.block_ptr
    owner = np.repeat(hubs, np.diff(hub_ptr).astype(np.int64))
    right = len(blocks) == len(owner) and first_descent(blocks) is None
    if right and len(owner):
        right = bool((blocks >= indptr[owner]).all() and (blocks <= indptr[owner + owner.dtype.type(1)]).all())
        right &= np.array_equal(blocks[hub_ptr[:-1]], indptr[hubs])
    if not right:
        raise FormatError(f"{name}: corrupted: block_ptr does not lie in the rows of the hubs{advice}")
    return edge_ptr


def _impossible_size(indptr: np.ndarray, degree: np.ndarray) -> int | None:
    """Return the first row that has fewer bytes than ids, or more than varints of so many ids take; None: no row."""
    most = np.uint64(5 if degree.dtype.itemsize == 4 else 10)

    def look(start: int) -> int | None:
        ids = degree[start : start + STRETCH].astype(np.uint64)
        sizes = np.diff(indptr[start : start + STRETCH + 1])
        wrong = (sizes < ids) | (sizes > most * ids)
        return start + int(wrong.argmax()) if wrong.any() else None

    return next((place for place in _each_stretch(len(degree), look) if place is not None), None)


def first_descent(offsets: np.ndarray) -> int | None:
    """Return the first entry of ``offsets`` that is below the one before it, or None."""

    def look(start: int) -> int | None:
        stretch = offsets[start : start + STRETCH + 1]
        falls = stretch[1:] < stretch[:-1]
        return start + 1 + int(falls.argmax()) if falls.any() else None

    return next((place for place in _each_stretch(len(offsets) - 1, look) if place is not None), None)


def ascending(values: np.ndarray) -> bool:
    """Return whether each of ``values`` is larger than the one before."""

    def look(start: int) -> bool:
        stretch = values[start : start + STRETCH + 1]
        return bool((stretch[1:] > stretch[:-1]).all())

    return all(_each_stretch(len(values) - 1, look))


def all_different(values: np.ndarray) -> bool:
    """Return whether no two of ``values`` (integers from 0 on) are equal: marks in a table where they are dense."""
    largest = int(values.max(initial=0))
    if largest >= SPARSE * len(values):
        return ascending(np.sort(values))
    seen = np.zeros(largest + 1, np.bool_)

    def mark(start: int) -> None:  # assignments by index run side by side
        seen[values[start : start + STRETCH]] = True

    _each_stretch(len(values), mark)
    return int(np.count_nonzero(seen)) == len(values)


def _each_stretch(count: int, work: Callable[[int], T]) -> list[T]:
    """Return what ``work`` gives for the first index of every stretch of ``count`` elements; the threads share them."""
    starts = range(0, count, STRETCH)
    if len(starts) <= 1:
        return [work(start) for start in starts]
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(min(thread_count(), len(starts))) as pool:
        return list(pool.map(work, starts))
