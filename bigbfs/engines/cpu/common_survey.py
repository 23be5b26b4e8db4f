"""The survey of heads by ranks of one machine together: one, in memory that all of them see."""

from __future__ import annotations

import numpy as np

from bigbfs.engines.cpu.heads import Survey, shapes
from bigbfs.engines.cpu.rows import Rows, row_count
from bigbfs.engines.ranks.commons import Commons
from bigbfs.engines.ranks.group import Group


class CommonSurvey(Survey):
    """A survey of which every rank makes a part and sees the whole; ``faults`` are those of all of them.

    Raises
    ------
    UsageError
        So many vertices that the ids have no value left for ``absent``.
    DoesNotFitError
        The machine does not give so much memory to share.
    """

    def __init__(self, rows: Rows, ids: np.dtype, threads: int, group: Group) -> None:
        self._commons = Commons(group, shapes(row_count(rows), ids))
        self._fill(rows, self._commons.arrays, threads)
        self._commons.meet()
        self.ranks = self.ranks.copy()  # read at random: in large pages, which shared memory seldom has
        self.faults = int(group.sum([self.faults])[0])

    def _begin(self) -> np.ndarray:
        return self._commons.begin()

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays, of which the first rank counts what is shared."""
        return self._commons.nbytes + self.ranks.nbytes
