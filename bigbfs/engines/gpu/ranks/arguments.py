"""The part of a rank as kernels get it (kernels/base/part.cuh), and the define that goes with it."""

from __future__ import annotations

import numpy as np

from bigbfs.engines.gpu.runtime.arguments import fields, struct
from bigbfs.engines.gpu.runtime.runtime import Array, Runtime
from bigbfs.engines.ranks.partition import Partition

PART = fields("bounds", "rank", "size", "first", "stride", "words", "shift", "gap")
"""Which vertices are own."""

CLOCK_RATE = 2e9
"""Cycles of a second, at most: what a rank's patience is counted in."""

DEFINES = (("PART_BYTES", str(PART.itemsize)),)


def place_part(runtime: Runtime, partition: Partition, rank: int) -> tuple[np.ndarray, Array]:
    """Return what ``rank`` owns as a struct, and the array of bounds that it points to, which the caller keeps."""
    part = partition.part(rank)
    bounds = runtime.upload(partition.bounds)
    made = struct(
        PART,
        bounds=runtime.pointer(bounds) if len(partition.bounds) else 0,
        rank=rank,
        size=partition.size,
        first=part.first,
        stride=part.stride,
        words=part.words,
        shift=partition.together.bit_length() - 1,
        gap=(int(part.stride) - 1) * partition.together,
    )
    return made, bounds


def side_by_side(begin: int, end: int) -> np.ndarray:
    """Return words ``begin`` to ``end - 1`` as the part of one who owns all."""
    return struct(PART, size=1, first=begin, stride=1, words=end - begin)
