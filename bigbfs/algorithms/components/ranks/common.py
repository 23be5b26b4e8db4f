"""Connected components by ranks of one machine in one forest, in memory that all of them see.

It is the forest of one process (:mod:`bigbfs.algorithms.components.cpu.labels`) by its own kernels: every rank makes
the same passes, and of each takes pieces; nothing is sent. Two ranks that hook one tree are told apart as two threads
are, by compare-and-swap.
"""

from __future__ import annotations

import numpy as np

from bigbfs.algorithms.components.cpu.labels import Components, Labelled
from bigbfs.algorithms.components.options import ComponentsOptions
from bigbfs.engines.cpu.bits import words_for
from bigbfs.engines.cpu.heads import Survey
from bigbfs.engines.cpu.rows import NOBODY, Rows, row_count
from bigbfs.engines.ranks.commons import Commons
from bigbfs.engines.ranks.group import Group
from bigbfs.engines.ranks.partition import Partition
from bigbfs.record import RankRecord


class CommonForest(Components):
    """The forest of all ranks; they make it together.

    Parameters
    ----------
    group, partition
        The ranks, and whose vertices each proves.
    rows
        Out-rows of all vertices, and in-rows of a directed graph that has them.
    sees_both_ends
        Whether every edge is stored with both of its vertices.
    survey
        Heads of all vertices.
    threads
        Threads of the rank.

    Raises
    ------
    DoesNotFitError
        The machine does not give so much memory to share.
    """

    def __init__(
        self,
        group: Group,
        partition: Partition,
        rows: tuple[Rows, ...],
        sees_both_ends: bool,
        survey: Survey,
        threads: int,
    ) -> None:
        self.n, self.rows, ids = row_count(rows[0]), rows, survey.heads.dtype
        self.group, self.partition, self.part = group, partition, partition.part(group.rank)
        self._commons = Commons(group, {"forest": ((2, 64 * words_for(self.n)), ids)})
        incoming = rows[-1] if sees_both_ends else None
        super().__init__(rows[0], incoming, survey, threads, forest=self._commons.arrays["forest"])

    @property
    def nbytes(self) -> int:
        """Bytes of the state, on the rank that counts them: the first."""
        return self._commons.nbytes

    def _begin(self) -> np.ndarray:
        return self._commons.begin()

    def _finish(self) -> None:
        self._commons.meet()

    def run_all(self, options: ComponentsOptions) -> Labelled:
        """Find the labels, together with all ranks; return what all have measured."""
        self.group.barrier()
        before = self.group.traffic.copy()
        found = self.run(options)
        traffic = self.group.traffic.since(before)
        mine = RankRecord(self.group.rank, self.group.host, found.seconds, traffic.waited, traffic.sent)
        told = self.group.objects((mine, found.faults, found.edges_read))
        ranks = tuple(each[0] for each in told)
        slowest = max(each.seconds for each in ranks)
        return Labelled(slowest, sum(each[1] for each in told), sum(each[2] for each in told), 1, 0, ranks)

    def count(self) -> None:
        """Find the labels by every edge of every row, without heads and without leaving out any."""
        self.begin()
        self.start()
        self._pass(NOBODY)
        self._finish()

    @property
    def own_labels(self) -> np.ndarray:
        """Labels of own vertices, in local order and whole words: a copy."""
        return self.padded.reshape(-1, 64)[self.partition.own(self.group.rank)].flatten()
