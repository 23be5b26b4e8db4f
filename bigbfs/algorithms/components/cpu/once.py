"""Components of a graph that is asked for nothing else: without the survey of heads, which pays over several runs.

Afforest as it stands in the paper: two neighbours of every vertex are linked, the first ones of its row; then the rows
of those that are not in the giant. Most of the ids are never read. :mod:`.labels` links heads instead, which a survey
of all rows finds; where that must be made first it takes longer than everything here.

Source: Sutton, Ben-Nun, Barak, "Optimizing parallel graph connectivity computation via subgraph sampling", IPDPS 2018.
"""

from __future__ import annotations

import numpy as np

from bigbfs.algorithms.components.cpu.forest import FAULTS, everyone, flatten, link_rows
from bigbfs.algorithms.components.cpu.labels import SAMPLES
from bigbfs.engines.cpu import memory
from bigbfs.engines.cpu.bits import no_vertices
from bigbfs.engines.cpu.placed_graph import PlacedGraph
from bigbfs.engines.cpu.rows import NOBODY
from bigbfs.graph.graph import Graph
from bigbfs.jit.team import team_of
from bigbfs.jit.workers import thread_count
from bigbfs.record import SetupRecord

_LINKED = np.uint64(2)
"""Neighbours of each vertex that are linked before the giant is looked for."""


def labels_once(graph: Graph, threads: int | None = None) -> np.ndarray:
    """Return the smallest vertex in the component of each, of the graph's id dtype; directions do not count.

    Raises
    ------
    FormatError
        An offset or an id of the graph's file is out of range.
    DoesNotFitError
        The labels take more memory than is free.
    """
    graph.require_valid()
    placed = PlacedGraph(graph, thread_count(threads), SetupRecord())
    memory.require(memory.components_bytes(graph.n, graph.ids), graph.n, "free some, or take a machine with more")
    team, own, none = team_of(placed.threads), everyone(graph.n), no_vertices(graph.n)
    nobody = np.empty(0, np.uint64)
    labels, counts = np.arange(graph.n, dtype=graph.ids), np.zeros(4, np.uint64)

    def link(rows: object, giant: np.uint64, most: np.uint64) -> None:
        link_rows(team, own, rows, none, labels, giant, most, False, nobody, NOBODY, np.zeros(8, np.uint64), counts)
        flatten(team, own, labels, False, np.zeros(8, np.uint64))

    link(placed.out, NOBODY, _LINKED)
    # an edge of the giant is stored with its other end too: its own rows can be left out, unless nobody has the others
    giant = NOBODY if placed.incoming is None else _commonest(labels)
    link(placed.out, giant, NOBODY)
    if placed.incoming is not None and placed.incoming is not placed.out:
        link(placed.incoming, giant, NOBODY)
    placed.require_vertices(int(counts[FAULTS]))
    return labels


def _commonest(labels: np.ndarray) -> np.uint64:
    """Return the commonest label of vertices spread evenly over all: which tree it is does not change the result."""
    sample = np.linspace(0, max(0, len(labels) - 1), min(SAMPLES, len(labels))).astype(np.int64)
    values, counts = np.unique(labels[sample], return_counts=True)
    return np.uint64(values[counts.argmax()]) if len(values) else NOBODY
