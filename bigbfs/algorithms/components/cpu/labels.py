"""Connected components on the CPU: exact Afforest, and two simple algorithms to compare it with.

Afforest. Round one ties every vertex to its strongest neighbour (first head) where that one is stronger: a forest
without any atomic operation, whose trees mostly meet at the largest hub. If that leaves no giant, round two links every
vertex to its other heads. The giant is found by sampling; its members need no further edge: an edge between a member
and any other vertex is stored with the other vertex too. All others are linked over all their edges. A directed graph
is taken as undirected (weak components); without in-rows an edge is stored at one end only, and then members are not
skipped. The other algorithms and the switches: :mod:`bigbfs.algorithms.components.options`.

Source: Sutton, Ben-Nun, Barak, "Optimizing parallel graph connectivity computation via subgraph sampling", IPDPS 2018.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from bigbfs.algorithms.components.cpu.forest import (
    FAULTS,
    MERGED,
    OPEN,
    READ,
    VERTICES,
    flatten,
    flatten_apart,
    link,
    link_rows,
)
from bigbfs.algorithms.components.cpu.propagation import spread
from bigbfs.algorithms.components.options import ComponentsOptions
from bigbfs.engines.cpu.bits import ONE, ZERO, no_vertices
from bigbfs.engines.cpu.heads import HEADS, Survey
from bigbfs.engines.cpu.rows import NOBODY, Rows, row_count
from bigbfs.jit.atomics import fetch_add, load, store
from bigbfs.jit.njit import njit
from bigbfs.jit.team import member, share, team_of
from bigbfs.record import RankRecord

SAMPLES = 1024
"""Vertices looked at to find the giant."""

GIANT = 0.75
"""Share of the sampled vertices with neighbours that a tree must hold for (the rest of) round two to be left out."""

PARTS = ((0, 1), (1, 8))
"""Round two in two parts, an eighth of the vertices first: where the trees are large, few links join them all."""

EVERYONE = (0, 8)

_PARTS = np.uint64(8)
_CHUNK = np.uint64(1024)


@dataclass(frozen=True, slots=True)
class Labelled:
    """What one run measured: see :class:`bigbfs.record.ComponentsRecord`; ``faults``: ids met that are no vertices.

    Of several ``ranks`` these are the seconds of the slowest, and sums.
    """

    seconds: float
    faults: int
    edges_read: int
    passes: int
    left: int
    ranks: tuple[RankRecord, ...] = ()


class Components:
    """Components of the graph of ``out_rows``, with the memory that they take.

    Parameters
    ----------
    out_rows, in_rows
        Rows of n vertices: the same object for a symmetric graph; ``in_rows`` None where there are none.
    survey
        Survey of the in-rows, or of the out-rows where there are none.
    threads
        Threads of every parallel kernel.

    Attributes
    ----------
    labels
        Result of the last run: id dtype, the smallest vertex of the component.
    """

    def __init__(self, out_rows: Rows, in_rows: Rows | None, survey: Survey, threads: int) -> None:
        n = row_count(out_rows)
        self.heads, self.ranks, self._team = survey.heads, survey.ranks, team_of(threads)
        self._rows = (out_rows,) if in_rows is None or in_rows is out_rows else (out_rows, in_rows)
        self._sees_both_ends = in_rows is not None
        self.labels, self._trees = np.empty((2, n), survey.heads.dtype)
        self._isolated = survey.empty if in_rows is out_rows else no_vertices(n)
        self._sample = np.linspace(0, max(0, n - 1), min(SAMPLES, n)).astype(np.int64)
        self._claim, self._counts = np.zeros(8, np.uint64), np.zeros(4, np.uint64)
        self._passes = 0

    @property
    def nbytes(self) -> int:
        """Bytes of the state."""
        return self.labels.nbytes + self._trees.nbytes

    def run(self, options: ComponentsOptions | None = None) -> Labelled:
        """Fill ``labels``."""
        options = options or ComponentsOptions()
        start = time.perf_counter()
        self._counts[:] = 0
        self._passes = 0
        run = {"afforest": self._afforest, "sv": self._hook_until_done, "labelprop": self._propagate}[options.algorithm]
        run(options)
        left = self._finish_what_is_left(options) if options.single_pass else 0
        seconds = time.perf_counter() - start
        return Labelled(seconds, int(self._counts[FAULTS]), int(self._counts[READ]), self._passes, left)

    def warm_up(self, algorithm: str) -> None:
        """Run every kernel of ``algorithm`` once (on a small graph: that compiles them)."""
        self._start()
        if algorithm == "afforest":
            self.tie()
            self.link_heads(PARTS[0])
        elif algorithm == "labelprop":
            self._propagate(ComponentsOptions("labelprop", single_pass=True))
        self._pass(NOBODY)

    def _afforest(self, options: ComponentsOptions) -> None:
        if options.rounds is None:
            giant = self._adaptive_rounds()
        else:
            self._rounds(options.rounds)
            giant, _ = self._largest()
        self._pass(giant if options.skips_giant else NOBODY, once=options.single_pass)

    def _adaptive_rounds(self) -> np.uint64:
        """Link heads until the sample shows a giant; return its label."""
        self.tie()
        giant, held = self._largest()
        for part in PARTS:
            if held >= GIANT:
                break
            self.link_heads(part)
            giant, held = self._largest()
        return giant

    def _rounds(self, count: int) -> None:
        """Link every vertex to ``count`` neighbours: the heads, then the first ones of the row."""
        if count == 0:
            self._start()
            return
        self.tie()
        if count > 1:
            self.link_heads(EVERYONE)
        if count > HEADS:
            for rows in self._rows:
                self._link(rows, NOBODY, most=count - HEADS)
            self._flatten()

    def _hook_until_done(self, options: ComponentsOptions) -> None:
        """Shiloach and Vishkin's passes; the giant is found after the first."""
        self._start()
        skipped = NOBODY
        while True:
            self._pass(skipped, once=True)
            if options.single_pass or self._counts[OPEN] == 0:
                return
            if options.skips_giant:  # its root may have been hooked meanwhile
                skipped = self._largest()[0] if skipped == NOBODY else np.uint64(self.labels[skipped])

    def _propagate(self, options: ComponentsOptions) -> None:
        """Passes of label propagation."""
        self._start()
        everyone = ~self._isolated
        active, following = everyone.copy(), np.zeros_like(everyone)
        while True:
            before = int(self._counts[MERGED])
            for rows in self._rows:
                spread(self._team, rows, active, following, self.labels, self._claim, self._counts)
            self._passes += 1
            if options.single_pass or int(self._counts[MERGED]) == before:
                return
            if self._sees_both_ends:  # else an active vertex may be one that no row leads from
                active, following = following, active
            following[:] = 0

    def _finish_what_is_left(self, options: ComponentsOptions) -> int:
        """Link exactly over the rows; return the merges of trees that this took."""
        self._flatten()
        giant = self._largest()[0] if options.skip_giant is not False else NOBODY
        self._counts[MERGED] = 0
        self._pass(giant)
        return int(self._counts[MERGED])

    def _flatten(self) -> None:
        """Point every label at its root."""
        flatten(self._team, self.labels, self.labels, self._claim)

    def _start(self) -> None:
        """Make every vertex a tree of its own."""
        self.labels[:] = np.arange(len(self.labels), dtype=self.labels.dtype)

    def tie(self) -> None:
        """Round one: the forest of strongest neighbours, each tree labelled with its smallest vertex."""
        _tie(self._team, self.heads, self.ranks, self._trees, self.labels, self._claim)

    def link_heads(self, part: tuple[int, int]) -> None:
        """Round two: link the vertices of ``part`` to their heads but the first."""
        _link_heads(self._team, self.heads, self.labels, np.uint64(part[0]), np.uint64(part[1]), self._claim)
        self._flatten()

    def _pass(self, giant: np.uint64, *, once: bool = False) -> None:
        """Link the vertices outside the tree labelled ``giant`` over all their edges, exactly unless ``once``."""
        self._counts[OPEN] = 0
        for rows in self._rows:
            self._link(rows, giant if self._sees_both_ends else NOBODY, once=once)
        self._flatten()
        self._passes += 1

    def _link(self, rows: Rows, giant: np.uint64, *, most: int | None = None, once: bool = False) -> None:
        limit = NOBODY if most is None else np.uint64(most)
        arrays = self._isolated, self.labels
        link_rows(self._team, rows, *arrays, giant, limit, once, self._claim, self._counts)

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


