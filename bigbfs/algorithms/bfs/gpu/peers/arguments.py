"""The structs of peers.cuh as NumPy dtypes, the state of one rank, and what of it the others write."""

from __future__ import annotations

import numpy as np

from bigbfs.algorithms.bfs.gpu import arguments
from bigbfs.algorithms.bfs.gpu.arguments import BFS
from bigbfs.engines.gpu.placement.arrays import ArraySpec
from bigbfs.engines.gpu.ranks.arguments import DEFINES as PART_DEFINES
from bigbfs.engines.gpu.ranks.arguments import PART
from bigbfs.engines.gpu.runtime.arguments import fields
from bigbfs.engines.gpu.runtime.kernels import KernelSpec, kernels_of
from bigbfs.engines.ranks.partition import Partition

LETTER = fields("found", "edges", "missed", "left", "claims")
"""What a rank tells another."""

NOTICE_FIELDS = 11
"""Numbers that the first block of a device tells the others at a barrier."""

JOINT = np.dtype(
    [(name, np.uint64) for name in ("count", "edges", "explored", "meetings", "lost")]
    + [("left", np.uint64, (2,))]
    + [(name, np.uint64) for name in ("rounds", "waited", "told")]
    + [("barriers", np.uint64), ("notice", np.uint64, (2 * NOTICE_FIELDS,))]
)
"""What all know, and what the blocks of a device tell one another."""

WAITED = 8
"""Where ``JOINT.waited`` stands, in words of 8 bytes."""

SHARED = ("visited", "frontier", "next", "told", "claimed", "claimers", "letters")
"""What other ranks write, in the order in which it lies in one allocation."""

READ = ("levels", "parents", "joined")
"""What other ranks read, behind that: the tree, and who is joined to its parent by an own edge."""

PEERS = np.dtype(
    [("s", BFS), ("joint", np.uint64), ("part", PART), ("sent", np.uint64), ("bases", np.uint64)]
    + [(f"{name}_at", np.uint64) for name in (*SHARED, "parents")]
    + [
        (name, np.uint64)
        for name in (
            "capacity",
            "patience",
            "most_words",
            "edges_in_all",
            "told_cost",
            "publish_cost",
            "alike_to",
        )
    ]
)
"""``struct Peers``."""

FILE = "algorithms/bfs/gpu/peers/bfs_peers.cu"
PROOF_FILE = "algorithms/bfs/gpu/peers/prove.cu"
DEFINES = (
    *arguments.DEFINES,
    *PART_DEFINES,
    ("LETTER_BYTES", str(LETTER.itemsize)),
    ("JOINT_BYTES", str(JOINT.itemsize)),
    ("NOTICE_BYTES", str(2 * 8 * NOTICE_FIELDS)),
    ("PEERS_BYTES", str(PEERS.itemsize)),
)


def kernels(whole: bool) -> tuple[KernelSpec, ...]:
    """Return the search, what counts its edges, and what begins it, for ranks that each have the rows of all vertices
    (``whole``), or their own."""
    defines = (*DEFINES, ("WHOLE", str(int(whole))))
    return (
        KernelSpec(FILE, "bfs_peers", defines, cooperative=True, team=True),
        *kernels_of(FILE, ("peers_count", "peers_begin"), defines=defines, team=True),
    )


PROOF_KERNELS = kernels_of(PROOF_FILE, ("gather_tree", "prove_own_edges", "prove_own_vertices"), defines=PART_DEFINES)

ALIKE = (5, 6)
"""Of the codes of agree.cuh: top-down and bottom-up levels that all ranks go through alike."""

UPWARDS = (2, 6, 7)
"""Codes of bottom-up levels. Any other level goes top-down."""

TOLD = {
    1: "claims",
    2: "bitmap",
    3: "bitmap claims",
    4: "marks",
    5: "nothing",
    6: "nothing",
    7: "bitmap marks",
}
"""What ranks tell one another for a level: claims, bits of the frontier, bits of what is visited and claims, bits of
what its rows lead to, or nothing, since all have gone through all of it; bits of the frontier, then of what its rows
lead to (all rows)."""

INBOX_SHARE = 8
"""One rank has room for the claims of an eighth of its vertices from each other one; beyond that, another round."""

LEAST_INBOX = 4096


def own_arrays(slots: int) -> tuple[ArraySpec, ...]:
    """Return the state that no other rank writes: what one GPU has, with two queues."""
    specs = (spec for spec in arguments.arrays(slots) if spec.name not in (*SHARED, *READ))
    wide = ArraySpec("queue", "id", "2 * n", "own vertices of the frontier; who the level has found")
    return tuple(wide if spec.name == "queue" else spec for spec in specs)


def inbox(partition: Partition) -> int:
    """Return how many claims a rank has room for from each other one: none where whole lines are dealt, and each rank
    has all rows."""
    return 0 if partition.together > 1 else max(LEAST_INBOX, 64 * max(partition.counts(), default=0) // INBOX_SHARE)


def most_words(partition: Partition) -> int:
    """Return how many words a rank has at most where they are dealt."""
    return -(-partition.words // partition.size)


def shared_fields(partition: Partition, ids: np.dtype, capacity: int) -> tuple[tuple[str, int], ...]:
    """Return name and bytes of each array that other ranks write or read."""
    bits, ranks = 8 * partition.words, partition.size
    inboxes = ranks * capacity * ids.itemsize
    told = 8 * ranks * most_words(partition)
    sizes = (bits, bits, bits, told, inboxes, inboxes, 2 * ranks * 2 * LETTER.itemsize)
    tree = (4 * partition.n, ids.itemsize * partition.n, bits)
    return tuple(zip((*SHARED, *READ), (*sizes, *tree), strict=True))
