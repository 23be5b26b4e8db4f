"""Which rank owns which vertices: words of 64 vertices, dealt out in turn or cut into ranges.

``words`` deals: word w belongs to rank w mod P. In a file ordered by degree every rank gets its share of the hubs, and
ids in a rank's rows stay ascending. ``ranges`` gives each rank one stretch of words with an equal share of the work:
for orders in which neighbours lie close together (breadth-first, a crawl), whose edges then mostly stay at home, and
for GPUs where the vertices come out even, too. Cut into ranges, a graph ordered by degree has no speed-up at all,
because one rank gets the hubs.

A rank's own words are ``first + i * stride``: one formula for both, so kernels know no difference. Vertex v is *local*
vertex ``64 i + v mod 64`` of its owner. GPUs that each have all rows get ``LINE_WORDS`` words at a time, so that what
one reads of a bitmap, or stores into another's, are whole lines: ``own_words`` has them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from bigbfs.errors import UsageError

KINDS = ("auto", "words", "ranges")
WHOLE = "whole"
"""Of ranks on GPUs: words are dealt, and each rank has all rows."""

LINE_WORDS = 16
"""Words of a line of memory."""

SAMPLE = 2048
"""Rows looked at for the choice of a partition."""

AT_HOME = 0.75
"""Share of sampled edges that must stay within a rank for ranges to be chosen."""


LEAST_LINES = 256
"""Lines of each rank from which on whole lines are dealt: the first are those of the hubs. Levels of fewer are searched
by all ranks alike."""

EVEN = 1.1
"""Ranges are even if none has more than so many times the mean of their vertices."""


class Part(NamedTuple):
    """What a rank owns, as kernels see it; all uint64.

    Attributes
    ----------
    n
        Vertices of the graph.
    rank, size
        Which rank, of how many.
    first, stride, words
        Own word i is word ``first + i * stride`` of the graph, for i below ``words``.
    bounds
        First word of each range and the end, shape (size + 1,); empty where words are dealt.
    """

    n: np.uint64
    rank: np.uint64
    size: np.uint64
    first: np.uint64
    stride: np.uint64
    words: np.uint64
    bounds: np.ndarray


@dataclass(frozen=True)
class Partition:
    """A graph's words dealt to ``size`` ranks.

    Attributes
    ----------
    n, size
        Vertices and ranks.
    kind
        ``"words"``, ``"ranges"``, or ``"shards"``: ranges of which no other rank has the rows.
    bounds
        As in :class:`Part`.
    together
        Words that are dealt at a time, a power of two.
    """

    n: int
    size: int
    kind: str
    bounds: np.ndarray
    together: int = 1

    @property
    def words(self) -> int:
        """Words of the whole graph."""
        return -(-self.n // 64)

    def part(self, rank: int) -> Part:
        """Return what ``rank`` owns."""
        if self.kind == "words":
            turns, rest = divmod(self.words, self.size * self.together)
            last = min(max(0, rest - rank * self.together), self.together)
            first, stride, words = rank * self.together, self.size, turns * self.together + last
        else:
            first, stride, words = int(self.bounds[rank]), 1, int(self.bounds[rank + 1] - self.bounds[rank])
        n, number, size, begin, step, own = map(np.uint64, (self.n, rank, self.size, first, stride, words))
        return Part(n, number, size, begin, step, own, self.bounds)

    def counts(self) -> list[int]:
        """Return the words of each rank."""
        return [int(self.part(rank).words) for rank in range(self.size)]

    def words_below(self, rank: int, vertices: int) -> int:
        """Return how many own words of ``rank`` have some of the first ``vertices``: they are its first ones."""
        words = -(-vertices // 64)
        if self.kind == "words":
            return int(replace(self, n=vertices).part(rank).words)
        first, end = (min(int(bound), words) for bound in self.bounds[rank : rank + 2])
        return end - first

    def own(self, rank: int) -> slice:
        """Return the words of ``rank`` as a slice of a bitmap of all vertices; they are dealt one at a time."""
        assert self.together == 1
        part = self.part(rank)
        first, stride, words = int(part.first), int(part.stride), int(part.words)
        return slice(first, first + stride * words if words else first, stride)

    def own_words(self, rank: int) -> slice | np.ndarray:
        """Return the words of ``rank`` as what picks them out of an array of all words."""
        if self.together == 1:
            return self.own(rank)
        words = np.arange(self.words, dtype=np.int64)
        return words[words // self.together % self.size == rank]

    def vertices(self, rank: int) -> np.ndarray:
        """Return the vertices of ``rank`` in local order: int64; those past the last vertex are left out."""
        words = np.arange(self.words, dtype=np.int64)[self.own_words(rank)]
        found = (words[:, None] * 64 + np.arange(64)).ravel()
        return found[: len(found) - int((found >= self.n).sum())]

    def local_vertices(self, rank: int) -> int:
        """Return how many vertices ``rank`` owns."""
        words, own = int(self.part(rank).words), self.own_words(rank)
        last = -1
        if words:
            last = range(self.words)[own][-1] if isinstance(own, slice) else int(own[-1])
        return 64 * words - (64 * self.words - self.n if words and last == self.words - 1 else 0)


def deal(n: int, size: int, together: int = 1) -> Partition:
    """Return the partition that deals words in turn, so many at a time."""
    return Partition(n, size, "words", np.empty(0, np.uint64), together)


def deal_lines(n: int, size: int) -> Partition:
    """Return the partition that deals whole lines, or words if there are few."""
    return deal(n, size, LINE_WORDS if n >= LEAST_LINES * size * LINE_WORDS * 64 else 1)


def shards(n: int, rows: Sequence[int]) -> Partition:
    """Return the partition into given ranges; ``rows``: the first of each, a multiple of 64 or n, and n."""
    return Partition(n, len(rows) - 1, "shards", np.array([-(-row // 64) for row in rows], np.uint64))


def cut(offsets: np.ndarray, size: int) -> Partition:
    """Return the partition into ranges of about equal work, 8 units for a vertex and one for a unit of its row.

    Parameters
    ----------
    offsets
        Where rows begin, and the last one's end: n + 1, edges or bytes.
    """
    n = len(offsets) - 1
    words = -(-n // 64)
    firsts = np.minimum(np.arange(words + 1, dtype=np.int64) * 64, n)
    work = offsets[firsts].astype(np.int64) - int(offsets[0]) + 8 * firsts
    goals = int(work[-1]) * np.arange(1, size, dtype=np.int64) // size
    inner = np.searchsorted(work, goals)
    bounds = np.maximum.accumulate(np.concatenate([[0], inner, [words]]))
    return Partition(n, size, "ranges", np.minimum(bounds, words).astype(np.uint64))


def choose(
    offsets: np.ndarray,
    sample: tuple[np.ndarray, np.ndarray],
    size: int,
    kind: str = "auto",
    *,
    even_ranges: bool = False,
) -> Partition:
    """Return the partition asked for, or the one that fits.

    Parameters
    ----------
    offsets
        As in :func:`cut`.
    sample
        Ends of some edges, spread evenly over the rows: int64 both.
    kind
        One of ``KINDS``.
    even_ranges
        Whether ranges fit, too, where all have about as many vertices: with rows in host memory a GPU that reads one
        stretch of them is quicker than one that reads every other piece (uniform graph of 2^31 edges, two H200: 8.0
        and 10.3 ms a search).

    Raises
    ------
    UsageError
        ``kind`` is unknown.
    """
    if kind == WHOLE:
        raise UsageError(
            "each rank has all rows on GPUs of one machine alone, which have a file",
            about=(("partition", kind),),
            remedies=(("partition", "auto", "use {}"),),
        )
    if kind not in KINDS:
        raise UsageError(f"{kind!r} is unknown: choose one of {', '.join(KINDS)}", about=(("partition", kind),))
    n = len(offsets) - 1
    if kind == "words" or size == 1:
        return deal(n, size)
    ranges = cut(offsets, size)
    if kind == "ranges":
        return ranges
    counts = np.diff(ranges.bounds.astype(np.int64))
    if even_ranges and n and counts.max() <= EVEN * counts.mean():
        return ranges
    ends = [np.searchsorted(ranges.bounds, each >> 6, side="right") for each in sample]
    at_home = float((ends[0] == ends[1]).mean()) if len(sample[0]) else 0.0
    return ranges if at_home >= AT_HOME else deal(n, size)
