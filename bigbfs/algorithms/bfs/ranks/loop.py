"""The level loop over ranks whose hosts run the levels: on CPUs, and on GPUs of several machines.

All ranks decide alike, by sums over all of them. Between two levels a rank knows of its own vertices everything, of
others what it was told. A search is timed between two barriers.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from bigbfs.algorithms.bfs.level_records import LevelRecords
from bigbfs.algorithms.bfs.ranks.costs import Choice, Frontier
from bigbfs.engines.ranks.group import Group, Traffic
from bigbfs.record import LevelRecord


@dataclass(frozen=True, slots=True)
class Found:
    """What a search measured, the same on every rank but for the last two.

    ``depth`` of the farthest vertex, vertices ``reached``, edges ``unexplored`` (exact for symmetric graphs),
    ``faults``: ids met that are no vertices, ``seconds`` of the slowest rank, a record and an exchange for each level,
    and of this rank: ``mine``, its seconds until its last level was done, and its ``traffic`` in them.
    """

    depth: int
    unexplored: int
    faults: int
    seconds: float
    levels: LevelRecords
    exchanges: tuple[str, ...]
    mine: float
    traffic: Traffic


class LevelLoop(ABC):
    """A search from level to level; what a level is on one rank, the primitives at the end say.

    Parameters
    ----------
    group
        The ranks.
    """

    def __init__(self, group: Group) -> None:
        self.group = group

    def go_through(self, source: int, max_depth: int, target: int | None = None) -> tuple[Found, bool]:
        """Search from ``source`` down to level ``max_depth`` or that of ``target``; return whether that was met."""
        self.group.barrier()
        start, before_it = time.perf_counter(), self.group.traffic.copy()
        frontier = self._reset(source)
        records: list[LevelRecord] = []
        exchanges: list[str] = []
        hit = target == source
        while frontier.vertices and frontier.depth < max_depth and not hit:
            begin, before = time.perf_counter(), (frontier.depth, frontier.vertices, frontier.edges)
            choice = self._choose(frontier)
            hit = self._level(frontier, choice, target)
            spent = time.perf_counter() - begin
            direction = "bottom-up" if choice.up else "top-down"
            records.append(LevelRecord(before[0], direction, before[1], spent, before[2]))
            exchanges.append(" ".join(filter(None, (choice.sync, "" if choice.up else "claims"))))
        self._finish()
        mine = time.perf_counter() - start
        traffic = self.group.traffic.since(before_it)
        self.group.barrier()
        seconds = time.perf_counter() - start
        seconds = max(float(each[0]) for each in self.group.gather(np.array([seconds]), [1] * self.group.size))
        depth = frontier.depth if frontier.vertices else frontier.depth - 1
        faults = int(self.group.sum([self._faults_met()])[0])
        found = Found(
            depth, frontier.unexplored, faults, seconds, LevelRecords.of(records), tuple(exchanges), mine, traffic
        )
        return found, hit

    @abstractmethod
    def _reset(self, source: int) -> Frontier:
        """Forget the last search and make ``source`` the frontier."""

    @abstractmethod
    def _choose(self, frontier: Frontier) -> Choice:
        """Return what the next level does, the same on all ranks."""

    @abstractmethod
    def _level(self, frontier: Frontier, choice: Choice, target: int | None) -> bool:
        """Run a level, and make ``frontier`` that of the next one; return whether the target was reached."""

    @abstractmethod
    def _finish(self) -> None:
        """Return when the result of own vertices is complete."""

    @abstractmethod
    def _faults_met(self) -> int:
        """Return how many ids this rank has met that are no vertices."""
