"""Proof of labels by ranks: both ends of every own edge carry one label, and a plain count says how many there are.

Equal labels along every edge leave one way to be wrong: components that share a label. So every rank links all edges
of its own rows once more, without heads and without leaving out any, and as many components must come out as labels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bigbfs.algorithms.rules import fail, name_of
from bigbfs.engines.cpu.bits import SHIFT, WORD, ZERO
from bigbfs.engines.cpu.rows import degree, seek, step
from bigbfs.engines.ranks.numbering import whole
from bigbfs.errors import VerificationError
from bigbfs.graph.graph import Graph
from bigbfs.jit.njit import njit

if TYPE_CHECKING:
    from bigbfs.algorithms.components.ranks.common import CommonForest
    from bigbfs.algorithms.components.ranks.program import RankForest


def prove(graph: Graph, forest: RankForest | CommonForest, components: int) -> None:
    """Prove the labels of the last run, of which ``components`` differ.

    Raises
    ------
    VerificationError
        On every rank: names a rank, its rule, and what breaks it.
    """
    group, found = forest.group, forest.own_labels
    owns = [forest.partition.own(rank) for rank in range(group.size)]
    labels = whole(group.gather(found), owns, forest.n)
    forest.count()
    again = forest.own_labels
    own = forest.partition.vertices(group.rank)
    roots = [int((each[: len(own)] == own).sum()) for each in (found, again)]
    labelled, counted = group.sum(roots).tolist()
    said = None
    try:
        _prove_own(graph, forest, labels)
        if labelled != counted or labelled != components:
            fail(
                "vertices with one label are connected",
                f"{labelled:,} vertices are their own label, {components:,} labels are told, and there are "
                f"{counted:,} components",
            )
    except VerificationError as error:
        said = str(error)
    for rank, each in enumerate(group.objects(said)):
        if each is not None:
            raise VerificationError(f"rank {rank} (host {group.hosts[rank]}): {each}", names_ranks=True)


def _prove_own(graph: Graph, forest: RankForest | CommonForest, labels: np.ndarray) -> None:
    own, n = forest.partition.vertices(forest.group.rank), forest.n
    mine = labels[own].astype(np.int64)
    if (bad := np.flatnonzero(mine >= n)).size:
        fail(
            "a label is a vertex", f"vertex {name_of(graph, int(own[bad[0]]))} has label {mine[bad[0]]} of {n} vertices"
        )
    bad = np.flatnonzero((mine > own) | (labels[mine] != mine))
    if bad.size:
        vertex, label = int(own[bad[0]]), int(mine[bad[0]])
        fail(
            "a label is the smallest vertex of its component, and its own label",
            f"vertex {name_of(graph, vertex)} has label {name_of(graph, label)}",
        )
    for rows in forest.rows:
        u, v = unequal_edge(rows, forest.part, labels)
        if int(u) < n:
            fail("an edge joins equal labels", f"edge {name_of(graph, int(u))} -> {name_of(graph, int(v))} does not")


@njit(nogil=True, cache=True)
def unequal_edge(rows, part, labels):
    """Return the ends of an edge of own rows whose labels differ; n and n where there is none."""
    for i in range(part.words):
        for b in range(WORD):
            u = ((part.first + i * part.stride) << SHIFT) + b
            if u >= part.n:
                continue
            position = seek(rows, u, ZERO)
            v = ZERO
            for k in range(degree(rows, u)):
                v, position = step(rows, position, k, v)
                if v >= part.n or labels[v] != labels[u]:
                    return u, v
    return part.n, part.n
