"""Threads for kernels that release the GIL: each takes the next task when it is free.

Tasks differ (the buckets of a skewed graph a thousandfold), and another process may use one of the cores. A parallel
loop of Numba deals its iterations out beforehand and then waits for the slowest thread; these do not, and an interrupt
is seen between two tasks.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import pairwise
from types import TracebackType
from typing import Any, Protocol

import numpy as np

from bigbfs.jit.processors import processors

_limit: ContextVar[int | None] = ContextVar("threads", default=None)


def thread_count(threads: int | None = None) -> int:
    """Return ``threads``, or what :func:`held_to` says here, or one for each processor that this process gets."""
    return threads or _limit.get() or processors()


def hold_to(threads: int | None) -> None:
    """Have :func:`thread_count` return ``threads`` (None: what it returns now) in this thread from now on."""
    _limit.set(threads or _limit.get())


@contextmanager
def held_to(threads: int | None) -> Iterator[None]:
    """Have :func:`thread_count` return ``threads`` (None: what it returns now) inside."""
    before = _limit.set(threads or _limit.get())
    try:
        yield
    finally:
        _limit.reset(before)


class Each(Protocol):
    """Whoever does tasks: threads of this process, or those of several that work on one state."""

    def each(self, count: int, work: Callable[[int], object]) -> None:
        """Have ``work`` called once with each of 0 to ``count - 1``; return when all are done."""


class Workers:
    """``threads`` threads, the calling one among them; a context manager that can be given work many times."""

    def __init__(self, threads: int | None = None) -> None:
        self._threads = thread_count(threads)
        self._pool: ThreadPoolExecutor | None = None

    def each(self, count: int, work: Callable[[int], object]) -> None:
        """Call ``work`` with 0 to ``count - 1``, several at once; return when all are done.

        Raises
        ------
        Exception
            The first one that ``work`` raised, once the tasks under way have ended; the others never start.
        """
        numbers = deque(range(count))
        held = [work]

        def take() -> None:
            try:
                while numbers:
                    try:
                        number = numbers.popleft()
                    except IndexError:  # another thread was faster
                        return
                    held[0](number)
            except BaseException:
                numbers.clear()
                raise

        helpers = min(self._threads, count) - 1
        if helpers > 0 and self._pool is None:
            self._pool = ThreadPoolExecutor(self._threads - 1, "bigbfs-worker")
        running = [self._pool.submit(take) for _ in range(helpers) if self._pool]
        try:
            take()
        finally:
            # a helper that the system has not let run by now is not waited for: there is nothing left to take
            late = [future.exception() for future in running if not future.cancel()]
            errors = [error for error in late if error is not None]
            held.clear()  # a pool thread may keep `take` a moment longer, but not the arrays of `work`
        if errors:
            raise errors[0]

    def close(self) -> None:
        """End the threads; work that is given later makes new ones."""
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
            self._pool = None

    def __enter__(self) -> Workers:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def run(threads: int, function: Callable[..., Any], tasks: Iterable[tuple[Any, ...]]) -> list[Any]:
    """Return ``[function(*task) for task in tasks]``, computed by ``threads`` threads.

    The first exception of a task is raised once the tasks under way have ended; the others never start.
    """
    arguments = list(tasks)
    results: list[Any] = [None] * len(arguments)

    def work(number: int) -> None:
        results[number] = function(*arguments[number])

    with Workers(threads) as workers:
        workers.each(len(arguments), work)
    return results


def ranges(count: int, parts: int) -> list[tuple[int, int]]:
    """Cut 0..count into at most ``parts`` ranges of nearly equal length, none empty."""
    parts = max(1, min(parts, count))
    bounds = [count * part // parts for part in range(parts + 1)]
    return [(first, last) for first, last in pairwise(bounds) if first < last]


def balanced_ranges(offsets: np.ndarray, parts: int) -> list[tuple[int, int]]:
    """Cut the rows whose work is ``diff(offsets)`` into at most ``parts`` ranges of nearly equal work."""
    rows = len(offsets) - 1
    goals = int(offsets[0]) + (int(offsets[-1]) - int(offsets[0])) * np.arange(1, parts) // parts
    # no np.unique, which imports masked arrays: ten milliseconds
    cuts = sorted({0, *np.searchsorted(offsets, goals.astype(offsets.dtype)).tolist(), rows})
    return [(min(first, rows), min(last, rows)) for first, last in pairwise(cuts)]


def cursors(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Turn ``counts[chunk, bucket]`` into (next place of each chunk in each bucket, start of each bucket).

    Buckets follow one another, and in a bucket the chunks, so that whoever fills them keeps the order of the items.
    """
    chunks, buckets = counts.shape
    ends = np.cumsum(counts.T.ravel()).reshape(buckets, chunks).T
    starts = np.zeros(buckets + 1, np.int64)
    if chunks and buckets:
        starts[1:] = ends[-1]
    return np.ascontiguousarray(ends - counts), starts
