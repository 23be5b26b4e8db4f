"""Connected components on the CPU: exact Afforest, and two simple algorithms to compare it with.

Afforest. Round one ties every vertex to its strongest neighbour (first head) where that one is stronger: a forest
without any atomic operation, whose trees mostly meet at the largest hub. If that leaves no giant, round two links every
vertex to its other heads, and if that leaves none, to the first one of its row. The giant is found by sampling; its
members need no further edge: an edge between a member and any other vertex is stored with the other vertex too. All
others are linked over their edges, until they come into the giant and are members themselves. A directed graph
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
    Own,
    everyone,
    flatten,
    flatten_trees,
    link_rows,
    plant,
)
from bigbfs.algorithms.components.cpu.propagation import spread
from bigbfs.algorithms.components.cpu.rounds import PARTS, link_heads, lower, settle, tie, vertices_of
from bigbfs.algorithms.components.options import ComponentsOptions
from bigbfs.engines.cpu.bits import no_vertices, words_for
from bigbfs.engines.cpu.heads import HEADS, Survey
from bigbfs.engines.cpu.ranked_survey import RankSurvey
from bigbfs.engines.cpu.rows import NOBODY, Rows, row_count
from bigbfs.jit.team import team_of
from bigbfs.record import RankRecord

SAMPLES = 1024
"""Vertices looked at to find the giant."""

GIANT = 0.75
"""Share of the sampled vertices with neighbours that a tree must hold for (the rest of) round two to be left out."""

SPLIT = ((0, 1), (1, PARTS))
"""Round two in two parts, an eighth of the vertices first: where the trees are large, few links join them all."""

WHOLE = (0, PARTS)


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
    """Components of the graph of ``out_rows``, with the memory that they take; or what a rank of several knows of them.

    Parameters
    ----------
    out_rows, in_rows
        Rows of n vertices: the same object for a symmetric graph; ``in_rows`` None where there are none.
    survey
        Survey of the in-rows, or of the out-rows where there are none.
        Of a rank: that of its own rows, with heads by local number.
    threads
        Threads of every parallel kernel.
    own
        Words of the vertices worked on: all, or those of a rank.
    forest
        Memory for labels and trees, id dtype, shape (2, whole words of vertices), where others see it too.

    Attributes
    ----------
    labels
        Result of the last run: id dtype, the smallest vertex of the component.
    padded
        The memory of ``labels``, in whole words of vertices.
    trees
        What round one puts vertices under.
    others
        Id dtype, shape (2, any number): vertices of other ranks, and the roots that round one finds for them.
    hub
        Of a rank: a vertex whose tree all ranks take to be the giant.
    """

    def __init__(
        self,
        out_rows: Rows,
        in_rows: Rows | None,
        survey: Survey | RankSurvey,
        threads: int,
        own: Own | None = None,
        forest: np.ndarray | None = None,
    ) -> None:
        n = row_count(out_rows)
        self.heads, self.ranks, self._team = survey.heads, survey.ranks, team_of(threads)
        self._own = everyone(n) if own is None else own
        self.others, self.hub = np.empty((2, 0), survey.heads.dtype), NOBODY
        self._rows = (out_rows,) if in_rows is None or in_rows is out_rows else (out_rows, in_rows)
        self._sees_both_ends = in_rows is not None
        self.padded, trees = np.empty((2, 64 * words_for(n)), survey.heads.dtype) if forest is None else forest
        self.labels, self.trees = self.padded[:n], trees[:n]
        self._isolated = survey.empty if in_rows is out_rows else no_vertices(n)
        self._nobody = np.empty(0, np.uint64)
        self._sample = self._sampled(n)
        self._claim, self._counts = np.zeros(8, np.uint64), np.zeros(4, np.uint64)
        self._passes = 0

    @property
    def nbytes(self) -> int:
        """Bytes of the state."""
        return self.labels.nbytes + self.trees.nbytes + self.others.nbytes

    def run(self, options: ComponentsOptions | None = None) -> Labelled:
        """Fill ``labels``."""
        options = options or ComponentsOptions()
        start = time.perf_counter()
        self.begin()
        run = {"afforest": self._afforest, "sv": self._hook_until_done, "labelprop": self._propagate}[options.algorithm]
        run(options)
        self._finish()
        left = self._finish_what_is_left(options) if options.single_pass else 0
        seconds = time.perf_counter() - start
        return Labelled(seconds, self.faults, self.read, self._passes, left)

    def _begin(self) -> np.ndarray:
        """Return the counter by which a pass takes its pieces, when it may.

        Those who work on one forest together (:mod:`bigbfs.algorithms.components.ranks.common`) meet here.
        """
        self._claim[0] = 0
        return self._claim

    def _finish(self) -> None:
        """Return when the last pass is done by all who have worked on it."""

    def begin(self) -> None:
        """Count from nothing."""
        self._counts[:] = 0
        self._passes = 0

    @property
    def read(self) -> int:
        """Ids read."""
        return int(self._counts[READ])

    @property
    def faults(self) -> int:
        """Ids met that are no vertices."""
        return int(self._counts[FAULTS])

    def warm_up(self, algorithm: str) -> None:
        """Run every kernel of ``algorithm`` once (on a small graph: that compiles them)."""
        self.start()
        if algorithm == "afforest":
            self.tie()
            self.link_heads(SPLIT[0])
        elif algorithm == "labelprop":
            self._propagate(ComponentsOptions("labelprop", single_pass=True))
        self._pass(NOBODY)

    def _afforest(self, options: ComponentsOptions) -> None:
        if options.rounds is None:
            giant = self.adaptive_rounds()
        else:
            self._rounds(options.rounds)
            giant, _ = self._largest()
        self._pass(giant if options.skips_giant else NOBODY, once=options.single_pass)

    def adaptive_rounds(self) -> np.uint64:
        """Link heads, and the first ones of rows, until the sample shows a giant; return its label."""
        self.tie()
        giant, held = self._largest()
        for part in SPLIT:
            if held >= GIANT:
                break
            self.link_heads(part)
            giant, held = self._largest()
        if held < GIANT:
            for rows in self._rows:
                self._link(rows, NOBODY, most=1)
            self.flatten()
            giant, held = self._largest()
        return giant

    def _rounds(self, count: int) -> None:
        """Link every vertex to ``count`` neighbours: the heads, then the first ones of the row."""
        if count == 0:
            self.start()
            return
        self.tie()
        if count > 1:
            self.link_heads(WHOLE)
        if count > HEADS:
            for rows in self._rows:
                self._link(rows, NOBODY, most=count - HEADS)
            self.flatten()

    def _hook_until_done(self, options: ComponentsOptions) -> None:
        """Shiloach and Vishkin's passes; the giant is found after the first."""
        self.start()
        skipped = NOBODY
        while True:
            self._pass(skipped, once=True)
            if options.single_pass or self._counts[OPEN] == 0:
                return
            if options.skips_giant:  # its root may have been hooked meanwhile
                skipped = self._largest()[0] if skipped == NOBODY else np.uint64(self.labels[skipped])

    def _propagate(self, options: ComponentsOptions) -> None:
        """Passes of label propagation."""
        self.start()
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
        self.flatten()
        giant = self._largest()[0] if options.skip_giant is not False else NOBODY
        self._counts[MERGED] = 0
        self._pass(giant)
        return int(self._counts[MERGED])

    def flatten(self, *, flat: bool = False) -> None:
        """Point every own label at its root; ``flat``: nearly all do already."""
        flatten(self._team, self._own, self.labels, flat, self._begin())

    def start(self) -> None:
        """Make every vertex a tree of its own."""
        plant(self._team, self.labels, self._begin())

    def tie(self) -> None:
        """Round one: the forest of strongest neighbours, each tree labelled with its smallest vertex."""
        team, own, trees, labels = self._team, self._own, self.trees, self.labels
        others, roots = self.others
        if 64 * int(own.words) < len(labels):  # whoever is neither own nor one of others is a tree alone
            self.start()
        tie(team, own, self.heads, self.ranks, trees, labels, self._begin())
        flatten_trees(team, own, trees, labels, self._begin())
        if len(others):
            lower(labels, others, roots)
        settle(team, own, trees, labels, self._begin())
        labels[others] = labels[roots]

    def link_heads(self, part: tuple[int, int]) -> None:
        """Round two: link the vertices of ``part`` to their heads but the first."""
        link_heads(self._team, self._own, self.heads, self.labels, *map(np.uint64, part), self._begin())
        self.flatten()

    def _pass(self, giant: np.uint64, *, once: bool = False) -> None:
        """Link the vertices outside the tree labelled ``giant`` over all their edges, exactly unless ``once``."""
        self._counts[OPEN] = 0
        for rows in self._rows:
            self._link(rows, giant if self._sees_both_ends else NOBODY, once=once)
        self.flatten(flat=giant != NOBODY)
        self._passes += 1

    def plant_trees(self) -> None:
        """Let vertices that are not worked on be under nobody, in all rounds to come."""
        plant(self._team, self.trees, self._begin())

    def keep_others(self, others: np.ndarray) -> None:
        """Keep vertices of other ranks and what lies above each (as ``others``), in all rounds to come."""
        vertices, above = others
        self.trees[vertices] = above
        while (self.trees[above] != above).any():
            above = self.trees[above]
        self.trees[vertices] = above
        self.others = np.stack([vertices, above])

    def link_all(self, aside: np.ndarray, giant: np.uint64, members: np.ndarray, hub: np.uint64) -> None:
        """Link own vertices that are neither ``aside`` nor labelled ``giant``: see :func:`.forest.link_rows`."""
        for rows in self._rows:
            given = rows, aside, self.labels, giant, NOBODY, False, members, hub
            link_rows(self._team, self._own, *given, self._begin(), self._counts)

    def _link(self, rows: Rows, giant: np.uint64, *, most: int | None = None, once: bool = False) -> None:
        limit = NOBODY if most is None else np.uint64(most)
        given = rows, self._isolated, self.labels, giant, limit, once, self._nobody, NOBODY
        link_rows(self._team, self._own, *given, self._begin(), self._counts)

    def _largest(self) -> tuple[np.uint64, float]:
        """Return the label of the giant, and its share of the sampled vertices that have neighbours.

        The giant is what most of them are in, and of a rank the tree of the hub. The sample is spread evenly over own
        vertices: the same graph always gives the same answer.
        """
        self._finish()
        found = self.sampled(self.labels)
        if self.hub != NOBODY:
            giant = self.hub_label()
            return giant, float((found == giant).mean()) if len(found) else 1.0
        if len(found) == 0:
            return NOBODY, 1.0
        values, counts = np.unique(found, return_counts=True)
        top = counts.argmax()
        return np.uint64(values[top]), counts[top] / len(found)

    def hub_label(self) -> np.uint64:
        """Return the root of the hub's tree."""
        label = self.labels[self.hub]
        while self.labels[label] != label:
            label = self.labels[label]
        return np.uint64(label)

    def sampled(self, trees: np.ndarray) -> np.ndarray:
        """Return the entries of ``trees`` for sampled vertices that have neighbours."""
        return trees[self._sample]

    def _sampled(self, n: int) -> np.ndarray:
        """Return vertices that have neighbours, int64: of :data:`SAMPLES` spread evenly over own ones."""
        most = min(n, 64 * int(self._own.words))
        local = np.linspace(0, max(0, most - 1), min(SAMPLES, most)).astype(np.int64)
        vertices = vertices_of(self._own, local)
        inside = vertices < n
        local, vertices = local[inside], vertices[inside]
        return vertices[self.heads[0, local] < n]
