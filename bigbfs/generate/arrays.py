"""The arrays that generators fill, and the threads that fill them: a range of items at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bigbfs.generate.rng import make_key, permuted
from bigbfs.graph.adjacency import id_dtype
from bigbfs.jit.njit import njit
from bigbfs.jit.workers import ranges, run

Pairs = tuple[np.ndarray, np.ndarray]
"""Sources and targets: two arrays of ids, one entry per edge."""

ITEMS = 1 << 20
"""Items in one task: half a millisecond of work or more."""


def allocate(n: int, edges: int) -> Pairs:
    """Return empty sources and targets for ``edges`` edges between ``n`` vertices."""
    return np.empty(edges, id_dtype(n)), np.empty(edges, id_dtype(n))


def fill(threads: int, kernel: Callable[..., Any], src: np.ndarray, dst: np.ndarray, *arguments: Any) -> None:
    """Run ``kernel(first, last, src, dst, *arguments)`` over all edges."""
    spread(threads, kernel, len(src), src, dst, *arguments)


def spread(threads: int, kernel: Callable[..., Any], items: int, *arguments: Any) -> list[Any]:
    """Run ``kernel(first, last, *arguments)`` over 0..items-1 in ranges; return the results in order."""
    tasks = [(first, last, *arguments) for first, last in ranges(items, -(-items // ITEMS))]
    return run(threads, kernel, tasks)


def shuffle_ids(seed: int, threads: int, n: int, src: np.ndarray, dst: np.ndarray) -> None:
    """Rename the vertices by a random permutation, in place."""
    bits = max(n - 1, 0).bit_length()
    fill(threads, _shuffle, src, dst, np.uint64(n), np.uint64(bits), make_key(seed, 99))


@njit(cache=True, nogil=True)
def _shuffle(first, last, src, dst, n, bits, key):
    for edge in range(first, last):
        src[edge] = permuted(np.uint64(src[edge]), n, bits, key)
        dst[edge] = permuted(np.uint64(dst[edge]), n, bits, key)
