"""Components of a graph whose rows are all at hand: Afforest (:mod:`.labels`) by heads, or by the first ids of rows.

Heads leave no giant where strong vertices are few and far between: in trees, on roads. A sample says, once for a graph,
whether most vertices have a neighbour stronger than they are, and whether nearly all have one of a smaller id
(:mod:`.firsts`). In the second case first ids alone make one tree of nearly all. Where neither holds and edges hardly
outnumber vertices, first ids are linked, and then all other edges, each once: no round saves as much as it costs.
"""

from __future__ import annotations

import numpy as np

from bigbfs.algorithms.components.cpu.firsts import PAIRS, hang, link_smaller, look
from bigbfs.algorithms.components.cpu.labels import GIANT, Components
from bigbfs.algorithms.components.options import ComponentsOptions
from bigbfs.engines.cpu.heads import Survey
from bigbfs.engines.cpu.rows import NOBODY, Rows, VarintRows

FEW = 1 / 256
"""Share of sampled vertices without a smaller neighbour that is few."""

MANY = 1 / 16
"""Share of sampled vertices without a stronger neighbour that is many: trees of less than sixteen on the mean."""

SPARSE = {True: 2.25, False: 3.25}
"""Ids in a sampled row at most, on the mean, for all edges to be linked: of compressed rows, and others."""


class WholeComponents(Components):
    """As :class:`Components`, which it is until :meth:`choose` has been called.

    Attributes
    ----------
    firsts
        Whether first ids are hung before heads are asked for.
    sparse
        Whether all other edges are linked where first ids leave no giant.
    """

    def __init__(self, out_rows: Rows, in_rows: Rows | None, survey: Survey, threads: int) -> None:
        super().__init__(out_rows, in_rows, survey, threads)
        self.firsts = self.sparse = False
        self._buffers = np.empty((threads, 2, PAIRS), survey.heads.dtype)

    def heads_left(self) -> int:
        """Return how many of the sampled vertices have no stronger neighbour, and so are roots of round one."""
        sample = self._sample
        head = self.heads[0, sample]
        mine, its = self.ranks[sample], self.ranks[head]
        return int(len(sample) - ((its > mine) | ((its == mine) & (head < sample))).sum())

    def choose(self) -> None:
        """Choose the first round by the sample; needs the kernels of :meth:`warm_up_firsts` where heads leave any."""
        size, left, rows = len(self._sample), self.heads_left(), self._rows[0]
        if left == 0:
            return
        roots, ids = map(int, look(rows, self._sample))
        compressed, symmetric = isinstance(rows, VarintRows), self._sees_both_ends and len(self._rows) == 1
        self.sparse = symmetric and ids <= SPARSE[compressed] * size
        # the first vertex of a component has no smaller neighbour, and one is in every sample
        self.firsts = (roots < left and roots <= max(1, FEW * size)) or (self.sparse and left >= MANY * size)

    def warm_up_firsts(self) -> None:
        """Run every kernel that :meth:`choose` and what it chooses need (on a small graph: that compiles them)."""
        look(self._rows[0], self._sample)
        self._hang()
        self._link_smaller()

    def _afforest(self, options: ComponentsOptions) -> None:
        if options.rounds is None and self.firsts and self._found_by_firsts(options):
            return
        super()._afforest(options)

    def _found_by_firsts(self, options: ComponentsOptions) -> bool:
        """Label all by first ids and what these leave; return False where they leave no giant, or too much."""
        self._hang()
        giant, held = self._largest()
        if held >= GIANT:
            self._pass(giant if options.skips_giant else NOBODY, once=options.single_pass)
            return True
        if self.sparse and options.skips_giant and not options.single_pass:
            self._link_smaller()
            self._passes += 1
            return True
        self.firsts = self.sparse  # the same sample would say so again
        return False

    def _hang(self) -> None:
        """Round one by first ids."""
        hang(self._team, self._rows[0], self.labels, self._begin(), self._counts)
        self.flatten()

    def _link_smaller(self) -> None:
        """Link all edges that :meth:`_hang` has left."""
        rows = self._rows[0]
        given = rows, isinstance(rows, VarintRows), self.labels, self._buffers
        link_smaller(self._team, *given, self._begin(), self._counts)
        self.flatten()
