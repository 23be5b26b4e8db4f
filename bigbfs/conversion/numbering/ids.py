"""Ids that inputs declare, and ranges of bits.

A vertex exists where its id occurs in a line, or where its input declares it (``EdgeList.declared_n``) or lists it
(``EdgeList.isolated``); the vertices of several inputs are the union.
"""

from __future__ import annotations

import numpy as np

from bigbfs.errors import InputError
from bigbfs.graph.edges import EdgeList
from bigbfs.graph.views import frozen
from bigbfs.jit.workers import ranges, run

LARGEST_ID = 2**63 - 1
PIECE = 1 << 22
"""Ids between two words about how far it is."""


def extent(arrays: list[np.ndarray], threads: int) -> tuple[int, int] | None:
    """Return the smallest and largest element, or None where there is none."""
    stretches = [array[a:b] for array in arrays for a, b in ranges(len(array), threads) if len(array)]
    if not stretches:
        return None
    found = run(
        threads, lambda stretch: (int(stretch.min()), int(stretch.max())), [(stretch,) for stretch in stretches]
    )
    return min(low for low, _ in found), max(high for _, high in found)


def declared_ranges(lists: list[EdgeList], threads: int) -> list[tuple[int, int]]:
    """Return the declared id ranges, first and end, merged where they touch; check that ids keep to them.

    Raises
    ------
    InputError
        An edge names a vertex that its input does not declare.
    """
    spans = []
    for edges in lists:
        if edges.declared_n is None:
            continue
        first, end = edges.first_id, edges.first_id + edges.declared_n
        found = extent([edges.src, edges.dst], threads)
        if found and not first <= found[0] <= found[1] < end:
            wrong = found[0] if found[0] < first else found[1]
            raise InputError(f"an edge names vertex {wrong}, but its input declares vertices {first} to {end - 1}")
        if end > first:
            spans.append((first, end))
    merged: list[tuple[int, int]] = []
    for first, end in sorted(spans):
        if merged and first <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((first, end))
    return merged


def set_bits(words: np.ndarray, first: int, end: int) -> None:
    """Set the bits ``first`` to ``end`` of uint64 ``words``: whole bytes at once, the ragged ends one by one."""
    view = words.view(np.uint8)
    inner_first, inner_end = -(-first // 8), end // 8
    view[inner_first:inner_end] = 0xFF
    for bit in {*range(first, min(end, inner_first * 8)), *range(max(first, inner_end * 8), end)}:
        view[bit >> 3] |= np.uint8(1 << (bit & 7))


def chunks(arrays: list[np.ndarray], threads: int, most: int = LARGEST_ID) -> list[tuple[np.ndarray, int, int]]:
    """Cut arrays into ranges for ``threads`` threads, none longer than ``most``: (read-only array, first, last)."""
    return [
        (frozen(array), a, b)
        for array in arrays
        for a, b in ranges(len(array), max(4 * threads, -(-len(array) // most)))
        if len(array)
    ]
