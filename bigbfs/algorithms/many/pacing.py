"""How many sources a batch has where there is an end of time: a batch is not left half-way.

The first one has a single source. Each further one has as many as there is time for, by what the sources of the last
one took each, and ``GROWTH`` times those at most: a first source may lie in a component of two, and tell nothing.
"""

from __future__ import annotations

from collections.abc import Callable

GROWTH = 8
"""A batch has so many times the sources of the last one at most."""


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

    def next(self, most: int, done: int) -> int:
        """Return how many sources the next batch is to have, 1 to ``most``; ``done``: the last had, 0 before the first.

        It is asked right before each batch.
        """
        if self._left is None:
            return most
        left = self._left()
        took, self._before = self._before - left, left
        if not done:
            return 1
        fit = done * max(0.0, left) / took if took > 0 else most
        return int(max(1, min(most, GROWTH * done, fit)))
