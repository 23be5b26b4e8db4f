"""Vertices of other ranks that round one puts own vertices under, and what these lie under: asked for once for a graph.

Round one of Afforest puts every vertex under its strongest neighbour. Own vertices mostly come to lie under a few hubs,
half of which belong to others, and these under stronger ones. A rank that knows of those, too, has its own vertices in
the same trees as every other rank has theirs, and tells nothing about it. Of a graph of short trees that is a few
vertices in a hundred; long chains are asked along for ``ROUNDS`` steps, and no more vertices than a rank owns are kept:
what is not known here is a tree of its own, whose name is told as others are.
"""

from __future__ import annotations

import numpy as np

from bigbfs.algorithms.components.ranks.merge import dealt
from bigbfs.engines.ranks.group import Group

ROUNDS = 8
"""Steps towards the root that are asked for."""


def ancestors(group: Group, owners: np.ndarray, trees: np.ndarray, own: np.ndarray) -> np.ndarray:
    """Return vertices of other ranks and what they lie under after round one: the ids' dtype, shape (2, how many).

    All ranks make this call together.

    Parameters
    ----------
    owners
        int32, the rank of every word.
    trees
        The roots that round one finds for own vertices, without those of others: where the way ends here.
    own
        Own vertices.
    """
    found = np.empty((2, 0), trees.dtype)
    asked = _of_others(group, owners, np.unique(trees[own]))
    for _ in range(ROUNDS):
        asked = asked[: max(0, len(own) - found.shape[1])]
        if int(group.sum([len(asked)])[0]) == 0:
            break
        above = _ask(group, owners, trees, asked)
        found = np.concatenate([found, np.stack([asked, above])], axis=1)
        asked = np.setdiff1d(_of_others(group, owners, np.unique(above)), found[0], assume_unique=True)
    return found


def _of_others(group: Group, owners: np.ndarray, vertices: np.ndarray) -> np.ndarray:
    return vertices[owners[vertices.astype(np.int64) >> 6] != group.rank]


def _ask(group: Group, owners: np.ndarray, trees: np.ndarray, asked: np.ndarray) -> np.ndarray:
    """Return what the ``asked`` vertices, in ascending order, lie under at their owners."""
    parts = [each for (each,) in dealt(owners, group.size, asked)]
    questions = group.exchange([part.view(np.uint8) for part in parts])
    answers = group.exchange([trees[each.view(trees.dtype)].view(np.uint8) for each in questions])
    above = np.empty_like(asked)
    for part, answer in zip(parts, answers, strict=True):
        above[np.searchsorted(asked, part)] = answer.view(trees.dtype)
    return above
