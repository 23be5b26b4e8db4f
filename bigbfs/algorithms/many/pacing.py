"""How many sources a batch has where there is an end of time: a batch is not left half-way.

The first one has a single source. Each further one has as many as there is time for, and ``GROWTH`` times the last one
at most: a first source may lie in a component of two, and tell nothing. What a batch takes grows with a power of its
sources: hardly where all read the same rows (R-MAT), and faster than they do where a single one is a walk (roads). Two
batches of different size show the power. Until then it is taken to be the highest; afterwards the line through both
counts too, if it says that a batch takes longer: a power that is low for few sources rises with them.
"""

from __future__ import annotations

import math
from collections.abc import Callable

GROWTH = 8
"""A batch has so many times the sources of the last one at most."""
LEAST, MOST = 0.1, 1.5
"""The power at least and at most; at most, too, before two batches have shown one."""
OVER = 0.1
"""The part of all seconds by which a single source may end too late: else it does not begin."""


class Pace:
    """The batches of a run.

    Parameters
    ----------
    left
        Returns the seconds left; None: there is no end, and all batches are as large as can be.
    """

    def __init__(self, left: Callable[[], float] | None) -> None:
        self._left = left
        self._before = self._all = 0.0 if left is None else left()
        self._shortest = math.inf
        self._last = self._other = (0, 0.0)  # sources and seconds: of the last batch, and of the last of another size
        self._way: object = None

    def next(self, most: int, last: int, way: object = None) -> int:
        """Return how many sources the next batch is to have, 1 to ``most``; ``last``: the last had, 0 before the first.

        0: no batch was as short as what is left. It is asked right before each batch. ``way``: how that one will be
        searched; how batches of another way grew tells nothing of it, so it is judged as the second one is.
        """
        if self._left is None:
            return most
        left = self._left()
        took, self._before = self._before - left, left
        same, self._way = way == self._way, way
        if not last:
            return 1
        if not took > 0:  # NaN, too: what is left may be infinite
            return min(most, GROWTH * last)
        self._shortest = min(self._shortest, took)
        if left + OVER * self._all < self._shortest:
            return 0
        if last != self._last[0]:
            self._other = self._last
        self._last = last, took
        if not same:
            self._other = (0, 0.0)
        count = int(max(1, min(most, GROWTH * last, self._room(max(0.0, left)))))
        if not same:
            self._last = (0, 0.0)
        return count

    def _room(self, left: float) -> float:
        """Return how many sources ``left`` seconds have room for."""
        (last, took), (other, needed) = self._last, self._other
        power, line = MOST, math.inf
        if needed > 0:
            power = min(MOST, max(LEAST, math.log(took / needed) / math.log(last / other)))
            each = (took - needed) / (last - other)
            if each > 0:
                line = last + (left - took) / each
        growth = left / took
        # a power of 0.1 would make 1e40 of 1e4
        return min(line, last * (growth ** (1 / power) if growth < GROWTH**power else GROWTH))
