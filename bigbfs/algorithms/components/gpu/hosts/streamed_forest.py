"""Connected components of one rank of several GPUs whose own rows are read from the file: the forest of :mod:`.loop`.

In: own rows (:mod:`bigbfs.engines.gpu.ranks.streamed`), one stretch of the file, and what carries device memory to
other ranks. Out: labels id of own vertices. The first forest and the rounds take the heads, in device memory; without a
head table there are none. Who has the hub's tree above it is told as there. Then each rank reads the rows of own
vertices outside of it, once, those left out whose heads are their row (../streamed.py). The proof reads all own rows
once: for each batch it looks at both ends of every edge, and links them in a forest of its own.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bigbfs.algorithms.components.gpu import loop, verify
from bigbfs.algorithms.components.gpu.hosts import arguments
from bigbfs.algorithms.components.gpu.hosts.loop import HostForest
from bigbfs.algorithms.components.gpu.peers.arguments import PROOF_KERNELS
from bigbfs.algorithms.components.gpu.streamed import ASKED, WANTED
from bigbfs.algorithms.components.gpu.streamed import KERNELS as STREAMED_KERNELS
from bigbfs.engines.gpu.placed_graph import PlacedGraph
from bigbfs.engines.gpu.ranks.transport import Transport
from bigbfs.engines.gpu.runtime.arguments import WARP, no_vertex
from bigbfs.engines.gpu.runtime.kernels import KernelSpec
from bigbfs.engines.gpu.runtime.launch import launch
from bigbfs.engines.gpu.runtime.runtime import Array
from bigbfs.engines.gpu.streamed.buffers import Traffic
from bigbfs.engines.gpu.streamed.placement import StreamedAdjacency
from bigbfs.engines.ranks.group import Group
from bigbfs.engines.ranks.partition import Partition


def _named(specs: tuple[KernelSpec, ...], *names: str) -> tuple[KernelSpec, ...]:
    return tuple(spec for spec in specs if spec.name in names)


KERNELS: tuple[KernelSpec, ...] = (
    *arguments.OWN_KERNELS,
    *_named(loop.KERNELS, "cc_plant", "cc_round"),
    *_named(STREAMED_KERNELS, "streamed_outside", "streamed_link"),
)
LOOK = (*_named(verify.KERNELS, "verify_label_pieces"), *PROOF_KERNELS)
"""What a proof launches."""


def own_arrays() -> tuple[loop.ArraySpec, ...]:
    """Return the state that one GPU has, too."""
    return (*arguments.own_arrays(), WANTED, ASKED)


class StreamedForest(HostForest):
    """The forest of one rank; parameters and attributes of :class:`HostForest`, whose rows are streamed, and these.

    Attributes
    ----------
    traffic
        What this rank has read from the file in the last run.
    """

    kernels = KERNELS

    def __init__(
        self, placed: PlacedGraph, group: Group, partition: Partition, carry: Callable[[int], Transport]
    ) -> None:
        self._to_read, self._asked = (placed.pool.lend(spec, self)[0] for spec in (WANTED, ASKED))
        self.traffic: list[Traffic] = []
        super().__init__(placed, group, partition, carry)

    def _warm_rows(self, rows: np.ndarray) -> None:
        none, one = np.uint64(0), np.uint32(1)
        forest = (self.forest, one, self._giant)
        self.launch("streamed_outside", 1, rows, *forest, one, self._to_read, self._asked, self._counted)
        self.launch("streamed_link", 1, rows, *forest, self._to_read, self._asked, none, self._counted)

    def _begin(self) -> None:
        super()._begin()
        self.traffic = []

    def _round(self, first: int, last: int, begin: int, end: int) -> None:
        if self._heads:
            super()._round(first, last, begin, end)

    def link_rows(self, *, skip: bool) -> None:
        """As ``HostForest.link_rows``; rows are read from the file, but those that heads hold whole."""
        if not skip:
            self._runtime.fill(self._giant, no_vertex(self.ids))
        for rows in self.rows:
            assert isinstance(rows, StreamedAdjacency)
            self._runtime.fill(self._asked, 0)
            given = (rows.struct, self.forest, np.uint32(1), self._giant, np.uint32(1), self._to_read, self._asked)
            self.launch("streamed_outside", self.n, *given, self._counted)
            asked = int(self._runtime.download(self._asked)[0])
            if asked:
                # about: rows are taken to be of average length
                units = asked * rows.units // max(1, rows.with_edges)
                self.traffic.append(rows.read(self._to_read, units, self._linker(self._to_read), asked))

    def _linker(self, wanted: Array) -> Callable[[np.ndarray, Array, int], None]:
        """Return what links the edges of a batch."""

        def link(local: np.ndarray, pieces: Array, count: int) -> None:
            given = (self.forest, np.uint32(1), self._giant, wanted, pieces, np.uint64(count), self._counted)
            launch(self._runtime, self.launch.kernel("streamed_link"), count * WARP, (local, *given))

        return link

    def look_at_edges(self, labels: Array, faults: Array) -> None:
        """Count own edges that join two labels into ``faults``, and link all of them from the beginning.

        For both the file is read once; :meth:`plain_forest` goes on from there.
        """
        self.launch.load(LOOK)
        self._begin()
        self._plant(tie=False)
        self._runtime.fill(self._giant, no_vertex(self.ids))
        kernel = self.launch.kernel("verify_label_pieces")
        for rows in self.rows:
            assert isinstance(rows, StreamedAdjacency)
            link = self._linker(rows.arrays["rows"])

            def look(local: np.ndarray, pieces: Array, count: int, link=link) -> None:
                launch(self._runtime, kernel, count * WARP, (local, labels, pieces, np.uint64(count), faults))
                link(local, pieces, count)

            self.traffic.append(rows.read_all(look))

    def plain_forest(self) -> None:
        """Tell all what :meth:`look_at_edges` has linked: all ranks together. The labels of the last run are lost."""
        self._merge.run(heard=False)
        self._compress()
