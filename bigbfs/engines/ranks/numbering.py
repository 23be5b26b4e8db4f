"""Local and global numbers of vertices, for kernels that get a rank's part (:mod:`bigbfs.engines.ranks.partition`)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bigbfs.engines.ranks.group import Group
from bigbfs.jit.njit import njit

ZERO, ONE, SHIFT, LOW = (np.uint64(value) for value in (0, 1, 6, 63))


@njit
def owner_of(part, word):
    """Return the rank that owns a ``word`` of the graph, and which of its own words that is."""
    if len(part.bounds) == 0:
        return word % part.size, word // part.size
    low, high = ZERO, part.size
    while high - low > ONE:  # the last range that does not begin after it
        middle = (low + high) >> ONE
        if part.bounds[middle] <= word:
            low = middle
        else:
            high = middle
    return low, word - part.bounds[low]


@njit(cache=True)
def global_vertex(part, local):
    """Return the vertex whose local number is ``local``."""
    return ((part.first + (local >> SHIFT) * part.stride) << SHIFT) + (local & LOW)


def whole(parts: list[np.ndarray], owns: Sequence[slice | np.ndarray], n: int) -> np.ndarray:
    """Return one array of n vertices from the arrays of all ranks, by local number; ``owns``: the words of each."""
    words = -(-n // 64)
    found = np.empty((words, 64), parts[0].dtype)
    for own, part in zip(owns, parts, strict=True):
        found[own] = part.reshape(-1, 64)
    return found.reshape(-1)[:n]


def to_first(group: Group, mine: np.ndarray) -> list[np.ndarray]:
    """Send ``mine`` to rank 0; return there the arrays of all ranks, elsewhere arrays without entries."""
    none = np.empty(0, np.uint8)
    raw = np.ascontiguousarray(mine).view(np.uint8)
    parts = group.exchange([raw if rank == 0 else none for rank in range(group.size)])
    return [part.view(mine.dtype) for part in parts]
