"""The diameter of one component of an undirected graph by single searches, each from where it tells most.

The vertex of most neighbours first, then the farthest from it, then the middle of the way between that one and the
farthest from there: two vertices within half the longest distance of it are no farther apart than that. What lies
outside of this ball and is open (:mod:`bigbfs.algorithms.sweeps.options`) is searched from, those of the largest bounds
and the most central vertices by turns; once few are open, those with the most partners that may be too far away. When
none is left the longest distance found is the diameter. Where many are left for long, batches go on from these bounds.
Once few pairs of vertices may be too far apart, these are searched for from both ends, as long as that reads little.

Sources: Bradley, Akathoott and Burtscher, Fast exact diameter computation of sparse graphs, ICPP 2025; Takes and
Kosters, CIKM 2011; Crescenzi et al., On computing the diameter of real-world undirected graphs, TCS 514 (2013), for
the middle of the way.
"""

from __future__ import annotations

import numpy as np

from bigbfs.algorithms.components.options import ComponentsOptions
from bigbfs.algorithms.engine import Engine
from bigbfs.algorithms.sweeps.options import FAR, KEPT, Hub, Listed, Rim, SweepOptions, Swept
from bigbfs.engines.cpu.rows import rows_of
from bigbfs.measures.apart import Apart
from bigbfs.measures.outcome import Tell
from bigbfs.measures.pairs import MOST_PAIRS, partners_of, wanted_of
from bigbfs.measures.placing import Until
from bigbfs.measures.rim import closed
from bigbfs.measures.swept import Searches
from bigbfs.record import Alone, Cores

COVERED = 4
"""So few vertices left are searched from without a look at the middle, or at a central vertex."""
ROUND = 16
"""Searches of a round."""
SLOW = 0.75
"""Where a round leaves a larger share of those left before it, batches go on."""
FEW = 64
"""So few are searched from one after the other in any case."""
PAIRS = 2**16
"""Pairs that are looked at in any case; else at most as many as there are edges."""


BRIEF = 0.005
"""Seconds of the first search up to which it is not asked what other programs took from each thread: to read that from
the system's files takes a tenth of a millisecond."""


