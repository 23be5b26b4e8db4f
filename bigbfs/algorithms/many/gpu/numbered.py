"""Batches of searches in vertices of the file, where those with edges have numbers of their own on the device.

A source without edges reaches itself alone, and has no number: it goes by one behind all of them, its id in the file
beyond. What is counted, depths and vertices of a level, is the same under any numbers.
"""

from __future__ import annotations

import numpy as np

from bigbfs.algorithms.many.gathered import Counted, Done, Sums
from bigbfs.algorithms.many.gpu.batches import GpuBatches
from bigbfs.engines.gpu.placement.renumbered import Renumbered

PART_BYTES = 1 << 26
"""Bytes of levels that are copied at a time."""


class NumberedBatches:
    """What ``batches`` find, of all vertices of the file.

    Parameters
    ----------
    batches
        They search vertices by number.
    numbers
        Of the vertices with edges.

    Attributes
    ----------
    width
        Sources of a batch at most.
    """

    def __init__(self, batches: GpuBatches, numbers: Renumbered) -> None:
        self._batches, self._numbers = batches, numbers
        self.width = batches.width
        self._levels = np.zeros((0, 0), np.int32)
        none = np.zeros(0, np.int64)
        self._sources, self._alone = none, (none, none)

    def places(self, sources: np.ndarray) -> np.ndarray:
        """Return what :meth:`run` takes for ``sources`` (internal): int64."""
        vertices = self._numbers.vertices
        places = np.searchsorted(vertices, sources)
        found = vertices[np.minimum(places, len(vertices) - 1)] == sources
        return np.where(found, places, len(vertices) + sources)

    def _vertices_of(self, places: np.ndarray) -> np.ndarray:
        """Return the vertices (int64) of ``places``."""
        vertices = self._numbers.vertices
        known = places < len(vertices)
        return np.where(known, vertices[np.where(known, places, 0)], places - len(vertices))

    def run(self, sources: np.ndarray, max_depth: int) -> Done:
        """Search from ``sources`` (see :meth:`places`), bit by bit in their order, down to ``max_depth``."""
        self._sources = sources
        return self._batches.run(sources, max_depth)

    def counted(self) -> Counted:
        """Return what the last batch found."""
        found = self._batches.counted()
        return found._replace(far=self._vertices_of(found.far))

    def levels(self) -> np.ndarray:
        """Return the levels of the last batch, int32 (n, most), -1 unreached; the next batch overwrites them."""
        vertices, most = self._numbers.vertices, self._batches.most
        if not len(self._levels):
            self._levels = np.full((self._numbers.n, most), -1, np.int32)
        step = max(1, PART_BYTES // self._levels[:1].nbytes)
        for first in range(0, len(vertices), step):
            those = vertices[first : first + step]
            self._levels[those] = self._batches.levels(first, first + len(those))
        self._levels[self._alone] = -1  # of the batch before
        alone = np.flatnonzero(self._sources >= len(vertices))
        self._alone = self._sources[alone] - len(vertices), alone
        self._levels[self._alone] = 0
        return self._levels

    def sums(self) -> Sums:
        """Return the sums over the batches."""
        return Sums(*(self._numbers.spread(each, 0) if len(each) else each for each in self._batches.sums()))
