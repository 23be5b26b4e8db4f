"""BFS by ranks of one machine on one state, in memory that all of them see: nothing is sent, nothing done twice.

It is the search of one process (:mod:`bigbfs.algorithms.bfs.cpu.search`) by its own kernels. Every rank runs the same
loop on the same numbers, so all decide alike; of each level they take pieces, whoever is free the next one. What one
thread of a process does alone (thin levels, a frontier moved to the queue) rank 0 does, and tells the others. A level
takes two or three meetings.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace

import numpy as np

from bigbfs.algorithms.bfs.cpu.frontier import Frontier
from bigbfs.algorithms.bfs.cpu.search import Search, hubs_of
from bigbfs.algorithms.bfs.cpu.state import TALLY, shapes
from bigbfs.algorithms.bfs.ranks.costs import Forced
from bigbfs.algorithms.bfs.ranks.loop import Found
from bigbfs.engines.cpu.heads import Survey
from bigbfs.engines.cpu.rows import Rows, row_count
from bigbfs.engines.ranks.commons import Commons
from bigbfs.engines.ranks.group import Group
from bigbfs.engines.ranks.partition import Partition

TOLD = "common"
"""What levels tell: nothing, since all see the same."""


class CommonSearch(Search):
    """BFS of one rank over ``out_rows``, bottom-up over ``in_rows`` where there are any; all ranks make it together.

    Parameters
    ----------
    group, partition
        The ranks, and whose vertices each proves.
    out_rows, in_rows, survey, ids, m, threads
        As for :class:`Search`; ``threads`` of this rank.
    forced
        Directions that are not left to the prediction.

    Attributes
    ----------
    met_target
        Whether the last search ended at its target.
    proof_rows
        In-rows to prove a tree by, where there are any.

    Raises
    ------
    DoesNotFitError
        The machine does not give so much memory to share.
    """

    def __init__(
        self,
        group: Group,
        partition: Partition,
        out_rows: Rows,
        in_rows: Rows | None,
        survey: Survey | None,
        ids: np.dtype,
        m: int,
        threads: int,
        forced: Forced | None = None,
    ) -> None:
        self.group, self.partition, self.part = group, partition, partition.part(group.rank)
        self.forced, self.met_target, self.proof_rows = forced or Forced(), False, in_rows
        counts, n = group.lengths(threads), row_count(out_rows)
        self._commons = Commons(group, shapes(n, hubs_of(n, m), ids, sum(counts)))
        every = self._commons.arrays["tallies"]
        first = TALLY * sum(counts[: group.rank])
        mine = every[first : first + TALLY * threads]
        arrays = self._commons.arrays | {"claim": self._commons.claim, "all tallies": every, "tallies": mine}
        super().__init__(out_rows, in_rows, survey, ids, m, threads, arrays)
        self._alone = self._alone if group.size == 1 else -1  # others work on each level
        kept = self._start.nbytes + sum(getattr(self._state, name).nbytes for name in ("pieces", "buffers"))
        self.nbytes = kept + self._commons.nbytes

    def _begin(self, last: int = 0) -> None:
        begin = super()._begin
        self._commons.begin(lambda: begin(last))

    def _finish(self) -> None:
        self._commons.meet()

    def _serially(self, work: Callable[[], Sequence[int] | None]) -> Sequence[int]:
        return self._commons.alone(work)

    def _bottom_up_is_cheaper(self, frontier: Frontier) -> bool:
        if self.forced.up is None:
            return super()._bottom_up_is_cheaper(frontier)
        return self.in_rows is not None and self.forced.up[frontier.depth % len(self.forced.up)]

    def run_all(self, source: int, max_depth: int, target: int | None = None) -> Found:
        """Search as :meth:`Search.run`, and return what all ranks have measured."""
        self.group.barrier()
        before = self.group.traffic.copy()
        found = self.run(source, max_depth, target)
        traffic = self.group.traffic.since(before)
        self.met_target = target is not None and int(self.levels[target]) >= 0
        seconds = max(float(each[0]) for each in self.group.gather(np.array([found.seconds]), [1] * self.group.size))
        return Found(
            found.depth, found.unexplored, found.faults, seconds, found.levels, (TOLD,) * len(found.levels),
            found.seconds, traffic,
        )  # fmt: skip

    @property
    def own(self) -> SimpleNamespace:
        """Copies of levels and parents of own vertices, in local order and whole words."""
        words = self.partition.own(self.group.rank)
        found = []
        for array, none in ((self.levels, np.int32(-1)), (self.parents, self.nobody)):
            whole = np.full(64 * self.partition.words, none, array.dtype)
            whole[: self.n] = array
            found.append(whole.reshape(-1, 64)[words].ravel())
        return SimpleNamespace(levels=found[0], parents=found[1])
