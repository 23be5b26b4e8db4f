"""What the validators share: how a broken rule is said, and how threads share the search for its first offender.

A validator verifies a result from the graph and the result alone, in O(n + m). In: graphs plain or compressed,
vertices internal. Messages name original ids.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NoReturn

import numpy as np

from bigbfs.errors import VerificationError
from bigbfs.graph.graph import Graph
from bigbfs.jit.workers import thread_count

STRETCH = 1 << 18
"""Vertices or edges that one thread looks at in one go; less than this is not worth a second thread."""


def fail(rule: str, finding: str) -> NoReturn:
    """Say that a rule is broken."""
    raise VerificationError(f"wrong result: {finding} (rule: {rule})")


def name_of(graph: Graph, vertex: int) -> int:
    """Return the original id of ``vertex``."""
    return int(graph.original(vertex))


def first_offender(kernel: Callable[..., int], count: int, *arguments: Any) -> int:
    """Return the smallest of 0..count-1 that ``kernel`` objects to, or -1; stretches are shared out among threads."""
    if count <= STRETCH:
        return int(kernel(0, count, *arguments))
    with ThreadPoolExecutor(thread_count()) as pool:
        starts = range(0, count, STRETCH)
        found = pool.map(lambda start: int(kernel(start, min(start + STRETCH, count), *arguments)), starts)
        return min((offender for offender in found if offender >= 0), default=-1)


def ends_of(indptr: np.ndarray, indices: np.ndarray, edge: int) -> tuple[int, int]:
    """Return the vertices at the two ends of stored edge number ``edge``."""
    return int(np.searchsorted(indptr, edge, side="right")) - 1, int(indices[edge])


def require_array(name: str, array: np.ndarray, dtype: type, n: int) -> None:
    """Refuse an array that is not one ``dtype`` for each vertex."""
    if array.shape != (n,) or array.dtype != dtype:
        fail(
            f"{name} are {np.dtype(dtype)}, one per vertex",
            f"{name} have dtype {array.dtype} and shape {array.shape} for {n} vertices",
        )


def first_difference(what: str, have: np.ndarray, want: np.ndarray) -> str:
    """Return in how many ``what`` two arrays differ, and where first; nothing if they are equal."""
    wrong = np.flatnonzero(have != want)
    if not len(wrong):
        return ""
    at = int(wrong[0])
    return f"{len(wrong)} {what}s differ, first at vertex {at}: have {have[at]}, reference {want[at]}"
