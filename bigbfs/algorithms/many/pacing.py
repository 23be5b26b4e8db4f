"""How many sources a batch has where there is an end of time: a batch is not left half-way.

The first one has a single source. Each further one has as many as there is time for, and ``GROWTH`` times the last one
at most: a first source may lie in a component of two, and tell nothing. What a batch takes grows with a power of its
sources: hardly where all read the same rows (R-MAT), and faster than they do where a single one is a walk (roads). The
last two batches show the power.
"""

from __future__ import annotations

import math
from collections.abc import Callable

GROWTH = 8
"""A batch has so many times the sources of the last one at most."""
POWER, LEAST, MOST = 0.5, 0.1, 1.5
"""The power before two batches have shown one, and what it is at least and at most."""


class Pace:
    """The batches of a run.

    Parameters
    ----------
    left
        Returns the seconds left; None: there is no end, and all batches are as large as can be.
    """

    def __init__(self, left: Callable[[], float] | None) -> None:
        self._left = left
        self._before = 0.0 if left is None else left()
        self._shown = (0, 0.0)
        self._power = POWER

    def next(self, most: int, last: int) -> int:
        """Return how many sources the next batch is to have, 1 to ``most``; ``last``: the last had, 0 before the first.

        It is asked right before each batch.
        """
        if self._left is None:
            return most
        left = self._left()
        took, self._before = self._before - left, left
        if not last:
            return 1
        if not took > 0:  # NaN, too: what is left may be infinite
            return min(most, GROWTH * last)
        before, needed = self._shown
        if needed > 0 and last != before:
            self._power = min(MOST, max(LEAST, math.log(took / needed) / math.log(last / before)))
        self._shown = last, took
        room = max(0.0, left) / took
        growth = GROWTH if room >= GROWTH**self._power else room ** (1 / self._power)
        return int(max(1, min(most, growth * last)))
