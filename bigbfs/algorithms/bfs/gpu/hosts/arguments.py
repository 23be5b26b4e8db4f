"""The kernels of a search whose levels hosts run over several GPUs, and where what a rank has for others lies."""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from bigbfs.algorithms.bfs.gpu.peers import arguments
from bigbfs.engines.gpu.ranks.memory import layout
from bigbfs.engines.gpu.runtime.arguments import fields
from bigbfs.engines.gpu.runtime.kernels import KernelSpec
from bigbfs.engines.ranks.partition import Partition

STEP = fields("phase", "level", "begin", "count", "edges", "swapped", "bottom_up", "defer", "round")
"""``struct Step`` (host_steps.cu)."""


class Phase(IntEnum):
    """``enum PeerPhase`` (peers/peers.cuh)."""

    DOWN = 0
    DOWN_CHUNKS = 1
    DELIVER = 2
    ACCEPT = 3
    FILL = 4
    SET = 5
    COLLECT = 6
    PUBLISH = 7
    MERGE = 8
    UP = 9
    UP_OPEN = 10
    UP_CHUNKS = 11


FILE = "algorithms/bfs/gpu/hosts/host_steps.cu"
KERNELS = tuple(
    KernelSpec(FILE, name, (*arguments.DEFINES, ("STEP_BYTES", str(STEP.itemsize))), team=True)
    for name in ("host_reset", "host_step", "host_finish", "host_count")
)

CLAIMS = 4
"""Of the fields of a letter: claims in the inbox."""


LEAST_LIST = 4096
"""Vertices that may always be told one by one."""


def inbox_bytes(partition: Partition, ids: np.dtype, capacity: int) -> int:
    """Return the bytes of an inbox from its first vertex to its last parent, those of all ranks: of an outbox, too."""
    places, _ = layout(arguments.shared_fields(partition, ids, capacity))
    return places["claimers"] - places["claimed"] + partition.size * capacity * ids.itemsize


def longest_list(n: int, ids: np.dtype) -> int:
    """Return how many vertices a list may have: such as take no more bytes than the bits of all, or next to nothing."""
    return max(n // 8 // ids.itemsize, LEAST_LIST)


def most_sent(partition: Partition, ids: np.dtype, capacity: int) -> int:
    """Return the bytes that a rank sends at most in one call, and that come in at most: claims, bits or a list."""
    claims = 2 * (partition.size - 1) * capacity * ids.itemsize
    bits = 8 * partition.size * max(partition.counts(), default=0)
    return max(claims, bits, longest_list(partition.n, ids) * ids.itemsize)
