"""Keys of edges, exchanged: each rank owns the rows of a run of buckets, and gets their keys from all.

What every rank has lies bucket by bucket, so what another one is to get is one stretch of it. The runs are cut where
the work is about even. Keys go in rounds, some buckets of each owner at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise

import numpy as np

from bigbfs.engines.ranks.group import ALIGNED, Group

PLACED = 0.6
"""Work of placing and writing an edge of the graph, that of sorting and turning round a line being 1 (measured)."""


ROUND = 8 << 20
"""Bytes that a rank gets in a round: they are in a cache still when they are put in their places."""


class Dealer:
    """Deals keys to the ranks; see :data:`bigbfs.graph.transposing.Deal`.

    Parameters
    ----------
    stored
        int64[bucket]: about how many edges this rank's lines make in the rows of each, if all are stored.
    shift
        log2 of the rows in a bucket.
    require
        Called, once runs are known, with the keys of the whole graph that this rank will sort, and with the edges that
        it will store; raises on every rank where one has no memory for it.
    """

    def __init__(self, stored: np.ndarray, n: int, shift: int, require: Callable[[int, int], None], group: Group):
        self._stored, self._n, self.shift, self._require, self._group = stored, n, shift, require, group
        self._bounds: list[int] | None = None
        # memory is dear when it is touched first: what the last keys lay in, and what others sent
        self._spare, self._came = np.empty(0, np.uint64), np.empty(0, np.uint8)

    @property
    def rows(self) -> tuple[int, int]:
        """The first own row, and the first behind them."""
        assert self._bounds is not None
        low, end = (min(self._n, bucket << self.shift) for bucket in self._bounds[self._group.rank :][:2])
        return low, end

    def __call__(self, starts: np.ndarray, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return (start of each bucket, keys) of own buckets; those of others are empty. ``keys`` is used up."""
        group, rank = self._group, self._group.rank
        counts = np.stack(group.gather(np.diff(starts), [len(starts) - 1] * group.size))
        if self._bounds is None:
            self._cut(counts)
        bounds = self._bounds
        assert bounds is not None
        merged = np.zeros(len(starts), np.int64)
        own = slice(bounds[rank], bounds[rank + 1])
        merged[own.start + 1 : own.stop + 1] = counts[:, own].sum(axis=0)
        np.cumsum(merged, out=merged)
        total = int(merged[-1])
        if total > len(self._spare):
            self._spare = np.empty(0, np.uint64)  # the old memory goes before the new comes, which gets its pages
            self._spare = np.empty(total, np.uint64)
        into = self._spare[:total]
        for buckets in _rounds(counts, bounds):
            parts = [keys[starts[first] : starts[end]] for first, end in buckets]
            mine, parts[rank] = parts[rank], keys[:0]
            here = slice(*buckets[rank])
            received = self._exchange(parts, 8 * int(counts[:, here].sum()))
            received[rank] = mine
            _merge(received, counts[:, here], merged[here], into)
        self._spare = keys
        return merged, into

    def _exchange(self, parts: list[np.ndarray], most: int) -> list[np.ndarray]:
        """Return the keys that others have sent, ``most`` bytes at most; they are overwritten by the next."""
        room = most + ALIGNED * len(parts)
        self._came = self._came if room <= len(self._came) else np.empty(room, np.uint8)
        came = self._group.exchange([part.view(np.uint8) for part in parts], self._came)
        return [part.view(np.uint64) for part in came]

    def _cut(self, counts: np.ndarray) -> None:
        """Decide which run of buckets each rank owns."""
        group = self._group
        stored = group.sum(self._stored)
        lines = counts.sum(axis=0)
        ends = np.concatenate([np.zeros(1), np.cumsum(lines + PLACED * stored)])
        goals = ends[-1] * np.arange(1, group.size) / group.size
        self._bounds = [0, *_nearest(ends, goals), len(lines)]
        own = slice(*self._bounds[group.rank :][:2])
        self._require(int(lines[own].sum()), int(stored[own].sum()))


def _rounds(counts: np.ndarray, bounds: list[int]) -> Iterator[list[tuple[int, int]]]:
    """Return for each round which buckets of each owner are exchanged; ``counts``: int64[rank, bucket].

    No rank gets much more than ``ROUND`` in one, where a bucket is not more.
    """
    runs = list(pairwise(bounds))
    come = [counts[:, first:end].sum() - counts[rank, first:end].sum() for rank, (first, end) in enumerate(runs)]
    rounds = max(1, -(-8 * int(max(come)) // ROUND))
    for turn in range(rounds):
        yield [
            (first + (end - first) * turn // rounds, first + (end - first) * (turn + 1) // rounds)
            for first, end in runs
        ]


def _nearest(ends: np.ndarray, goals: np.ndarray) -> list[int]:
    """Return for each of the ascending ``goals`` which of the ascending ``ends`` is the nearest."""
    above = np.searchsorted(ends, goals)
    below = np.maximum(above - 1, 0)
    return [int(each) for each in np.where(goals - ends[below] < ends[above] - goals, below, above)]


def _merge(received: list[np.ndarray], counts: np.ndarray, starts: np.ndarray, keys: np.ndarray) -> None:
    """Write the keys of own buckets, in each those of the first rank first; ``counts``: int64[rank, bucket]."""
    places = starts.tolist()
    for source, theirs in zip(received, counts.tolist(), strict=True):
        at = 0
        for bucket, count in enumerate(theirs):
            place = places[bucket]
            keys[place : place + count] = source[at : at + count]
            places[bucket], at = place + count, at + count