class Sweeps(Searches):
    """The searches of one run, each a piece of work for an engine.

    Attributes
    ----------
    last
        What the last one found.
    """

    last: Swept

    def __init__(self, engine: Engine) -> None:
        super().__init__(engine.graph)
        self._engine, self._rows = engine, rows_of(engine.graph.adjacency)
        self._searched: list[int] = []
        self._next = -1
        self._middle: int | None = None  # of the longest way; -1: it has been searched from
        self._bare: set[int] = set()  # whose leaves have been searched from
        self._filled: set[int] = set()  # numbers under which a source is kept
        self._listed: Listed | None = None
        self._levels = np.empty((0, 0), np.int64)
        self._apart = Apart(engine.graph)
        self._rim: Rim | None = None  # which has not been looked at

    def run(self, until: Until, tell: Tell | None) -> bool:
        """See :class:`Searches`."""
        self._first()
        return self.go_on(until, tell)

    def go_on(self, until: Until, tell: Tell | None, *, patient: bool = False) -> bool:
        """See :class:`Searches`."""
        before, lost = self.record.seconds, self.record.lost
        cores = Cores.now() if before > BRIEF else Alone.now()
        try:
            return self._go_on(until, tell, patient)
        finally:
            whole = max(self.record.seconds, 1e-9)
            self.record.lost = (before * lost + (whole - before) * cores.lost()) / whole

    def _go_on(self, until: Until, tell: Tell | None, patient: bool) -> bool:
        before = self.left
        while True:
            if tell is not None:
                tell(self.left, self.diameter)
            if not self.left or until():
                return True
            if self.record.sources % ROUND == 0 and not patient:
                if self.left > max(FEW, before * SLOW):
                    return False
                before = self.left
            if self._rim is not None:
                self._close_rim(self._rim)
            elif self._middle is None:
                self._middle = self._sweep(self.last.far, keep=1, halfway=True).halfway
            elif self._middle >= 0 and self.left > COVERED:
                self._sweep(self._middle, keep=2)
                self._middle = -1
            elif self.last.central >= 0 and self.left > COVERED:
                self._sweep(self.last.central, keep=self._worst())
            else:
                self._sweep(self._next, central=True)

    @property
    def ball(self) -> int:
        """The number of the source kept outside of whose ball the fewest are left."""
        left = self.last.left
        return min((count, k) for k, count in enumerate(left) if count is not None)[1]

    def _worst(self) -> int:
        """Return the number of the source kept outside of whose ball the most are left, or one that is free."""
        return max((2**62 if count is None else count, k) for k, count in enumerate(self.last.left))[1]

    def _first(self) -> None:
        """Search from the hub of the largest component."""
        hub: Hub = self._engine.run_internal(SweepOptions())
        found = self._sweep(hub.vertex, keep=0, anew=True)
        if found.reached > max(1, hub.linked - found.reached):
            return  # no other component can be as large
        labels = self._engine.run_internal(ComponentsOptions()).labels
        label = int(np.bincount(labels).argmax())
        if label == labels[hub.vertex]:
            return  # what pairs are known not to be farther apart than holds of what has been found here
        largest = np.flatnonzero(labels == label)
        self.longest = (-1, 0, 0)
        self._sweep(int(largest[self._graph.degrees()[largest].argmax()]), keep=0, anew=True)

    def _sweep(self, source: int, keep: int | None = None, **asked: bool) -> Swept:
        """Search from ``source``, and say who is left."""
        found: Swept = self._engine.run_internal(SweepOptions(source, keep=keep, **asked))
        self.last = found
        self._searched = [source] if asked.get("anew") else [*self._searched, source]
        self._add(found)
        self.longest = max(self.longest, (found.depth, source, found.far))
        ball = self.ball
        self.left, self._next, self.top = found.left[ball] or 0, found.next[ball], found.top[ball]
        if asked.get("anew"):
            self._listed, self._bare, self._filled, self._rim = None, set(), set(), found.rim
        if found.listed is not None and self.left:
            self._look_at(found.listed, source, keep)
        self._filled |= set() if keep is None else {keep}
        return found

    def _add(self, found: Swept) -> None:
        """Note what a search took."""
        mine = self.record
        mine.sources, mine.batches = mine.sources + 1, mine.batches + 1
        mine.pairs, mine.edges_read = mine.pairs + found.reached, mine.edges_read + found.edges  # at most
        mine.seconds += found.seconds

    def _close_rim(self, rim: Rim) -> None:
        """Look whether the vertices farthest from the first source tell the diameter."""
        read = self._apart.read
        self.longest, done = closed(rim, self._wanted(rim.ids, self._searched[-1]), self._apart, self.longest)
        self.record.edges_read += self._apart.read - read
        self.left, self._rim = 0 if done else self.left, None

    def _look_at(self, listed: Listed, source: int, keep: int | None) -> None:
        """Leave out, of the open vertices, those that leaves stand for, and those without a partner too far away."""
        self._note_levels(listed, keep)
        wanted, read = self._wanted(listed.ids, source), self._apart.read
        while self._is_longer(listed, wanted):  # fewer are open then
            pass
        self.record.edges_read += self._apart.read - read

    def _is_longer(self, listed: Listed, wanted: np.ndarray) -> bool:
        """Say who is left of the vertices ``wanted``; return True where a longer distance has been found instead."""
        longest = self.longest[0]
        some = np.flatnonzero(wanted & (listed.upper > longest))
        away = listed.kept[self.ball, some]
        ones = np.flatnonzero((away > longest // 2) | (away == FAR))
        score = np.zeros(len(ones), np.int64)
        if len(ones) * len(some) <= max(PAIRS, self._graph.m):
            known = [listed.kept[k][some] for k in range(KEPT) if self.last.left[k] is not None]
            score, pairs = partners_of(np.vstack([*known, self._levels[:, some]]), ones, longest)
            if 0 < len(pairs) < MOST_PAIRS:
                left, farther = self._apart.look_at(listed.ids[some[pairs]], longest)
                if farther is not None:
                    self.longest = farther
                    return True
                score = np.bincount(pairs[left].reshape(-1), minlength=len(some))[ones]
            ones, score = ones[score > 0], score[score > 0]
        self.left = len(ones)
        if self.left:
            upper = listed.upper[some[ones]]
            self.top = int(upper.max())
            self._next = int(listed.ids[some[ones[np.lexsort((-upper, -score))[0]]]])
        return False

    def _wanted(self, ids: np.ndarray, source: int) -> np.ndarray:
        """Return which of the open vertices ``ids`` no other stands for, bool; ``source``: the last one searched from.

        Two leaves of one neighbour are two apart, so that nobody stands for them before so long a way is known.
        """
        wanted = wanted_of(self._rows, ids, source, self._bare)
        return wanted if self.longest[0] >= 2 else np.ones(len(ids), np.bool_)

    def _note_levels(self, listed: Listed, keep: int | None) -> None:
        """Keep the distances of the open vertices from the sources that are not kept for all vertices."""
        rows = [np.empty((0, len(listed.ids)), np.int64)]
        if self._listed is not None:
            still = np.searchsorted(self._listed.ids, listed.ids)
            rows.append(self._levels[:, still])
            if keep is not None and keep in self._filled:  # another source was kept there
                rows.append(self._listed.kept[keep : keep + 1, still])
        if keep is None:
            rows.append(np.minimum(listed.levels, FAR)[None])
        self._levels, self._listed = np.vstack(rows), listed

    def known(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """See :class:`Searches`."""
        below, above, levels = self._engine.run_internal(SweepOptions(keep=self.ball))
        ends = list(self.longest[1:])  # which may have been found as a pair, by no search of either
        below[ends] = np.maximum(below[ends], self.longest[0])
        return below, above, levels

    @property
    def reached(self) -> int:
        """See :class:`Searches`."""
        return self.last.reached

    @property
    def lowest(self) -> tuple[int, int]:
        """See :class:`Searches`."""
        return self.last.radius

    @property
    def searched(self) -> list[int]:
        """See :class:`Searches`."""
        return self._searched