@njit(nogil=True, cache=True)
def _tie(team, heads, ranks, trees, labels, claim):
    """Put every vertex under its first head where that one beats it; label the trees with their smallest vertices."""
    pieces = np.uint64(labels.size) // VERTICES + ONE
    claim[0] = ZERO
    share(team, pieces, _plant, (heads, ranks, trees, labels, claim))
    claim[0] = ZERO
    share(team, pieces, flatten_apart, (trees, labels, claim))
    claim[0] = ZERO
    share(team, pieces, _settle, (trees, labels, claim))


@member
def _plant(heads, ranks, trees, labels, claim, t):
    """Put every vertex under its first head if that one beats it by rank, then by smaller id: no cycle can close."""
    n = np.uint64(labels.size)
    while True:
        first = fetch_add(claim, 0, VERTICES)
        if first >= n:
            break
        for v in range(first, min(n, first + VERTICES)):
            head = np.uint64(heads[0, v])
            # Without a branch: which way it goes is a toss-up, and ``absent`` has a rank, the lowest.
            mine, its = ranks[v], ranks[head]
            trees[v] = head if (its > mine) | ((its == mine) & (head < v)) else v
            labels[v] = v


@member
def _settle(trees, labels, claim, t):
    """Label every vertex as its root is labelled: no label of a root changes, and no other is read."""
    n = np.uint64(labels.size)
    while True:
        first = fetch_add(claim, 0, VERTICES)
        if first >= n:
            break
        for v in range(first, min(n, first + VERTICES)):
            store(labels, v, load(labels, np.uint64(trees[v])))


@njit(nogil=True, cache=True)
def _link_heads(team, heads, labels, begin, end, claim):
    """Link vertices to their heads but the first, where the chunk's number is in begin..end - 1 modulo ``_PARTS``."""
    claim[0] = ZERO
    pieces = np.uint64(labels.size) // (_CHUNK * _PARTS) * (end - begin) + ONE
    share(team, pieces, _link_some_heads, (heads, labels, begin, end, claim))


@member
def _link_some_heads(heads, labels, begin, end, claim, t):
    """Take chunks for :func:`_link_heads` until there are no more."""
    n = np.uint64(labels.size)
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
                    link(labels, np.uint64(load(labels, u)), np.uint64(load(labels, v)))
