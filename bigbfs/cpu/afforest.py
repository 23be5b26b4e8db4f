"""Exact Afforest: connected components by union of trees, on a sample of the edges first, then on what it left open.

Round one ties every vertex to its strongest neighbour (first head) where that one is stronger: a forest without any
atomic operation, whose trees mostly meet at the largest hub. If that leaves no giant, round two links every vertex to
its other heads. The giant is found by sampling; its members need no further edge: an edge between a member and any
other vertex is stored with the other vertex too. All others are linked over all their edges. A directed graph is
taken as undirected (weak components); without in-rows an edge is stored at one end only, and then members are not
skipped.

``labels`` (id dtype, one per vertex) is a forest in which ``labels[v] <= v`` and a root is its own label. Roots only
ever get smaller, so the last root of a component is its smallest vertex: the label promised.

Why the races are harmless. Arrays that several threads touch are read and written by the atomics of
:mod:`bigbfs.machine.atomics` only. (1) A tree is hooked by compare-and-swap on its root, which succeeds only if that
vertex still is a root: no hook overwrites another. A link that fails goes on from the value found until both ends
meet or its own hook succeeds: no link is lost. It ends, because the larger of its two ends shrinks each time. (2)
Flattening and halving overwrite entries of vertices that are no roots, with a vertex further up the same tree. A
vertex that is no root never becomes one again, so this undoes no hook, and whoever reads the old or the new value is
in the same tree.

Source: Sutton, Ben-Nun, Barak, "Optimizing parallel graph connectivity computation via subgraph sampling", IPDPS 2018.
"""

from __future__ import annotations

import time

import numpy as np
from numba import njit, prange

from bigbfs.cpu.bits import ONE, SHIFT, ZERO, no_vertices
from bigbfs.cpu.heads import Survey
from bigbfs.cpu.rows import NOBODY, Rows, degree, row_count, seek, step
from bigbfs.machine.atomics import compare_and_swap, fetch_add, fetch_min, load, store
from bigbfs.machine.bits import trailing_zeros

SAMPLES = 1024
"""Vertices looked at to find the giant."""

GIANT = 0.75
"""Share of the sampled vertices with neighbours that a tree must hold for (the rest of) round two to be left out."""

PARTS = ((0, 1), (1, 8))
"""Round two in two parts, an eighth of the vertices first: where the trees are large, few links join them all."""

_PARTS = np.uint64(8)
_CHUNK = np.uint64(1024)
_WORDS = np.uint64(64)


class Afforest:
    """Components of the graph of ``out_rows``, with the memory that they take.

    Parameters
    ----------
    out_rows, in_rows
        Rows of n vertices: the same object for a symmetric graph; ``in_rows`` None where there are none.
    survey
        Survey of the in-rows, or of the out-rows where there are none.
    threads
        Threads of every parallel kernel; the caller has told Numba.

    Attributes
    ----------
    labels
        Result of the last run: id dtype, the smallest vertex of the component.
    """

    def __init__(self, out_rows: Rows, in_rows: Rows | None, survey: Survey, threads: int) -> None:
        n = row_count(out_rows)
        self.out_rows, self.in_rows, self.heads, self.ranks = out_rows, in_rows, survey.heads, survey.ranks
        self.threads = threads
        self.labels, self._trees = np.empty((2, n), survey.heads.dtype)
        self._isolated = survey.empty if in_rows is out_rows else no_vertices(n)
        self._sample = np.linspace(0, max(0, n - 1), min(SAMPLES, n)).astype(np.int64)
        self._claim, self._faults = np.zeros(8, np.uint64), np.zeros(1, np.uint64)

    @property
    def nbytes(self) -> int:
        """Bytes of the state."""
        return self.labels.nbytes + self._trees.nbytes

    def run(self) -> tuple[float, int]:
        """Fill ``labels``; return the seconds and the neighbour ids met that are no vertices."""
        start = time.perf_counter()
        self._faults[0] = 0
        self.tie()
        giant, share = self._largest()
        for part in PARTS:
            if share >= GIANT:
                break
            self.link_heads(part)
            giant, share = self._largest()
        self.finish(NOBODY if self.in_rows is None else giant)
        return time.perf_counter() - start, int(self._faults[0])

    def warm_up(self) -> None:
        """Run every kernel once (on a small graph: that compiles them)."""
        self.tie()
        self.link_heads(PARTS[0])
        self.finish(NOBODY)

    def tie(self) -> None:
        """Round one: the forest of strongest neighbours, each tree labelled with its smallest vertex."""
        _plant(self.heads, self.ranks, self._trees, self.labels)
        _flatten(self._trees, self.labels)
        _settle(self._trees, self.labels)

    def link_heads(self, part: tuple[int, int]) -> None:
        """Round two: link the vertices of ``part`` to their heads but the first."""
        _link_heads(self.heads, self.labels, np.uint64(part[0]), np.uint64(part[1]), self._claim, self.threads)
        _flatten(self.labels, self.labels)

    def finish(self, giant: np.uint64) -> None:
        """Link the vertices outside the tree labelled ``giant`` over all their edges."""
        _link_rows(self.out_rows, self._isolated, self.labels, giant, self._claim, self._faults, self.threads)
        if self.in_rows is not None and self.in_rows is not self.out_rows:
            _link_rows(self.in_rows, self._isolated, self.labels, giant, self._claim, self._faults, self.threads)
        _flatten(self.labels, self.labels)

    def _largest(self) -> tuple[np.uint64, float]:
        """Return the commonest label among sampled vertices that have neighbours, and its share of them.

        The sample is spread evenly over the vertices: the same graph always gives the same answer.
        """
        sample = self._sample[self.heads[0, self._sample] < len(self.labels)]
        if len(sample) == 0:
            return NOBODY, 1.0
        values, counts = np.unique(self.labels[sample], return_counts=True)
        top = counts.argmax()
        return np.uint64(values[top]), counts[top] / len(sample)


