"""The structs of a search whose levels the host launches, made from a strategy's entry, and the defines that go with
them.

``struct Search`` (strategies/search.cuh) has a pointer for every array that the entry declares: the same declaration
gives the dtype here and, as ``-D SEARCH_ARRAYS``, the fields there.
"""

from __future__ import annotations

import numpy as np

from bigbfs.algorithms.bfs.gpu.arguments import spec_of
from bigbfs.algorithms.bfs.strategies.entry import BINS, RECORD_FIELDS, Strategy
from bigbfs.engines.gpu.placement.arrays import pointer_fields
from bigbfs.engines.gpu.runtime.arguments import ADJACENCY, fields
from bigbfs.engines.gpu.runtime.kernels import KernelSpec, kernels_of

RECORD = fields(*RECORD_FIELDS)
"""What a level counts."""

START = fields("levels", "parents", "queue", "bits", "records", "record_words", "n", "source")
"""What a search begins with (gpu/levels.cu)."""

FIELDS = ("slot", "level", "source", "capacity", "edge_capacity", "window")
"""The numbers behind the arrays in ``struct Search``."""


def search_dtype(strategy: Strategy) -> np.dtype:
    """Return the dtype of ``struct Search`` for ``strategy``."""
    names = (*(array.name for array in strategy.arrays), *FIELDS)
    return np.dtype([("out", ADJACENCY), ("in", ADJACENCY), *((name, np.uint64) for name in names)])


def kernels_of_strategy(strategy: Strategy, threads: int) -> tuple[KernelSpec, ...]:
    """Return the kernels of ``strategy``, in blocks of ``threads``."""
    defines = (
        ("SEARCH_ARRAYS", pointer_fields(spec_of(array) for array in strategy.arrays)),
        ("SEARCH_BYTES", str(search_dtype(strategy).itemsize)),
        ("RECORD_BYTES", str(RECORD.itemsize)),
        ("LEVEL_THREADS", str(threads)),
        *strategy.defines,
    )
    names = dict.fromkeys(step.kernel for step in strategy.steps)
    return tuple(KernelSpec(strategy.file, name, defines) for name in names)


LEVEL_KERNELS: tuple[KernelSpec, ...] = kernels_of(
    "algorithms/bfs/gpu/levels.cu",
    ("begin_levels", "count_levels"),
    defines=(("START_BYTES", str(START.itemsize)), ("LEVEL_BINS", str(BINS))),
)
"""What all strategies share."""
