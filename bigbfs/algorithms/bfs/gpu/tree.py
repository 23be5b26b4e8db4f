"""Where a search leaves its tree on the device: levels and parents, made when they are first wanted."""

from __future__ import annotations

import numpy as np

from bigbfs.engines.gpu.runtime.runtime import Array, Runtime


class TreeArrays:
    """Levels and parents of the last search.

    Parameters
    ----------
    runtime
        The device.
    n
        Vertices.
    ids
        Dtype of an id.
    """

    def __init__(self, runtime: Runtime, n: int, ids: np.dtype) -> None:
        self._runtime = runtime
        self.n, self.ids = n, ids
        self._levels: Array | None = None
        self._parents: Array | None = None

    def lend_parents(self) -> Array:
        """Return the n ids of the parents; between two searches others may work in them."""
        if self._parents is None:
            self._parents = self._runtime.empty(self.n, self.ids)
        return self._parents

    def lend_levels(self) -> Array:
        """Return the n levels (int32)."""
        if self._levels is None:
            self._levels = self._runtime.empty(self.n, np.int32)
        return self._levels

    def device_arrays(self) -> tuple[Array, Array]:
        """Return levels and parents of the last run where they are."""
        return self._levels, self._parents

    def levels(self) -> np.ndarray:
        """Copy the levels of the last run that wanted them to host memory: int32, shape (n,), -1 unreached."""
        return self._runtime.download(self._levels)

    def parents(self) -> np.ndarray:
        """Copy the parents of the last run that wanted them: id, shape (n,), all bits set where there is none."""
        return self._runtime.download(self._parents)
