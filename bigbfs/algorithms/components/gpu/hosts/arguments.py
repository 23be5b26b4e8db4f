"""The state of components over GPUs whose hosts carry what is told, its kernels, and how much is sent at once."""

from __future__ import annotations

import numpy as np

from bigbfs.algorithms.components.gpu import loop
from bigbfs.engines.gpu.placement.arrays import ArraySpec
from bigbfs.engines.gpu.ranks.arguments import DEFINES
from bigbfs.engines.gpu.runtime.kernels import KernelSpec, kernels_of
from bigbfs.engines.ranks.partition import Partition

FILE = "algorithms/components/gpu/hosts/cc_hosts.cu"
NAMES = (
    *("far_names", "far_compress", "far_elect", "far_votes", "far_members", "far_welcome"),
    *("far_count", "far_tell", "far_accept", "far_classes", "far_join"),
)
OWN_KERNELS = kernels_of(FILE, NAMES, defines=DEFINES)
ROW_KERNELS = tuple(
    spec for spec in loop.KERNELS if spec.name in ("cc_plant", "cc_round", "cc_link_rows", "cc_link_hubs")
)
"""Those of one GPU that read rows."""

KERNELS: tuple[KernelSpec, ...] = (*OWN_KERNELS, *ROW_KERNELS)

OTHERS = 64
"""As in giant.cuh: one vertex with edges in so many may be outside the giant where rounds are saved."""

LEAST_ROOM, MOST_ROOM = 1024, 1 << 22
"""Pairs that one rank sends another at once: one for each four vertices of its share, within these bounds."""


def own_arrays() -> tuple[ArraySpec, ...]:
    """Return the state that one GPU has, too."""
    return (loop.NEVER, loop.TOTALS)


def room_of(partition: Partition) -> int:
    """Return how many pairs one rank sends another at once."""
    return min(max(partition.n // (4 * partition.size), LEAST_ROOM), MOST_ROOM)


def fields(partition: Partition, ids: np.dtype) -> tuple[tuple[str, int], ...]:
    """Return name and bytes of each array that is told of, or by which ranks tell one another."""
    each, size = ids.itemsize * partition.n, partition.size
    return (
        ("forest", each),
        ("names", each),
        ("pairs", 2 * each),
        ("inbox", 2 * ids.itemsize * size * room_of(partition)),
        ("bits", 8 * size * most_words(partition)),
        ("named", 8 * partition.words),
        ("counts", 8 * size),
        ("roots", ids.itemsize * (size + 1)),
        ("candidates", ids.itemsize * (size + 1)),
        ("hub", 2 * ids.itemsize),
        ("votes", 4 * (size + 2)),
        ("settled", 4),
    )


def most_words(partition: Partition) -> int:
    """Return the words of the rank that has most."""
    return max(partition.counts(), default=0)


def most_sent(partition: Partition, ids: np.dtype) -> int:
    """Return the bytes that a rank sends at most in one call, and that come in at most: bits, or pairs."""
    return max(8 * partition.size * most_words(partition), 2 * ids.itemsize * partition.size * room_of(partition))
