"""A pool of threads for kernels that release the GIL, with tasks handed out as threads come free.

The kernels of this package are serial functions over a range of lines, rows or buckets. Buckets of a skewed graph
differ a thousandfold, so a task goes to whichever thread is free, which a static parallel loop cannot do; and an
interrupt is seen between two tasks.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np


def thread_count(threads: int | None = None) -> int:
    """Return ``threads``, or one for each CPU that this process may use."""
    return threads if threads else len(os.sched_getaffinity(0))


def run(threads: int, function: Callable[..., Any], tasks: Iterable[tuple[Any, ...]]) -> list[Any]:
    """Return ``[function(*task) for task in tasks]``, computed by ``threads`` threads.

    The first exception of a task is raised once the tasks under way have ended; the others never start.
    """
    arguments = list(tasks)
    if threads == 1 or len(arguments) <= 1:
        return [function(*task) for task in arguments]
    pool = ThreadPoolExecutor(min(threads, len(arguments)))
    try:
        return [future.result() for future in [pool.submit(function, *task) for task in arguments]]
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def ranges(count: int, parts: int) -> list[tuple[int, int]]:
    """Cut 0..count into at most ``parts`` ranges of nearly equal length, none empty."""
    parts = max(1, min(parts, count))
    bounds = [count * part // parts for part in range(parts + 1)]
    return [(first, last) for first, last in pairwise(bounds) if first < last]


def balanced_ranges(offsets: np.ndarray, parts: int) -> list[tuple[int, int]]:
    """Cut the rows whose work is ``diff(offsets)`` into at most ``parts`` ranges of nearly equal work."""
    rows = len(offsets) - 1
    goals = int(offsets[0]) + (int(offsets[-1]) - int(offsets[0])) * np.arange(1, parts) // parts
    cuts = np.unique(np.concatenate(([0], np.searchsorted(offsets, goals.astype(offsets.dtype)), [rows])))
    return [(int(first), int(last)) for first, last in pairwise(np.minimum(cuts, rows))]
