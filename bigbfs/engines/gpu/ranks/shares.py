"""The edges that one rank's GPU has to reach: one stretch of them, or where words are dealt one for each own word."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np

from bigbfs.engines.gpu.ranks.passed_on import Others
from bigbfs.engines.gpu.runtime.arguments import LINE
from bigbfs.engines.gpu.runtime.stretches import Partly, Source, Stretches
from bigbfs.engines.ranks.partition import Partition
from bigbfs.graph.adjacency import Adjacency

GATHERED = 64 << 20
"""Bytes of edges from which on it is worth being ready to gather own ones."""

_OFFSETS: WeakKeyDictionary[Adjacency, np.ndarray] = WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class Share:
    """Own rows of an adjacency.

    Attributes
    ----------
    edges
        The edges of all rows.
    begins, ends
        Of the rows of each own word, the first id or byte and the last + 1: int64, shape (words,); of all rows: none.
    dealt
        Whether rows of others lie between own ones.
    first, last
        What is read of ``edges``, in whole lines of ``LINE`` bytes where there are such; dealt words: all.
    whole
        Whether the rank has the rows of all vertices in device memory.
    others
        Who brings what it does not copy itself of these; None: nobody.
    """

    edges: np.ndarray
    begins: np.ndarray
    ends: np.ndarray
    dealt: bool
    first: int
    last: int
    whole: bool = False
    others: Others | None = None

    @property
    def own(self) -> int:
        """Ids or bytes in own rows."""
        return int((self.ends - self.begins).sum())

    @property
    def nbytes(self) -> int:
        """Bytes in own rows."""
        return self.own * self.edges.itemsize

    @property
    def stretch(self) -> np.ndarray:
        """What is read where it lies."""
        return self.edges[self.first : self.last]

    def near_words(self, room: int) -> int:
        """Return of how many own words, from the first on, ``room`` bytes hold the rows; 0 where these are empty."""
        unit, sizes = self.edges.itemsize, np.cumsum(self.ends - self.begins)
        words = int(np.searchsorted(sizes, max(0, room // unit - LINE // unit), side="right"))
        return words if words and sizes[words - 1] else 0

    def near(self, room: int) -> np.ndarray:
        """Return what goes to device memory, ``room`` bytes at most, of rows that lie side by side: from the first on;
        the others are read where they lie."""
        words = 0 if self.dealt else self.near_words(room)
        return self.edges[self.first : int(self.ends[words - 1]) if words else self.first]

    @cached_property
    def copied(self) -> Source:
        """What goes to device memory: the stretch; where words are dealt own rows, one behind the other."""
        if self.dealt:
            return Stretches(self.edges, self.begins, self.ends)
        return self.stretch if self.others is None else Partly(self.edges, *self.others.own)


def share_of(adjacency: Adjacency, partition: Partition, rank: int) -> Share:
    """Return the share of ``rank``."""
    edges, own = adjacency.edges, partition.own_words(rank)
    offsets = _word_offsets(adjacency)
    begins, ends = (np.ascontiguousarray(each[own]) for each in (offsets[:-1], offsets[1:]))
    if not (begins < ends).any():
        return Share(edges, begins, ends, False, 0, 0)
    if int(partition.part(rank).stride) > 1:
        return Share(edges, begins, ends, True, 0, len(edges))
    line = LINE // edges.itemsize
    last = min(len(edges), -(-int(ends[-1]) // line) * line)
    return Share(edges, begins, ends, False, int(begins[0]) // line * line, last)


def all_rows(adjacency: Adjacency, others: Others | None = None) -> Share:
    """Return the share of a rank that takes all rows to device memory, those that it has from ``others``, too: which
    are its own words is not asked."""
    none = np.empty(0, np.int64)
    return Share(adjacency.edges, none, none, False, 0, len(adjacency.edges), whole=True, others=others)


def is_dealt(adjacency: Adjacency, partition: Partition) -> bool:
    """Return whether ranks gather their rows from among others', and of so many edges that it takes a while."""
    return partition.size > 1 and not len(partition.bounds) and adjacency.edges.nbytes >= GATHERED


def _word_offsets(adjacency: Adjacency) -> np.ndarray:
    """Return where the rows of each word begin, and the last one's end: int64. Every page of the offsets is touched for
    that, so it is kept."""
    found = _OFFSETS.get(adjacency)
    if found is None:
        found = np.append(adjacency.indptr[:-1:64], adjacency.indptr[-1]).astype(np.int64)
        _OFFSETS[adjacency] = found
    return found
