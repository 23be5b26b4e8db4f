"""Bytes that the CPU engine takes beside the graph, and refusing what would not fit before it is allocated.

Without this a run on more vertices than there is memory for would be ended by the system, without a word. The pages of
a graph file do not count: the system gives them up when it needs them.
"""

from __future__ import annotations

import numpy as np

from bigbfs.engines.cpu.heads import HEADS
from bigbfs.errors import DoesNotFitError
from bigbfs.sizes import free_memory, size_allowed, size_needed

BIT = 1 / 8


def survey_bytes(n: int, ids: np.dtype) -> int:
    """Return the bytes of a survey of ``n`` vertices: heads, ranks and two bitmaps."""
    return int(n * (HEADS * ids.itemsize + 1 + 2 * BIT))


def search_bytes(n: int, ids: np.dtype) -> int:
    """Return the bytes of a search's state: levels, parents, queue and three bitmaps."""
    return int(n * (4 + 2 * ids.itemsize + 3 * BIT))


def tree_bytes(n: int, *, levels: bool, parents: bool) -> int:
    """Return the bytes of the arrays of a BFS result."""
    return n * (4 * levels + 8 * parents)


def components_bytes(n: int, ids: np.dtype) -> int:
    """Return the bytes of labels and trees, of the labels returned and of the sizes counted."""
    return n * (2 * ids.itemsize + 8 + 8)


def require(need: int, n: int, advice: str) -> None:
    """Refuse work on ``n`` vertices that takes ``need`` bytes more than there are.

    Raises
    ------
    DoesNotFitError
        With both figures and ``advice``.
    """
    free = free_memory()
    if need > free:
        raise DoesNotFitError(
            f"{n:,} vertices take {size_needed(need)} of memory on the CPU beside the graph, and {size_allowed(free)} "
            f"are free; {advice}"
        )
