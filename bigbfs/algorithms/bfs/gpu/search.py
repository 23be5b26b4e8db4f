"""The structs of a search whose levels the host launches, made from a strategy's entry, and the defines that go with
them.

``struct Search`` (strategies/search.cuh) has a pointer for every array that the entry declares: the same declaration
gives the dtype here and, as ``-D SEARCH_ARRAYS``, the fields there.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from bigbfs.algorithms.bfs.strategies.entry import BINS, RECORD_FIELDS, Strategy
from bigbfs.engines.gpu.runtime.arguments import ADJACENCY, defines

RECORD = np.dtype([(name, np.uint64) for name in RECORD_FIELDS])
"""What a level counts."""

START = np.dtype(
    [(name, np.uint64) for name in ("levels", "parents", "queue", "bits", "records", "record_words", "n", "source")]
)
"""What a search begins with (gpu/levels.cu)."""

FIELDS = ("slot", "level", "source", "capacity", "edge_capacity", "window")
"""The numbers behind the arrays in ``struct Search``."""

C_TYPES = {"id": "vid", "u8": "u8", "u32": "u32", "u64": "u64", "i32": "i32"}


def search_dtype(strategy: Strategy) -> np.dtype:
    """Return the dtype of ``struct Search`` for ``strategy``."""
    names = (*(array.name for array in strategy.arrays), *FIELDS)
    return np.dtype([("out", ADJACENCY), ("in", ADJACENCY), *((name, np.uint64) for name in names)])


def search_defines(strategy: Strategy, ids: np.dtype, codec: str, threads: int) -> Mapping[str, str]:
    """Return the ``-D`` defines of the kernels of ``strategy`` in blocks of ``threads``."""
    return {
        **defines(ids, codec),
        "SEARCH_ARRAYS": "".join(f"ARRAY({C_TYPES[array.dtype]},{array.name})" for array in strategy.arrays),
        "SEARCH_BYTES": str(search_dtype(strategy).itemsize),
        "RECORD_BYTES": str(RECORD.itemsize),
        "LEVEL_THREADS": str(threads),
        **dict(strategy.defines),
    }


def level_defines(ids: np.dtype, codec: str) -> Mapping[str, str]:
    """Return the ``-D`` defines of what all strategies share (gpu/levels.cu)."""
    return {**defines(ids, codec), "START_BYTES": str(START.itemsize), "LEVEL_BINS": str(BINS)}