@njit(parallel=True, nogil=True, cache=True)
def _plant(heads, ranks, trees, labels):
    """Put every vertex under its first head if that one beats it by rank, then by smaller id: no cycle can close."""
    for i in prange(labels.size):
        v = np.uint64(i)
        head = np.uint64(heads[0, v])
        # Without a branch: which way it goes is a toss-up, and ``absent`` has a rank, the lowest.
        mine, its = ranks[v], ranks[head]
        trees[v] = head if (its > mine) | ((its == mine) & (head < v)) else v
        labels[v] = v


@njit(parallel=True, nogil=True, cache=True)
def _flatten(trees, smallest):
    """Point every vertex of ``trees`` at its root, and lower ``smallest[root]`` to the smallest vertex of the tree.

    With the labels as both, whose roots are the smallest vertices already, it only flattens.
    """
    for i in prange(trees.size):
        v = np.uint64(i)
        above = np.uint64(load(trees, v))
        root = np.uint64(load(trees, above))
        while True:
            further = np.uint64(load(trees, root))
            if further == root:
                break
            root = further
            store(trees, above, root)  # most chains go through a few hubs: shorten theirs
        store(trees, v, root)
        if np.uint64(load(smallest, root)) > v:
            fetch_min(smallest, root, v)


@njit(parallel=True, nogil=True, cache=True)
def _settle(trees, labels):
    """Label every vertex as its root is labelled: no label of a root changes, and no other is read."""
    for i in prange(labels.size):
        v = np.uint64(i)
        store(labels, v, load(labels, np.uint64(trees[v])))


@njit
def _link(labels, a, b):
    """Unite the trees of the vertices ``a`` and ``b``."""
    while a != b:
        high, low = max(a, b), min(a, b)
        above = np.uint64(load(labels, high))
        if above == high:
            above = np.uint64(compare_and_swap(labels, high, high, low))
            if above == high:
                return
        if above == low:
            return
        further = np.uint64(load(labels, above))
        if further != above:
            store(labels, high, further)  # halves the path for those who come after
        a, b = further, low


@njit(parallel=True, nogil=True, cache=True)
def _link_heads(heads, labels, begin, end, claim, threads):
    """Link vertices to their heads but the first, where the chunk's number is in begin..end - 1 modulo ``_PARTS``."""
    claim[0] = ZERO
    n = np.uint64(labels.size)
    for _ in prange(threads):
        while True:
            first = fetch_add(claim, 0, _CHUNK)
            if first >= n:
                break
            part = (first // _CHUNK) % _PARTS
            if part < begin or part >= end:
                continue
            for u in range(first, min(n, first + _CHUNK)):
                for j in range(ONE, np.uint64(len(heads))):
                    v = np.uint64(heads[j, u])
                    if v < n:
                        _link(labels, np.uint64(load(labels, u)), np.uint64(load(labels, v)))


@njit(parallel=True, nogil=True, cache=True)
def _link_rows(rows, isolated, labels, giant, claim, faults, threads):
    """Link every vertex that is not ``isolated`` and whose label is not ``giant`` to all its neighbours."""
    claim[0] = ZERO
    words = np.uint64(isolated.size)
    for _ in prange(threads):
        while True:
            first = fetch_add(claim, 0, _WORDS)
            if first >= words:
                break
            for w in range(first, min(words, first + _WORDS)):
                todo = ~isolated[w]
                while todo != ZERO:
                    u = (w << SHIFT) + trailing_zeros(todo)
                    todo &= todo - ONE
                    if np.uint64(load(labels, u)) != giant:
                        _link_row(rows, u, labels, faults)


@njit
def _link_row(rows, u, labels, faults):
    """Link ``u`` to all its neighbours."""
    n = np.uint64(labels.size)
    position = seek(rows, u, ZERO)
    v = ZERO
    for k in range(degree(rows, u)):
        v, position = step(rows, position, k, v)
        if v >= n:
            fetch_add(faults, 0, ONE)
        else:
            _link(labels, np.uint64(load(labels, u)), np.uint64(load(labels, v)))
