"""Kernels built by a thread, while what does not launch them goes on.

Building is reading and loading modules that are in the cache, or minutes of the compiler; the tables of a graph's hubs
are made by the host meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Self

import numpy as np

from bigbfs.engines.gpu.ranks.telling import Tell, silent, step
from bigbfs.engines.gpu.runtime.kernels import KernelSpec
from bigbfs.engines.gpu.runtime.runtime import Runtime


class Building:
    """Builds ``specs`` for ids of dtype ``ids`` and rows of ``codec``, inside a ``with`` block.

    Whoever leaves the block by an error waits for the kernel under way, and for none behind it.
    """

    def __init__(
        self, runtime: Runtime, specs: Iterable[KernelSpec], ids: np.dtype, codec: str, tell: Tell = silent
    ) -> None:
        self._runtime, self._how, self._tell = runtime, (ids, codec), tell
        self._stopped = False
        self._pool = ThreadPoolExecutor(1, "bigbfs-build")
        self._built = self._pool.submit(self._build, tuple(specs))

    def _build(self, specs: tuple[KernelSpec, ...]) -> None:
        self._runtime.use()
        with step(self._tell, "kernels of the work are built"):
            for spec in specs:
                if self._stopped:
                    return
                spec.build(self._runtime, *self._how)

    def wait(self) -> None:
        """Return when all are built.

        Raises
        ------
        DeviceError
            One of them cannot be.
        """
        self._built.result()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stopped = kind is not None
        self._pool.shutdown()
