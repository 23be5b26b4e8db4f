"""Threads for the kernels of the readers: each takes the next chunk when it is free.

The kernels are serial and release the GIL. A parallel loop of Numba deals chunks out beforehand and then waits for the
slowest thread, which costs several times over where another process uses one of the cores.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType

import numba


class Workers:
    """As many threads as Numba may use here; a context manager."""

    def __init__(self) -> None:
        self._threads = numba.get_num_threads()
        self._pool: ThreadPoolExecutor | None = None

    def each(self, count: int, work: Callable[[int], object]) -> None:
        """Call ``work`` with 0 to ``count - 1``, several at once; return when all are done.

        Raises
        ------
        Exception
            The first one that ``work`` raised.
        """
        numbers = iter(range(count))
        held = [work]

        def take() -> None:
            for number in numbers:
                held[0](number)

        helpers = min(self._threads, count) - 1
        if helpers > 0 and self._pool is None:
            self._pool = ThreadPoolExecutor(self._threads - 1, "bigbfs-reader")
        running = [self._pool.submit(take) for _ in range(helpers) if self._pool]
        take()
        for future in running:
            future.result()
        held.clear()  # a pool thread may keep `take` a moment longer, but no longer the arrays that `work` refers to

    def __enter__(self) -> Workers:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
