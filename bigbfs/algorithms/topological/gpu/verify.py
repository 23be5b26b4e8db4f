"""Proof on the device that rounds are longest paths, in O(n + m).

Every edge leads to a later round, and to every vertex that is not of round 0 an edge leads from the round before: then
the round of a vertex is the number of edges on the longest path to it. Vertices by round are an order.
"""

from __future__ import annotations

import numpy as np

from bigbfs.engines.gpu.edge_rule import EdgeRules
from bigbfs.engines.gpu.placed_graph import PlacedGraph
from bigbfs.engines.gpu.runtime.kernels import kernels_of
from bigbfs.engines.gpu.runtime.runtime import Array

KERNELS = kernels_of("algorithms/topological/gpu/verify_rounds.cu", ("verify_round_edges", "verify_round_vertices"))


def verify_rounds_on_device(placed: PlacedGraph, rounds: Array) -> None:
    """Prove ``rounds`` (int32, shape (n,), on the device).

    Raises
    ------
    VerificationError
        A rule is broken.
    """
    rules = EdgeRules(placed, KERNELS)
    follows = placed.runtime.zeros(max(1, -(-placed.n // 32)), np.uint32)
    rules.edges("verify_round", "edges between rounds", rounds, follows)
    rules.vertices("verify_round_vertices", "rounds", np.uint64(placed.n), rounds, follows)
