"""The edges that a generator makes: arrays that threads fill, a range of items at a time, or how to draw any stretch.

Most kinds draw each edge from its number alone (:class:`Drawn`). A few lay the edges of vertices one after another and
return the arrays themselves (:data:`Pairs`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
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


@dataclass(frozen=True)
class Drawn:
    """Edges of which any stretch can be drawn, again and again, and in any order.

    Attributes
    ----------
    n, edges
        Vertices, and edges.
    kernel
        ``kernel(first, last, src, dst, *arguments)`` writes the edges ``first`` to ``last - 1`` to the two arrays, from
        their first item on.
    arguments
        What else it takes.
    names
        The key of the permutation that renames the vertices; None: they keep their numbers.
    """

    n: int
    edges: int
    kernel: Callable[..., Any]
    arguments: tuple[Any, ...]
    names: np.uint64 | None = None

    def draw(self, first: int, last: int, src: np.ndarray, dst: np.ndarray) -> None:
        """Write the edges ``first`` to ``last - 1`` to the two arrays."""
        self.kernel(first, last, src, dst, *self.arguments)
        if self.names is not None:
            _shuffle(0, last - first, src, dst, *_permutation(self.n, self.names))

    def pairs(self, threads: int) -> Pairs:
        """Return all edges."""
        src, dst = allocate(self.n, self.edges)

        def part(first: int, last: int) -> None:
            self.draw(first, last, src[first:last], dst[first:last])

        spread(threads, part, self.edges)
        return src, dst


def allocate(n: int, edges: int) -> Pairs:
    """Return empty sources and targets for ``edges`` edges between ``n`` vertices."""
    return np.empty(edges, id_dtype(n)), np.empty(edges, id_dtype(n))


def spread(threads: int, kernel: Callable[..., Any], items: int, *arguments: Any) -> list[Any]:
    """Run ``kernel(first, last, *arguments)`` over 0..items-1 in ranges; return the results in order."""
    tasks = [(first, last, *arguments) for first, last in ranges(items, -(-items // ITEMS))]
    return run(threads, kernel, tasks)


def shuffle_ids(seed: int, threads: int, n: int, src: np.ndarray, dst: np.ndarray) -> None:
    """Rename the vertices by a random permutation, in place."""
    spread(threads, _shuffle, len(src), src, dst, *_permutation(n, names_key(seed)))


def names_key(seed: int) -> np.uint64:
    """Return the key of the permutation that renames the vertices of a graph with this ``seed``."""
    return make_key(seed, 99)


def _permutation(n: int, key: np.uint64) -> tuple[np.uint64, np.uint64, np.uint64]:
    return np.uint64(n), np.uint64(max(n - 1, 0).bit_length()), key


@njit(cache=True, nogil=True)
def _shuffle(first, last, src, dst, n, bits, key):
    for edge in range(first, last):
        src[edge] = permuted(np.uint64(src[edge]), n, bits, key)
        dst[edge] = permuted(np.uint64(dst[edge]), n, bits, key)
