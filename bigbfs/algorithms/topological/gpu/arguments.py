"""The argument struct of the kernels of topological order, and the state that its pointers lead to.

``STAND`` and ``SUMS`` mirror the structs of kahn.cuh field by field, each of 8 bytes. An array is declared here once:
the ledger counts it, the pool makes it, and the kernels' struct gets its pointer by a define.
"""

from __future__ import annotations

import numpy as np

from bigbfs.engines.gpu.placement.arrays import ArraySpec, pointer_fields
from bigbfs.engines.gpu.runtime.arguments import ADJACENCY, COUNTS, fields
from bigbfs.engines.gpu.runtime.kernels import KernelSpec, kernels_of

STAND = fields("begin", "count", "edges", "taken", "number", "alone", "wide", "ending")
"""Where a run stands."""

SUMS = fields("freed", "edges", "taken", "chunks")
"""What a round of the whole grid adds up."""

DONE, DEEP = 1, 2
"""What ``STAND.ending`` says: all rounds are run; the rest is for the CPU."""

ARRAYS = (
    ArraySpec("left", "id", "n", "edges into each vertex that no round has taken off"),
    ArraySpec("queue", "id", "n", "the order: rounds one behind the other"),
    ArraySpec("rounds", "i32", "n", "round of each vertex"),
    ArraySpec("chunk_list", "u32", "chunks", "chunks of hubs to be read in a round"),
    ArraySpec("round_sums", "u64", f"3 * {len(SUMS.names or ())}", "sums of three rounds", True, "vram", "Sums"),
    ArraySpec("stand", "u64", f"{len(STAND.names or ())}", "where a run stands", True, "vram", "Stand"),
    ArraySpec("meeting", "u32", "1", "where the blocks of the grid meet", True),
    ArraySpec("counts", "u64", f"{len(COUNTS.names or ())}", "counters of passes", True, "vram", "Counts"),
)

RESULTS = ArraySpec("results", "u8", "n * 12", "order and rounds, copied for the caller", where="host")

SCALARS = (
    *("edges", "most_rounds", "thin_edges", "thin_slices", "window", "deep_width"),
    *("round_cost", "edge_cost", "cpu_edge_cost", "cpu_cost"),
)

KAHN = np.dtype([("out", ADJACENCY)] + [(name, np.uint64) for name in (*(spec.name for spec in ARRAYS), *SCALARS)])
"""``struct Kahn`` (kahn.cuh)."""

DEFINES = (
    ("KAHN_ARRAYS", pointer_fields(ARRAYS)),
    ("KAHN_BYTES", str(KAHN.itemsize)),
    ("STAND_BYTES", str(STAND.itemsize)),
    ("SUMS_BYTES", str(SUMS.itemsize)),
)
FILE = "algorithms/topological/gpu/topological.cu"
KERNELS = (
    KernelSpec(FILE, "topo_rounds", DEFINES, cooperative=True, team=True),
    *kernels_of(
        FILE,
        ("topo_lengths", "topo_count_rows", "topo_count_hubs", "topo_begin", "topo_left"),
        defines=DEFINES,
        team=True,
    ),
)
