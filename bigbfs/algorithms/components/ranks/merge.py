"""From a forest on each rank to the components of all: three exchanges, whatever the diameter.

The tree of the *hub* (the same vertex on every rank, that of highest degree) is one component on all of them: a bit for
each own vertex tells the others whether it is in there, and they join what they did not know of. Of the trees that are
left outside, a vertex and its root go to the vertex's owner. Owners then
know all names under which the ranks know their vertices, and what they call them themselves; distinct pairs of names go
to all ranks, each unites them, and every vertex gets the smallest name of its class. Names are the smallest vertices of
trees, so the smallest name is the smallest vertex of the component.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from bigbfs.algorithms.components.ranks import forest
from bigbfs.engines.ranks.group import Group
from bigbfs.engines.ranks.partition import Partition


class Merge:
    """What a rank needs to unite its forest with the others'.

    Parameters
    ----------
    group, partition
        The ranks, and who owns what.
    ids
        Dtype of a vertex id.
    aside
        Bitmap of vertices that have no edges, those past the last one among them.

    Attributes
    ----------
    pairs
        Distinct pairs of names that all ranks have given in the last run.
    faults
        Ids received that are no vertices.
    """

    def __init__(self, group: Group, partition: Partition, ids: np.dtype, aside: np.ndarray) -> None:
        self._group, self._partition, self._ids, self._aside = group, partition, ids, aside
        self._owns = [partition.own(rank) for rank in range(group.size)]
        self._words = partition.counts()
        self._owners = np.empty(partition.words, np.int32)
        for rank, own in enumerate(self._owns):
            self._owners[own] = rank
        self._bits, self._named = np.empty((2, partition.words), np.uint64)
        self.pairs = self.faults = 0

    @property
    def nbytes(self) -> int:
        """Bytes of the state."""
        return self._owners.nbytes + 2 * self._bits.nbytes

    def tell_giant(self, trees: np.ndarray, hub: int) -> None:
        """Tell all ranks which own vertices are in the tree of the hub, and join what lies with those of the others.

        Where every edge is stored with both ends this is all that must be said of the giant: who links a vertex of
        another rank into it does so from a vertex of its own.
        """
        forest.flatten(trees, np.uint64(hub), self._aside, self._bits, self._named)
        own = self._bits[self._owns[self._group.rank]]
        for rank, bits in enumerate(self._group.gather(own, self._words)):
            if rank != self._group.rank:
                more = bits & ~self._bits[self._owns[rank]]
                forest.join(self._partition.part(rank), trees, np.uint64(hub), more, self._named)

    def run(self, trees: np.ndarray, hub: int, *, both_ends: bool) -> np.ndarray:
        """Return the labels of own vertices, by local number: id dtype. ``trees`` are changed.

        ``both_ends``: every edge is stored with both of its vertices.
        """
        size, mine = self._group.size, self._group.rank
        giant = int(forest.flatten(trees, np.uint64(hub), self._aside, self._bits, self._named))
        by_word = trees.reshape(-1, 64)
        told = self._bits
        if size > 1 and not both_ends:
            told = self._bits.copy()
            if self._join(trees, hub):  # who came into the giant with its tree has not been told of: by pairs, then
                giant = int(forest.flatten(trees, np.uint64(hub), self._aside, self._bits, self._named))
        own = by_word[self._owns[mine]].ravel()
        if size == 1:
            return own
        none = np.empty(0, self._ids)
        scratch = np.zeros(self._partition.words, np.uint64)
        lists = (self._aside, told, self._owners, np.int32(mine))
        vertices, roots = np.empty((2, int(forest.pairs(trees, *lists, none, none, scratch, False))), self._ids)
        count = int(forest.pairs(trees, *lists, vertices, roots, scratch, True))
        messages = self._messages(vertices[:count], roots[:count])
        left, right = self._names(self._group.exchange(messages), trees, giant)
        token = n = self._partition.n  # what the tree of the hub is called, whatever its name on a rank
        left, right = _distinct(np.append(left, token), np.append(right, giant))
        together = np.stack([left, right]).astype(self._ids).ravel()
        everyone = [part.reshape(2, -1).astype(np.int64) for part in self._group.gather(together)]
        left, right = _distinct(*np.concatenate(everyone, axis=1))
        self.pairs = len(left)
        names, places = np.unique(np.concatenate([left, right]), return_inverse=True)
        parents = np.arange(len(names), dtype=np.uint64)
        half = len(left)
        forest.unite(parents, places[:half].astype(np.uint64), places[half:].astype(np.uint64))
        smallest = names[parents.astype(np.int64)]
        vertex = names < n
        trees[names[vertex]] = smallest[vertex].astype(self._ids)
        return trees[own]

    def _join(self, trees: np.ndarray, hub: int) -> bool:
        """Tell who is in the tree of the hub, and take in what the others say; return whether they knew of more."""
        group, mine = self._group, self._group.rank
        messages = [np.ascontiguousarray(self._bits[own]).view(np.uint8) for own in self._owns]
        messages[mine] = np.empty(0, np.uint8)
        more = np.zeros(self._words[mine], np.uint64)
        for rank, message in enumerate(group.exchange(messages)):
            if rank != mine:
                more |= message.view(np.uint64)
        more &= ~self._bits[self._owns[mine]]
        self._named[:] = ~np.uint64(0)  # of own vertices all is known here
        forest.join(self._partition.part(mine), trees, np.uint64(hub), more, self._named)
        return bool(more.any())

    def _messages(self, vertices: np.ndarray, roots: np.ndarray) -> list[np.ndarray]:
        """Return what goes to each rank: vertices of its own, then their roots."""
        owners = self._owners[(vertices >> vertices.dtype.type(6)).astype(np.int64)]
        order = np.argsort(owners, kind="stable")
        ends = np.searchsorted(owners[order], np.arange(self._group.size + 1))
        chosen = [order[first:last] for first, last in pairwise(ends)]
        return [np.concatenate([vertices[each], roots[each]]).view(np.uint8) for each in chosen]

    def _names(self, messages: list[np.ndarray], trees: np.ndarray, giant: int) -> tuple[np.ndarray, np.ndarray]:
        """Return pairs of names of own vertices, this rank's and another's: int64 both."""
        n = self._partition.n
        left, right = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        for message in messages:
            ids = message.view(self._ids).astype(np.int64).reshape(2, -1)
            self.faults += int((ids >= n).sum())
            ids = ids[:, (ids < n).all(axis=0)]
            mine = trees[ids[0]].astype(np.int64)
            left.append(np.where(mine == giant, n, mine))
            right.append(ids[1])
        return np.concatenate(left), np.concatenate(right)


def _distinct(left: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct pairs of two different names, the smaller one first."""
    low, high = np.minimum(left, right), np.maximum(left, right)
    differ = low != high
    low, high = low[differ], high[differ]
    order = np.lexsort((high, low))
    low, high = low[order], high[order]
    new = np.ones(len(low), bool)
    new[1:] = (low[1:] != low[:-1]) | (high[1:] != high[:-1])
    return low[new], high[new]
