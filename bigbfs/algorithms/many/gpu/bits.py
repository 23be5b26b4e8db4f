"""Which bit a source gets: sources whose searches get ahead alike lie in the same words.

A row is read bottom-up for the sources that a vertex lacks, which are the slow ones: those whose neighbours have few
edges. With these side by side a vertex lacks one or two words of its bits, not all, and so do edges top-down bring
fewer words. On Kronecker 22 by degree, 512 sources, 88 % of the ids read in the widest level are read for 128
neighbouring bits, where 3 % are with the bits in any order.
"""

from __future__ import annotations

import numpy as np

from bigbfs.algorithms.many.gpu.tuning import Tuning
from bigbfs.engines.gpu.runtime.kernels import Launcher
from bigbfs.engines.gpu.runtime.runtime import Array, Runtime


class Places:
    """Of each bit of a batch the place of its source among those that were asked for.

    Parameters
    ----------
    runtime
        Of the device.
    kernels
        Of the batches.
    width
        Bits.
    tuning
        Whether sources are put in order at all.
    """

    def __init__(self, runtime: Runtime, kernels: Launcher, width: int, tuning: Tuning) -> None:
        self._runtime, self._kernels, self._width, self._tuning = runtime, kernels, width, tuning
        self._order = np.arange(0)

    def warm(self, state: np.ndarray, arrays: dict[str, Array]) -> None:
        """Launch the kernel once, on no sources."""
        self._kernels("many_rank", 1, state, arrays["many_sources"], np.uint64(0), arrays["many_weights"])

    def deal(self, sources: np.ndarray, state: np.ndarray, arrays: dict[str, Array]) -> None:
        """Give each of ``sources`` (internal) a bit, and write them to the device by their bits."""
        runtime, count = self._runtime, len(sources)
        self._order = np.arange(count)
        self._write(sources, arrays)
        if self._tuning.ranked_bits and count > 1:
            ranks = arrays["many_weights"]
            self._kernels("many_rank", count, state, arrays["many_sources"], np.uint64(count), ranks)
            self._order = np.argsort(runtime.download(ranks)[:count].astype(np.int64), kind="stable")[::-1].copy()
            self._write(sources[self._order], arrays)
        places = np.arange(self._width, dtype=np.uint32)
        places[:count] = self._order
        runtime.write(arrays["many_places"], places)

    def _write(self, sources: np.ndarray, arrays: dict[str, Array]) -> None:
        padded = np.zeros(self._width, np.uint64)
        padded[: len(sources)] = sources
        self._runtime.write(arrays["many_sources"], padded)

    def by_source(self, values: np.ndarray) -> np.ndarray:
        """Return ``values``, of each bit one or a row after the other, in the order of the sources."""
        rows = values.reshape(-1, self._width)
        placed = rows.copy()
        placed[:, self._order] = rows[:, : len(self._order)]
        return placed.reshape(values.shape)
