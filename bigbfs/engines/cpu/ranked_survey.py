"""The survey of heads by ranks: each finds the heads of its own vertices; what it needs to know of all is a byte each.

Kernels are serial and work on a stretch of words, so that a rank's threads can share them; heads and ``short`` are
indexed by local vertex (:mod:`bigbfs.engines.ranks.partition`). What heads are for: :mod:`bigbfs.engines.cpu.heads`.
"""

from __future__ import annotations

import numpy as np

from bigbfs.engines.cpu.bits import ONE, SHIFT, WORD, ZERO, words_for
from bigbfs.engines.cpu.heads import HEADS, degree_byte, strongest_two
from bigbfs.engines.cpu.rows import Rows, degree, row_count
from bigbfs.engines.ranks.group import Group
from bigbfs.engines.ranks.partition import Part, Partition
from bigbfs.errors import UsageError
from bigbfs.jit.njit import njit
from bigbfs.jit.workers import Workers, ranges

SHARES = 16
"""Stretches of own words for each thread of several: who is done takes another. A thread alone takes all at once."""

_HEADS = np.uint64(HEADS)


class RankSurvey:
    """What one pass over own rows finds out.

    Attributes
    ----------
    empty
        Bitmap of all vertices without neighbours; bits past the last vertex are set too, the extra word is left out.
    short
        Own words: bitmap of those with no more neighbours than the head table holds.
    ranks
        uint8, one per vertex and more up to ``absent``, which has 0: grows with the degree.
    heads
        id, shape (2, 64 own words): see :mod:`bigbfs.engines.cpu.heads`.
    faults
        Neighbours met that are no vertices.

    ``apart``, partition and group, is given where a rank has no rows but its own: ranks tell one another degrees then.

    Raises
    ------
    UsageError
        So many vertices that the ids have no value left for ``absent``.
    """

    def __init__(
        self,
        rows: Rows,
        part: Part,
        ids: np.dtype,
        workers: Workers,
        threads: int,
        apart: tuple[Partition, Group] | None = None,
    ) -> None:
        n = row_count(rows)
        absent = words_for(n) * 64
        if absent > np.iinfo(ids).max:
            raise UsageError(f"{n} vertices are too many for {ids} on the CPU: make the graph with uint64 ids")
        self.empty = np.empty(words_for(n), np.uint64)
        self.short = np.empty(int(part.words), np.uint64)
        self.ranks = np.zeros(absent + 1, np.uint8)
        self.heads = np.empty((HEADS, 64 * int(part.words)), ids)
        everyone = stretches(len(self.empty), threads)
        if apart is not None:
            first = part.first
            everyone = [(first + low, first + high) for low, high in stretches(int(part.words), threads)]
        workers.each(len(everyone), lambda i: survey_words(rows, part.n, self.ranks, self.empty, *everyone[i]))
        if apart is not None:
            self._tell(*apart)
        own = stretches(int(part.words), threads)
        faults = np.zeros(max(1, len(own)), np.uint64)

        def fill(i: int) -> None:
            faults[i] = own_heads(rows, part, self.ranks, self.heads, self.short, np.uint64(absent), *own[i])

        workers.each(len(own), fill)
        self.faults = int(faults.sum())

    def _tell(self, partition: Partition, group: Group) -> None:
        """Tell all ranks the degree bytes of own vertices, and which have no neighbours."""
        counts, own = partition.counts(), partition.own(group.rank)
        for rank, bits in enumerate(group.gather(self.empty[own], counts)):
            self.empty[partition.own(rank)] = bits
        by_word = self.ranks[: 64 * partition.words].reshape(-1, 64)
        for rank, each in enumerate(group.gather(by_word[own].ravel(), [64 * count for count in counts])):
            by_word[partition.own(rank)] = each.reshape(-1, 64)

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays."""
        return self.empty.nbytes + self.short.nbytes + self.ranks.nbytes + self.heads.nbytes


def stretches(words: int, threads: int) -> list[tuple[np.uint64, np.uint64]]:
    """Return the stretches of ``words`` that threads take in turn: (first, last + 1); none is empty."""
    cuts = ranges(words, SHARES * threads if threads > 1 else 1) if words else []
    return [(np.uint64(first), np.uint64(last)) for first, last in cuts]


@njit(nogil=True, cache=True)
def survey_words(rows, n, ranks, empty, first, last):
    """Fill ``ranks`` and the bitmap ``empty`` for the words from ``first`` to ``last`` - 1 of the ``n`` vertices."""
    for w in range(first, last):
        base = w << SHIFT
        none = ZERO
        for b in range(WORD):
            u = base + b
            count = degree(rows, u) if u < n else ZERO
            none |= (ONE if count == ZERO else ZERO) << b
            if u < n:
                ranks[u] = degree_byte(count)
        empty[w] = none


@njit(nogil=True, cache=True)
def own_heads(rows, part, ranks, heads, short, absent, first, last):
    """Fill ``heads`` and ``short`` for own words ``first`` to ``last`` - 1; return the ids that are no vertices."""
    faults = ZERO
    n = part.n
    for i in range(first, last):
        few = ZERO
        for b in range(WORD):
            u = ((part.first + i * part.stride) << SHIFT) + b
            count = degree(rows, u) if u < n else ZERO
            few |= (ONE if count <= _HEADS else ZERO) << b
            local = (i << SHIFT) + b
            heads[0, local], heads[1, local] = absent, absent
            if u < n:
                heads[0, local], heads[1, local], bad = strongest_two(rows, u, ranks, n, absent)
                faults += bad
        short[i] = few
    return faults
