"""The state of one rank whose rows are read from the file: what its kernels get, and what ranks tell one another."""

from __future__ import annotations

import numpy as np

from bigbfs.algorithms.bfs.gpu.arguments import LEVELS, PARENTS
from bigbfs.algorithms.bfs.gpu.streamed import COUNTS, WANTED
from bigbfs.engines.gpu.placement.arrays import ArraySpec, pointer_fields
from bigbfs.engines.gpu.ranks.arguments import DEFINES as PART_DEFINES
from bigbfs.engines.gpu.runtime.arguments import fields
from bigbfs.engines.gpu.runtime.kernels import kernels_of
from bigbfs.engines.ranks.partition import Partition

WORDS = "2 * ((n + 63) // 64)"
"""Words of 32 bits of a bitmap that ranks tell one another: words of 64 vertices."""

BITMAPS = (
    ArraySpec("visited", "u32", WORDS, "bitmap: vertices reached; of others', those known to be"),
    ArraySpec("frontier", "u32", WORDS, "bitmap: vertices to expand"),
    ArraySpec("next", "u32", WORDS, "bitmap: own vertices found by this level"),
    WANTED,
    ArraySpec("claimed", "u32", WORDS, "bitmap: others' vertices that own rows have led to"),
)
TALLIES = ArraySpec("tallies", "u64", f"{len(COUNTS)}", "counters of a level", True)

SENT = ArraySpec("sent", "u64", "1", "claims for each rank")
"""As kernels get it; there is one of each rank, beside the pool."""

SEARCH = fields(*(spec.name for spec in (*BITMAPS, LEVELS, PARENTS, TALLIES, SENT)), "level")
"""``struct Search`` (streamed.cuh) of a rank."""

KERNELS = kernels_of(
    "algorithms/bfs/gpu/hosts/streamed_ranks.cu",
    (
        *("ranks_reset", "ranks_survey", "ranks_know", "ranks_heads", "ranks_list", "ranks_hot", "ranks_expand"),
        *("ranks_search", "ranks_count", "ranks_pack", "ranks_accept"),
    ),
    defines=(
        ("SEARCH_ARRAYS", pointer_fields((*BITMAPS, LEVELS, PARENTS, TALLIES, SENT))),
        ("SEARCH_BYTES", str(SEARCH.itemsize)),
        *PART_DEFINES,
    ),
)

INBOX_SHARE = 8
"""One rank has room for the claims of an eighth of its vertices from each other one; beyond that, another round."""

LEAST_INBOX = 4096


def inbox(partition: Partition) -> int:
    """Return how many claims a rank has room for from each other one: a multiple of 64."""
    return max(LEAST_INBOX, 64 * (max(partition.counts(), default=0) // INBOX_SHARE))


def claim_bytes(partition: Partition, ids: np.dtype, capacity: int) -> int:
    """Return the bytes of vertices and parents of claims, those that leave and those that come in."""
    return 4 * partition.size * capacity * ids.itemsize


def tree_fields(partition: Partition, ids: np.dtype) -> tuple[tuple[str, int], ...]:
    """Return name and bytes of levels, parents, and who is joined to its parent by an own edge, of all vertices."""
    n = partition.n
    return (("levels", 4 * n), ("parents", ids.itemsize * n), ("joined", 8 * partition.words))


def most_sent(partition: Partition, ids: np.dtype, capacity: int) -> int:
    """Return the bytes that a rank sends at most in one call, and that come in at most: claims, or bits."""
    claims = 2 * (partition.size - 1) * capacity * ids.itemsize
    return max(claims, 8 * partition.size * max(partition.counts(), default=0))
