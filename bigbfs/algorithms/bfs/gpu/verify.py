"""Proof on the device that the tree of the last search is right, in O(n + m): moving it to the host takes longer."""

from __future__ import annotations

import numpy as np

from bigbfs.engines.gpu.edge_rule import EdgeRules
from bigbfs.engines.gpu.placed_graph import PlacedGraph
from bigbfs.engines.gpu.runtime.kernels import kernels_of
from bigbfs.engines.gpu.runtime.runtime import Array

KERNELS = kernels_of(
    "algorithms/bfs/gpu/verify_tree.cu", ("verify_tree_edges", "verify_tree_pieces", "verify_tree_vertices")
)

NO_LAST = 2**31 - 1


class TreeVerifier:
    """Proves trees of one placed graph; takes n / 8 bytes of device memory.

    Parameters
    ----------
    placed
        The graph.
    """

    def __init__(self, placed: PlacedGraph) -> None:
        self._placed = placed
        self._rules = EdgeRules(placed, KERNELS)
        self._joined: Array = placed.runtime.zeros(-(-placed.n // 32), np.uint32)

    def verify(
        self, source: int, levels: Array, parents: Array, max_depth: int | None = None, *, name: int | None = None
    ) -> None:
        """Prove that ``levels`` and ``parents``, arrays of the device, are a BFS tree from vertex ``source``, which the
        file calls ``name`` (None: the same).

        Raises
        ------
        VerificationError
            A rule is broken.
        """
        placed, last = self._placed, np.int32(NO_LAST if max_depth is None else min(max_depth, NO_LAST))
        placed.runtime.fill(self._joined, 0)
        tree, of = (
            (levels, parents, self._joined, last),
            f"of the BFS tree from vertex {source if name is None else name}",
        )
        self._rules.edges("verify_tree", f"edges {of}", *tree)
        size, root = np.uint64(placed.n), np.uint64(source)
        self._rules.vertices("verify_tree_vertices", f"vertices {of}", size, root, *tree)
