"""The struct of joint.cuh as a NumPy dtype, the state of one rank, and what of it the others read."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bigbfs.algorithms.components.gpu import loop, tops
from bigbfs.engines.gpu.placement.arrays import ArraySpec
from bigbfs.engines.gpu.ranks.arguments import DEFINES as PART_DEFINES
from bigbfs.engines.gpu.ranks.arguments import PART
from bigbfs.engines.gpu.runtime.kernels import KernelSpec, kernels_of
from bigbfs.engines.ranks.partition import Partition

SHARED = ("forest", "labels", "below", "sample", "edged", "told", "count", "meetings")
"""What other ranks read, in the order in which it lies in one allocation."""

RANKS = np.dtype(
    [("part", PART), ("bases", np.uint64), ("n", np.uint64)] + [(f"{name}_at", np.uint64) for name in SHARED]
)
"""``struct Ranks``."""

WAITS = np.dtype([("lost", np.uint64), ("cycles", np.uint64)])
"""``struct Waits``."""

SAMPLE = 512
"""Vertices drawn to find the giant (giant.cuh)."""

ASKED = ArraySpec("asked", "u32", "2 * ((n + 63) // 64)", "bitmap: vertices of others whose parents are asked for")
DEGREES = ArraySpec("strengths", "id", "n", "neighbours of every vertex")
MOVED = ArraySpec("moved", "u64", "1", "bytes that have crossed the link", True)
WAITED = ArraySpec("waits", "u64", "2", "who did not come to a meeting, and how long this rank has waited", True)

FILE = "algorithms/components/gpu/peers/cc_peers.cu"
FOREST_FILE = "algorithms/components/gpu/peers/cc_peer_forest.cu"
LABEL_FILE = "algorithms/components/gpu/peers/cc_peer_labels.cu"
WHOLE_FILE = "algorithms/components/gpu/peers/cc_peer_whole.cu"
PROOF_FILE = "algorithms/components/gpu/peers/prove.cu"
DEFINES = (*PART_DEFINES, ("RANKS_BYTES", str(RANKS.itemsize)), ("WAITS_BYTES", str(WAITS.itemsize)))
NAMES = (
    *("joint_degrees", "joint_sample", "joint_giant", "joint_gather", "joint_tell", "joint_join"),
    *("joint_meet", "joint_wake"),
)
OWN_KERNELS = (
    *kernels_of(FILE, NAMES, defines=DEFINES),
    *kernels_of(FOREST_FILE, ("joint_plant", "joint_climb", "joint_point", "joint_compress"), defines=DEFINES),
    *kernels_of(LABEL_FILE, ("joint_lowest", "joint_lower", "joint_label"), defines=DEFINES),
)
ROW_KERNELS = tuple(
    replace(spec, defines=(*spec.defines, ("CLIMBS", "1")))
    for spec in loop.KERNELS
    if spec.name in ("cc_round", "cc_link_rows", "cc_link_hubs")
)
"""Those of one GPU that read rows; only own vertices point at roots."""

KERNELS: tuple[KernelSpec, ...] = (*OWN_KERNELS, *ROW_KERNELS)

WHOLE_NAMES = ("giant", "plant", "tell", "hubs", "touch", "link", "finish")
WHOLE_KERNELS = kernels_of(
    WHOLE_FILE,
    [f"whole_{name}" for name in WHOLE_NAMES],
    defines=(*DEFINES, *tops.DEFINES),
)
"""Beside these, where each rank has all rows."""

PROOF_KERNELS = kernels_of(
    PROOF_FILE, ("joint_labels", "prove_label_edges", "prove_own_labels", "joint_roots"), defines=DEFINES
)


def own_arrays() -> tuple[ArraySpec, ...]:
    """Return the state that no other rank sees."""
    return (loop.GIANT, loop.SETTLED, loop.NEVER, loop.TOTALS, ASKED, DEGREES, MOVED, WAITED, tops.OUTSIDE)


def shared_fields(partition: Partition, ids: np.dtype) -> tuple[tuple[str, int], ...]:
    """Return name and bytes of each array that other ranks read."""
    each = ids.itemsize * partition.n
    sizes = (each, each, 8 * partition.words, ids.itemsize * SAMPLE, 4 * SAMPLE, 2 * each, 8, 8 * partition.size)
    return tuple(zip(SHARED, sizes, strict=True))
