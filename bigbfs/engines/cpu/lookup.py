"""Whether one vertex is a neighbour of another: looked for by halves in its row, whatever the encoding.

Of a plain row a few ids are read; of a compressed one the first of some blocks, and one block up to the place where
the neighbour would be. Rows must ascend, as those of every graph that has been checked do.
"""

from __future__ import annotations

import numpy as np

from bigbfs.engines.cpu.bits import ONE, ZERO
from bigbfs.engines.cpu.rows import VarintRows, degree, seek, step
from bigbfs.graph.adjacency import BLOCK_IDS
from bigbfs.jit.later import overload
from bigbfs.jit.njit import njit

_BLOCK = np.uint64(BLOCK_IDS.bit_length() - 1)
_FEW = np.uint64(2)


def contains(rows, u, v):
    """Return whether ``v`` is a neighbour of ``u``, and how many ids were read for that."""
    return _contains(rows, u, v)(rows, u, v)


@overload(contains)
def _contains(rows, u, v):
    if getattr(rows, "instance_class", type(rows)) is VarintRows:
        return lambda rows, u, v: _among(rows, u, v, _BLOCK)
    return lambda rows, u, v: _among(rows, u, v, _FEW)


@njit
def _among(rows, u, v, shift):
    """Look for ``v`` in the row of ``u`` by halves, down to ``2**shift`` ids; these one after the other."""
    count, read = degree(rows, u), np.int64(0)
    low, high = ZERO, ((count + (ONE << shift)) - ONE) >> shift
    while low + ONE < high:
        middle = (low + high) >> ONE
        k = middle << shift
        first, _ = step(rows, seek(rows, u, k), k, ZERO)
        read += 1
        if first <= v:
            low = middle
        else:
            high = middle
    k = low << shift
    end = min(count, k + (ONE << shift))
    position, value = seek(rows, u, k), ZERO
    while k < end:
        value, position = step(rows, position, k, value)
        read += 1
        if value >= v:
            return value == v, read
        k += ONE
    return False, read
