"""Memory of which pages can be given back while the rest is in use.

To touch memory for the first time costs more than most kernels do with it, and a file that is written takes as much
again in the page cache. What has been read for the last time and is given back at once serves for both.
"""

from __future__ import annotations

import mmap
from contextlib import suppress
from typing import Any

import numpy as np

_ALIGNED = 2 << 20
"""Pages are given back by huge ones, which would be split otherwise."""


class Pages(mmap.mmap):
    """Anonymous memory of this process, on huge pages where the system has them."""


def allocated(size: int) -> Pages:
    """Return ``size`` bytes of zeros, at least one.

    Raises
    ------
    OSError
        There is no such memory.
    """
    memory = Pages(-1, max(size, 1), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    with suppress(AttributeError, OSError):
        memory.madvise(mmap.MADV_HUGEPAGE)
    return memory


def empty(count: int, dtype: Any) -> np.ndarray:
    """Return an array of which :func:`let_go` gives pages back.

    Raises
    ------
    MemoryError
        There is no such memory.
    """
    kind = np.dtype(dtype)
    try:
        return np.frombuffer(allocated(count * kind.itemsize), kind, count)
    except OSError as error:
        raise MemoryError(str(error)) from error


def let_go(array: np.ndarray, first: int, last: int) -> None:
    """Give back memory of ``array``, of which nothing in front of ``last`` is needed any more; up to ``first`` it was.

    What those items hold is undefined then. The huge page in which ``last`` lies stays until the next run, which
    begins with it. Nothing is done to memory that does not come from here.
    """
    owner = _owner(array)
    if owner is None:
        return
    start = _begin(array, owner)
    low, high = ((start + at * array.itemsize) // _ALIGNED * _ALIGNED for at in (first, last))
    if low < start:
        low += _ALIGNED
    if low < high:
        with suppress(AttributeError, OSError):
            owner.madvise(mmap.MADV_DONTNEED, low, high - low)


def with_rest(array: np.ndarray) -> np.ndarray:
    """Return an array that begins where ``array`` does and ends with its memory; itself where that is not from here."""
    owner = _owner(array)
    if owner is None:
        return array
    start = _begin(array, owner)
    return np.frombuffer(owner, array.dtype, (len(owner) - start) // array.itemsize, start)


def _owner(array: np.ndarray) -> Pages | None:
    owner: Any = array
    while isinstance(owner, np.ndarray) and owner.base is not None:
        owner = owner.base
    if isinstance(owner, memoryview):
        owner = owner.obj
    return owner if isinstance(owner, Pages) else None


def _begin(array: np.ndarray, owner: Pages) -> int:
    """Return the byte of its memory at which an array begins."""
    return _address(array) - _address(np.frombuffer(owner, np.uint8))


def _address(array: np.ndarray) -> int:
    return int(array.__array_interface__["data"][0])
