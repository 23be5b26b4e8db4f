"""From a forest on each rank to the components of all: three exchanges, whatever the diameter.

The tree of the *hub* (the same vertex on every rank) is one component on all of them: a bit for each own vertex tells
the others whether it is in there. Whoever then reads a row and meets such a vertex links to the hub in its stead. Of
the trees that are left outside, a vertex and its root go to the vertex's owner. Owners then know all names under which
the ranks know their vertices, and what they call them themselves; distinct pairs of names go to all ranks, each unites
them, and every vertex gets the smallest name of its class. Names are the smallest vertices of trees, so the smallest
name is the smallest vertex of the component.

Where every edge is stored with both ends no vertex of another rank need be told of that lies in the giant here: its
owner was told the same as all, or reads its row, and meets the edge by which it came there.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from bigbfs.algorithms.components.cpu.forest import Own, everyone
from bigbfs.algorithms.components.ranks import forest
from bigbfs.engines.cpu.rows import NOBODY
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
    own
        The words of this rank.
    owners
        int32, the rank of every word.
    pairs
        Distinct pairs of names that all ranks have given in the last run.
    faults
        Ids received that are no vertices.
    """

    def __init__(self, group: Group, partition: Partition, ids: np.dtype, aside: np.ndarray) -> None:
        self._group, self._partition, self._ids, self._aside = group, partition, ids, aside
        part = partition.part(group.rank)
        self.own = Own(part.first, part.stride, part.words)
        self._owns = [partition.own(rank) for rank in range(group.size)]
        self._words = partition.counts()
        self.owners = np.empty(partition.words, np.int32)
        for rank, own in enumerate(self._owns):
            self.owners[own] = rank
        self._bits = np.empty(partition.words, np.uint64)
        self.pairs = self.faults = 0

    @property
    def nbytes(self) -> int:
        """Bytes of the state."""
        return self.owners.nbytes + self._bits.nbytes

    def tell_giant(self, labels: np.ndarray, giant: int) -> np.ndarray:
        """Tell all ranks which own vertices are in the tree of ``giant``; return the bits of all.

        Where every edge is stored with both ends this is all that must be said of the giant: who links a vertex of
        another rank into it does so from a vertex of its own.
        """
        forest.mark(self.own, labels, np.uint64(giant), self._aside, self._bits)
        own = self._bits[self._owns[self._group.rank]]
        for rank, bits in enumerate(self._group.gather(own, self._words)):
            self._bits[self._owns[rank]] = bits
        return self._bits

    def run(self, labels: np.ndarray, hub: int, told: np.ndarray | None) -> None:
        """Put the roots of own vertices under the smallest vertices of their components.

        ``told``: bits of vertices in the giant that all ranks know of; None where an edge may be stored with one of
        its vertices alone.
        """
        giant = int(forest.root_of(labels, np.uint64(hub)))
        leave = NOBODY if told is None else np.uint64(giant)
        if told is None:
            told = self._tell_all(labels, giant, hub)
            giant = int(forest.root_of(labels, np.uint64(hub)))
        messages = self._messages(*self._pairs(labels, told, leave))
        left, right = self._names(self._group.exchange(messages), labels, giant)
        token = n = self._partition.n  # what the tree of the hub is called, whatever its name on a rank
        left, right = _distinct(np.append(left, token), np.append(right, giant))
        together = np.stack([left, right]).astype(self._ids).ravel()
        told_by_all = [part.reshape(2, -1).astype(np.int64) for part in self._group.gather(together)]
        left, right = _distinct(*np.concatenate(told_by_all, axis=1))
        self.pairs = len(left)
        names, places = np.unique(np.concatenate([left, right]), return_inverse=True)
        parents = np.arange(len(names), dtype=np.uint64)
        half = len(left)
        forest.unite(parents, places[:half].astype(np.uint64), places[half:].astype(np.uint64))
        smallest = names[parents.astype(np.int64)]
        vertex = names < n
        labels[names[vertex]] = smallest[vertex].astype(self._ids)

    def _tell_all(self, labels: np.ndarray, giant: int, hub: int) -> np.ndarray:
        """Tell owners which of their vertices are in the tree of the hub here, and take in what others say of own ones.

        Returns the bits that were told. Who comes into the giant with its tree has not been told of: by pairs, then.
        """
        group, mine = self._group, self._group.rank
        forest.mark(everyone(self._partition.n), labels, np.uint64(giant), self._aside, self._bits)
        messages = [np.ascontiguousarray(self._bits[own]).view(np.uint8) for own in self._owns]
        messages[mine] = np.empty(0, np.uint8)
        more = np.zeros(self._words[mine], np.uint64)
        for rank, message in enumerate(group.exchange(messages)):
            if rank != mine:
                more |= message.view(np.uint64)
        more &= ~self._bits[self._owns[mine]]
        forest.join(self._partition.part(mine), labels, np.uint64(hub), more)
        return self._bits

    def _pairs(self, labels: np.ndarray, told: np.ndarray, leave: np.uint64) -> tuple[np.ndarray, np.ndarray]:
        """Return vertices of other ranks, and the roots under which they are known here."""
        none, scratch = np.empty(0, self._ids), np.zeros(self._partition.words, np.uint64)
        lists = (self._aside, told, leave, self.owners, np.int32(self._group.rank))
        most = int(forest.pairs(labels, *lists, none, none, scratch, False))
        vertices, roots = np.empty((2, most), self._ids)
        count = int(forest.pairs(labels, *lists, vertices, roots, scratch, True))
        return vertices[:count], roots[:count]

    def _messages(self, vertices: np.ndarray, roots: np.ndarray) -> list[np.ndarray]:
        """Return what goes to each rank: vertices of its own, then their roots."""
        return [np.concatenate(both).view(np.uint8) for both in dealt(self.owners, self._group.size, vertices, roots)]

    def _names(self, messages: list[np.ndarray], labels: np.ndarray, giant: int) -> tuple[np.ndarray, np.ndarray]:
        """Return pairs of names of own vertices, this rank's and another's: int64 both."""
        n = self._partition.n
        left, right = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        for message in messages:
            ids = message.view(self._ids).astype(np.int64).reshape(2, -1)
            self.faults += int((ids >= n).sum())
            ids = ids[:, (ids < n).all(axis=0)]
            mine = np.empty(ids.shape[1], np.int64)
            forest.roots_of(labels, ids[0], mine)
            left.append(np.where(mine == giant, n, mine))
            right.append(ids[1])
        return np.concatenate(left), np.concatenate(right)


def dealt(owners: np.ndarray, size: int, vertices: np.ndarray, *beside: np.ndarray) -> list[tuple[np.ndarray, ...]]:
    """Return, for each rank, those of ``vertices`` that it owns, and what stands ``beside`` them."""
    found = owners[(vertices >> vertices.dtype.type(6)).astype(np.int64)]
    order = np.argsort(found, kind="stable")
    ends = np.searchsorted(found[order], np.arange(size + 1))
    chosen = [order[first:last] for first, last in pairwise(ends)]
    return [tuple(array[each] for array in (vertices, *beside)) for each in chosen]


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
