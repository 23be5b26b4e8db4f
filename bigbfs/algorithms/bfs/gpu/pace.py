"""Who is quicker with levels of a few vertices: the device, or a thread of the CPU; both are timed as they work.

In: what launches and walks took. Out: how many levels the next launch may do, whether they were thin, and how far the
CPU may walk. It is believed to be quick until it has shown what it takes, which a few thousand vertices are enough for.
"""

from __future__ import annotations

import numpy as np

from bigbfs.algorithms.bfs.gpu.standby import WIDEST, Limits, Walked
from bigbfs.algorithms.bfs.gpu.tuning import Tuning

HAND_OVER_NS = 3e5
"""Nanoseconds that there and back takes, about: so much longer than the device may the CPU take before it gives up. The
first part of a walk meets cold caches, and what calls take: a tenth of a millisecond that says nothing of the next."""

EDGES = (16, 1 << 9)
"""Edges that the CPU does in the time of a level on the device: no fewer, and no more, whatever was timed."""

OWED = (1 << 9, 1 << 11)
"""Edges that it does in the time of a hand-over, likewise."""

DEEP = 1 << 10
"""Levels that the CPU must have walked, nearly from the source on, for the next search to begin there: a graph is deep
from most of its vertices or from none."""

LEAST_WALK = 1 << 10
"""Edges of a part of a walk whose time says something of the next."""

FORGETS = 0.9
"""A time for an edge that is longer than believed at first becomes so much shorter with each search: it may have been
taken while others had the cores."""


class Pace:
    """What levels take.

    Parameters
    ----------
    tuning
        How much the CPU is believed to take until it has walked.

    Attributes
    ----------
    thin_seconds
        What launches of thin levels have taken.
    begins_on_cpu
        Whether the CPU would be quicker with the first levels of the next search, too: the search before was deep.
    """

    def __init__(self, tuning: Tuning) -> None:
        self._tuning = tuning
        self._edge_ns = tuning.cpu_edge_ns
        self._level_ns = self._behind_ns = 0.0
        self._look = tuning.look
        self._next = tuning.look
        self.thin_seconds = 0.0
        self.begins_on_cpu = False

    def begin(self) -> None:
        """Begin a search."""
        self._look = self._next = self._tuning.look
        if self._edge_ns > self._tuning.cpu_edge_ns:
            self._edge_ns = max(self._tuning.cpu_edge_ns, FORGETS * self._edge_ns)

    @property
    def slots(self) -> int:
        """Levels that the next launch may do."""
        return min(self._next, self._tuning.slots) if self._next else self._tuning.slots

    def launched(self, used: np.ndarray, end: int, seconds: float) -> bool:
        """Take in a launch of so many ``seconds`` whose levels are ``used`` (SLOT), its clock at the ``end``; return
        whether its last ones would have been quicker on the CPU."""
        self._next, self._behind_ns = 0, 0.0
        if not self._tuning.look or not len(used):
            return False
        recent = used[-self._look :]
        cycles = max(1, end - int(used["clock"][0]))
        spent = seconds * (end - int(recent["clock"][0])) / cycles
        self._level_ns = 1e9 * spent / len(recent)
        work = int(recent["edges"].sum()) + int(recent["frontier"].sum())  # edges are those of the level after each
        thin = self._edge_ns * work <= 1e9 * spent
        self.thin_seconds += seconds if thin else 0.0
        return thin

    @property
    def most_edges(self) -> int:
        """Edges of a level that the CPU does at most."""
        asked = self._tuning.walk_edges
        return EDGES[1] + OWED[1] if asked is None else asked

    def limits(self, last: int) -> Limits:
        """Return how far the CPU may walk."""
        if self._tuning.walk_edges is not None:
            return Limits(last, min(self._tuning.walk_edges, WIDEST - 1), 0)
        edge_ns = max(self._edge_ns, 0.1)
        return Limits(last, _between(EDGES, self._level_ns / edge_ns), _between(OWED, HAND_OVER_NS / edge_ns))

    def goes_on(self, levels: int, edges: int, seconds: float) -> bool:
        """Take in a part of a walk; return whether the device would not have been quicker, but for a hand-over."""
        if self._tuning.walk_edges is not None or not self._tuning.cpu_edge_ns:
            return True
        if edges >= LEAST_WALK:
            self._edge_ns = 1e9 * seconds / edges
        self._behind_ns = max(0.0, self._behind_ns + 1e9 * seconds - self._level_ns * levels)
        return self._behind_ns <= HAND_OVER_NS

    def walked(self, walked: Walked, seconds: float) -> None:
        """Take in a whole walk: the device looks sooner or later for the next."""
        saved = 1e-9 * self._level_ns * walked.levels > seconds
        early = walked.depth - walked.levels <= self._tuning.look
        self.begins_on_cpu = early and saved and walked.levels >= DEEP
        self._look = self._tuning.look if saved else 2 * self._look
        self._next = self._look


def _between(ends: tuple[int, int], value: float) -> int:
    return int(min(ends[1], max(ends[0], value)))
