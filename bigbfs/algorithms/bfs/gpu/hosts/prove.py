"""Proof on the devices that a tree is right, where no rank reads another's memory: hosts carry what it takes.

Every rank gets levels and parents of all vertices. Whether a vertex is joined to its parent by an edge is seen by the
parent's rank, whose word on it goes to the vertex's own.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bigbfs.algorithms.bfs.gpu.peers.prove import TreeProver
from bigbfs.engines.ranks.numbering import whole
from bigbfs.engines.ranks.partition import Partition


class HostProver(TreeProver):
    """Proves trees of one search; parameters of :class:`TreeProver`, and the partition."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given[:-1])
        partition: Partition = given[-1]
        self._counts = partition.counts()
        self._owns = [partition.own(rank) for rank in range(partition.size)]

    def _gather_tree(self) -> None:
        n, rank, group = self._placed.n, self._group.rank, self._group
        for name in ("levels", "parents"):
            array = self._tree[name]
            mine = np.zeros(64 * sum(self._counts), array.dtype)
            mine[:n] = self._runtime.download(array)[:n]
            own = np.ascontiguousarray(mine.reshape(-1, 64)[self._owns[rank]]).reshape(-1)
            parts = group.gather(own, [64 * count for count in self._counts])
            self._runtime.write(array[:n], np.ascontiguousarray(whole(parts, self._owns, n)))

    def _tell_joined(self) -> None:
        bits = self._runtime.download(self._joined).view(np.uint64)
        parts = [np.ascontiguousarray(bits[own]).view(np.uint8) for own in self._owns]
        mine = bits[self._owns[self._group.rank]]
        for each in self._group.exchange(parts):
            mine |= each.view(np.uint64)
        self._runtime.write(self._joined, bits.view(self._joined.dtype))
