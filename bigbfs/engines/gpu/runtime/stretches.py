"""Stretches of an array that are to lie side by side: what one of several GPUs owns of edges that are dealt out.

In: the array, and where each stretch begins in it and in the whole. Out: any bytes of the whole, copied by a compiled
loop that lets go of the interpreter lock: a stretch is a few kilobytes, and there may be a million of them.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bigbfs.jit.njit import njit

Fill = Callable[[np.ndarray, int], None]
"""Fills an array of bytes with what there is from a byte on."""


@njit(nogil=True, cache=True)
def _collect(source, begins, starts, unit, first, target):
    """Fill ``target`` with the bytes of the whole from ``first`` on; units of ``unit`` bytes are what others count."""
    low, high = 0, len(starts) - 1  # the last stretch that does not begin after `first`
    while high - low > 1:
        middle = (low + high) // 2
        if starts[middle] * unit <= first:
            low = middle
        else:
            high = middle
    done, count = 0, len(target)
    while done < count:
        more = min(starts[low + 1] * unit - first - done, count - done)
        at = begins[low] * unit + (first + done - starts[low] * unit)
        piece, place = source[at : at + more], target[done : done + more]
        for i in range(more):
            place[i] = piece[i]
        done += more
        low += 1


class Stretches:
    """Parts of ``source``, one behind the other.

    Parameters
    ----------
    source
        One-dimensional, C-contiguous; any memory.
    begins, ends
        First item and last + 1 of each stretch: int64, shape (stretches,).

    Attributes
    ----------
    dtype, shape, nbytes
        Of all of them together.
    starts
        Where each begins among them, and their end: int64, shape (stretches + 1,).
    span
        First byte that is filled, and last + 1.
    """

    def __init__(self, source: np.ndarray, begins: np.ndarray, ends: np.ndarray) -> None:
        self.starts = np.zeros(len(begins) + 1, np.int64)
        np.cumsum(ends - begins, out=self.starts[1:])
        self.dtype, self.shape = source.dtype, (int(self.starts[-1]),)
        self.nbytes = self.shape[0] * source.itemsize
        self.span = (0, self.nbytes)
        self._begins = np.ascontiguousarray(begins)
        self._bytes = _read_only(source)

    def __len__(self) -> int:
        return self.shape[0]

    def fill(self, target: np.ndarray, first: int) -> None:
        """Fill ``target`` (uint8) with the bytes from ``first`` on."""
        if len(target):
            _collect(self._bytes, self._begins, self.starts, self.dtype.itemsize, first, target)

    def whole(self) -> np.ndarray:
        """Return all of them as an array."""
        found = np.empty(self.shape, self.dtype)
        self.fill(found.view(np.uint8), 0)
        return found


class Partly(Stretches):
    """All of ``source``, of which ``span``, from item ``begin`` to ``end - 1``, is copied alone: others bring the rest.

    Where no part of it can be copied alone, all of it is.
    """

    def __init__(self, source: np.ndarray, begin: int, end: int) -> None:
        super().__init__(source, np.zeros(1, np.int64), np.array([len(source)], np.int64))
        self.span = (begin * source.itemsize, end * source.itemsize)

    def fill(self, target: np.ndarray, first: int) -> None:
        """Fill ``target`` (uint8) with the bytes from ``first`` on."""
        target[...] = self._bytes[first : first + len(target)]


Source = np.ndarray | Stretches
"""What can be copied to a device."""


def prepare() -> None:
    """Load the compiled loop: whoever fills does not wait for it then."""
    ends = np.arange(1, 3, dtype=np.int64)
    Stretches(np.zeros(2, np.uint8), ends - 1, ends).whole()


def in_memory(source: Source) -> np.ndarray:
    """Return ``source`` as a C-contiguous array."""
    return source.whole() if isinstance(source, Stretches) else np.ascontiguousarray(source)


def memory_of(source: Source) -> tuple[int, int]:
    """Return what tells ``source`` from others while it lasts."""
    return (id(source) if isinstance(source, Stretches) else int(source.ctypes.data)), int(source.nbytes)


def filling(source: Source) -> Fill:
    """Return what fills arrays with the bytes of ``source``."""
    if isinstance(source, Stretches):
        return source.fill
    flat = source.reshape(-1).view(np.uint8)

    def fill(target: np.ndarray, first: int) -> None:
        target[...] = flat[first : first + len(target)]

    return fill


def _read_only(source: np.ndarray) -> np.ndarray:
    """Return the bytes, read-only, as those of a file are: the loop is compiled for one kind of memory alone."""
    found = source.reshape(-1).view(np.uint8)
    found.flags.writeable = False
    return found
