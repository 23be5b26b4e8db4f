"""The plain rows of any graph, as the reference kernels take them: read-only int64 offsets and ids.

Numba compiles a kernel again for every mix of writable and read-only arguments; freezing all of them leaves one, and
signed offsets keep arithmetic with loop counters from turning into floating point.
"""

from __future__ import annotations

import numpy as np

from bigbfs.graph.adjacency import PlainAdjacency
from bigbfs.graph.graph import Graph
from bigbfs.graph.views import frozen, signed


def plain_rows(graph: Graph) -> tuple[np.ndarray, np.ndarray]:
    """Return ``indptr`` (int64 view, n + 1) and ``indices`` (uint32 or uint64, m), decoded where compressed."""
    graph.require_valid()  # the kernels follow every id
    plain = graph.adjacency
    if not isinstance(plain, PlainAdjacency):
        from bigbfs.graph import varint

        plain = varint.decode(plain)
    return signed(plain.indptr), frozen(plain.indices)
