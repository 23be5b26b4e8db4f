"""Where processes meet that share memory: each counts its arrivals there, and goes on when all have counted as far.

The words (uint64) have a cache line for each process. A meeting costs less than a microsecond where everybody runs,
whereas a call of MPI takes ten.
"""

from __future__ import annotations

import numpy as np

from bigbfs.jit.atomics import fetch_add, load
from bigbfs.jit.njit import njit
from bigbfs.jit.sleeping import pause

LINE = 8
"""Words of a process."""

_LINE = np.uint64(LINE)
_ZERO, _ONE = np.uint64(0), np.uint64(1)
_BEHIND = np.uint64(1 << 63)


def words_of(size: int) -> int:
    """Return how many words ``size`` processes meet by; all are 0 before the first meeting."""
    return LINE * size


@njit(nogil=True, cache=True)
def arrive(words, mine):
    """Count an arrival of process number ``mine``; return how many it has had, this one among them."""
    return fetch_add(words, mine * _LINE, _ONE) + _ONE


@njit(nogil=True, cache=True)
def all_there(words, meeting, looks):
    """Return whether all have had so many meetings; it takes up to ``looks`` looks, each with a pause."""
    size = np.uint64(len(words)) // _LINE
    other = _ZERO
    while True:
        while other < size and (load(words, other * _LINE) - meeting) & _BEHIND == _ZERO:
            other += _ONE
        if other == size:
            for each in range(size):
                fetch_add(words, each * _LINE, _ZERO)  # what that one has written is seen from here on
            return True
        if looks == _ZERO:
            return False
        looks -= _ONE
        pause()
