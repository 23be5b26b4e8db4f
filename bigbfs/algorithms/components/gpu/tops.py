"""What goes with one pass over the vertices of a graph by degree (tops.cuh): strays, and the kernels of one GPU."""

from __future__ import annotations

import numpy as np

from bigbfs.engines.gpu.placement.arrays import ArraySpec
from bigbfs.engines.gpu.runtime.kernels import kernels_of

STRAYS = np.dtype([("count", np.uint64), ("hubs", np.uint64), ("lost", np.uint64)])
"""``struct Strays``."""

OUTSIDE = ArraySpec("strays", "u64", "3", "how many vertices are outside of the giant", True)
DEFINES = (("STRAYS_BYTES", str(STRAYS.itemsize)),)

KERNELS = kernels_of(
    "algorithms/components/gpu/cc_tops.cu",
    [f"tops_{name}" for name in ("giant", "plant", "rows", "hubs", "finish")],
    defines=DEFINES,
)
