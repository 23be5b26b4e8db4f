"""How the kernels that sort turn the ids of a partition into numbers of vertices."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bigbfs.graph.views import frozen

OFFSET, PRESENT, LABELLED = 0, 1, 2
"""How ids become numbers: minus the first one; by rank among those present; rows by rank in ``labels``, values are."""

NONE = frozen(np.empty(0, np.uint64))
NO_DIRECTORY = frozen(np.empty(0, np.int64))


class Rules(NamedTuple):
    """How the ids of one partition become numbers; a state tuple of kernels.

    Attributes
    ----------
    mode
        ``OFFSET``, ``PRESENT`` or ``LABELLED``.
    low
        Lowest id of the partition (uint64, like all numbers in here).
    base
        OFFSET: the id of vertex 0; else the number of the partition's first row.
    loop
        The value that its first row would have, so that a self-loop shows.
    present
        PRESENT: the table of all ids (:mod:`bigbfs.conversion.numbering.table`).
    labels, directory, shift
        LABELLED: the ids of the partition, ascending; ``directory[d]`` is the first of them with
        ``(label - low) >> shift >= d``.
    """

    mode: np.uint64
    low: np.uint64
    base: np.uint64
    loop: np.uint64
    present: np.ndarray = NONE
    labels: np.ndarray = NONE
    directory: np.ndarray = NO_DIRECTORY
    shift: np.uint64 = np.uint64(0)


def rules_of(mode: int, low: int, base: int, loop: int, present: np.ndarray = NONE) -> Rules:
    """Return rules that need no list of ids."""
    return Rules(np.uint64(mode), np.uint64(low), np.uint64(base), np.uint64(loop), present)


NUMBERED = rules_of(OFFSET, 0, 0, 0)
"""Ids that are numbers of vertices already, all of them in one partition."""
