"""All threads of the ranks of one machine, and memory that they share: they work as those of one process do.

Tasks are taken from counters in that memory, so whoever is free takes the next one, whichever rank it is of. Nothing is
sent but what failed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bigbfs.engines.ranks.agreeing import together
from bigbfs.engines.ranks.group import Group
from bigbfs.jit.meeting import arrive, words_of
from bigbfs.jit.workers import Workers

ALIGNED = 4096
"""Where an array begins: no two share a page."""

ROUNDS = 8
"""Calls of ``each`` that a crew is for."""


class NotShared(Exception):
    """The machine does not give the memory to share; raised on all ranks."""


class Crew:
    """What does tasks, and where they write; all ranks make it together, and make the same calls.

    Parameters
    ----------
    group
        The ranks, all of one machine.
    workers, threads
        The threads of this one.
    nbytes
        What will be taken at first, rounded up as :func:`room_for` does.

    Raises
    ------
    NotShared
        There is no such memory.
    """

    def __init__(self, group: Group, workers: Workers, threads: int, nbytes: int) -> None:
        self._group, self._workers, self._threads, self._round = group, workers, threads, 0
        self._windows: list[np.ndarray] = []
        self.more(room_for(8 * words_of(ROUNDS)) + nbytes)
        self._counters = self.take(words_of(ROUNDS), np.uint64)

    def more(self, nbytes: int) -> None:
        """Have memory for what is taken from here on, beside what has been taken; all ranks together.

        Raises
        ------
        NotShared
            There is no such memory.
        """
        window = self._group.window(nbytes, large=True)
        if window is None:
            raise NotShared
        self._windows.append(window)
        self._taken = 0

    def forget(self) -> None:
        """Let go of all memory, of which no rank makes any use from here on."""
        for window in self._windows:
            self._group.forget(window)

    def take(self, count: int, dtype: Any) -> np.ndarray:
        """Return ``count`` zeros that all ranks see."""
        size, first = count * np.dtype(dtype).itemsize, self._taken
        self._taken += room_for(size)
        assert self._taken <= len(self._windows[-1])
        return self._windows[-1][first : first + size].view(dtype)

    def counters(self, shape: tuple[int, int]) -> np.ndarray:
        """Return zeros, int64, that all ranks see."""
        return self.take(shape[0] * shape[1], np.int64).reshape(shape)

    def each(self, count: int, work: Callable[[int], object]) -> None:
        """Have ``work`` called with 0 to ``count - 1``, each by one thread of one rank; return when all are done.

        Raises
        ------
        Agreed
            A task has failed, on this rank or on another.
        """
        assert self._round < ROUNDS
        mine, self._round = np.uint64(self._round), self._round + 1

        def take(_: int) -> None:
            while (number := int(arrive(self._counters, mine)) - 1) < count:
                work(number)

        together(self._group, lambda: self._workers.each(self._threads, take))


def room_for(nbytes: int) -> int:
    """Return the bytes that an array of so many takes."""
    return -(-nbytes // ALIGNED) * ALIGNED
