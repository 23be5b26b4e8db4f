"""The rows of one rank that stay in the file: one stretch of it, of which a run reads what it needs.

Offsets and hub tables are those of all vertices; heads and hot rows are made of own rows, which are read once for that.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bigbfs.engines.gpu.ranks.arguments import place_part
from bigbfs.engines.gpu.ranks.own import KERNELS
from bigbfs.engines.gpu.runtime.launch import launch
from bigbfs.engines.gpu.runtime.runtime import Runtime
from bigbfs.engines.gpu.streamed.buffers import Buffers
from bigbfs.engines.gpu.streamed.placement import StreamedAdjacency
from bigbfs.engines.ranks.partition import Partition
from bigbfs.errors import FormatError
from bigbfs.graph.adjacency import Adjacency, CompressedAdjacency

OWN_ROWS = next(spec for spec in KERNELS if spec.name == "own_rows")


def own_range(partition: Partition, rank: int) -> range:
    """Return the vertices of ``rank``, which lie side by side: ranges."""
    words = partition.own(rank)
    return range(min(64 * words.start, partition.n), min(64 * words.stop, partition.n))


class OwnStreamed(StreamedAdjacency):
    """An adjacency of which one rank streams its own rows; parameters of :class:`StreamedAdjacency`, and these.

    Parameters
    ----------
    partition, rank
        Who owns what, in ranges, and who this is.

    Attributes
    ----------
    with_edges
        Own vertices that have any.
    """

    def __init__(
        self,
        runtime: Runtime,
        adjacency: Adjacency,
        buffers: Buffers,
        partition: Partition,
        rank: int,
        **options: Any,
    ) -> None:
        self._part, self._bounds = place_part(runtime, partition, rank)
        super().__init__(runtime, adjacency, buffers, own=own_range(partition, rank), **options)

    def _place_rows(self, adjacency: Adjacency, mapped: bool, head_groups: int, hot_bytes: int) -> int:
        runtime, count = self._runtime, self._runtime.zeros(1, np.uint64)
        kernel = OWN_ROWS.build(runtime, adjacency.ids, adjacency.codec)
        launch(runtime, kernel, self.n, (np.uint64(self.n), self._part, self.arrays["rows"], count))
        self.with_edges = int(runtime.download(count)[0])
        return super()._place_rows(adjacency, mapped, head_groups, hot_bytes)


def own_rows_sound(adjacency: Adjacency, own: range) -> bool:
    """Return whether every edge in the rows ``own`` is what ``require_valid`` asks for; the offsets are right.

    The host looks at them, and at none of other ranks' rows.
    """
    from bigbfs.graph import rows, varint  # import Numba, which edges in memory do without

    if not isinstance(adjacency, CompressedAdjacency):
        offsets = adjacency.indptr[own.start : own.stop + 1]
        edges = adjacency.edges[int(offsets[0]) : int(offsets[-1])]
        return rows.is_sound(offsets - offsets[0], edges, adjacency.n)
    try:
        varint.require_ids(varint.rows_between(adjacency, own.start, own.stop), n=adjacency.n)
    except FormatError:
        return False
    return True
